/* SPDX-License-Identifier: MIT */
/*
 * Machines that end at any moment, while all of them use all that CP has: the next one of that name
 * logs on at once, nobody else is harmed, and nothing of them is left.
 *
 * The system is a process of its own here, so that no thread is there when a machine is forked.
 */
#define _GNU_SOURCE /* memfd_create, close_range */
#include "raw_machine.h"

#include <dirent.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#ifdef __SANITIZE_ADDRESS__
/* Of sanitizer/allocator_interface.h, which gcc does not install. */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

enum { MORTALS = 3, DEATHS = 300 };

/* What the process has; with nobody but ALICE logged on. */
struct holdings {
	uint64_t bytes;		/* of storage that is allocated */
	unsigned int descriptors, mappings;	/* of these of memfds */
	unsigned int machines;
};

static const char *const mortals[MORTALS] = { "BOB", "CAROL", "DAVE" };
static const char *const users[] = { "ALICE", "BOB", "CAROL", "DAVE", "*MSG" };
static pid_t process;
static int reports;
/* It is always there, and does what it should. */
static struct emulator alice;

static uint64_t allocated(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	/* The C library counts what a thread's cache holds as given out, so it cannot tell. */
	return 0;
#endif
}

static unsigned int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static unsigned int count_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int count = 0;
	char line[4200];

	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "/memfd:") != NULL;
	fclose(maps);
	return count;
}

/* Serve until there are orders.  What sys_run() looks at must be another one each time. */
static bool serve_for_a_while(int orders)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int stop_fd = epoll_create1(EPOLL_CLOEXEC);
	bool served_well;

	served_well = epoll_ctl(stop_fd, EPOLL_CTL_ADD, orders, &event) == 0 &&
		      sys_run(served, stop_fd) == 0;
	close(stop_fd);
	return served_well;
}

/* Serve, and report for each byte that comes, until the test has gone. */
static void __attribute__((noreturn)) be_process(int orders, int answers)
{
	struct cp_config config;
	struct holdings now;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	system_config(&config);
	served = sys_open(&config, system_tod, -1, 0, err, sizeof(err));
	cp_config_fini(&config);
	ck_assert_msg(served != NULL, "%s", err);
	ck_assert_msg(sys_listen(served, socket_path, err, sizeof(err)) == 0, "%s", err);
	do {
		now = (struct holdings){
			.bytes = allocated(), .descriptors = count_descriptors(),
			.mappings = count_mappings(), .machines = sys_machines(served),
		};
	} while (write(answers, &now, sizeof(now)) == sizeof(now) && serve_for_a_while(orders) &&
		 read(orders, &byte, 1) == 1);
	sys_close(served);
	exit(EXIT_SUCCESS);
}

static struct holdings report(void)
{
	struct holdings now;

	ck_assert_int_eq(read(reports, &now, sizeof(now)), sizeof(now));
	return now;
}

static void start(void)
{
	int orders[2], answers[2];

	folder_make();
	snprintf(socket_path, sizeof(socket_path), "%s/system", folder);
	ck_assert_int_eq(pipe(orders), 0);
	ck_assert_int_eq(pipe(answers), 0);
	process = fork();
	if (process == 0) {
		close(orders[1]);
		close(answers[0]);
		be_process(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	server_stop = orders[1];
	reports = answers[0];
	ck_assert_uint_eq(report().machines, 0);
	emulator_init(&alice, "ALICE");
	set(&alice, "class", "ABCDEG");
	snprintf(err, sizeof(err), "%s/ALICE.control", folder);
	set(&alice, "control", err);
	ck_assert_msg(emulator_start(&alice) == 0, "%s", err);
	declare(&alice);
}

/* Whatever there is in the folder but traces. */
static unsigned int left_in_folder(void)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned int count = 0;
	char path[512];

	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".jsonl")) {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			unlink(path);
		} else if (entry->d_name[0] != '.') {
			count++;
		}
	closedir(dir);
	return count;
}

static void stop(void)
{
	int status;

	/* Nobody has done it any harm. */
	parm_zero(&alice);
	ck_iucv(&alice, IUCV_RETRIEVE_BUFFER);
	emulator_end(&alice);
	close(server_stop);
	ck_assert_int_eq(waitpid(process, &status, 0), process);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
	close(reports);
	ck_assert_uint_eq(left_in_folder(), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("deaths", start, stop);

/* A life. */

struct life {
	struct raw raw;
	const char *user;
	uint64_t seed;
	unsigned int steps;	/* until it kills itself; 0: it does not */
	unsigned int calls;
	uint16_t path;
	uint32_t message;
};

static unsigned int chance(struct life *life, unsigned int of)
{
	/* Knuth's MMIX; the low bits are the worst. */
	life->seed = life->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)((life->seed >> 33) % of);
}

static void step(struct life *life)
{
	if (life->steps > 0 && --life->steps == 0)
		raise(SIGKILL);
}

/* Return: was there a reply, and has nobody asked it to end? */
static bool call(struct life *life, struct member_call asked)
{
	struct raw *raw = &life->raw;
	struct pollfd waits[2] = {
		{ .fd = raw->fd[MEMBER_REPLY], .events = POLLIN }, { .fd = raw->sock },
	};
	char window[sizeof(struct member_window)];
	eventfd_t count;

	life->calls++;
	step(life);
	raw->page->call = asked;
	step(life);
	raw->page->sides.machine_waits = 1;
	__atomic_fetch_add(&raw->page->sides.called, 1, __ATOMIC_SEQ_CST);
	step(life);
	if (eventfd_write(raw->fd[MEMBER_CALL], 1) != 0)
		return false;
	step(life);
	if (poll(waits, 2, LIMIT_MS) < 1 || !(waits[0].revents & POLLIN) ||
	    eventfd_read(raw->fd[MEMBER_REPLY], &count) != 0)
		return false;
	step(life);
	while (recv(raw->sock, window, sizeof(window), MSG_DONTWAIT) > 0)
		;
	return !(raw->page->notices.flags & MEMBER_REQUEST << CP_MACHINE_LOGOFF);
}

static uint8_t *parm(struct life *life)
{
	return memset(life->raw.ram + PARM, 0, 40);
}

static bool instruction(struct life *life, uint32_t function)
{
	return call(life, (struct member_call){
		.function = MEMBER_IUCV, .amode = 64, .gr = { function, PARM },
	});
}

static bool diag(struct life *life, uint32_t code, uint64_t gr2, uint64_t gr4)
{
	return call(life, (struct member_call){
		.function = MEMBER_DIAGNOSE, .amode = 64, .r1 = 2, .r3 = 4, .code = code,
		.gr = { [2] = gr2, [4] = gr4 },
	});
}

static bool begin(struct life *life)
{
	uint8_t *p = parm(life);

	put_be32(p + IPBFADR1, BUFFER);
	if (!instruction(life, IUCV_DECLARE_BUFFER))
		return false;
	parm(life)[IPMASK] = 0xf8;
	if (!instruction(life, IUCV_SET_MASK))
		return false;
	parm(life)[IPMASK] = 0xf8;
	return instruction(life, IUCV_SET_CONTROL_MASK);
}

static bool connect_somewhere(struct life *life)
{
	uint8_t *p = parm(life);

	put_be16(p + IPMSGLIM, 10);
	ebcdic_name(p + IPVMID, users[chance(life, sizeof(users) / sizeof(users[0]))]);
	if (!instruction(life, IUCV_CONNECT))
		return false;
	life->path = get_be16(p + IPPATHID);
	return true;
}

static bool on_path(struct life *life)
{
	static const uint32_t functions[] = {
		IUCV_SEVER, IUCV_QUIESCE, IUCV_RESUME, IUCV_PURGE, IUCV_TEST_COMPLETION,
	};
	uint8_t *p = parm(life);

	put_be16(p + IPPATHID, life->path);
	return instruction(life, functions[chance(life, 5)]);
}

static bool send_something(struct life *life)
{
	static const uint32_t lengths[] = { 1, 100, 16000, 65536 };
	const uint32_t len = lengths[chance(life, 4)];
	uint8_t *p = parm(life);

	put_be16(p + IPPATHID, chance(life, 4) > 0 ? life->path : (uint16_t)chance(life, 8));
	p[IPFLAGS1] = chance(life, 2) ? IPNORPY : 0;
	put_be32(p + IPBFADR1, DATA);
	put_be32(p + IPBFLN1F, len);
	put_be32(p + IPBFADR2, ANSWER);
	put_be32(p + IPBFLN2F, len);
	return instruction(life, IUCV_SEND);
}

/* What a guest does with an interruption of that type; below 0: nothing. */
static int answer_to(enum iucv_type type, bool rejects)
{
	switch (type) {
	case IUCV_PENDING:
		return IUCV_ACCEPT;
	case IUCV_SEVERED:
		return IUCV_SEVER;
	case IUCV_PRIO_PENDING:
	case IUCV_MSG_PENDING:
		return rejects ? IUCV_REJECT : IUCV_RECEIVE;
	default:
		return -1;
	}
}

static bool take_some(struct life *life)
{
	const uint8_t *event = life->raw.ram + BUFFER;
	int function;
	uint8_t *p;

	if (!call(life, (struct member_call){ .function = MEMBER_TAKE }))
		return false;
	if (!life->raw.page->reply.value)
		return true;
	life->path = get_be16(event + IPPATHID);
	life->message = get_be32(event + IPMSGID);
	function = answer_to(event[IPTYPE], chance(life, 4) == 0);
	if (function < 0)
		return true;
	p = parm(life);
	put_be16(p + IPPATHID, life->path);
	if (function == IUCV_ACCEPT) {
		put_be16(p + IPMSGLIM, 10);
	} else if (function != IUCV_SEVER) {
		p[IPFLAGS1] = IPFGPID | IPFGMID;
		put_be32(p + IPMSGID, life->message);
		put_be32(p + IPBFADR1, DATA);
		put_be32(p + IPBFLN1F, 65536);
	}
	if (!instruction(life, (uint32_t)function))
		return false;
	if (function != IUCV_RECEIVE)
		return true;
	p = parm(life);
	put_be16(p + IPPATHID, life->path);
	put_be32(p + IPMSGID, life->message);
	put_be32(p + IPBFADR1, DATA);
	put_be32(p + IPBFLN1F, 100);
	return instruction(life, IUCV_REPLY);
}

static bool one_command(struct life *life)
{
	static const char *const commands[] = {
		"SMSG BOB one", "MSG CAROL two", "WARNING DAVE three", "MSGNOH ALICE four",
		"QUERY NAMES", "SET SMSG IUCV", "DEFINE VFB-512 AS 300 BLK 64", "DETACH 300",
		"LINK BOB 200 301 MW", "LINK CAROL 200 301 RR", "DETACH 301",
		"SPOOL PUNCH TO CAROL", "SPOOL PUNCH TO *", "CLOSE PUNCH", "PURGE READER ALL",
		"TRANSFER READER ALL TO DAVE", "SIGNAL SHUTDOWN DAVE", "FORCE BOB",
	};
	const char *text = commands[chance(life, sizeof(commands) / sizeof(commands[0]))];

	ebcdic_encode(life->raw.ram + DATA, text, strlen(text));
	return diag(life, 0x08, DATA, strlen(text));
}

static bool segment(struct life *life)
{
	static const char *const names[] = { "SHARED", "ROM", "OWN" };
	static const uint32_t subcodes[] = { 0x00, 0x04, 0x08, 0x0c, 0x20, 0x24 };

	ebcdic_name(life->raw.ram + DATA, names[chance(life, 3)]);
	return diag(life, 0x64, DATA, subcodes[chance(life, 6)]);
}

static bool punch_card(struct life *life)
{
	return call(life, (struct member_call){
		.function = MEMBER_UNIT, .device = 0xd, .code = 0x01, .length = 80,
	});
}

static bool look_around(struct life *life)
{
	switch (chance(life, 4)) {
	case 0:
		return diag(life, 0x204, 4, DATA);
	case 1:
		return diag(life, 0x2fc, DATA, 4096);
	case 2:
		return call(life, (struct member_call){
			.function = MEMBER_STHYI, .amode = 64, .r1 = 2, .r3 = 4, .gr = { [4] = DATA },
		});
	default:
		return call(life, (struct member_call){
			.function = MEMBER_PAGE_ACCESS, .address = chance(life, RAM),
		});
	}
}

static bool reset(struct life *life)
{
	return call(life, (struct member_call){ .function = MEMBER_RESET }) && begin(life);
}

/* The last ones can end a machine, or its memory of what it has done. */
static bool (*const acts[])(struct life *life) = {
	connect_somewhere, connect_somewhere, send_something, send_something, take_some, take_some,
	take_some, take_some, on_path, segment, punch_card, look_around, one_command, one_command, reset,
};
enum { ALL_ACTS = sizeof(acts) / sizeof(acts[0]), CALM_ACTS = ALL_ACTS - 3 };

/* Options of the hello, behind its head; return: their length. */
static size_t describe(struct hello *hello, const char *user)
{
	size_t len;
	FILE *file = fmemopen(hello->options, sizeof(hello->options), "w");

	hello->head = (struct member_hello){
		.magic = MEMBER_MAGIC, .ram_size = RAM, .can = CAN_ALL,
	};
	fprintf(file, "userid%c%s%cstorage%c0.4M%cclass%cABCDEG%ccontrol%c%s/%s.control%ctrace%c"
		"%s/%s.jsonl%cdirectory%cIUCV ALLOW;IUCV ANY;IUCV *MSG;OPTION MAXCONN 20;"
		"SPOOL 00C 2540 READER A;SPOOL 00D 2540 PUNCH A;MDISK 200 FB-512 V-DISK 64 MW%c",
		0, user, 0, 0, 0, 0, 0, 0, folder, user, 0, 0, folder, user, 0, 0, 0);
	len = (size_t)ftell(file);
	fclose(file);
	return len;
}

static void live(struct life *life)
{
	struct hello hello;
	const size_t len = describe(&hello, life->user);

	step(life);
	raw_log_on(&life->raw, &hello, sizeof(hello.head) + len);
}

/* @steps: after so many it kills itself; 0: it is killed. */
static pid_t birth(const char *user, uint64_t seed, unsigned int steps)
{
	struct life life = { .user = user, .seed = seed, .steps = steps };
	const pid_t child = fork();

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	live(&life);
	if (begin(&life))
		while (acts[chance(&life, ALL_ACTS)](&life))
			;
	_exit(0);
}

static void death(pid_t child, bool kills)
{
	int status;

	if (kills)
		kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	/* It has been forced, or killed. */
	ck_assert_msg(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL,
		      "status %x", status);
}

/* ALICE keeps no path to anybody. */
static void let_go(void)
{
	const uint8_t *event;

	while ((event = take(&alice)))
		if (event[IPTYPE] == IUCV_PENDING || event[IPTYPE] == IUCV_SEVERED) {
			const uint16_t path = get_be16(event + IPPATHID);

			put_be16(parm_zero(&alice) + IPPATHID, path);
			memcpy(alice.told + PARM, alice.ram + PARM, 40);
			iucv(&alice, IUCV_SEVER);
		}
}

/* Nobody but ALICE is there; files of readers, which stay, have gone.  What is there then. */
static struct holdings alone(void)
{
	for (int i = 0; i < MORTALS; i++) {
		struct life life = { .user = mortals[i] };
		static const char text[] = "PURGE READER ALL";

		live(&life);
		ebcdic_encode(life.raw.ram + DATA, text, strlen(text));
		ck_assert(diag(&life, 0x08, DATA, strlen(text)));
		close(life.raw.sock);
		raw_log_off(&life.raw);
	}
	let_go();
	for (int i = 0; i < MORTALS; i++)
		ck_users(&alice, mortals[i], false);
	ck_assert_uint_eq(left_in_folder(), 2);
	ck_assert_int_eq(write(server_stop, "", 1), 1);
	return report();
}

/* CP has room for as many machines as there have been at once, and keeps it. */
static void all_at_once(void)
{
	struct life life[MORTALS];

	for (unsigned int i = 0; i < MORTALS; i++) {
		life[i] = (struct life){ .user = mortals[i] };
		live(&life[i]);
	}
	for (unsigned int i = 0; i < MORTALS; i++) {
		close(life[i].raw.sock);
		raw_log_off(&life[i].raw);
	}
	for (unsigned int i = 0; i < MORTALS; i++)
		ck_users(&alice, mortals[i], false);
}

/*
 * In turn.  Half of them end by their own hands, after so many steps as the seed says, however long
 * these take; the others a while after the one before them.
 */
static void die(unsigned int deaths, uint64_t seed)
{
	struct life fate = { .seed = seed };
	unsigned int steps[MORTALS];
	pid_t child[MORTALS];

	for (unsigned int i = 0; i < MORTALS + deaths; i++) {
		const unsigned int who = i % MORTALS;

		if (i >= MORTALS) {
			poll(NULL, 0, (int)chance(&fate, 4));
			death(child[who], steps[who] == 0);
		}
		steps[who] = chance(&fate, 2) ? 1 + chance(&fate, 200) : 0;
		child[who] = birth(mortals[who], seed + i, steps[who]);
		if (i % 16 == 0)
			let_go();
	}
	for (unsigned int i = 0; i < MORTALS; i++)
		death(child[i], true);
}

static void ck_nothing_left(const struct holdings *before, unsigned int deaths)
{
	const struct holdings after = alone();

	ck_assert_uint_eq(after.machines, 1);
	ck_assert_uint_eq(after.descriptors, before->descriptors);
	ck_assert_uint_eq(after.mappings, before->mappings);
	/* Not a byte for each death. */
	ck_assert_uint_lt(after.bytes, before->bytes + deaths);
}

TEST_LOOP(at_any_moment, 0, 3)
{
	const uint64_t seed = (uint64_t)_i << 32;
	struct holdings before;

	all_at_once();
	die(30, seed);
	before = alone();
	die(DEATHS, seed + 1000);
	ck_nothing_left(&before, DEATHS);
}

static void read_line(int sock, char *line, size_t size)
{
	size_t len = 0;

	do
		ck_assert_int_eq(recv(sock, line + len, 1, 0), 1);
	while (line[len++] != '\n' && len < size);
	line[len - 1] = '\0';
}

/* By a client of ALICE's control socket; return: the rule's number. */
static unsigned int arm_link(const char *user, unsigned int n)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char line[512];
	unsigned int rule;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/ALICE.control", folder);
	ck_assert_int_eq(connect(sock, (const struct sockaddr *)&address, sizeof(address)), 0);
	read_line(sock, line, sizeof(line));
	snprintf(line, sizeof(line),
		 "{\"execute\":\"fault-arm\",\"arguments\":{\"point\":\"machine.link\","
		 "\"kind\":\"sever\",\"user\":\"%s\",\"when\":\"nth\",\"n\":%u}}\n", user, n);
	ck_assert_int_eq(send(sock, line, strlen(line), 0), (ssize_t)strlen(line));
	read_line(sock, line, sizeof(line));
	ck_assert_msg(sscanf(line, "{\"return\":{\"rule\":%u", &rule) == 1, "%s", line);
	close(sock);
	return rule;
}

/* The rule machine.link: the connection breaks at the call that it names, which nobody serves. */
TEST(cut_at_each_call)
{
	enum { CALLS = 60 };
	struct holdings before = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/BOB.control", folder);
	for (unsigned int n = 1; n <= CALLS; n++) {
		struct life life = { .user = "BOB", .seed = n };

		ck_assert_uint_eq(arm_link("BOB", n), n);
		live(&life);
		ck_assert_int_eq(access(path, F_OK), 0);
		if (begin(&life))
			while (life.calls < n + 10 && acts[chance(&life, CALM_ACTS)](&life))
				;
		ck_assert_uint_eq(life.calls, n);
		ck_ended(life.raw.sock);
		raw_log_off(&life.raw);
		ck_assert_int_eq(access(path, F_OK), -1);
		let_go();
		if (n == CALLS / 2)
			before = alone();
	}
	ck_nothing_left(&before, CALLS / 2);
}
