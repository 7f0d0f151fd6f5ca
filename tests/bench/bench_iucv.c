/* SPDX-License-Identifier: MIT */
/*
 * How many message round trips a second the core makes: a service sends eight
 * bytes in the parameter list, the guest takes the interruption and replies by
 * B2F0 in the same form, the service is told.  Or, between two machines of one
 * system: SEND of 100 bytes, interruption, RECEIVE, REPLY, interruption.  One
 * JSON line per measurement.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "allocations.h"
#include "bytes.h"
#include "zvmlab/cp.h"
#include "ebcdic.h"
#include "zvmlab/iucv.h"

#define STORAGE (4u << 20)
#define PARM 0x1000u
#define BUFFER 0x2400u
#define BATCH 65536u
#define SERVICE "*BENCH"
#define DATA 0x3000u
#define LENGTH 100u

struct bench {
	struct cp *cp;
	struct iucv_user *service;
	uint8_t *storage;
	uint16_t *path;		/* of the service, by order of connection */
	uint64_t replies;
	struct iucv_parm send;
};

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct bench *b = opaque;

	(void)cpu;
	return addr < STORAGE && len <= STORAGE - addr ? b->storage + addr : NULL;
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)opaque;
	(void)cpu;
	(void)addr;
	(void)len;
}

static uint64_t host_tod(void *opaque)
{
	(void)opaque;
	return UINT64_C(0xd000000000000000);
}

static void host_kick(void *opaque, unsigned int cpu)
{
	(void)opaque;
	(void)cpu;
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

static void host_storage_changed(void *opaque)
{
	(void)opaque;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_iucv: %s\n", what);
	exit(EXIT_FAILURE);
}

static void accept_path(struct cp *cp, struct iucv_user *user, uint16_t path)
{
	struct iucv_parm parm = { .path = path, .flags = IPRMDATA, .msglim = 255 };

	if (iucv_call(cp, user, IUCV_ACCEPT, &parm).cc != 0)
		fail("the service cannot accept a path");
}

static void on_event(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	struct bench *b = opaque;

	if (event->type == IUCV_MSG_COMPLETE && event->audit == 0)
		b->replies++;
	else if (event->type == IUCV_PENDING)
		accept_path(cp, user, event->path);
	else
		fail("the service got an event that it does not expect");
}

static void instruction(struct bench *b, enum iucv_function function)
{
	uint64_t gr[16] = { function, PARM };
	const struct cp_insn insn = { .gr = gr, .amode = 64 };
	struct cp_result result = cp_iucv(b->cp, &insn);

	if (result.how != CP_CC || result.cc != 0)
		fail("an IUCV function of the guest failed");
}

static void guest_start(struct bench *b)
{
	uint8_t *parm = b->storage + PARM;

	memset(parm, 0, IUCV_PARM_SIZE);
	put_be32(parm + 12, BUFFER);
	instruction(b, IUCV_DECLARE_BUFFER);
}

static void guest_connect(struct bench *b, uint32_t index)
{
	uint8_t *parm = b->storage + PARM;

	memset(parm, 0, IUCV_PARM_SIZE);
	parm[2] = IPRMDATA;
	put_be16(parm + 4, 255);
	ebcdic_name(parm + 8, SERVICE);
	instruction(b, IUCV_CONNECT);
	if (!cp_interrupt_take(b->cp, 0))
		fail("no interruption for a connection");
	b->path[index] = get_be16(parm);
}

static void round_trip(struct bench *b, uint16_t path)
{
	uint8_t *reply = b->storage + PARM;
	const uint8_t *event = b->storage + BUFFER;

	b->send.path = path;
	if (iucv_call(b->cp, b->service, IUCV_SEND, &b->send).cc != 0)
		fail("the service cannot send");
	if (!cp_interrupt_pending(b->cp, 0) || !cp_interrupt_take(b->cp, 0))
		fail("no interruption for a message");
	memset(reply, 0, IUCV_PARM_SIZE);
	memcpy(reply, event, 2);
	reply[2] = IPRMDATA;
	memcpy(reply + 4, event + 4, 8);
	instruction(b, IUCV_REPLY);
}

/* Of this thread: a second of one core, whatever else the machine does. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(struct bench *b, uint32_t paths, bool rotate, double seconds)
{
	const uint64_t before = allocations;
	double start = now(), elapsed;
	uint64_t trips = 0;
	uint32_t index = 0;

	b->replies = 0;
	do {
		for (uint32_t i = 0; i < BATCH; i++) {
			round_trip(b, b->path[index]);
			if (rotate && ++index == paths)
				index = 0;
		}
		trips += BATCH;
		elapsed = now() - start;
	} while (elapsed < seconds);
	if (allocations != before)
		fail("the core allocated memory for a message");
	if (b->replies != trips)
		fail("replies are missing");
	printf("{\"name\":\"iucv-round-trip\",\"paths\":%" PRIu32
	       ",\"rotate\":%s,\"per_second\":%.0f,\"trips\":%" PRIu64
	       ",\"allocations\":%" PRIu64 "}\n",
	       paths, rotate ? "true" : "false", (double)trips / elapsed, trips,
	       allocations - before);
}

static void configure(struct cp_config *config)
{
	static const char *const options[][2] = {
		{ "storage", "0.4M" },
		{ "segment", "" },
		{ "directory", "IUCV " SERVICE " MSGLIMIT 255;OPTION MAXCONN 65535" },
	};
	char err[256];

	cp_config_init(config);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (cp_config_set(config, options[i][0], options[i][1], err, sizeof(err)) != 0)
			fail(err);
}

static void run(uint32_t paths, double seconds)
{
	static const struct iucv_user_ops ops = { .event = on_event };
	struct bench b = { .send = { .flags = IPRMDATA } };
	const struct cp_host host = {
		.opaque = &b, .map = host_map, .dirty = host_dirty, .tod = host_tod,
		.kick = host_kick, .set_timer = host_set_timer,
		.storage_changed = host_storage_changed,
	};
	struct cp_config config;
	char err[256];

	configure(&config);
	b.storage = calloc(1, STORAGE);
	b.path = calloc(paths, sizeof(*b.path));
	if (!b.storage || !b.path)
		fail("not enough memory");
#ifndef __SANITIZE_ADDRESS__
	if (allocations < 2)
		fail("allocations are not counted");
#endif
	b.cp = cp_create(NULL, &config, &host, err, sizeof(err));
	if (!b.cp)
		fail(err);
	b.service = iucv_service_create(cp_system_of(b.cp), SERVICE, CP_MAX_PATHS, &ops, &b);
	if (!b.service)
		fail("the service cannot be created");
	guest_start(&b);
	for (uint32_t i = 0; i < paths; i++)
		guest_connect(&b, i);
	measure(&b, paths, false, seconds);
	measure(&b, paths, true, seconds);
	cp_destroy(b.cp);
	cp_config_fini(&config);
	free(b.path);
	free(b.storage);
}

static struct cp *log_on(struct cp_system *system, struct bench *b, const char *userid)
{
	const struct cp_host host = {
		.opaque = b, .map = host_map, .dirty = host_dirty, .tod = host_tod,
		.kick = host_kick, .set_timer = host_set_timer,
		.storage_changed = host_storage_changed,
	};
	struct cp_config config;
	char err[256];

	configure(&config);
	if (cp_config_set(&config, "directory", "IUCV ANY", err, sizeof(err)) != 0 ||
	    cp_config_set(&config, "userid", userid, err, sizeof(err)) != 0)
		fail(err);
	b->storage = calloc(1, STORAGE);
	b->path = calloc(1, sizeof(*b->path));
	if (!b->storage || !b->path)
		fail("not enough memory");
	b->cp = cp_create(system, &config, &host, err, sizeof(err));
	if (!b->cp)
		fail(err);
	cp_logon(b->cp);
	cp_config_fini(&config);
	guest_start(b);
	return b->cp;
}

static void take(struct bench *b)
{
	if (!cp_interrupt_pending(b->cp, 0) || !cp_interrupt_take(b->cp, 0))
		fail("no interruption between two machines");
}

/* RECEIVE or REPLY of the message whose interruption was the last. */
static void answer(struct bench *b, enum iucv_function function)
{
	uint8_t *parm = b->storage + PARM;

	memset(parm, 0, IUCV_PARM_SIZE);
	memcpy(parm, b->storage + BUFFER, 2);
	parm[2] = IPFGPID | IPFGMID;
	memcpy(parm + 4, b->storage + BUFFER + 4, 8);
	put_be32(parm + 12, DATA);
	put_be32(parm + 16, LENGTH);
	if (function == IUCV_REPLY)
		parm[2] = 0;
	instruction(b, function);
}

static void machines_trip(struct bench *from, struct bench *to)
{
	uint8_t *parm = from->storage + PARM;

	memset(parm, 0, IUCV_PARM_SIZE);
	put_be16(parm, from->path[0]);
	put_be32(parm + 12, DATA);
	put_be32(parm + 16, LENGTH);
	put_be32(parm + 32, DATA + LENGTH);
	put_be32(parm + 36, LENGTH);
	instruction(from, IUCV_SEND);
	take(to);
	answer(to, IUCV_RECEIVE);
	answer(to, IUCV_REPLY);
	take(from);
	from->replies += from->storage[BUFFER + 3] == IUCV_MSG_COMPLETE;
}

static void open_path(struct bench *from, struct bench *to)
{
	uint8_t *parm = from->storage + PARM;

	memset(parm, 0, IUCV_PARM_SIZE);
	put_be16(parm + 4, 255);
	ebcdic_name(parm + 8, "BOB");
	instruction(from, IUCV_CONNECT);
	from->path[0] = get_be16(parm);
	take(to);
	parm = to->storage + PARM;
	memset(parm, 0, IUCV_PARM_SIZE);
	memcpy(parm, to->storage + BUFFER, 2);
	put_be16(parm + 4, 255);
	instruction(to, IUCV_ACCEPT);
	take(from);
}

static void two_machines(double seconds)
{
	const struct cp_system_host host = { .tod = host_tod, .set_timer = host_set_timer };
	struct bench alice = { .replies = 0 }, bob = { .replies = 0 };
	struct cp_config config;
	struct cp_system *system;
	uint64_t trips = 0, before;
	double start, elapsed;
	char err[256];

	configure(&config);
	system = cp_system_create(&config, &host, err, sizeof(err));
	if (!system || !log_on(system, &alice, "ALICE") || !log_on(system, &bob, "BOB"))
		fail("the system cannot be made");
	open_path(&alice, &bob);
	before = allocations;
	start = now();
	do {
		for (uint32_t i = 0; i < BATCH; i++)
			machines_trip(&alice, &bob);
		trips += BATCH;
		elapsed = now() - start;
	} while (elapsed < seconds);
	if (allocations != before || alice.replies != trips)
		fail("replies are missing, or the core has allocated memory");
	printf("{\"name\":\"iucv-machines\",\"per_second\":%.0f,\"trips\":%" PRIu64 "}\n",
	       (double)trips / elapsed, trips);
	cp_system_destroy(system);
	cp_config_fini(&config);
	free(alice.storage);
	free(alice.path);
	free(bob.storage);
	free(bob.path);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[1], NULL) : 0;

	for (int i = 2; i < argc && seconds > 0; i++) {
		unsigned long paths = strtoul(argv[i], NULL, 10);

		if (strcmp(argv[i], "machines") == 0) {
			two_machines(seconds);
			continue;
		}
		if (paths == 0 || paths > CP_MAX_PATHS)
			fail("a number of paths is 1 to 65535");
		run((uint32_t)paths, seconds);
	}
	if (!(seconds > 0)) {
		fprintf(stderr, "usage: bench_iucv SECONDS PATHS|machines...\n");
		return 2;
	}
	return EXIT_SUCCESS;
}
