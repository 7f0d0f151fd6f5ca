/* SPDX-License-Identifier: MIT */
/* Connections that are no machines, and machines that say what no emulator does. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "raw_machine.h"

#include <errno.h>
#include <sys/resource.h>

/* A well-behaved machine that is there all the time. */
static struct emulator alice;

static void start(void)
{
	system_start();
	emulator_init(&alice, "ALICE");
	set(&alice, "class", "ABG");
	ck_assert_int_eq(emulator_start(&alice), 0);
	declare(&alice);
}

static void stop(void)
{
	/* Nobody has done it any harm. */
	parm_zero(&alice);
	ck_iucv(&alice, IUCV_RETRIEVE_BUFFER);
	emulator_end(&alice);
	system_stop();
}

CASE("hostile", start, stop);

static const struct hello good = {
	{ .magic = MEMBER_MAGIC, .ram_size = RAM, .can = CAN_ALL }, "userid\0BOB\0storage\0" "0.4M",
};
#define GOOD_LEN (sizeof(good.head) + sizeof("userid\0BOB\0storage\0" "0.4M"))

/* One sentence, and the connection ends. */
static void ck_refused(const void *bytes, size_t len, int storage, const char *why)
{
	struct raw raw = { .sock = connect_raw() };

	say(raw.sock, bytes, len, &storage, storage >= 0);
	ck_assert_str_eq(answer(&raw), why);
	ck_ended(raw.sock);
	if (storage >= 0)
		close(storage);
}

TEST(no_hello)
{
	static const uint8_t garbage[100000] = { 1, 2, 3 };
	struct hello hello = good;

	ck_refused(garbage, 1, -1, "that is no hello of a machine");
	ck_refused(garbage, sizeof(garbage), storage_new(RAM), "that is no hello of a machine");
	ck_refused(&good, sizeof(good.head) - 1, -1, "that is no hello of a machine");
	/* Longer than any: what was cut off is not known. */
	{
		static uint8_t longest[MEMBER_HELLO_MAX + 1];

		memcpy(longest, &good, sizeof(good));
		ck_refused(longest, sizeof(longest), -1, "that is no hello of a machine");
	}
	hello.head.magic[MEMBER_MAGIC_LEN - 1] = '0';
	ck_refused(&hello, GOOD_LEN, storage_new(RAM),
		   "the emulator and the system are of different versions of zvmlab; build both anew");
}

TEST(options)
{
	struct hello hello = good;

	ck_refused(&good, GOOD_LEN - 1, storage_new(RAM),
		   "the options of the hello are not complete");
	ck_refused(&good, sizeof(good.head) + 7, storage_new(RAM),
		   "the options of the hello are not complete");
	memcpy(hello.options, "system\0/x", 10);
	ck_refused(&hello, sizeof(good.head) + 10, storage_new(RAM),
		   "a member of a system has no other system");
	memcpy(hello.options, "cpus\0" "65", 8);
	ck_refused(&hello, sizeof(good.head) + 8, storage_new(RAM),
		   "cpus \"65\": expected a number from 1 to 64");
	memcpy(hello.options, "trace\0/proc/no/file", 20);
	ck_refused(&hello, sizeof(good.head) + 20, storage_new(RAM),
		   "trace file /proc/no/file cannot be written: No such file or directory");
}

static unsigned int descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

TEST(storage)
{
	static const uint64_t sizes[] = { 0, 4095, RAM + 1, UINT64_C(1) << 45 };
	const int fds[3] = { storage_new(RAM), storage_new(RAM), storage_new(RAM) };
	const unsigned int before = descriptors();
	struct hello hello = good;
	int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct raw raw;

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		hello.head.ram_size = sizes[i];
		ck_refused(&hello, GOOD_LEN, storage_new(RAM),
			   "guest storage is not whole pages below 16T");
	}
	ck_refused(&good, GOOD_LEN, -1, "the hello came without a descriptor of guest storage");
	ck_refused(&good, GOOD_LEN, storage_new(RAM - 4096),
		   "guest storage is not shared by a memfd that keeps its size");
	ck_assert_int_eq(ftruncate(unsealed, RAM), 0);
	ck_refused(&good, GOOD_LEN, unsealed,
		   "guest storage is not shared by a memfd that keeps its size");
	ck_refused(&good, GOOD_LEN, open("/dev/zero", O_RDWR | O_CLOEXEC),
		   "guest storage is not shared by a memfd that keeps its size");
	/* More than one; none of them stays open in the process, which is this one. */
	for (unsigned int count = 2; count <= 3; count++) {
		raw.sock = connect_raw();
		say(raw.sock, &good, GOOD_LEN, fds, count);
		ck_assert_str_eq(answer(&raw),
				 count == 2 ? "the hello came without a descriptor of guest storage"
					    : "that is no hello of a machine");
		ck_ended(raw.sock);
	}
	ck_assert_uint_eq(descriptors(), before);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

/* Strangers who say nothing do not keep machines out. */
TEST(thousand_connections)
{
	enum { COUNT = 1000 };
	static int socks[COUNT];
	struct rlimit limit;
	struct emulator bob;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < COUNT; i++)
		socks[i] = connect_raw();
	emulator_new(&bob, "BOB");
	declare(&bob);
	/* The first ones had to go. */
	ck_ended(socks[0]);
	for (int i = 1; i < COUNT; i++)
		close(socks[i]);
	emulator_end(&bob);
}

static void log_on(struct raw *raw)
{
	raw_log_on(raw, &good, GOOD_LEN);
}

static const struct {
	const char *what;
	struct member_call call;
} wrong[] = {
	{ "function", { .function = MEMBER_FUNCTIONS } },
	{ "CPU", { .function = MEMBER_TAKE, .cpu = 1 } },
	{ "addressing mode", { .function = MEMBER_IUCV, .amode = 0 } },
	{ "first register", { .function = MEMBER_DIAGNOSE, .amode = 64, .r1 = 16 } },
	{ "third register", { .function = MEMBER_DIAGNOSE, .amode = 64, .r3 = 16 } },
	{ "address", { .function = MEMBER_PAGE_ACCESS, .address = RAM } },
};

/* The machine that says that logs off. */
TEST_EACH(wrong_call, wrong)
{
	struct raw raw;

	log_on(&raw);
	raw.page->call = wrong[_i].call;
	ck_assert_msg(!call_raw(&raw), "%s", wrong[_i].what);
	ck_ended(raw.sock);
	raw_log_off(&raw);
}

/* Its emulator still has the descriptor: nobody reads there any more, least of all standard input. */
TEST(calls_after_its_end)
{
	struct raw raw;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
	log_on(&raw);
	raw.page->call = (struct member_call){ .function = MEMBER_FUNCTIONS };
	ck_assert(!call_raw(&raw));
	ck_ended(raw.sock);
	ck_assert_int_eq(eventfd_write(raw.fd[MEMBER_CALL], 1), 0);
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	poll(NULL, 0, 20);
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	close(pipes[0]);
	close(pipes[1]);
	raw_log_off(&raw);
}

/* Units: what the core would take for a mistake of ours. */
TEST(wrong_unit)
{
	struct raw raw;

	log_on(&raw);
	raw.page->call = (struct member_call){ .function = MEMBER_UNIT_LENGTH, .device = 0xd };
	ck_assert(call_raw(&raw));
	ck_assert_uint_eq(raw.page->reply.value, 0);
	raw.page->call = (struct member_call){ .function = MEMBER_UNIT, .device = 0xd, .length = 5000 };
	ck_assert(call_raw(&raw));
	ck_assert_uint_eq(raw.page->reply.value, 0x0e);
	ck_assert_uint_eq(raw.page->reply.sense, 0x8000);
	close(raw.sock);
	raw_log_off(&raw);
}

/* A prefix beyond storage; ring numbers that are not true; a reply that nobody takes. */
TEST(page_of_nonsense)
{
	struct raw raw;

	log_on(&raw);
	/* All but its count of calls, each change of which is one. */
	memset(&raw.page->sides.replied, 0xff,
	       sizeof(*raw.page) - offsetof(struct member_page, sides.replied));
	raw.page->call = (struct member_call){ .function = MEMBER_IUCV, .amode = 31, .gr = { 5, 0x1000 } };
	memset(raw.page->call.prefix, 0xff, sizeof(raw.page->call.prefix));
	for (int i = 0; i < 3; i++) {
		ck_assert(call_raw(&raw));
		ck_assert_uint_eq(raw.page->reply.how, CP_PROGRAM);
	}
	ck_assert_uint_eq(raw.page->reply.pgm, PGM_ADDRESSING);
	for (int i = 0; i < 3; i++) {
		__atomic_fetch_add(&raw.page->sides.called, 1, __ATOMIC_SEQ_CST);
		ck_assert_int_eq(eventfd_write(raw.fd[MEMBER_CALL], 1), 0);
	}
	/* More than a hello. */
	say(raw.sock, &good, GOOD_LEN, NULL, 0);
	ck_ended(raw.sock);
	raw_log_off(&raw);
}

/* A reply's counter that is full is no reason to wait. */
TEST(full_counter)
{
	struct raw raw;

	log_on(&raw);
	ck_assert_int_eq(eventfd_write(raw.fd[MEMBER_REPLY], UINT64_C(0xfffffffffffffffe)), 0);
	raw.page->sides.machine_waits = 1;
	__atomic_fetch_add(&raw.page->sides.called, 1, __ATOMIC_SEQ_CST);
	ck_assert_int_eq(eventfd_write(raw.fd[MEMBER_CALL], 1), 0);
	ck_ended(raw.sock);
	raw_log_off(&raw);
}

static bool is_readable(int fd)
{
	struct pollfd waits = { .fd = fd, .events = POLLIN };

	return poll(&waits, 1, 0) == 1;
}

/* What there is for a machine that looks by itself is there, and nobody is woken for it. */
TEST(looks_by_itself)
{
	eventfd_t count;
	struct raw raw;

	log_on(&raw);
	__atomic_store_n(&raw.page->notices.looks, 1, __ATOMIC_SEQ_CST);
	/* What it was told of its log-on is of before. */
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	eventfd_read(raw.fd[MEMBER_NOTICE], &count);
	ck_assert_uint_eq(command(&alice, "FORCE BOB"), 0);
	/* The process has served that call by the time of the next one. */
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	ck_assert(__atomic_load_n(&raw.page->notices.flags, __ATOMIC_ACQUIRE) &
		  MEMBER_REQUEST << CP_MACHINE_LOGOFF);
	ck_assert(!is_readable(raw.fd[MEMBER_NOTICE]));
	__atomic_store_n(&raw.page->notices.looks, 0, __ATOMIC_SEQ_CST);
	command(&alice, "FORCE BOB");
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	ck_assert(is_readable(raw.fd[MEMBER_NOTICE]));
	close(raw.sock);
	raw_log_off(&raw);
}

static void raw_iucv(struct raw *raw, uint32_t function)
{
	raw->page->call = (struct member_call){
		.function = MEMBER_IUCV, .amode = 64, .gr = { function, PARM },
	};
	ck_assert(call_raw(raw));
	ck_assert_uint_eq(raw->page->reply.cc, 0);
}

/*
 * A CPU that is at work, as its machine says, and never looks: it is told of its interruption all the
 * same, however much others have to be served.
 */
TEST(never_looks)
{
	struct raw raw;
	eventfd_t count;

	log_on(&raw);
	put_be32(raw.ram + PARM + IPBFADR1, BUFFER);
	raw_iucv(&raw, IUCV_DECLARE_BUFFER);
	memset(raw.ram + PARM, 0, 40);
	raw.ram[PARM + IPMASK] = 0xf8;
	raw_iucv(&raw, IUCV_SET_CONTROL_MASK);
	__atomic_store_n(&raw.page->notices.flags, 0, __ATOMIC_SEQ_CST);
	eventfd_read(raw.fd[MEMBER_NOTICE], &count);
	__atomic_store_n(&raw.page->notices.busy, 1, __ATOMIC_SEQ_CST);
	fill_connect(&alice, "BOB");
	ck_iucv(&alice, IUCV_CONNECT);
	ck_assert_uint_eq(__atomic_load_n(&raw.page->notices.kicks, __ATOMIC_ACQUIRE), 1);
	for (unsigned int tries = 0; !is_readable(raw.fd[MEMBER_NOTICE]); tries++) {
		ck_assert_uint_lt(tries, LIMIT_MS);
		ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	}
	close(raw.sock);
	raw_log_off(&raw);
}

/* LOADSHRX; return: the descriptor of the pages, which the machine could do anything with. */
static int load_segment(struct raw *raw, const char *name)
{
	struct member_window window;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { &window, sizeof(window) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	int fd;

	ebcdic_name(raw->ram + DATA, name);
	raw->page->call = (struct member_call){
		.function = MEMBER_DIAGNOSE, .amode = 64, .r1 = 2, .r3 = 4, .code = 0x64,
		.gr = { [2] = DATA, [4] = 0x20 },
	};
	ck_assert(call_raw(raw));
	ck_assert_uint_eq(raw->page->reply.cc, 0);
	ck_assert_int_eq(recvmsg(raw->sock, &message, MSG_DONTWAIT), sizeof(window));
	ck_assert_ptr_nonnull(CMSG_FIRSTHDR(&message));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static const struct {
	const char *name;
	bool shared;	/* to be stored into */
} segments[] = { { "SHARED", true }, { "ROM", false }, { "OWN", true } };

/* It can neither take pages away, nor store into those that nobody stores into. */
TEST_EACH(pages_of_a_segment, segments)
{
	const int protection = PROT_READ | PROT_WRITE;
	struct raw raw;
	void *at;
	int fd;

	log_on(&raw);
	fd = load_segment(&raw, segments[_i].name);
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ftruncate(fd, 1 << 20), -1);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
	at = mmap(NULL, 4096, protection, MAP_SHARED, fd, 0);
	ck_assert_int_eq(at != MAP_FAILED, segments[_i].shared);
	ck_assert_int_eq(pwrite(fd, "x", 1, 0), segments[_i].shared ? 1 : -1);
	ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096),
			 segments[_i].shared ? 0 : -1);
	if (at != MAP_FAILED)
		munmap(at, 4096);
	close(fd);
	close(raw.sock);
	raw_log_off(&raw);
}

/* Who does not take what it is sent is no machine any more, and the others are. */
TEST(segments_that_nobody_takes)
{
	struct raw raw;

	log_on(&raw);
	ebcdic_name(raw.ram + DATA, "ROM");
	do {
		static const uint64_t other[] = { [0x20] = 0x08, [0x08] = 0x20 };
		const uint64_t last = raw.page->call.gr[4];

		raw.page->call = (struct member_call){
			.function = MEMBER_DIAGNOSE, .amode = 64, .r1 = 2, .r3 = 4, .code = 0x64,
			.gr = { [2] = DATA, [4] = last ? other[last] : 0x20 },
		};
	} while (call_raw(&raw));
	ck_ended(raw.sock);
	raw_log_off(&raw);
}
