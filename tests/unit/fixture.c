/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memfd_create */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay.h"
#include "zvmlab/dcss.h"
#include "zvmlab/state.h"

static struct fixture machines[FX_MACHINES];
struct fixture *fx_now = &machines[0];
struct fx_clock fx_clock;
static struct cp_system *fx_sys;	/* of several machines, or NULL */
static struct cp_config fx_sys_config;
/* All traces since the set-up: of each machine as often as it has logged on. */
static struct replay_trace recordings[32];
static unsigned int recorded;
bool fx_replay;
uint32_t fx_messages;
bool fx_no_external;

/* Emulator storage at @addr as CP sees it, or NULL. */
static uint8_t *storage_at(struct fixture *f, int cpu, uint64_t addr, uint64_t len)
{
	if (cpu != CP_ABSOLUTE) {
		uint64_t page = addr & ~UINT64_C(0x1fff);

		ck_assert_uint_eq(addr / CP_PAGE_SIZE, (addr + len - 1) / CP_PAGE_SIZE);
		if (page == 0)
			addr += f->prefix[cpu];
		else if (page == f->prefix[cpu])
			addr -= f->prefix[cpu];
		if (f->prefix[cpu] != 0 && page == 0 &&
		    cp_page_access(f->cp, addr) != CP_ACCESS_WRITE)
			return NULL;
	}
	if (addr >= FX_STORAGE || len > FX_STORAGE - addr)
		return NULL;
	return f->storage + addr;
}

/*
 * Zeros between two pages that nobody may touch.  For memory of malloc() ASan would write 2 MiB of
 * its own at each start and end, most of the time that a small test takes.
 */
static uint8_t *storage_new(void)
{
	uint8_t *at = mmap(NULL, FX_STORAGE + 2 * CP_PAGE_SIZE, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	at += CP_PAGE_SIZE;
	ck_assert_int_eq(mprotect(at, FX_STORAGE, PROT_READ | PROT_WRITE), 0);
	return at;
}

static void storage_free(uint8_t *at)
{
	ck_assert_int_eq(munmap(at - CP_PAGE_SIZE, FX_STORAGE + 2 * CP_PAGE_SIZE), 0);
}

/* What a test has stored into a shared page for another machine is not told to this one. */
static bool stored_by_test(const struct fixture *f, size_t page)
{
	const size_t at = page * CP_PAGE_SIZE;
	bool stored = f->page[page] == FX_TEST;

	for (size_t i = 0; f->shared && at >= FX_SEGMENT_START && at <= FX_SEGMENT_END &&
			   i < FX_MACHINES; i++)
		stored |= machines[i].page[page] == FX_TEST;
	return stored;
}

static void check_page(const struct fixture *f, size_t page)
{
	const size_t at = page * CP_PAGE_SIZE;

	if (f->page[page] == FX_CP && !stored_by_test(f, page))
		ck_assert_msg(memcmp(f->told + at, f->storage + at, CP_PAGE_SIZE) == 0,
			      "CP has not told the port what it has stored into page %zu", page);
}

/* Set in an entry of /proc/PID/pagemap for a page that is in memory or swapped out. */
#define HAS_STORAGE (UINT64_C(3) << 62)

static void read_pagemap(const uint8_t *at, size_t pages, uint64_t *entry)
{
	const size_t len = pages * sizeof(*entry);
	const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, entry, len, (off_t)((uintptr_t)at / CP_PAGE_SIZE * 8)), len);
	close(fd);
}

/*
 * Which of many pages nobody has stored into, neither here nor in what the port was told: they are
 * the same, and to read 16 MiB of them would take a page fault for each.
 */
static void find_untouched(const struct fixture *f, size_t first, size_t pages, bool *untouched)
{
	uint64_t here[FX_STORAGE / CP_PAGE_SIZE], told[FX_STORAGE / CP_PAGE_SIZE];

	memset(untouched, 0, pages);
	if (pages < 8)
		return;
	read_pagemap(f->storage + first * CP_PAGE_SIZE, pages, here);
	read_pagemap(f->told + first * CP_PAGE_SIZE, pages, told);
	for (size_t i = 0; i < pages; i++)
		untouched[i] = !((here[i] | told[i]) & HAS_STORAGE) && !f->file[first + i];
}

static void *fx_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct fixture *f = opaque;
	uint8_t *at = storage_at(f, cpu, addr, len);
	bool untouched[FX_STORAGE / CP_PAGE_SIZE];
	size_t from, first, pages;

	if (!at)
		return NULL;
	from = (size_t)(at - f->storage);
	first = from / CP_PAGE_SIZE;
	pages = (from + len + CP_PAGE_SIZE - 1) / CP_PAGE_SIZE - first;
	find_untouched(f, first, pages, untouched);
	for (size_t page = first; page < first + pages; page++) {
		const size_t begin = page * CP_PAGE_SIZE;

		if (f->page[page] != FX_UNUSED)
			continue;
		f->page[page] = FX_CP;
		/* To write what is there already would take memory for it. */
		if (!untouched[page - first] &&
		    memcmp(f->told + begin, f->storage + begin, CP_PAGE_SIZE) != 0)
			memcpy(f->told + begin, f->storage + begin, CP_PAGE_SIZE);
	}
	return at;
}

static bool fx_window(void *opaque, const struct cp_window *window)
{
	struct fixture *f = opaque;
	uint8_t *at = storage_at(f, CP_ABSOLUTE, window->addr, window->len);
	const int flags = window->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS :
			  window->stored ? MAP_SHARED : MAP_PRIVATE;

	ck_assert_ptr_nonnull(at);
	if (f->no_windows && window->fd >= 0)
		return false;
	ck_assert(mmap(at, window->len, PROT_READ | PROT_WRITE, flags | MAP_FIXED, window->fd,
		       (off_t)window->offset) != MAP_FAILED);
	for (uint64_t page = 0; page < window->len; page += CP_PAGE_SIZE) {
		f->page[(window->addr + page) / CP_PAGE_SIZE] = FX_UNUSED;
		f->file[(window->addr + page) / CP_PAGE_SIZE] = window->fd >= 0;
	}
	return true;
}

static void fx_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct fixture *f = opaque;
	uint8_t *at = storage_at(f, cpu, addr, len);

	ck_assert_ptr_nonnull(at);
	memcpy(f->told + (at - f->storage), at, len);
}

static bool fx_release(void *opaque, int cpu, uint64_t addr)
{
	struct fixture *f = opaque;
	uint8_t *at;

	if (f->keeps_pages)
		return false;
	at = storage_at(f, cpu, addr, CP_PAGE_SIZE);
	ck_assert_ptr_nonnull(at);
	memset(at, 0, CP_PAGE_SIZE);
	/* It is the port that has done so. */
	memset(f->told + (at - f->storage), 0, CP_PAGE_SIZE);
	f->released++;
	return true;
}

static uint64_t fx_tod(void *opaque)
{
	return ((struct fixture *)opaque)->tod;
}

static void fx_kick(void *opaque, unsigned int cpu)
{
	((struct fixture *)opaque)->kicks[cpu]++;
}

static void fx_set_timer(void *opaque, uint64_t tod)
{
	((struct fixture *)opaque)->timer = tod;
}

static uint64_t clock_tod(void *opaque)
{
	return ((struct fx_clock *)opaque)->tod;
}

static void clock_set_timer(void *opaque, uint64_t tod)
{
	((struct fx_clock *)opaque)->timer = tod;
}

static bool in_directory(void *opaque, const char *userid)
{
	char name[CP_NAME_LEN + 3];

	ck_assert_uint_le(strlen(userid), CP_NAME_LEN);
	snprintf(name, sizeof(name), " %s ", userid);
	return strstr(((struct fx_clock *)opaque)->directory, name) != NULL;
}

static bool start(void *opaque, const char *userid)
{
	struct fx_clock *clock = opaque;

	ck_assert(in_directory(opaque, userid));
	if (clock->busy)
		return false;
	snprintf(clock->started, sizeof(clock->started), "%s", userid);
	return true;
}

static void fx_cpus(void *opaque, uint64_t defined)
{
	((struct fixture *)opaque)->cpus = defined;
}

static void fx_storage_changed(void *opaque)
{
	((struct fixture *)opaque)->storage_changes++;
}

static void fx_page_changed(void *opaque, uint64_t addr, bool out)
{
	struct fixture *f = opaque;

	ck_assert_uint_eq(addr % CP_PAGE_SIZE, 0);
	ck_assert_ptr_nonnull(storage_at(f, CP_ABSOLUTE, addr, CP_PAGE_SIZE));
	f->page_changes[out]++;
}

static void fx_external(void *opaque, unsigned int cpu)
{
	((struct fixture *)opaque)->externals[cpu]++;
}

static void fx_machine(void *opaque, enum cp_machine_request what)
{
	ck_assert_int_lt(what, CP_MACHINE_REQUESTS);
	((struct fixture *)opaque)->machine[what]++;
}

static void fx_trace(void *opaque, const char *line, size_t len)
{
	struct fixture *f = opaque;

	if (f->recording) {
		fwrite(line, 1, len, f->recording);
		fputc('\n', f->recording);
	}
	if (f->trace_len + len + 2 > f->trace_room) {
		f->trace_room = 2 * (f->trace_len + len + 2);
		f->trace = realloc(f->trace, f->trace_room);
		ck_assert_ptr_nonnull(f->trace);
	}
	memcpy(f->trace + f->trace_len, line, len);
	f->trace_len += len;
	f->trace[f->trace_len++] = '\n';
	f->trace[f->trace_len] = '\0';
}

static void fx_console(void *opaque, const char *text, size_t len)
{
	struct fixture *f = opaque;

	ck_assert_uint_le(len, sizeof(f->shown) - f->shown_len);
	memcpy(f->shown + f->shown_len, text, len);
	f->shown_len += len;
}

static void fx_event(void *opaque, const struct cp_event *event)
{
	struct fixture *f = opaque;

	ck_assert_int_lt(event->kind, CP_EVENT_KINDS);
	f->events[event->kind]++;
	f->last_event = *event;
	snprintf(f->last_name, sizeof(f->last_name), "%s", event->name);
	snprintf(f->last_text, sizeof(f->last_text), "%s", event->text);
	f->last_event.name = f->last_name;
	f->last_event.text = f->last_text;
	strcpy(f->last[event->kind].name, f->last_name);
	strcpy(f->last[event->kind].text, f->last_text);
	f->last[event->kind].value = event->value;
}

static void configure(struct cp_config *config, const char *const *options)
{
	static const char *const defaults[] = {
		"storage", "0.4M 12M.2M", "segment", "MONDCSS 800-9FF SC RSTD", NULL,
	};
	const char *const *lists[] = { defaults, options };
	char err[256];

	for (int i = 0; i < 2; i++)
		for (const char *const *o = lists[i]; o && *o; o += 2)
			ck_assert_msg(cp_config_set(config, o[0], o[1], err, sizeof(err)) == 0,
				      "%s", err);
	if (fx_messages > 0)
		config->max_messages = fx_messages;
}

/* What the emulator has for its machine. */
static void start_emulator(void)
{
	fx.storage = storage_new();
	fx.told = storage_new();
	fx.tod = UINT64_C(0xd000000000000000);
}

static void create(struct cp_system *system)
{
	const struct cp_host host = {
		.opaque = &fx, .map = fx_map, .window = fx_window, .dirty = fx_dirty,
		.release = fx_release, .tod = fx_tod, .kick = fx_kick,
		.set_timer = fx_set_timer, .storage_changed = fx_storage_changed,
		.page_changed = fx_no_external ? NULL : fx_page_changed,
		.external = fx_no_external ? NULL : fx_external,
		.cpus = fx_cpus, .sclp = true, .machine = fx_machine, .trace = fx_trace,
		.event = fx_event, .console = fx_console,
	};
	char err[256];

	fx.cp = cp_create(system, &fx.config, &host, err, sizeof(err));
	ck_assert_msg(fx.cp != NULL, "%s", err);
	if (system)
		cp_logon(fx.cp);
	/* The trace's head is there once for all: tests look at what comes after it. */
	fx.head = fx.trace;
	fx.trace = NULL;
	fx.trace_room = 0;
	fx.trace_len = 0;
}

/* The next machine's trace is to be replayed; its name is the user ID. */
static void record_trace(const char *name)
{
	if (!fx_replay)
		return;
	ck_assert_uint_lt(recorded, sizeof(recordings) / sizeof(recordings[0]));
	fx.recording = tmpfile();
	ck_assert_ptr_nonnull(fx.recording);
	recordings[recorded++] = (struct replay_trace){ fx.recording, name };
	fx.config.trace_full = true;
}

void fx_setup_with(const char *const *options)
{
	fx_use(0);
	memset(&fx, 0, sizeof(fx));
	start_emulator();
	cp_config_init(&fx.config);
	record_trace("alone");
	configure(&fx.config, options);
	create(NULL);
}

void fx_use(unsigned int machine)
{
	ck_assert_uint_lt(machine, FX_MACHINES);
	fx_now = &machines[machine];
}

void fx_system(const char *const *options)
{
	const struct cp_system_host host = {
		.opaque = &fx_clock, .tod = clock_tod, .set_timer = clock_set_timer,
		.in_directory = in_directory, .start = start,
	};
	char err[256];

	memset(machines, 0, sizeof(machines));
	cp_config_init(&fx_sys_config);
	configure(&fx_sys_config, options);
	fx_clock = (struct fx_clock){ .tod = FX_CLOCK };
	fx_sys = cp_system_create(&fx_sys_config, &host, err, sizeof(err));
	fx_clock.system = fx_sys;
	ck_assert_msg(fx_sys != NULL, "%s", err);
}

void fx_logon(unsigned int machine, const char *userid, const char *const *options)
{
	char err[256];

	fx_use(machine);
	ck_assert_ptr_null(fx.cp);
	memset(&fx, 0, sizeof(fx));
	start_emulator();
	fx.shared = true;
	cp_config_init(&fx.config);
	record_trace(userid);
	configure(&fx.config, options);
	ck_assert_int_eq(cp_config_set(&fx.config, "userid", userid, err, sizeof(err)), 0);
	create(fx_sys);
}

void fx_setup(void)
{
	fx_setup_with(NULL);
}

char *fx_recorded(unsigned int index)
{
	char *text = NULL;
	size_t size = 0;
	FILE *in;

	if (index >= recorded)
		return NULL;
	in = recordings[index].in;
	rewind(in);
	ck_assert_int_gt(getdelim(&text, &size, '\0', in), 0);
	fseek(in, 0, SEEK_END);
	return text;
}

void fx_drop_recordings(void)
{
	for (struct fixture *f = machines; f < machines + FX_MACHINES; f++)
		f->recording = NULL;
	while (recorded > 0)
		fclose(recordings[--recorded].in);
}

/* The core must do the same again from the traces alone, whatever the test did. */
static void replay_all(void)
{
	char text[8192] = "";
	FILE *out;
	enum replay_result result;
	uint64_t records;

	if (recorded == 0)
		return;
	out = fmemopen(text, sizeof(text) - 1, "w");
	ck_assert_ptr_nonnull(out);
	for (unsigned int i = 0; i < recorded; i++)
		rewind(recordings[i].in);
	result = replay_run(recordings, recorded, out, &records);
	fclose(out);
	fx_drop_recordings();
	ck_assert_msg(result == REPLAY_SAME, "%.1500s", text);
	ck_assert_uint_gt(records, 0);
}

/* Of a machine that is no more. */
static void end_emulator(void)
{
	bool untouched[FX_STORAGE / CP_PAGE_SIZE];

	cp_config_fini(&fx.config);
	find_untouched(&fx, 0, FX_STORAGE / CP_PAGE_SIZE, untouched);
	for (size_t page = 0; page < FX_STORAGE / CP_PAGE_SIZE; page++)
		if (!untouched[page])
			check_page(&fx, page);
	storage_free(fx.storage);
	storage_free(fx.told);
	free(fx.trace);
	free(fx.head);
	memset(&fx, 0, sizeof(fx));
}

void fx_logoff(unsigned int machine)
{
	struct fixture *before = fx_now;

	fx_use(machine);
	cp_destroy(fx.cp);
	end_emulator();
	fx_now = before;
}

static void end_system(void)
{
	cp_system_destroy(fx_sys);
	cp_config_fini(&fx_sys_config);
	fx_sys = NULL;
	for (fx_now = machines; fx_now < machines + FX_MACHINES; fx_now++)
		if (fx.cp)
			end_emulator();
	fx_use(0);
}

void fx_teardown(void)
{
	if (fx_sys) {
		end_system();
	} else {
		cp_destroy(fx.cp);
		end_emulator();
	}
	replay_all();
}

struct cp_result fx_iucv(unsigned int cpu, uint32_t function, uint64_t parm)
{
	struct cp_insn insn = { .cpu = cpu, .gr = fx.gr, .amode = 64 };

	fx.gr[0] = function;
	fx.gr[1] = parm;
	return cp_iucv(fx.cp, &insn);
}

struct cp_result fx_diag(unsigned int r1, unsigned int r3, uint16_t code)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64 };

	return cp_diagnose(fx.cp, &insn, r1, r3, code);
}

/* What a segment has there that the guest has not loaded, or NULL. */
static uint8_t *in_segment(uint64_t addr, size_t len)
{
	const struct dcss *segment;
	uint8_t *at = NULL;

	if (!fx.cp || cp_page_access(fx.cp, addr) != CP_ACCESS_NONE)
		return NULL;
	for (unsigned int i = 0; !at && (segment = dcss_at(fx.cp, i)) != NULL; i++)
		if (addr >= dcss_start(segment))
			at = dcss_map(fx.cp, segment, addr - dcss_start(segment), len);
	return at;
}

uint8_t *fx_at(uint64_t addr, size_t len)
{
	uint8_t *at = in_segment(addr, len);

	if (at)
		return at;
	ck_assert_uint_le(addr, FX_STORAGE);
	ck_assert_uint_le(len, FX_STORAGE - addr);
	for (size_t page = addr / CP_PAGE_SIZE; page * CP_PAGE_SIZE < addr + len; page++) {
		check_page(&fx, page);
		fx.page[page] = FX_TEST;
	}
	return fx.storage + addr;
}

void fx_put_name(uint64_t addr, const char *name)
{
	ebcdic_name(fx_at(addr, 8), name);
}

int fx_arm(const struct fault_rule *rule)
{
	char err[256];
	int id = fault_arm(fx.cp, rule, err, sizeof(err));

	ck_assert_msg(id > 0, "%s", err);
	return id;
}

uint8_t *fx_save(size_t *len)
{
	uint8_t *image = cp_save(fx.cp, len);

	ck_assert_ptr_nonnull(image);
	return image;
}

void fx_load(const uint8_t *image, size_t len)
{
	char err[256];

	ck_assert_msg(cp_load(fx.cp, image, len, err, sizeof(err)) == 0, "%s", err);
}

void fx_declare(unsigned int cpu)
{
	uint8_t *parm = fx_at(0x1000, IUCV_PARM_SIZE);

	memset(parm, 0, IUCV_PARM_SIZE);
	put_be32(parm + 12, 0x2000 + cpu * 64);
	ck_cc(fx_iucv(cpu, IUCV_DECLARE_BUFFER, 0x1000), 0);
	memset(parm, 0, IUCV_PARM_SIZE);
	parm[0] = 0xf8;
	ck_cc(fx_iucv(cpu, IUCV_SET_MASK, 0x1000), 0);
	ck_cc(fx_iucv(cpu, IUCV_SET_CONTROL_MASK, 0x1000), 0);
}

const uint8_t *fx_take(unsigned int cpu)
{
	const uint32_t at = 0x2000 + cpu * 64;
	struct cp_interruption first;

	if (!cp_interrupt_pending(fx.cp, cpu)) {
		ck_assert(!cp_interrupt_first(fx.cp, cpu, &first));
		return NULL;
	}
	ck_assert(cp_interrupt_first(fx.cp, cpu, &first));
	ck_assert_uint_eq(first.address, at);
	ck_assert(cp_interrupt_take(fx.cp, cpu));
	ck_assert_mem_eq(first.image, fx_at(at, IUCV_EVENT_SIZE), IUCV_EVENT_SIZE);
	/* What a fault has held back comes out only now. */
	ck_assert(!first.more || cp_interrupt_pending(fx.cp, cpu));
	return fx_at(at, IUCV_EVENT_SIZE);
}
