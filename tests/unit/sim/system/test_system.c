/* SPDX-License-Identifier: MIT */
/* Machines of several emulators on one CP: what they get of it, and what becomes of them. */
#define _GNU_SOURCE /* memfd_create */
#include "system_check.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

CASE("system", system_start, system_stop);

static void text_of(const char *path, char **text, size_t *len)
{
	FILE *file = fopen(path, "r"), *to = open_memstream(text, len);
	int c;

	ck_assert_ptr_nonnull(file);
	while ((c = fgetc(file)) != EOF)
		fputc(c, to);
	fclose(file);
	fclose(to);
}

/* Data that show where a byte belongs. */
static void fill(struct emulator *e, uint32_t addr, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		const uint8_t byte = (uint8_t)(i * 7 + i / 256);

		put(e, addr + i, &byte, 1);
	}
}

static void talk(struct emulator *alice, struct emulator *bob, uint32_t len)
{
	uint16_t path[2];
	uint32_t id;

	open_path(alice, bob, path);
	fill(alice, DATA, len);
	id = send_message(alice, path[0], len);
	ck_assert_uint_eq(get_be32(ck_take(bob, IUCV_MSG_PENDING) + IPBFLN1F), len);
	on_message(bob, IUCV_RECEIVE, path[1], id, DATA, len);
	ck_assert_mem_eq(bob->ram + DATA, alice->ram + DATA, len);
	on_message(bob, IUCV_REPLY, path[1], id, DATA, len);
	ck_take(alice, IUCV_MSG_COMPLETE);
	ck_assert_mem_eq(alice->ram + ANSWER, alice->ram + DATA, len);
	put_be16(parm_zero(bob) + IPPATHID, path[1]);
	ck_iucv(bob, IUCV_SEVER);
	ck_take(alice, IUCV_SEVERED);
	put_be16(parm_zero(alice) + IPPATHID, path[0]);
	ck_iucv(alice, IUCV_SEVER);
	ck_assert_ptr_null(take(alice));
}

static void note_page(struct emulator *e, uint64_t addr)
{
	const struct cp_port_page page = e->port.calls->page(&e->port, addr);

	ck_assert_uint_gt(page.end, addr);
	fprintf(e->log, "page %llx: %d %d\n", (unsigned long long)addr, page.access, page.out);
}

static void note_block(struct emulator *e, const uint8_t block[CP_PAGE_SIZE])
{
	for (unsigned int i = 0; i < CP_PAGE_SIZE; i++)
		fprintf(e->log, "%02x", block[i]);
	fputc('\n', e->log);
}

/* Who the guest is. */
static void identify(struct emulator *e)
{
	const struct cp_calls *calls = e->port.calls;
	uint8_t block[CP_PAGE_SIZE] = { 0 };

	fprintf(e->log, "cpu %llx\n", (unsigned long long)calls->cpu_id(&e->port, 0));
	e->gr[0] = 0x30000002;
	e->gr[1] = 2;
	note(e, "stsi", calls->stsi(&e->port, insn(e), block));
	note_block(e, block);
	e->gr[2] = 0;
	e->gr[4] = DATA;
	note(e, "sthyi", calls->sthyi(&e->port, insn(e), 2, 4, block));
	note_block(e, block);
	e->gr[2] = PARM;
	e->gr[4] = 32;
	note(e, "diag 0", diagnose(e, 0));
	e->gr[2] = 0;
	note(e, "diag 260", diagnose(e, 0x260));
}

static void punch(struct emulator *e)
{
	const struct cp_calls *calls = e->port.calls;
	struct cp_unit_io io = { .device = 0xd, .command = 0x01 };

	fprintf(e->log, "way %d %d\n", calls->unit_way(&e->port, 0xd, 0x01),
		calls->unit_way(&e->port, 0xe, 0x01));
	io.length = calls->unit_length(&e->port, 0xd, 0x01);
	ck_assert_uint_eq(io.length, 80);
	memset(io.data, 0xc1, io.length);
	calls->unit(&e->port, &io);
	fprintf(e->log, "unit %u %u %u\n", io.status, io.sense[0], io.length);
}

/* More text than one exchange takes, a line that is read, and commands for CP. */
static void sit_at_console(struct emulator *e)
{
	static const char keys[] = "#cp query userid\nhello\n";
	const struct cp_calls *calls = e->port.calls;
	struct cp_unit_io io = { .device = 0x9, .command = 0x09 };

	ck_assert(!calls->console_has_line(&e->port));
	io.length = CP_UNIT_DATA;
	memset(io.data, 0x81, io.length);
	calls->unit(&e->port, &io);
	ck_assert_uint_eq(calls->console_type(&e->port, keys, strlen(keys)), strlen(keys));
	ck_assert(calls->console_has_line(&e->port));
	io = (struct cp_unit_io){ .device = 0x9, .command = 0x0a, .room = 160 };
	calls->unit(&e->port, &io);
	ck_assert_uint_eq(io.status, 0x0c);
	ck_assert_uint_eq(io.length, 5);
	ck_assert_mem_eq(io.data, "\x88\x85\x93\x93\x96", 5);
	io = (struct cp_unit_io){ .device = 0x9, .command = 0x0a, .room = 160 };
	calls->unit(&e->port, &io);
	fprintf(e->log, "console %u %u\n", io.status, calls->console_has_line(&e->port));
}

/* Every entry point there is. */
static void everything(struct emulator *alice, struct emulator *bob)
{
	const struct cp_calls *calls = alice->port.calls;
	struct cp_external external;
	bool more;

	calls->ipl(&alice->port);
	declare(alice);
	declare(bob);
	talk(alice, bob, 16000);
	identify(alice);
	punch(bob);
	sit_at_console(bob);
	for (uint64_t addr = 0; addr < RAM; addr += 1u << 20)
		note_page(alice, addr);
	fprintf(alice->log, "%d %d\n",
		calls->page_fault(&alice->port, 0, 0x3000, 0, true),
		calls->page_held(&alice->port, 0));
	fprintf(alice->log, "%d", calls->external_take(&alice->port, 0, &external, &more));
	fill_connect(alice, "NOBODY");
	memcpy(alice->told + PARM, alice->ram + PARM, 40);
	iucv(alice, IUCV_CONNECT);
	fprintf(alice->log, "%02x", alice->ram[PARM + IPRCODE]);
	calls->timer(&alice->port);
	calls->reset_cpu(&alice->port, 0);
	calls->cpu_ordered(&alice->port, 0, 0, CP_ORDER_STOP);
	calls->cpu_waits(&alice->port, 0, 0x20001, 0x80000000);
	calls->reset(&alice->port);
	fprintf(alice->log, "%d", calls->interrupt_pending(&alice->port, 0));
}

struct account {
	char *log, *trace[2];
	size_t len, trace_len[2];
	unsigned int kicks[2];
};

static void run(struct account *account)
{
	struct emulator alice, bob;
	FILE *log = open_memstream(&account->log, &account->len);

	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	alice.log = bob.log = log;
	everything(&alice, &bob);
	fclose(log);
	/* The traces end before anybody logs off: of the end no call tells. */
	text_of(alice.trace, &account->trace[0], &account->trace_len[0]);
	text_of(bob.trace, &account->trace[1], &account->trace_len[1]);
	emulator_end(&bob);
	emulator_end(&alice);
}

static uint64_t own_tod(void *opaque)
{
	(void)opaque;
	return system_tod();
}

static void own_set_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

/* The process gives the same answers as a CP in the emulator, and writes the same traces. */
TEST(same_as_local)
{
	const struct cp_system_host host = { .tod = own_tod, .set_timer = own_set_timer };
	struct account there = { NULL }, here = { NULL };
	struct cp_config config;

	run(&there);
	system_config(&config);
	own_system = cp_system_create(&config, &host, err, sizeof(err));
	cp_config_fini(&config);
	run(&here);
	cp_system_destroy(own_system);
	own_system = NULL;
	ck_assert_msg(strcmp(there.log, here.log) == 0, "other answers");
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_gt(here.trace_len[i], 1000);
		ck_assert_msg(strcmp(there.trace[i], here.trace[i]) == 0, "other trace");
		free(there.trace[i]);
		free(here.trace[i]);
	}
	free(there.log);
	free(here.log);
}

/* DIAGNOSE X'64' with the segment's name; return: GR2, its address. */
static uint64_t segment_call(struct emulator *e, const char *segment, uint64_t subcode)
{
	uint8_t name[8];

	ebcdic_name(name, segment);
	put(e, DATA, name, 8);
	e->gr[2] = DATA;
	e->gr[4] = subcode;
	ck_assert_int_eq(diagnose(e, 0x64).cc, 0);
	return e->gr[2];
}

enum { PURGESEG = 0x08, LOADSHRX = 0x20, LOADNSRX = 0x24 };

/* What one stores into a segment's page the other sees, if they share it. */
TEST(segments)
{
	struct emulator alice, bob;

	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	ck_assert_uint_eq(segment_call(&alice, "SHARED", LOADSHRX), SHARED_AT);
	ck_assert_uint_eq(alice.changes, 1);
	segment_call(&bob, "SHARED", LOADSHRX);
	ck_assert_int_eq(bob.port.calls->page(&bob.port, SHARED_AT).access, CP_ACCESS_WRITE);
	ck_assert_uint_eq(bob.port.calls->page(&bob.port, SHARED_AT).end, SHARED_AT + 16 * 4096);
	alice.ram[SHARED_AT + 5] = 0x5a;
	ck_assert_uint_eq(bob.ram[SHARED_AT + 5], 0x5a);
	segment_call(&alice, "OWN", LOADSHRX);
	segment_call(&bob, "OWN", LOADSHRX);
	alice.ram[OWN_AT] = 1;
	ck_assert_uint_eq(bob.ram[OWN_AT], 0);
	/* A store of the emulator's into a page that is not to be stored into goes nowhere else. */
	segment_call(&alice, "ROM", LOADSHRX);
	segment_call(&bob, "ROM", LOADSHRX);
	alice.ram[ROM_AT] = 1;
	ck_assert_uint_eq(bob.ram[ROM_AT], 0);
	/* Whoever has given it back has what was there before; the last takes the stores with it. */
	segment_call(&alice, "SHARED", PURGESEG);
	ck_assert_uint_eq(alice.ram[SHARED_AT + 5], 0);
	ck_assert_uint_eq(bob.ram[SHARED_AT + 5], 0x5a);
	put(&alice, 0x3000, "x", 1);
	ck_assert_uint_eq(bob.ram[0x3000], 0);
	emulator_end(&bob);
	segment_call(&alice, "SHARED", LOADSHRX);
	ck_assert_uint_eq(alice.ram[SHARED_AT + 5], 0);
	emulator_end(&alice);
}

/* CP sees the machine's own copy, too: what lies there can be sent. */
TEST(message_from_a_segment)
{
	struct emulator alice, bob;
	uint16_t path[2];
	uint8_t *p;

	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	declare(&alice);
	declare(&bob);
	open_path(&alice, &bob, path);
	segment_call(&alice, "ROM", LOADNSRX);
	memcpy(alice.ram + ROM_AT, "private", 8);
	p = parm_zero(&alice);
	put_be16(p + IPPATHID, path[0]);
	put_be32(p + IPBFADR1, ROM_AT);
	put_be32(p + IPBFLN1F, 8);
	p[IPFLAGS1] = IPNORPY;
	ck_iucv(&alice, IUCV_SEND);
	on_message(&bob, IUCV_RECEIVE, path[1],
		   get_be32(ck_take(&bob, IUCV_MSG_PENDING) + IPMSGID), DATA, 8);
	ck_assert_mem_eq(bob.ram + DATA, "private", 8);
	emulator_end(&bob);
	emulator_end(&alice);
}

/* As many pages as there can be in one reset. */
TEST(reset_with_all_segments)
{
	struct emulator alice;

	emulator_new(&alice, "ALICE");
	segment_call(&alice, "SHARED", LOADSHRX);
	segment_call(&alice, "ROM", LOADSHRX);
	segment_call(&alice, "OWN", LOADSHRX);
	ck_assert_uint_eq(alice.windows, 3);
	alice.port.calls->reset(&alice.port);
	ck_assert_uint_eq(alice.windows, 6);
	ck_assert_int_eq(alice.port.calls->page(&alice.port, OWN_AT).access, CP_ACCESS_NONE);
	emulator_end(&alice);
}

/* A machine that asks for nothing is woken for what others do. */
TEST(woken)
{
	struct emulator alice, bob;
	struct pollfd waits;

	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	declare(&alice);
	declare(&bob);
	fill_connect(&alice, "BOB");
	ck_iucv(&alice, IUCV_CONNECT);
	waits = (struct pollfd){ .fd = bob.port.calls->fd(&bob.port), .events = POLLIN };
	ck_assert_int_eq(poll(&waits, 1, LIMIT_MS), 1);
	bob.kicks = 0;
	bob.port.calls->dispatch(&bob.port);
	ck_assert_uint_eq(bob.kicks, 1);
	/* That was all. */
	ck_assert_int_eq(poll(&waits, 1, 0), 0);
	emulator_end(&bob);
	emulator_end(&alice);
}

/* More stored ranges than the ring has room for: then all of storage may have changed. */
TEST(ring_full)
{
	const uint32_t len = (MEMBER_RING / 3 + 1) * CP_PAGE_SIZE;
	struct emulator alice, bob;
	uint16_t path[2];
	uint32_t id[3];

	emulator_new(&alice, "ALICE");
	emulator_new(&bob, "BOB");
	declare(&alice);
	declare(&bob);
	open_path(&alice, &bob, path);
	for (int i = 0; i < 3; i++)
		id[i] = send_message(&alice, path[0], len);
	fill(&alice, DATA, len);
	/* ALICE does not look while the replies go to her storage. */
	for (int i = 0; i < 3; i++) {
		ck_take(&bob, IUCV_MSG_PENDING);
		on_message(&bob, IUCV_RECEIVE, path[1], id[i], DATA, len);
		on_message(&bob, IUCV_REPLY, path[1], id[i], DATA, len);
	}
	ck_assert_uint_eq(alice.changes, 0);
	ck_take(&alice, IUCV_MSG_COMPLETE);
	ck_assert_uint_eq(alice.changes, 1);
	ck_assert_mem_eq(alice.ram + ANSWER, bob.ram + DATA, len);
	ck_assert_uint_ne(alice.ram[ANSWER + 1], 0);
	emulator_end(&bob);
	emulator_end(&alice);
}

/* Whatever the machine was doing: its user logs off, and who was connected is told. */
TEST_LOOP(killed, 0, 3)
{
	struct emulator alice, bob;
	uint16_t path[2];
	int status, ends[2];
	pid_t child;
	char byte;

	emulator_new(&alice, "ALICE");
	declare(&alice);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	child = fork();
	if (child == 0) {
		emulator_new(&bob, "BOB");
		declare(&bob);
		ck_assert_int_eq(write(ends[1], "1", 1), 1);
		while (!take(&bob))
			poll(NULL, 0, 1);
		path[1] = get_be16(bob.ram + BUFFER + IPPATHID);
		put_be16(parm_zero(&bob) + IPPATHID, path[1]);
		put_be16(bob.ram + PARM + IPMSGLIM, 10);
		ck_iucv(&bob, IUCV_ACCEPT);
		if (_i > 0)
			send_message(&bob, path[1], 9000);
		/* ALICE has been told: a path that is gone by then would be severed only. */
		ck_assert_int_eq(read(ends[1], &byte, 1), 1);
		if (_i > 1)
			raise(SIGKILL);
		/* In the midst of a call; most are above the limit of messages. */
		for (;;)
			iucv(&bob, IUCV_SEND);
	}
	ck_assert_int_eq(read(ends[0], &byte, 1), 1);
	fill_connect(&alice, "BOB");
	ck_iucv(&alice, IUCV_CONNECT);
	path[0] = get_be16(alice.ram + PARM + IPPATHID);
	while (!take(&alice))
		poll(NULL, 0, 1);
	ck_assert_uint_eq(alice.ram[BUFFER + IPTYPE], IUCV_COMPLETE);
	ck_assert_int_eq(write(ends[0], "1", 1), 1);
	poll(NULL, 0, 5 * _i);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	/* Messages that came before have gone with the path. */
	do
		while (!take(&alice))
			poll(NULL, 0, 1);
	while (alice.ram[BUFFER + IPTYPE] != IUCV_SEVERED);
	ck_assert_uint_eq(get_be16(alice.ram + BUFFER + IPPATHID), path[0]);
	ck_users(&alice, "BOB", false);
	emulator_end(&alice);
	snprintf(bob.trace, sizeof(bob.trace), "%s/BOB.jsonl", folder);
	ck_assert_int_eq(unlink(bob.trace), 0);
	close(ends[0]);
	close(ends[1]);
}

/* A member of a system that has ended ends as well, with one sentence. */
TEST(system_ends)
{
	static char expected[256], said[256];
	struct emulator alice;
	int pipes[2], status;
	pid_t child;
	ssize_t len;

	ck_assert_int_eq(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		dup2(pipes[1], STDERR_FILENO);
		emulator_new(&alice, "ALICE");
		fputs("on\n", stderr);
		for (;;)
			declare(&alice);
	}
	close(pipes[1]);
	ck_assert_int_eq(read(pipes[0], said, 3), 3);
	system_halt();
	sys_close(served);
	served = NULL;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	len = read(pipes[0], said, sizeof(said) - 1);
	ck_assert_int_gt(len, 0);
	said[len] = '\0';
	snprintf(expected, sizeof(expected),
		 "the system %s has ended, and this machine with it\n", socket_path);
	ck_assert_str_eq(said, expected);
	close(pipes[0]);
	snprintf(expected, sizeof(expected), "%s/ALICE.jsonl", folder);
	unlink(expected);
}

/* What the process says when a machine cannot be a member. */
TEST(refused)
{
	struct emulator alice, other;

	emulator_new(&alice, "ALICE");
	emulator_init(&other, "ALICE");
	ck_assert_int_eq(emulator_start(&other), -1);
	ck_assert_str_eq(err, "ALICE is logged on already");
	/* The trace is that of the first. */
	other.trace[0] = '\0';
	emulator_end(&other);
	emulator_init(&other, "BOB");
	set(&other, "storage", "0.17M");
	ck_assert_int_eq(emulator_start(&other), -1);
	ck_assert_str_eq(err, "storage and segments end at 0x10fffff, but the machine has 16M; give at"
			      " least --ram=17MB");
	emulator_end(&other);
	emulator_init(&other, "BOB");
	close(other.port.ram_fd);
	other.port.ram_fd = -1;
	ck_assert_int_eq(emulator_start(&other), -1);
	ck_assert_str_eq(err, "a member of a system needs storage that others can map; give --shared");
	other.port.ram_fd = dup(0);
	emulator_end(&other);
	ck_assert_uint_eq(alice.kicks, 0);
	declare(&alice);
	emulator_end(&alice);
}

TEST(no_system)
{
	struct emulator alice;
	char expected[256];

	emulator_init(&alice, "ALICE");
	set(&alice, "system", "/tmp/zvmlab-no/such/system");
	ck_assert_int_eq(emulator_start(&alice), -1);
	ck_assert_str_eq(err, "the system at /tmp/zvmlab-no/such/system cannot be reached: No such file"
			      " or directory");
	emulator_end(&alice);
	emulator_init(&alice, "ALICE");
	memset(expected, 'a', 150);
	expected[150] = '\0';
	set(&alice, "system", expected);
	ck_assert_int_eq(emulator_start(&alice), -1);
	ck_assert_ptr_nonnull(strstr(err, "is longer than 107 bytes; use a shorter directory"));
	emulator_end(&alice);
}

/* What comes instead of a welcome. */
static const struct {
	size_t len;
	struct member_welcome welcome;
} others[] = {
	{ 0, { .highest = 0 } },
	{ 5, { .magic = MEMBER_MAGIC } },
	{ sizeof(struct member_welcome), { .magic = "ZVMLMEM0" } },
	{ sizeof(struct member_welcome), { .magic = MEMBER_MAGIC } },
};

/* A socket whose other side is no system of this version; the last of them sends no descriptors. */
TEST_EACH(no_welcome, others)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct emulator alice;
	char expected[256];
	int status;
	pid_t child;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/other", folder);
	ck_assert_int_eq(bind(sock, (const struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(sock, 1), 0);
	child = fork();
	if (child == 0) {
		const int other = accept(sock, NULL, NULL);
		char byte;

		/* A connection whose bytes nobody has read is reset. */
		recv(other, &byte, 1, 0);
		if (others[_i].len > 0)
			send(other, &others[_i].welcome, others[_i].len, 0);
		_exit(0);
	}
	emulator_init(&alice, "ALICE");
	set(&alice, "system", address.sun_path);
	ck_assert_int_eq(emulator_start(&alice), -1);
	snprintf(expected, sizeof(expected), "the system at %s does not answer as a system of this"
		 " version does: Protocol error", address.sun_path);
	ck_assert_str_eq(err, expected);
	emulator_end(&alice);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	close(sock);
	unlink(address.sun_path);
}

/* An emulator whose hello does not offer it cannot take CPUs away: CP says so, and asks it for none. */
TEST(abilities)
{
	struct emulator alice;

	emulator_init(&alice, "ALICE");
	set(&alice, "directory", "CPU 00 BASE");
	ck_assert_int_eq(emulator_start(&alice), -1);
	ck_assert_str_eq(err, "the CPU statements of ALICE's directory entry need an emulator in which"
			      " CPUs come and go; only QEMU is one");
	emulator_end(&alice);
}
