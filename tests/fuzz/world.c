// SPDX-License-Identifier: MIT
/* A CP, the emulator below it and the peers beside it: world.h. */
#define _GNU_SOURCE /* memmem */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "hash.h"
#include "ebcdic.h"
#include "zvmlab/event.h"
#include "zvmlab/recording.h"
#include "zvmlab/page.h"
#include "zvmlab/state.h"

#define PAGE CP_PAGE_SIZE
#define PAGES (WORLD_STORAGE / PAGE)
/* Calls that peers make from within events in one input; they could go on forever. */
#define MOST_CALLS 300
#define MOST_LOADS 4
#define CHECKSUM 8

struct world world;
const char *const world_peer_names[WORLD_PEERS] = { "PEER1", "PEER2", "PEER3" };

static const struct model_statement open_directory[] = {
	{ "ALLOW", 0, false },	    { "ANY", 0, true }, { "*MSG", 0, false },
	{ "*MONITOR", 255, false }, { "*LOGREC", 0, false },
	{ "*ACCOUNT", 0, false },   { "*SYMPTOM", 0, false },
	{ "", 0, false },
};
static const struct model_statement close_directory[] = {
	{ "PEER1", 3, true },
	{ "ALLOW", 2, false },
	{ "*MONITOR", 2, false },
	{ "", 0, false },
};
static const struct directory {
	const char *text;
	const struct model_statement *statements;
} directories[] = {
	{ "IUCV ALLOW;IUCV ANY PRIORITY;IUCV *MSG;IUCV *MONITOR MSGLIMIT 255;IUCV *LOGREC;"
	  "IUCV *ACCOUNT;IUCV *SYMPTOM;NAMESAVE MONDCSS;"
	  "OPTION APPLMON;MDISK 10 FB-512 V-DISK 16 W;MDISK 11 FB-512 V-DISK 8 R",
	  open_directory },
	{ "IUCV PEER1 PRIORITY MSGLIMIT 3;IUCV ALLOW MSGLIMIT 2;IUCV *MONITOR MSGLIMIT 2;"
	  "NAMESAVE MONDCSS",
	  close_directory },
};
static const char spool[] = ";SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A";
/* With them CPUs can come and go, up to those of the machine. */
static const char *const cpu_statements[] = { ";CPU 00 BASE", ";CPU 00 BASE;CPU 01" };
static const char *const segments[] = {
	"MONDCSS 100-11F SC RSTD;DATA 120-123 EW 124-127 EN;WRITE 128-12F SW",
	"MONDCSS 100-107 SC RSTD;INNER F0-F3 SN;READ 130-137 SR 138-13F ER",
	"DATA 100-101 SC 104-105 SC 108-109 SC;MONDCSS 110-13F SC RSTD",
	"",
};

static uint8_t storages[2][WORLD_STORAGE];
static bool stored[2][PAGES];

void world_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

/* The emulator. */

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	const uint64_t area = addr & ~UINT64_C(0x1fff);
	const struct world_machine *m = opaque;

	if ((m != &world.machine[0] && m != &world.machine[1]) || len == 0 || cpu < CP_ABSOLUTE || cpu >= (int)world.cpus)
		world_fail("map: CPU %d, length %llu", cpu, (unsigned long long)len);
	if (cpu != CP_ABSOLUTE) {
		if (addr / PAGE != (addr + len - 1) / PAGE)
			world_fail("map: a real range crosses a page");
		if (area == 0)
			addr += m->prefix[cpu];
		else if (area == m->prefix[cpu])
			addr -= m->prefix[cpu];
	}
	if (addr >= WORLD_STORAGE || len > WORLD_STORAGE - addr)
		return NULL;
	if (addr >= WORLD_STORAGE_OWN)
		m = &world.machine[0];
	else if (m != &world.machine[0] && len > WORLD_STORAGE_OWN - addr)
		return NULL;
	return m->storage + addr;
}

static void mark(uint8_t *at, uint64_t len)
{
	struct world_machine *m = &world.machine[0];
	uint64_t addr;

	if (at < m->storage || at >= m->storage + WORLD_STORAGE)
		m++;
	addr = (uint64_t)(at - m->storage);
	for (uint64_t page = addr / PAGE; page <= (addr + len - 1) / PAGE; page++)
		m->stored[page] = true;
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	uint8_t *at = host_map(opaque, cpu, addr, len);

	if (!at)
		world_fail("dirty: 0x%llx is no storage", (unsigned long long)addr);
	mark(at, len);
}

static bool host_release(void *opaque, int cpu, uint64_t addr)
{
	uint8_t *at = host_map(opaque, cpu, addr, PAGE);

	if (!at || addr % PAGE != 0)
		world_fail("release: 0x%llx is no page", (unsigned long long)addr);
	memset(at, 0, PAGE);
	return true;
}

static uint64_t host_tod(void *opaque)
{
	(void)opaque;
	return world.tod;
}

static bool has_cpu(const struct world_machine *m, unsigned int cpu)
{
	return cpu < world.cpus && m->cpus >> cpu & 1;
}

unsigned int world_cpu(unsigned int any)
{
	while (!has_cpu(world.of, any % world.cpus))
		any++;
	return any % world.cpus;
}

static void host_kick(void *opaque, unsigned int cpu)
{
	struct world_machine *m = opaque;

	if (!has_cpu(m, cpu))
		world_fail("kick of CPU %u", cpu);
	m->kicked[cpu] = true;
}

/* CPUs come and go; one that goes has been reset. */
static void host_cpus(void *opaque, uint64_t cpus)
{
	struct world_machine *m = opaque;

	if (!(cpus & 1) || cpus >> world.cpus)
		world_fail("CPUs 0x%llx", (unsigned long long)cpus);
	for (unsigned int cpu = 0; cpu < world.cpus; cpu++)
		if (m == &world.machine[0] && m->cpus & ~cpus & UINT64_C(1) << cpu)
			model_reset_cpu(&world.model, cpu);
	m->cpus = cpus;
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	world.timer = tod;
}

static void host_system_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	world.system_timer = tod;
}

static bool host_window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	(void)window;
	return true;
}

static void host_storage_changed(void *opaque)
{
	(void)opaque;
}

static void host_page_changed(void *opaque, uint64_t addr, bool out)
{
	const struct world_machine *m = opaque;

	if (addr % PAGE != 0 || addr >= WORLD_STORAGE || cp_page_is_out(m->cp, addr) != out)
		world_fail("page 0x%llx", (unsigned long long)addr);
}

static void host_external(void *opaque, unsigned int cpu)
{
	if (!has_cpu(opaque, cpu))
		world_fail("external interruption for CPU %u", cpu);
}

static void host_registers(void *opaque, unsigned int cpu, struct cp_registers *to)
{
	const struct world_machine *m = opaque;

	if (!has_cpu(m, cpu))
		world_fail("registers of CPU %u", cpu);
	to->prefix = (uint32_t)m->prefix[cpu];
}

/* Whatever the guest gives, a line of the trace is one line of printable text. */
static void host_trace(void *opaque, const char *line, size_t len)
{
	(void)opaque;
	if (len < 2 || line[0] != '{' || line[len - 1] != '}' || line[len] != '\0')
		world_fail("trace: no record: %.200s", line);
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)line[i] < ' ' || (uint8_t)line[i] > '~')
			world_fail("trace: byte 0x%02x in a line", (uint8_t)line[i]);
}

static void host_event(void *opaque, const struct cp_event *event)
{
	(void)opaque;
	if (event->kind < 0 || event->kind >= CP_EVENT_KINDS || !event->name || !event->text)
		world_fail("event: kind %d", (int)event->kind);
	if (event->kind == CP_EVENT_RESET)
		model_reset(&world.model);
	if (world.observe)
		world.observe(event);
}

/* Its life. */

static void set(const char *key, const char *value)
{
	char err[256];

	if (cp_config_set(&world.config, key, value, err, sizeof(err)) != 0)
		world_fail("configuration: %s", err);
}

/* Paths are open before the first operation: from each peer to the guest, and back. */
static void open_paths(const uint8_t head[WORLD_HEAD])
{
	struct iucv_parm parm = { .flags = IPRMDATA | (head[3] & 1 ? 0 : IPPRTY),
				  .msglim = 1 + head[7] % 5 };

	for (unsigned int cpu = 0; cpu < world.cpus; cpu++)
		if (has_cpu(world.of, cpu))
			world_guest_call(cpu, IUCV_DECLARE_BUFFER,
					 &(struct iucv_parm){ .buffer.addr = 0x2000 + cpu * 64 });
	for (unsigned int i = 0; i < WORLD_PEERS; i++) {
		struct world_peer *peer = &world.peer[i];

		peer->policy = PEER_ACCEPTS | PEER_REPLIES;
		strcpy(parm.vmid, world_peer_names[i]);
		world_guest_call(0, IUCV_CONNECT, &parm);
		strcpy(parm.vmid, world.config.userid);
		world_peer_call(peer, IUCV_CONNECT, &parm, 0, 0, 0);
		peer->policy = head[5 + i];
	}
	parm = (struct iucv_parm){ .flags = parm.flags };
	for (; parm.path < world.config.max_paths; parm.path++)
		world_guest_call(0, IUCV_ACCEPT, &parm);
}

static void log_on(struct world_machine *m, const struct cp_config *config)
{
	char err[256];

	world.host.opaque = m;
	m->cp = cp_create(world.system, config, &world.host, err, sizeof(err));
	if (!m->cp)
		world_fail("%s", err);
	if (world.system)
		cp_logon(m->cp);
}

static void make_system(void)
{
	const struct cp_system_host host = { .tod = host_tod, .set_timer = host_system_timer };
	char err[256];

	world.system = cp_system_create(&world.config, &host, err, sizeof(err));
	if (!world.system || cp_config_copy(&world.config_of_neighbour, &world.config) != 0)
		world_fail("%s", err);
	if (cp_config_set(&world.config_of_neighbour, "userid", "NOBODY", err, sizeof(err)) != 0)
		world_fail("configuration: %s", err);
}

bool world_neighbour(bool on)
{
	struct world_machine *m = &world.machine[on];

	if (!m->cp)
		return false;
	world.of = m;
	world.cp = m->cp;
	return true;
}

/* An image is of those who were logged on when it was saved. */
static void forget_image(void)
{
	free(world.image);
	world.image = NULL;
}

void world_neighbour_logon(void)
{
	if (!world.system || world.machine[1].cp)
		return;
	forget_image();
	log_on(&world.machine[1], &world.config_of_neighbour);
}

void world_neighbour_logoff(void)
{
	struct world_machine *m = &world.machine[1];

	if (!m->cp)
		return;
	forget_image();
	cp_destroy(m->cp);
	m->cp = NULL;
	memset(m->prefix, 0, sizeof(m->prefix));
	memset(m->could, 0, sizeof(m->could));
}

void world_start(const uint8_t head[WORLD_HEAD])
{
	const struct directory *directory = &directories[head[3] & 1];
	struct cp_host host = {
		.opaque = &world.machine[0],
		.map = host_map,
		.window = host_window,
		.dirty = host_dirty,
		.release = host_release,
		.tod = host_tod,
		.kick = host_kick,
		.set_timer = host_set_timer,
		.storage_changed = host_storage_changed,
		.page_changed = host_page_changed,
		.external = host_external,
		.registers = host_registers,
		.cpus = host_cpus,
		.devices_changed = host_storage_changed,
		.reader_ready = host_storage_changed,
		.sclp = true,
		.event = host_event,
	};
	char cpus[8], text[512];

	memset(&world, 0, sizeof(world));
	for (unsigned int i = 0; i < 2; i++) {
		world.machine[i].storage = storages[i];
		world.machine[i].stored = stored[i];
	}
	world.of = &world.machine[0];
	world.keep = head[0] & 1;
	world.whole = head[0] & 8;
	world.spool = head[3] & 0x20;
	world.cpus = 1 + head[1] % WORLD_CPUS;
	world.tod = UINT64_C(0xd000000000000000);
	cp_config_init(&world.config);
	snprintf(cpus, sizeof(cpus), "%u", world.cpus);
	set("cpus", cpus);
	set("storage", "0.1M");
	snprintf(text, sizeof(text), "%s%s%s", directory->text, world.spool ? spool : "",
		 head[3] & 0x40 ? cpu_statements[world.cpus > 1 && head[3] & 0x80] : "");
	set("directory", text);
	set("segment", segments[(head[3] >> 1) % 4]);
	set("class", head[3] & 0x10 ? "G" : "ABCDEFG");
	world.config.max_paths = 1 + head[1] / WORLD_CPUS % MODEL_PATHS;
	world.config.max_messages = 1 + head[2] % (MODEL_MESSAGES - 1);
	world.config.trace_full = head[0] & 4;
	if (head[0] & 6)
		host.trace = host_trace;
	world.host = host;
	if (head[0] & 0x10 && !world.keep)
		make_system();
	log_on(&world.machine[0], &world.config);
	world.cp = world.machine[0].cp;
	if (world.system)
		world_neighbour_logon();
	model_start(&world.model, world.cpus, world.config.max_messages, directory->statements);
	model_logon(&world.model, 0, world.config.userid, world.config.max_paths);
	for (unsigned int i = 0; i < WORLD_PEERS; i++) {
		world.peer[i].index = i + 1;
		world.peer[i].policy = head[5 + i];
		if (head[4] & 1 << i)
			world_logon(i, 1 + (head[4] >> 3) % MODEL_PATHS);
	}
	world.model.lost = world.system;
	if (head[0] & 0x20)
		open_paths(head);
}

/* Pages that nobody has told of are as they were. */
static void compare_storage(struct world_machine *m)
{
	static const uint8_t zeros[PAGE];

	for (unsigned int page = 0; page < PAGES; page++) {
		uint8_t *at = m->storage + page * PAGE;

		if (!m->stored[page] && world.whole && memcmp(at, zeros, PAGE) != 0)
			world_fail("page 0x%x was changed, and the emulator not told", page);
		if (m->stored[page])
			memset(at, 0, PAGE);
		m->stored[page] = false;
	}
}

void world_end(void)
{
	for (unsigned int i = 0; i < WORLD_PEERS; i++)
		if (world.peer[i].user)
			world_logoff(i);
	if (world.system)
		cp_system_destroy(world.system);
	else
		cp_destroy(world.cp);
	cp_config_fini(&world.config);
	cp_config_fini(&world.config_of_neighbour);
	free(world.image);
	compare_storage(&world.machine[0]);
	compare_storage(&world.machine[1]);
}

void world_poke(uint32_t addr, const void *bytes, uint32_t len)
{
	addr %= WORLD_STORAGE;
	if (len > WORLD_STORAGE - addr)
		len = WORLD_STORAGE - addr;
	if (len == 0)
		return;
	memcpy(world.of->storage + addr, bytes, len);
	mark(world.of->storage + addr, len);
}

const uint8_t *world_at(uint32_t addr)
{
	return addr < WORLD_STORAGE ? world.of->storage + addr : NULL;
}

/* Calls, and what the model says of them. */

static void saw(uint32_t id)
{
	if (id == 0)
		world_fail("a message has the id 0");
	world.ids[world.seen++ % 8] = id;
}

static void same(const char *what, unsigned int function, uint64_t core, uint64_t model)
{
	if (core != model)
		world_fail("function %u, %s: the core says %llu, the model %llu", function, what,
			   (unsigned long long)core, (unsigned long long)model);
}

static void same_codes(unsigned int function, const struct model_answer *a, uint8_t cc,
		       uint8_t code, uint16_t pgm)
{
	same("program interruption", function, pgm, 0);
	same("condition code", function, cc, a->cc);
	if (cc == 1 && a->codes[0] + a->codes[1] + a->codes[2] + a->codes[3] == 0)
		same("IPRCODE", function, code, MODEL_NO_CODE);
	else if (cc == 1 && !(a->codes[code / 64] & UINT64_C(1) << code % 64))
		world_fail("function %u: the model does not expect IPRCODE %02x", function, code);
}

/* What the function has filled in. */
static void same_parm(unsigned int function, const struct model_answer *a, uint8_t cc,
		      const struct iucv_parm *parm)
{
	const struct iucv_parm *b = &a->parm;
	const bool told =
		cc == 0 || cc == 3 || (cc == 1 && function == IUCV_RECEIVE && a->message >= 0);

	/* Told with code 05 only. */
	if (function == IUCV_REPLY && b->residual > 0)
		same("residual", function, parm->residual, b->residual);
	if (!told)
		return;
	switch (function) {
	case IUCV_CONNECT:
	case IUCV_ACCEPT:
		same("path", function, parm->path, b->path);
		same("message limit", function, parm->msglim, b->msglim);
		same("flags", function, parm->flags, b->flags);
		break;
	case IUCV_SEND:
		/* Its target may have ended it meanwhile, and sent another one. */
		if (world.model.message[a->message].born == a->born)
			model_identify(&world.model, a->message, parm->msgid);
		saw(parm->msgid);
		break;
	case IUCV_DESCRIBE:
	case IUCV_RECEIVE:
		same("path", function, parm->path, b->path);
		same("message", function, parm->msgid, b->msgid);
		same("target class", function, parm->trgcls, b->trgcls);
		same("flags", function, parm->flags, b->flags);
		same("longest reply", function, parm->answer.len, b->answer.len);
		if (function == IUCV_RECEIVE && !(b->flags & IPRMDATA))
			same("residual", function, parm->residual, b->residual);
		break;
	case IUCV_PURGE:
	case IUCV_TEST_COMPLETION:
		/* PURGE does not store it. */
		if (function == IUCV_TEST_COMPLETION)
			same("path", function, parm->path, b->path);
		same("message", function, parm->msgid, b->msgid);
		same("source class", function, parm->srccls, b->srccls);
		same("tag", function, parm->msgtag, b->msgtag);
		same("audit", function, parm->audit, b->audit);
		if (function == IUCV_TEST_COMPLETION)
			same("rest of the answer area", function, parm->answer.len, b->answer.len);
		break;
	default:
		break;
	}
}

/*
 * Bytes that RECEIVE is going to bring, as far as that can be told: the sender's area and ours
 * lie apart.  A copy: the sender may let go of them when it is told.  @own: where they go.
 */
static uint8_t *expected_data(const struct model_message *msg, const uint8_t *own,
				    uint32_t len)
{
	const uint8_t *from;
	uint8_t *copy;

	if (!msg->area.host && msg->area.addr + (uint64_t)msg->length > WORLD_STORAGE)
		return NULL;
	from = msg->area.host ? msg->area.ptr : world.of->storage + msg->area.addr;
	if (!from || msg->flags & IPRMDATA)
		return NULL;
	from += msg->received - len;
	if (from < own + len && own < from + len)
		return NULL;
	copy = malloc(len);
	if (!copy)
		abort();
	return memcpy(copy, from, len);
}

static void put_parm(uint32_t at, enum iucv_function function, const struct iucv_parm *parm)
{
	uint8_t image[IUCV_PARM_SIZE] = { 0 };

	if (function == IUCV_SET_MASK || function == IUCV_SET_CONTROL_MASK) {
		image[0] = parm->mask;
		world_poke(at, image, sizeof(image));
		return;
	}
	put_be16(image, parm->path);
	image[2] = parm->flags;
	image[3] = 0xee;
	if (function == IUCV_CONNECT || function == IUCV_ACCEPT || function == IUCV_QUIESCE ||
	    function == IUCV_RESUME || function == IUCV_SEVER) {
		put_be16(image + 4, parm->msglim);
		ebcdic_name(image + 8, parm->vmid);
		memcpy(image + 16, parm->ipuser, 16);
		if (function == IUCV_CONNECT)
			ebcdic_name(image + 32, parm->target);
		world_poke(at, image, sizeof(image));
		return;
	}
	put_be32(image + 4, parm->msgid);
	put_be32(image + 8, parm->trgcls);
	put_be32(image + 12, parm->buffer.addr);
	put_be32(image + 16, parm->buffer.len);
	if (parm->flags & IPRMDATA && (function == IUCV_SEND || function == IUCV_REPLY))
		memcpy(image + 12, parm->rmmsg, 8);
	put_be32(image + 20, parm->srccls);
	put_be32(image + 24, parm->msgtag);
	put_be32(image + 28, parm->answer.addr);
	put_be32(image + 32, parm->answer.len);
	world_poke(at, image, sizeof(image));
}

/* The fields that a function may have changed. */
static void get_parm(const uint8_t *image, enum iucv_function function, struct iucv_parm *parm)
{
	parm->path = get_be16(image);
	parm->flags = image[2];
	if (function == IUCV_CONNECT || function == IUCV_ACCEPT) {
		parm->msglim = get_be16(image + 4);
		return;
	}
	parm->msgid = get_be32(image + 4);
	parm->trgcls = get_be32(image + 8);
	parm->audit = parm->trgcls >> 8;
	parm->residual = get_be32(image + 16);
	parm->srccls = get_be32(image + 20);
	parm->msgtag = get_be32(image + 24);
	parm->answer.len = get_be32(image + 32);
}

/* Nothing but what the function stores has changed in the list. */
static void same_rest(enum iucv_function function, uint8_t cc, uint8_t code, const uint8_t *before,
		      const uint8_t *after)
{
	const bool results = cc == 0 || cc == 3 || (cc == 1 && code == 5);

	if (!results && (memcmp(before, after, 3) != 0 || memcmp(before + 4, after + 4, 36) != 0))
		world_fail("function %u: cc %u has changed the list", (unsigned int)function, cc);
	if (memcmp(before + 36, after + 36, 4) != 0 && function != IUCV_CONNECT)
		world_fail("function %u has changed the list's end", (unsigned int)function);
}

/* Services of CP, of which the model knows nothing. */
static bool is_service(const char *name)
{
	for (unsigned int i = 0; i < REC_SERVICES; i++)
		if (strcmp(name, rec_service_info[i].service) == 0)
			return true;
	return strcmp(name, "*MSG") == 0 || strcmp(name, "*MONITOR") == 0;
}

/* Does a call name only what the model knows of? */
static bool usable(const struct iucv_parm *parm, enum iucv_function function)
{
	const uint64_t last = parm->buffer.addr + (uint64_t)parm->buffer.len;
	const uint64_t answer = parm->answer.addr + (uint64_t)parm->answer.len;

	if (function == IUCV_DECLARE_BUFFER)
		return parm->buffer.addr % 8 == 0 && parm->buffer.addr <= 0xff000;
	if (function == IUCV_CONNECT)
		return !is_service(parm->vmid);
	return last <= 0xf0000 && answer <= 0xf0000;
}

/* What a decoded list would be: fields that the function does not have are zero. */
static struct iucv_parm as_decoded(const struct iucv_parm *parm, enum iucv_function function)
{
	struct iucv_parm p = *parm;

	if ((function == IUCV_SEND || function == IUCV_REPLY) && p.flags & IPRMDATA)
		p.buffer = (struct iucv_area){ 0 };
	if (function != IUCV_SEND || p.flags & IPNORPY)
		p.answer = (struct iucv_area){ 0 };
	p.buffer.list = p.buffer.list && (function == IUCV_SEND || function == IUCV_RECEIVE ||
					  function == IUCV_REPLY);
	return p;
}

void world_guest_call(unsigned int cpu, enum iucv_function function, const struct iucv_parm *given)
{
	const struct iucv_parm parm = as_decoded(given, function);
	const uint32_t at = WORLD_PARM + cpu * 64;
	struct cp_insn insn = { .cpu = cpu, .gr = world.gr, .amode = 64 };
	uint8_t before[IUCV_PARM_SIZE], image[IUCV_PARM_SIZE];
	struct iucv_parm out = parm;
	struct model_answer a;
	struct cp_result result;
	uint8_t *data = NULL;

	if (world.of->prefix[cpu] || !usable(&parm, function))
		world.model.lost = true;
	a = model_call(&world.model, 0, cpu, function, &parm);
	put_parm(at, function, &parm);
	memcpy(before, world.of->storage + at, sizeof(before));
	world.gr[0] = function | UINT64_C(0xabc00000000);
	world.gr[1] = at;
	if (a.modelled && function == IUCV_RECEIVE && a.message >= 0 && a.parm.received > 0)
		data = expected_data(&world.model.message[a.message], world.of->storage + parm.buffer.addr,
				     a.parm.received);
	result = cp_iucv(world.cp, &insn);
	if (result.how != CP_CC && result.how != CP_PROGRAM)
		world_fail("function %u ended with disposition %d", (unsigned int)function,
			   (int)result.how);
	memcpy(image, world.of->storage + at, sizeof(image));
	get_parm(image, function, &out);
	/* A fault may have dropped it. */
	if (function == IUCV_SEND && result.how == CP_CC && result.cc == 0 && out.msgid)
		saw(out.msgid);
	if (!a.modelled)
		return;
	same_codes(function, &a, result.cc, image[3], result.how == CP_PROGRAM ? result.pgm : 0);
	if (function == IUCV_QUERY) {
		/* One more for the harness, whom this world does not have. */
		same("paths", function, world.gr[1], world.config.max_paths + 1);
		return;
	}
	if (result.cc != 1)
		same("IPRCODE", function, image[3], 0);
	same_rest(function, result.cc, image[3], before, image);
	same_parm(function, &a, result.cc, &out);
	if (data && memcmp(data, world.of->storage + parm.buffer.addr, a.parm.received) != 0)
		world_fail("RECEIVE has brought other bytes");
	free(data);
}

/* Takes an event of a user from the model and compares; @peer NULL: the guest. */
static void same_event(unsigned int user, uint16_t types, const struct iucv_event *event)
{
	struct iucv_event expected;
	uint8_t a[IUCV_EVENT_SIZE], b[IUCV_EVENT_SIZE];
	int message;

	if (!model_take(&world.model, user, types, &expected, &message))
		world_fail("user %u is told of type %d, and the model knows of nothing", user,
			   (int)event->type);
	if (message >= 0 && event->type >= IUCV_PRIO_COMPLETE) {
		model_identify(&world.model, message, event->msgid);
		expected.msgid = event->msgid;
	}
	iucv_event_encode(event, a);
	iucv_event_encode(&expected, b);
	for (unsigned int i = 0; i < IUCV_EVENT_SIZE; i++)
		if (a[i] != b[i])
			world_fail("user %u, type %d: byte %u of the event is %02x, by the model "
				   "(type %d) %02x",
				   user, (int)event->type, i, a[i], (int)expected.type, b[i]);
}

void world_take(unsigned int cpu)
{
	const uint32_t at = world.model.cpu[cpu].buffer;
	const uint16_t types = model_types(&world.model, cpu);
	struct iucv_event expected;
	uint8_t image[IUCV_EVENT_SIZE];
	struct cp_interruption first;
	bool shown;
	int message;

	if (!cp_interrupt_pending(world.cp, cpu)) {
		if (cp_interrupt_take(world.cp, cpu))
			world_fail("an interruption was taken that was not pending");
		return;
	}
	if (world.model.lost || world.of->prefix[cpu]) {
		world.model.lost = true;
		cp_interrupt_take(world.cp, cpu);
		return;
	}
	if (!model_take(&world.model, 0, types, &expected, &message))
		world_fail("CPU %u has an interruption, and the model knows of none", cpu);
	shown = cp_interrupt_first(world.cp, cpu, &first);
	if (!cp_interrupt_take(world.cp, cpu))
		world_fail("CPU %u has not taken its interruption", cpu);
	if (shown && (first.address != at ||
		      memcmp(first.image, world.of->storage + at, sizeof(first.image)) != 0))
		world_fail("CPU %u has taken another interruption than the first one", cpu);
	if (shown && first.more && !cp_interrupt_pending(world.cp, cpu))
		world_fail("CPU %u has no further interruption", cpu);
	if (message >= 0) {
		expected.msgid = get_be32(world.of->storage + at + 4);
		model_identify(&world.model, message, expected.msgid);
	}
	iucv_event_encode(&expected, image);
	for (unsigned int i = 0; i < IUCV_EVENT_SIZE; i++)
		if (world.of->storage[at + i] != image[i])
			world_fail("CPU %u: byte %u of the interruption is %02x, by the model "
				   "(type %d) "
				   "%02x",
				   cpu, i, world.of->storage[at + i], (int)expected.type, image[i]);
	if (message >= 0)
		saw(expected.msgid);
}

/* Peers. */

static void react(struct world_peer *peer, const struct iucv_event *event)
{
	struct iucv_parm parm = { .path = event->path,
				  .msgid = event->msgid,
				  .trgcls = event->trgcls,
				  .flags = IPFGPID | IPFGMID | IPFGMCL };
	const uint8_t p = peer->policy;

	switch (event->type) {
	case IUCV_PENDING:
		parm.flags = event->flags & (p & PEER_REPLIES ? 0xff : IPRMDATA);
		parm.msglim = event->msglim;
		if (p & PEER_ACCEPTS)
			world_peer_call(peer, IUCV_ACCEPT, &parm, 0, 0, 1);
		else if (p & PEER_SEVERS)
			world_peer_call(peer, IUCV_SEVER,
					&(struct iucv_parm){ .path = event->path }, 0, 0, 2);
		break;
	case IUCV_SEVERED:
		if (p & PEER_SEVERS_BACK)
			world_peer_call(peer, IUCV_SEVER,
					&(struct iucv_parm){ .path = event->path }, 0, 0, 3);
		break;
	case IUCV_MSG_PENDING:
	case IUCV_PRIO_PENDING:
		if (p & PEER_REJECTS)
			world_peer_call(peer, IUCV_REJECT, &parm, 0, 0, 4);
		else if (p & PEER_RECEIVES && !(event->flags & IPRMDATA))
			world_peer_call(peer, IUCV_RECEIVE, &parm, peer->length, 0, 5);
		if (p & PEER_REPLIES && !(event->flags & IPNORPY)) {
			parm.flags = 0;
			world_peer_call(peer, IUCV_REPLY, &parm, peer->length, 0, 6);
		}
		if (p & PEER_ANSWERS)
			world_peer_call(peer, IUCV_SEND,
					&(struct iucv_parm){ .path = event->path,
							     .flags = event->flags & IPNORPY },
					peer->length, 8, 7);
		break;
	default:
		break;
	}
}

static void tell_peer(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	struct world_peer *peer = opaque;

	if (cp != world.machine[0].cp || user != peer->user)
		world_fail("an event has come to the wrong user");
	if (!world.model.lost)
		same_event(peer->index, 0x3fe, event);
	if (event->type == IUCV_MSG_COMPLETE || event->type == IUCV_PRIO_COMPLETE)
		free(ctl_take_answer(&peer->held, event->answer));
	if (event->type >= IUCV_PRIO_COMPLETE && event->msgid)
		saw(event->msgid);
	if (world.calls++ < MOST_CALLS)
		react(peer, event);
}

/* Peers are the guest's, whoever has made the call. */
static void on_event(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	const bool neighbour = world.of != &world.machine[0];

	(void)world_neighbour(false);
	tell_peer(cp, user, opaque, event);
	(void)world_neighbour(neighbour);
}

static const struct iucv_user_ops peer_ops = { .event = on_event };

void world_logon(unsigned int index, unsigned int max_paths)
{
	struct world_peer *peer = &world.peer[index];

	if (peer->user || iucv_user_find(world.cp, world_peer_names[index]))
		return;
	peer->user =
		iucv_user_create(world.cp, world_peer_names[index], max_paths, &peer_ops, peer);
	if (!peer->user)
		world_fail("%s cannot be logged on", world_peer_names[index]);
	model_logon(&world.model, peer->index, world_peer_names[index], max_paths);
}

void world_logoff(unsigned int index)
{
	struct world_peer *peer = &world.peer[index];
	struct iucv_user *user = peer->user;

	if (!user)
		return;
	model_logoff(&world.model, peer->index);
	peer->user = NULL;
	iucv_user_destroy(world.cp, user);
	ctl_release(&peer->held, NULL);
}

static size_t held_bytes(const struct ctl_held_list *list)
{
	size_t bytes = 0;

	for (const struct ctl_held *h = list->first; h; h = h->next)
		bytes += h->len + h->answer_len;
	return bytes;
}

void world_peer_call(struct world_peer *peer, enum iucv_function function,
		     const struct iucv_parm *given, uint32_t len, uint32_t answer_len, uint8_t seed)
{
	struct iucv_parm parm = *given;
	struct iucv_result result;
	struct model_answer a;
	struct ctl_held *held;
	uint8_t *data = NULL;

	if (!peer->user)
		return;
	held = ctl_hold(&peer->held, parm.path, len, answer_len);
	if (!held)
		return;
	for (uint32_t i = 0; i < len; i++)
		held->bytes[i] = function == IUCV_RECEIVE ? 0 : (uint8_t)(seed * 31 + i * 7);
	ctl_held_areas(held, &parm);
	if (function == IUCV_CONNECT && !usable(&parm, function))
		world.model.lost = true;
	a = model_call(&world.model, peer->index, 0, function, &parm);
	if (a.modelled && function == IUCV_RECEIVE && a.message >= 0 && a.parm.received > 0)
		data = expected_data(&world.model.message[a.message], held->bytes, a.parm.received);
	result = iucv_call(world.cp, peer->user, function, &parm);
	if (result.cc == 0 && result.pgm == 0 && function == IUCV_SEND)
		saw(parm.msgid);
	if (a.modelled) {
		same_codes(function, &a, result.cc, result.code, result.pgm);
		same_parm(function, &a, result.cc, &parm);
		if (data && memcmp(data, held->bytes, a.parm.received) != 0)
			world_fail("RECEIVE of a peer has brought other bytes");
	}
	free(data);
	/* A peer that has been logged off meanwhile holds nothing any more. */
	if (function == IUCV_TEST_COMPLETION && result.pgm == 0 &&
	    (result.cc == 0 || result.cc == 3))
		free(ctl_take(&peer->held, parm.path, parm.msgid));
	ctl_settle(&peer->held, function, &parm, &result, held);
	if (held_bytes(&peer->held) != peer->held.bytes)
		world_fail("a peer holds %zu bytes, %zu are accounted", held_bytes(&peer->held),
			   peer->held.bytes);
}

/* Saving and loading. */

static uint8_t *saved(size_t *len)
{
	uint8_t *image = cp_save(world.cp, len);

	if (!image)
		world_fail("the CP cannot be saved");
	return image;
}

/* Paths of a peer that is logged on, or 0. */
static uint32_t paths_of(unsigned int peer)
{
	return world.peer[peer].user ? iucv_max_paths(world.peer[peer].user) : 0;
}

/* How many there are, those among them that an accepted image with another name has made. */
static unsigned int users_of_all(void)
{
	unsigned int users = 0;

	while (iucv_user_at(world.cp, users))
		users++;
	return users;
}

void world_save(void)
{
	free(world.image);
	world.image = saved(&world.image_len);
	world.saved_model = world.model;
	world.saved_users = users_of_all();
	for (unsigned int i = 0; i < WORLD_PEERS; i++)
		world.saved_paths[i] = paths_of(i);
}

/* The next record's number: the trace goes on while an image is loaded. */
static size_t trace_number_at(const uint8_t *image, size_t len)
{
	const uint8_t *tag = memmem(image, len, "TRAC", 4);

	return tag ? (size_t)(tag - image) + 4 : 0;
}

/* What is loaded and saved again is the same, but for its checksum and the trace. */
static void require_same(const uint8_t *image, size_t len, const char *what)
{
	/* Of two machines the number in both traces as well, and each one's behind a tag. */
	const bool two = world.machine[1].cp;
	const size_t from = trace_number_at(image, len) - (two ? 12 : 0), count = two ? 32 : 8;
	size_t now_len;
	uint8_t *now = saved(&now_len);

	if (now_len != len)
		world_fail("%s: %zu bytes were saved, now %zu", what, len, now_len);
	for (size_t i = 0; i < len - CHECKSUM; i++)
		if (now[i] != image[i] && i - from >= count)
			world_fail("%s: byte %zu of %zu was %02x and is %02x", what, i, len,
				   image[i], now[i]);
	free(now);
}

/* Whoever came with the image is played again; sessions that had been logged off come back. */
static void attach(void)
{
	for (unsigned int i = 0; i < WORLD_PEERS; i++) {
		struct world_peer *peer = &world.peer[i];
		struct iucv_user *user = iucv_user_find(world.cp, world_peer_names[i]);

		ctl_release(&peer->held, NULL);
		if (peer->user && peer->user != user)
			world_fail("%s is another user after a load", world_peer_names[i]);
		peer->user = user;
		if (user)
			iucv_user_attach(user, &peer_ops, peer);
	}
}

/* Areas of peers have become the messages' own. */
static void model_loaded(bool same_users)
{
	world.model = world.saved_model;
	if (!same_users)
		world.model.lost = true;
	for (unsigned int i = 0; i < MODEL_MESSAGES; i++)
		if (world.model.message[i].area.host)
			world.model.message[i].area.ptr = NULL;
}

static void load(const uint8_t *image, size_t len, bool tampered)
{
	bool users = users_of_all() == world.saved_users, other = false;
	uint8_t *before, *again;
	size_t before_len, again_len;
	char err[256] = "";
	int rc;

	for (unsigned int i = 0; i < WORLD_PEERS; i++) {
		users = users && paths_of(i) == world.saved_paths[i];
		/* Somebody else has logged on by that name. */
		other = other || (paths_of(i) && world.saved_paths[i] &&
				  paths_of(i) != world.saved_paths[i]);
	}
	before = saved(&before_len);
	rc = cp_load(world.cp, image, len, err, sizeof(err));
	if (rc != 0) {
		if (rc != -1 || err[0] == '\0' || !(tampered || other))
			world_fail("an image that was saved is refused: %s", err);
		require_same(before, before_len, "a refused image has changed something");
	} else {
		attach();
		if (tampered) {
			world.model.lost = true;
			again = saved(&again_len);
			if (cp_load(world.cp, again, again_len, err, sizeof(err)) != 0)
				world_fail("what was loaded cannot be loaded again: %s", err);
			attach();
			require_same(again, again_len, "an accepted image");
			free(again);
		} else {
			if (users)
				require_same(image, len, "an image of our own");
			model_loaded(users);
		}
	}
	free(before);
	iucv_dispatch_rest(world.cp);
}

void world_load(const uint8_t *changes, unsigned int tampered, bool cut)
{
	uint8_t *image;
	size_t len = world.image_len, body;

	if (!world.image || world.loads++ >= MOST_LOADS)
		return;
	image = malloc(len);
	if (!image)
		abort();
	memcpy(image, world.image, len);
	if (cut)
		len = len * changes[0] / 256;
	body = len > CHECKSUM ? len - CHECKSUM : 0;
	for (unsigned int i = 0; i < tampered && body > 0; i++)
		image[(changes[4 * i] << 16 | changes[4 * i + 1] << 8 | changes[4 * i + 2]) %
		      body] ^= changes[4 * i + 3];
	if (body > 0)
		put_be64(image + body, hash_more(HASH_START, image, body));
	load(image, len, cut || tampered);
	free(image);
}

/* After every step. */

static void check_kicks(void)
{
	for (unsigned int cpu = 0; cpu < world.cpus; cpu++) {
		const bool can = cp_interrupt_pending(world.cp, cpu);

		if (can && !world.of->could[cpu] && !world.of->kicked[cpu])
			world_fail("CPU %u can take an interruption and has not been told", cpu);
		world.of->could[cpu] = can;
		world.of->kicked[cpu] = false;
		if (!world.model.lost)
			same("interruption pending on a CPU", cpu, can,
			     model_pending(&world.model, 0, model_types(&world.model, cpu)));
	}
}

static void check_path(unsigned int user, const struct iucv_user *of, unsigned int id)
{
	const struct model_path *p = &world.model.user[user].path[id];
	struct iucv_path_info info;
	const struct model_path *partner = NULL;

	same("path there", id, iucv_path_info(of, (uint16_t)id, &info), p->state != IUCV_PATH_FREE);
	if (p->state == IUCV_PATH_FREE)
		return;
	same("state of a path", id, info.state, p->state);
	same("messages sent", id, info.sent, model_outstanding(&world.model, user, id));
	same("quiesced here", id, info.quiesced_here, p->quiesced);
	if (p->state != IUCV_PATH_SEVERED)
		partner = &world.model.user[p->partner_user].path[p->partner_path];
	if (!partner)
		return;
	same("partner's path", id, info.partner_path, p->partner_path);
	same("quiesced there", id, info.quiesced_there, partner->quiesced);
	same("messages received", id, info.received,
	     model_outstanding(&world.model, p->partner_user, p->partner_path));
	if (p->state == IUCV_PATH_OPEN)
		same("message limit", id, info.msglim_send, p->limit);
}

static void check_user(unsigned int user, struct iucv_user *of)
{
	unsigned int paths = 0;

	if (!of)
		return;
	for (unsigned int id = 0; id < world.model.user[user].max_paths; id++) {
		check_path(user, of, id);
		paths += world.model.user[user].path[id].state != IUCV_PATH_FREE;
	}
	same("paths of a user", user, iucv_path_count(of), paths);
	same("events that wait for a user", user, iucv_events_waiting(of),
	     model_waiting(&world.model, user));
}

void world_check(void)
{
	for (unsigned int i = 0; i < 2; i++)
		if (world_neighbour(i == 0)) {
			check_kicks();
			check_tables(world.cp, false);
		}
	if (world.model.lost)
		return;
	check_user(0, iucv_user_guest(world.cp));
	for (unsigned int i = 0; i < WORLD_PEERS; i++)
		check_user(i + 1, world.peer[i].user);
}
