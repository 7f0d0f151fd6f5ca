/* SPDX-License-Identifier: MIT */
/* Notices that come at an awkward moment: the process is played by the test. */
#define _GNU_SOURCE /* memfd_create */
#include "system_check.h"

#include "listen.h"

static int listening, sock, fds[MEMBER_FDS];
static struct member_page *page;
static uint64_t inode;

/* Between CP's look and the reply that the machine sees. */
static uint64_t kicks_then, externals_then;

static void welcome(void)
{
	struct member_welcome answer = { .magic = MEMBER_MAGIC, .highest = RAM - 1 };
	static uint8_t hello[MEMBER_HELLO_MAX];
	union {
		char room[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	ck_assert_int_gt(recv(sock, hello, sizeof(hello), 0), 0);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(head), fds, sizeof(fds));
	ck_assert_int_eq(sendmsg(sock, &message, 0), sizeof(answer));
}

/* Until the page says that the test is over. */
static void answer_calls(void)
{
	eventfd_t count;

	while (eventfd_read(fds[MEMBER_CALL], &count) == 0 && !page->block[0]) {
		page->reply = (struct member_reply){ .value = 1 };
		__atomic_fetch_or(&page->notices.kicks, kicks_then, __ATOMIC_RELEASE);
		__atomic_fetch_or(&page->notices.externals, externals_then, __ATOMIC_RELEASE);
		__atomic_store_n(&page->sides.replied, page->sides.called, __ATOMIC_SEQ_CST);
		ck_assert_int_eq(eventfd_write(fds[MEMBER_REPLY], 1), 0);
	}
}

static void *play(void *unused)
{
	struct pollfd waits = { .fd = listening, .events = POLLIN };

	ck_assert_int_eq(poll(&waits, 1, LIMIT_MS), 1);
	sock = accept(listening, NULL, NULL);
	ck_assert_int_ge(sock, 0);
	welcome();
	answer_calls();
	return unused;
}

static void *play_on(void *unused)
{
	answer_calls();
	return unused;
}

static void start(void)
{
	folder_make();
	snprintf(socket_path, sizeof(socket_path), "%s/system", folder);
	listening = ctl_listen(socket_path, SOCK_SEQPACKET, "socket", &inode, err, sizeof(err));
	ck_assert_int_ge(listening, 0);
	fds[MEMBER_PAGE] = storage_new(sizeof(*page));
	for (int i = MEMBER_CALL; i < MEMBER_FDS; i++)
		fds[i] = eventfd(0, EFD_CLOEXEC | (i == MEMBER_REPLY ? EFD_NONBLOCK : 0));
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[MEMBER_PAGE], 0);
	ck_assert(page != MAP_FAILED);
	page->sides.process_waits = 1;
	ck_assert_int_eq(pthread_create(&server, NULL, play, NULL), 0);
}

static void stop(void)
{
	page->block[0] = 1;
	ck_assert_int_eq(eventfd_write(fds[MEMBER_CALL], 1), 0);
	ck_assert_int_eq(pthread_join(server, NULL), 0);
	munmap(page, sizeof(*page));
	for (int i = 0; i < MEMBER_FDS; i++)
		close(fds[i]);
	close(sock);
	close(listening);
	ctl_unlisten(socket_path, inode);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("notices", start, stop);

/*
 * CP has no other interruption when it looks, and one when the machine has the reply: the emulator
 * must not forget what it is told with that.
 */
TEST(kick_behind_the_look)
{
	struct cp_external external;
	struct emulator alice;
	bool more;

	emulator_new(&alice, "ALICE");
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert(!more);
	ck_assert(alice.port.calls->external_take(&alice.port, 0, &external, &more));
	ck_assert(!more);
	kicks_then = 1;
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert(more);
	ck_assert_uint_eq(alice.kicks, 1);
	kicks_then = 0;
	externals_then = 1;
	ck_assert(alice.port.calls->external_take(&alice.port, 0, &external, &more));
	ck_assert(more);
	ck_assert_uint_eq(alice.externals, 1);
	externals_then = 0;
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert(!more);
	emulator_end(&alice);
}

static const void *asked_of;

static bool is_idle(const void *cpu)
{
	asked_of = cpu;
	return true;
}

static bool is_not_idle(const void *cpu)
{
	asked_of = cpu;
	return false;
}

/* The process tells it while it looks. */
static bool is_told(const void *cpu)
{
	ck_assert_uint_eq(page->notices.looks, 1);
	__atomic_fetch_or(&page->notices.kicks, 1, __ATOMIC_RELEASE);
	return is_not_idle(cpu);
}

TEST(looks_by_itself)
{
	struct emulator alice;
	struct cp_port *port = &alice.port;
	int cpu = 0;

	emulator_new(&alice, "ALICE");
	ck_assert(!port->calls->look(port, is_idle, &cpu));
	ck_assert_ptr_eq(asked_of, &cpu);
	asked_of = NULL;
	ck_assert(!port->calls->look(port, is_not_idle, &cpu));
	ck_assert_ptr_eq(asked_of, &cpu);
	ck_assert_uint_eq(page->notices.looks, 0);
	/* What comes last of all is not lost: nobody else was woken for it. */
	ck_assert(port->calls->look(port, is_told, &cpu));
	ck_assert_uint_eq(page->notices.looks, 0);
	ck_assert_uint_eq(alice.kicks, 0);
	port->calls->dispatch(port);
	ck_assert_uint_eq(alice.kicks, 1);
	ck_assert(!port->calls->look(port, is_not_idle, &cpu));
	emulator_end(&alice);
}

TEST(sees_all_kinds)
{
	struct member_notices *notices = &page->notices;
	struct emulator alice;
	struct cp_port *port = &alice.port;

	emulator_new(&alice, "ALICE");
	notices->externals = 1;
	ck_assert(port->calls->look(port, is_not_idle, NULL));
	port->calls->dispatch(port);
	notices->flags = MEMBER_STORAGE_CHANGED;
	ck_assert(port->calls->look(port, is_not_idle, NULL));
	port->calls->dispatch(port);
	notices->ring[0] = (struct member_range){ 0, 8, MEMBER_STORED };
	notices->put = 1;
	ck_assert(port->calls->look(port, is_not_idle, NULL));
	port->calls->dispatch(port);
	ck_assert(!port->calls->look(port, is_not_idle, NULL));
	emulator_end(&alice);
}

static void offer(uint64_t address, unsigned int cpu)
{
	page->offer.cpu = cpu;
	page->offer.address = address;
	page->offer.more = 1;
	memset(page->offer.image, 0x5a, sizeof(page->offer.image));
	page->offer.tod = 0;
	__atomic_store_n(&page->offer.state, 7 * MEMBER_OFFER_STATES + MEMBER_OFFERED,
			 __ATOMIC_SEQ_CST);
}

static bool is_taken(void)
{
	return page->offer.state == 7 * MEMBER_OFFER_STATES + MEMBER_TAKEN;
}

/* What CP has stored before is known by then, and so is what the interruption stores. */
TEST(takes_an_offer)
{
	struct emulator alice;
	uint32_t calls;
	bool more;

	emulator_new(&alice, "ALICE");
	/* The process is at work, and sees it by itself. */
	page->sides.process_waits = 0;
	calls = page->sides.called;
	memset(alice.ram + DATA, 0xa5, 8);
	page->notices.ring[0] = (struct member_range){ DATA, 8, MEMBER_STORED };
	page->notices.put = 1;
	offer(BUFFER, 0);
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert(more);
	ck_assert(is_taken());
	ck_assert_uint_eq(page->offer.tod, alice.tod);
	ck_assert_uint_eq(page->sides.called, calls);
	ck_assert_uint_eq(page->notices.taken, 1);
	ck_assert_uint_eq(alice.ram[BUFFER + CP_INTERRUPTION_SIZE - 1], 0x5a);
	ck_assert_uint_eq(alice.ram[BUFFER + CP_INTERRUPTION_SIZE], 0);
	ck_told(&alice);
	offer(BUFFER, 0);
	page->offer.more = 0;
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert(!more);
	/* Told of one meanwhile. */
	offer(BUFFER, 0);
	page->offer.more = 0;
	page->notices.kicks = 1;
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert(more);
	/* A process that waits is woken. */
	page->sides.process_waits = 1;
	offer(BUFFER, 0);
	page->block[0] = 1;
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert_int_eq(pthread_join(server, NULL), 0);
	page->block[0] = 0;
	ck_assert_int_eq(pthread_create(&server, NULL, play_on, NULL), 0);
	emulator_end(&alice);
}

static const struct {
	uint64_t address, prefix;
	unsigned int cpu;
} others[] = {
	{ BUFFER, 0, 1 },				/* CPU */
	{ RAM - CP_INTERRUPTION_SIZE + 1, 0, 0 },	/* end of storage */
	{ UINT64_MAX, 0, 0 },
	{ BUFFER, BUFFER, 0 },				/* set since */
	{ 0x1000, 0x4000, 0 },
};

/* An offer that is not for it, or that CP made before it knew what this side knows. */
TEST_EACH(asks_instead, others)
{
	struct emulator alice;
	uint32_t calls;
	bool more;

	emulator_new(&alice, "ALICE");
	alice.prefix = others[_i].prefix;
	offer(others[_i].address, others[_i].cpu);
	calls = page->sides.called;
	ck_assert(alice.port.calls->interrupt_take(&alice.port, 0, &more));
	ck_assert_uint_eq(page->sides.called, calls + 1);
	ck_assert(!is_taken());
	emulator_end(&alice);
}
