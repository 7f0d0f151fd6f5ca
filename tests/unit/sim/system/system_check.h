/* SPDX-License-Identifier: MIT */
/*
 * Machines of fake emulators: as members of a system that a thread of the test serves, or with a
 * CP of the test's own, so that the two can be compared.
 */
#ifndef SYSTEM_CHECK_H
#define SYSTEM_CHECK_H

#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bytes.h"
#include "cp_member.h"
#include "cp_port.h"
#include "ebcdic.h"
#include "iucv_fields.h"
#include "scratch.h"
#include "system_process.h"
#include "unit_test.h"
#include "zvmlab/iucv.h"

/* Storage of the emulator; of the guest the first 4 MiB; segments lie from 8 MiB on. */
#define RAM (16u << 20)
#define SEGMENTS "SHARED 800-80F SW;ROM 810-81F SR;OWN 820-82F EW"
#define SHARED_AT 0x800000u
#define ROM_AT 0x810000u
#define OWN_AT 0x820000u
#define PARM 0x1000u
#define BUFFER 0x2000u
#define DATA 0x10000u
#define ANSWER 0x200000u
/* A test that waits for somebody gives up after this. */
#define LIMIT_MS 120000

struct emulator {
	struct cp_port port;
	uint8_t *ram, *told;	/* storage, and what of it the emulator knows */
	uint64_t prefix, tod, timer, gr[16];
	unsigned int kicks, externals, changes, timers, requests[CP_MACHINE_REQUESTS];
	unsigned int pages[2], windows;
	const char *user;
	char trace[128];
	FILE *log;		/* all results */
	struct cp_insn insn;
};

static char socket_path[128], err[MEMBER_SENTENCE_MAX];
static struct sys *served;
static pthread_t server;
static int server_stop;
/* Lines that ask for a user's machine. */
static int server_starts[2];

/* CP of the test's own, for comparison; NULL: machines are members of the process'. */
static struct cp_system *own_system;

static inline struct emulator *emulator_of(void *opaque)
{
	return (struct emulator *)((char *)opaque - offsetof(struct emulator, port));
}

static inline uint64_t absolute(const struct cp_port *port, int cpu, uint64_t addr)
{
	const uint64_t prefix = ((const struct emulator *)port)->prefix;

	if (cpu == CP_ABSOLUTE)
		return addr;
	if (addr < 0x2000)
		return addr + prefix;
	return addr - prefix < 0x2000 ? addr - prefix : addr;
}

static inline bool host_window(void *opaque, const struct cp_window *window)
{
	emulator_of(opaque)->windows++;
	return cp_port_window(opaque, window);
}

static inline void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct emulator *e = emulator_of(opaque);
	const uint64_t at = cp_port_stored(&e->port, cpu, addr, len);

	memcpy(e->told + at, e->ram + at, len);
}

static inline uint64_t host_tod(void *opaque)
{
	return emulator_of(opaque)->tod;
}

static inline void host_kick(void *opaque, unsigned int cpu)
{
	ck_assert_uint_eq(cpu, 0);
	emulator_of(opaque)->kicks++;
}

static inline void host_external(void *opaque, unsigned int cpu)
{
	ck_assert_uint_eq(cpu, 0);
	emulator_of(opaque)->externals++;
}

static inline void host_set_timer(void *opaque, uint64_t tod)
{
	emulator_of(opaque)->timers++;
	emulator_of(opaque)->timer = tod;
}

static inline void host_storage_changed(void *opaque)
{
	emulator_of(opaque)->changes++;
}

static inline void host_page_changed(void *opaque, uint64_t addr, bool out)
{
	ck_assert_uint_lt(addr, RAM);
	emulator_of(opaque)->pages[out]++;
}

static inline void host_machine(void *opaque, enum cp_machine_request what)
{
	emulator_of(opaque)->requests[what]++;
}

static inline void host_console(void *opaque, const char *text, size_t len)
{
	if (emulator_of(opaque)->log)
		fwrite(text, 1, len, emulator_of(opaque)->log);
}

static void __attribute__((noreturn)) host_end(const char *why)
{
	fprintf(stderr, "%s\n", why);
	_exit(3);
}

static const struct cp_port_words words = {
	.storage = "--ram=", .megabytes = "MB", .shared = "--shared", .end = host_end,
};

static inline void *serve(void *unused)
{
	ck_assert_int_eq(sys_run(served, server_stop), 0);
	return unused;
}

/* CP's own clock: nothing of what is compared depends on the time. */
static inline uint64_t system_tod(void)
{
	return UINT64_C(0xd000000000000000);
}

static inline void system_config(struct cp_config *config)
{
	cp_config_init(config);
	ck_assert_int_eq(cp_config_set(config, "segment", SEGMENTS, err, sizeof(err)), 0);
}

/* Of a machine's turn; 0: they take none. */
static uint64_t turn_ns;

static inline void system_start(void)
{
	struct cp_config config;

	folder_make();
	snprintf(socket_path, sizeof(socket_path), "%s/system", folder);
	system_config(&config);
	ck_assert_int_eq(pipe(server_starts), 0);
	served = sys_open(&config, system_tod, server_starts[1], turn_ns, err, sizeof(err));
	ck_assert_msg(served != NULL, "%s", err);
	ck_assert_msg(sys_listen(served, socket_path, err, sizeof(err)) == 0, "%s", err);
	cp_config_fini(&config);
	server_stop = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_eq(pthread_create(&server, NULL, serve, NULL), 0);
}

/* The thread ends; the system is the test's. */
static inline void system_halt(void)
{
	if (server_stop < 0)
		return;
	ck_assert_int_eq(eventfd_write(server_stop, 1), 0);
	ck_assert_int_eq(pthread_join(server, NULL), 0);
	close(server_stop);
	server_stop = -1;
}

static inline void system_stop(void)
{
	system_halt();
	sys_close(served);
	close(server_starts[0]);
	close(server_starts[1]);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* A memfd as an emulator has it. */
static inline int storage_new(uint64_t size)
{
	int fd = memfd_create("ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

static inline void set(struct emulator *e, const char *key, const char *value)
{
	ck_assert_msg(cp_port_set(&e->port, key, value, err, sizeof(err)) == 0, "%s", err);
}

/* Options as a test wants them may come after this; see emulator_start(). */
static inline void emulator_init(struct emulator *e, const char *user)
{
	*e = (struct emulator){ .user = user, .tod = UINT64_C(0xd000000000000000) };
	cp_port_init(&e->port, &words, absolute);
	e->port.ram_fd = storage_new(RAM);
	e->port.ram_size = RAM;
	e->ram = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, e->port.ram_fd, 0);
	e->told = calloc(1, RAM);
	e->port.ram = e->ram;
	set(e, "userid", user);
	set(e, "storage", "0.4M");
	set(e, "segment", SEGMENTS);
	set(e, "directory", "IUCV ALLOW;IUCV ANY;OPTION MAXCONN 8;SPOOL 00D 2540 PUNCH A");
	set(e, "conmode", "3215");
	snprintf(e->trace, sizeof(e->trace), "%s/%s.jsonl", folder, user);
	set(e, "trace", e->trace);
	if (!own_system)
		set(e, "system", socket_path);
}

static inline void emulator_host(struct emulator *e, struct cp_host *host)
{
	cp_port_host(&e->port, host);
	host->window = host_window;
	host->dirty = host_dirty;
	host->tod = host_tod;
	host->kick = host_kick;
	host->set_timer = host_set_timer;
	host->storage_changed = host_storage_changed;
	host->page_changed = host_page_changed;
	host->external = host_external;
	host->machine = host_machine;
	host->console = host_console;
}

/* Return: 0, or -1 with the reason in err. */
static inline int emulator_start(struct emulator *e)
{
	struct cp_host host;

	if (cp_port_open(&e->port, err, sizeof(err)) != 0)
		return -1;
	emulator_host(e, &host);
	if (!own_system)
		return cp_port_create(&e->port, &host, err, sizeof(err));
	e->port.cp = cp_create(own_system, &e->port.config, &host, err, sizeof(err));
	if (!e->port.cp)
		return -1;
	cp_logon(e->port.cp);
	e->port.calls->attach(&e->port);
	return 0;
}

static inline void emulator_new(struct emulator *e, const char *user)
{
	emulator_init(e, user);
	ck_assert_msg(emulator_start(e) == 0, "%s", err);
}

static inline void emulator_end(struct emulator *e)
{
	const int fd = e->port.ram_fd;

	cp_port_fini(&e->port);
	munmap(e->ram, RAM);
	free(e->told);
	close(fd);
	unlink(e->trace);
}

/* Bytes that the guest stores itself. */
static inline void put(struct emulator *e, uint64_t addr, const void *bytes, size_t len)
{
	memcpy(e->ram + addr, bytes, len);
	memcpy(e->told + addr, bytes, len);
}

/* CP has stored nothing that the emulator was not told of. */
static inline void ck_told(const struct emulator *e)
{
	ck_assert_mem_eq(e->told, e->ram, 4u << 20);
}

static inline const struct cp_insn *insn(struct emulator *e)
{
	/* A microsecond later. */
	e->tod += 4096;
	e->insn = (struct cp_insn){ .gr = e->gr, .amode = 64 };
	return &e->insn;
}

static inline void note(struct emulator *e, const char *what, struct cp_result result)
{
	if (e->log)
		fprintf(e->log, "%s %s: %d %u %u %llx %llx\n", e->user, what, result.how, result.cc,
			result.pgm, (unsigned long long)e->gr[2], (unsigned long long)e->gr[3]);
}

static inline struct cp_result iucv(struct emulator *e, uint32_t function)
{
	struct cp_result result;

	e->gr[0] = function;
	e->gr[1] = PARM;
	result = e->port.calls->iucv(&e->port, insn(e));
	note(e, "iucv", result);
	ck_told(e);
	return result;
}

static inline struct cp_result diagnose(struct emulator *e, uint16_t code)
{
	const struct cp_result result =
		e->port.calls->diagnose(&e->port, insn(e), 2, 4, code);

	note(e, "diagnose", result);
	ck_told(e);
	return result;
}

/* The interruption buffer, or NULL if there is none. */
static inline const uint8_t *take(struct emulator *e)
{
	bool more, taken;

	e->tod += 4096;
	taken = e->port.calls->interrupt_take(&e->port, 0, &more);
	ck_told(e);
	if (e->log)
		fprintf(e->log, "%s take: %d\n", e->user, taken);
	return taken ? e->ram + BUFFER : NULL;
}

/* The same, of @type; what another machine has done is there as soon as that has its reply. */
static inline const uint8_t *ck_take(struct emulator *e, enum iucv_type type)
{
	const uint8_t *event = take(e);

	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event[IPTYPE], type);
	return event;
}

static inline uint8_t *parm_zero(struct emulator *e)
{
	static const uint8_t zero[40];

	put(e, PARM, zero, sizeof(zero));
	return e->ram + PARM;
}

/* What has been put together at PARM is the guest's. */
static inline void ck_iucv(struct emulator *e, uint32_t function)
{
	struct cp_result result;

	memcpy(e->told + PARM, e->ram + PARM, 40);
	result = iucv(e, function);
	ck_assert_int_eq(result.how, CP_CC);
	ck_assert_int_eq(result.cc, 0);
}

static inline void declare(struct emulator *e)
{
	uint8_t *p = parm_zero(e);

	put_be32(p + IPBFADR1, BUFFER);
	ck_iucv(e, IUCV_DECLARE_BUFFER);
	p = parm_zero(e);
	p[IPMASK] = 0xf8;
	ck_iucv(e, IUCV_SET_MASK);
	p = parm_zero(e);
	p[IPMASK] = 0xf8;
	ck_iucv(e, IUCV_SET_CONTROL_MASK);
}

/* The parameter list of CONNECT is there. */
static inline void fill_connect(struct emulator *e, const char *to)
{
	uint8_t *p = parm_zero(e);

	put_be16(p + IPMSGLIM, 10);
	ebcdic_name(p + IPVMID, to);
	memset(p + IPUSER, 0xc1, 16);
}

/* Wait until @user is logged on, or is not, as another one is told. */
static inline void ck_users(struct emulator *e, const char *user, bool there)
{
	for (unsigned int tries = 0; tries < LIMIT_MS; tries++) {
		fill_connect(e, user);
		memcpy(e->told + PARM, e->ram + PARM, 40);
		iucv(e, IUCV_CONNECT);
		/* Not logged on; no buffer declared. */
		if ((e->ram[PARM + IPRCODE] == 0x0b) != there)
			return;
		poll(NULL, 0, 1);
	}
	ck_abort_msg("%s", user);
}

/* An open path: both ends. */
static inline void open_path(struct emulator *from, struct emulator *to, uint16_t path[2])
{
	fill_connect(from, to->user);
	ck_iucv(from, IUCV_CONNECT);
	path[0] = get_be16(from->ram + PARM + IPPATHID);
	path[1] = get_be16(ck_take(to, IUCV_PENDING) + IPPATHID);
	put_be16(parm_zero(to) + IPPATHID, path[1]);
	put_be16(to->ram + PARM + IPMSGLIM, 10);
	ck_iucv(to, IUCV_ACCEPT);
	ck_take(from, IUCV_COMPLETE);
}

static inline uint32_t send_message(struct emulator *e, uint16_t path, uint32_t len)
{
	uint8_t *p = parm_zero(e);

	put_be16(p + IPPATHID, path);
	put_be32(p + IPTRGCLS, 0x11111111);
	put_be32(p + IPBFADR1, DATA);
	put_be32(p + IPBFLN1F, len);
	put_be32(p + IPBFADR2, ANSWER);
	put_be32(p + IPBFLN2F, len);
	ck_iucv(e, IUCV_SEND);
	return get_be32(e->ram + PARM + IPMSGID);
}

static inline void on_message(struct emulator *e, uint32_t function, uint16_t path, uint32_t id,
			      uint32_t addr, uint32_t len)
{
	uint8_t *p = parm_zero(e);

	put_be16(p + IPPATHID, path);
	p[IPFLAGS1] = function == IUCV_RECEIVE ? IPFGPID | IPFGMID : 0;
	put_be32(p + IPMSGID, id);
	put_be32(p + IPTRGCLS, 0x11111111);
	put_be32(p + IPBFADR1, addr);
	put_be32(p + IPBFLN1F, len);
	ck_iucv(e, function);
}

/* By DIAGNOSE X'08', without a response; return: the command's return code. */
static inline unsigned int command(struct emulator *e, const char *text)
{
	uint8_t ebcdic[64];

	ebcdic_encode(ebcdic, text, strlen(text));
	put(e, DATA, ebcdic, strlen(text));
	e->gr[2] = DATA;
	e->gr[4] = strlen(text);
	ck_assert_int_ne(diagnose(e, 0x08).how, CP_PROGRAM);
	return (unsigned int)e->gr[4];
}

#endif
