/* SPDX-License-Identifier: MIT */
/*
 * CP in the process of a system: each call goes there by a page that both have (cp_member.h).
 *
 * The core's callbacks come back as notices, and are the port's own functions.  What they ask of
 * CP is a call in the midst of another one's notices; so a reply is copied before that.
 */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "cp_port.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cp_member.h"
#include "smaller.h"
#include "spin.h"

/* A process that takes longer for a call does not go on. */
#define REPLY_MS 120000
/* In ns: most replies come within that, and most notices if another guest is at work on one. */
#define REPLY_NS 100000
#define NOTICE_NS 600000

struct cp_remote {
	int sock, epoll;
	int fd[MEMBER_FDS];	/* -1: not there yet */
	struct member_page *page;
	struct cp_host host;
	uint32_t calls;		/* so far */
	bool looks;		/* CPUs look for notices before they wait */
	bool pause;		/* the last instruction asked for one */
	uint64_t kicked, called;	/* CPUs told of interruptions since a take began */
	struct spin replies, notices;
};

static int refuse(char *err, size_t errlen, const struct cp_port *port, const char *what)
{
	snprintf(err, errlen, "the system at %s %s: %s", port->system_path, what, strerror(errno));
	return -1;
}

int cp_remote_open(struct cp_port *port, char *err, size_t errlen)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct cp_remote *remote = calloc(1, sizeof(*remote));

	if (strlen(port->system_path) >= sizeof(address.sun_path)) {
		snprintf(err, errlen, "the system's path %s is longer than %zu bytes; use a shorter"
			 " directory", port->system_path, sizeof(address.sun_path) - 1);
		free(remote);
		return -1;
	}
	if (!remote) {
		snprintf(err, errlen, "not enough memory for the system %s", port->system_path);
		return -1;
	}
	port->remote = remote;
	remote->replies.limit = REPLY_NS;
	remote->notices.limit = NOTICE_NS;
	remote->epoll = -1;
	for (unsigned int i = 0; i < MEMBER_FDS; i++)
		remote->fd[i] = -1;
	strcpy(address.sun_path, port->system_path);
	remote->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (remote->sock < 0 ||
	    connect(remote->sock, (const struct sockaddr *)&address, sizeof(address)) != 0)
		return refuse(err, errlen, port, "cannot be reached");
	return 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void cp_remote_close(struct cp_port *port)
{
	struct cp_remote *remote = port->remote;

	if (!remote)
		return;
	if (remote->page)
		munmap(remote->page, sizeof(*remote->page));
	for (unsigned int i = 0; i < MEMBER_FDS; i++)
		close_fd(remote->fd[i]);
	close_fd(remote->sock);
	close_fd(remote->epoll);
	free(remote);
	port->remote = NULL;
}

/* The hello as it grows; len is more than its size if it did not fit. */
struct text {
	char bytes[MEMBER_HELLO_MAX];
	size_t len;
};

static void add(struct text *text, const char *word)
{
	const size_t len = strlen(word) + 1;

	if (len <= sizeof(text->bytes) - smaller(text->len, sizeof(text->bytes)))
		memcpy(text->bytes + text->len, word, len);
	else
		text->len = sizeof(text->bytes);
	text->len += len;
}

/* The process has a working directory of its own. */
static void add_path(struct text *text, const char *key, const char *path)
{
	char folder[4096], whole[8192];

	if (!path)
		return;
	add(text, key);
	if (path[0] == '/' || !getcwd(folder, sizeof(folder))) {
		add(text, path);
	} else {
		snprintf(whole, sizeof(whole), "%s/%s", folder, path);
		add(text, whole);
	}
}

static bool add_options(struct text *text, const struct cp_port *port)
{
	char value[CP_CONFIG_TEXT_MAX];

	for (unsigned int i = 0; cp_config_keys[i]; i++) {
		/* A member has the system's, and files of them are its own. */
		if (strcmp(cp_config_keys[i], "segment") == 0)
			continue;
		if (cp_config_get(&port->config, cp_config_keys[i], value, sizeof(value)) < 0)
			return false;
		add(text, cp_config_keys[i]);
		add(text, value);
	}
	add_path(text, "control", port->control_path);
	add_path(text, "trace", port->trace_path);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)(port->trace_limit >> 20));
	add(text, "trace-limit");
	add(text, value);
	return text->len <= sizeof(text->bytes);
}

static bool send_hello(const struct cp_port *port, struct text *text)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec part = { text->bytes, text->len };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &port->ram_fd, sizeof(int));
	return sendmsg(port->remote->sock, &message, MSG_NOSIGNAL) == (ssize_t)text->len;
}

/* Return: are all descriptors there, or none, as the answer says? */
static bool receive_welcome(struct cp_remote *remote, struct member_welcome *welcome)
{
	union {
		char room[CMSG_SPACE(sizeof(remote->fd))];
		struct cmsghdr align;
	} control;
	struct iovec part = { welcome, sizeof(*welcome) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct pollfd waits = { .fd = remote->sock, .events = POLLIN };
	const struct cmsghdr *head;

	errno = ETIMEDOUT;
	if (poll(&waits, 1, REPLY_MS) != 1)
		return false;
	errno = EPROTO;
	if (recvmsg(remote->sock, &message, MSG_CMSG_CLOEXEC) != sizeof(*welcome))
		return false;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(remote->fd)))
		memcpy(remote->fd, CMSG_DATA(head), sizeof(remote->fd));
	if (memcmp(welcome->magic, MEMBER_MAGIC, MEMBER_MAGIC_LEN) != 0)
		return false;
	welcome->refused[sizeof(welcome->refused) - 1] = '\0';
	return welcome->refused[0] || remote->fd[MEMBER_NOTICE] >= 0;
}

static bool watch(const struct cp_remote *remote, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(remote->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool take_page(struct cp_remote *remote)
{
	remote->page = mmap(NULL, sizeof(*remote->page), PROT_READ | PROT_WRITE, MAP_SHARED,
			    remote->fd[MEMBER_PAGE], 0);
	if (remote->page == MAP_FAILED) {
		remote->page = NULL;
		return false;
	}
	remote->epoll = epoll_create1(EPOLL_CLOEXEC);
	return remote->epoll >= 0 && watch(remote, remote->sock) &&
	       watch(remote, remote->fd[MEMBER_NOTICE]);
}

static uint64_t abilities(const struct cp_host *host)
{
	return (host->page_changed && host->external ? MEMBER_CAN_PAGE : 0u) |
	       (host->cpus ? MEMBER_CAN_CPUS : 0u) | (host->machine ? MEMBER_CAN_MACHINE : 0u) |
	       (host->devices_changed && host->reader_ready ? MEMBER_CAN_DEVICES : 0u) |
	       (host->sclp ? MEMBER_CAN_SCLP : 0u) | (host->console ? MEMBER_CAN_CONSOLE : 0u);
}

static void __attribute__((noreturn)) end(const struct cp_port *port, const char *why)
{
	port->words->end(why);
	abort();
}

int cp_remote_join(struct cp_port *port, const struct cp_host *host, uint64_t *highest, char *err,
		   size_t errlen)
{
	struct member_hello hello = {
		.magic = MEMBER_MAGIC, .ram_size = port->ram_size, .tod = host->tod(host->opaque),
		.can = abilities(host),
	};
	struct cp_remote *remote = port->remote;
	struct text *text = malloc(sizeof(*text));
	struct member_welcome welcome = { .highest = 0 };
	bool sent;

	assert(!remote->page);
	remote->host = *host;
	if (port->ram_fd < 0) {
		snprintf(err, errlen, "a member of a system needs storage that others can map; give %s",
			 port->words->shared);
		free(text);
		return -1;
	}
	if (text) {
		memcpy(text->bytes, &hello, sizeof(hello));
		text->len = sizeof(hello);
	}
	sent = text && add_options(text, port) && send_hello(port, text);
	free(text);
	if (!sent || !receive_welcome(remote, &welcome))
		return refuse(err, errlen, port, "does not answer as a system of this version does");
	if (welcome.refused[0]) {
		snprintf(err, errlen, "%s", welcome.refused);
		return -1;
	}
	if (!take_page(remote))
		return refuse(err, errlen, port, "cannot be watched");
	*highest = welcome.highest;
	port->turn_ns = welcome.turn_ns;
	return 0;
}

/* Notices: first what storage holds, then what the guest is told of. */

static bool is_valid(const struct cp_port *port, const struct member_window *told, int fd)
{
	return told->len > 0 && told->addr < port->ram_size &&
	       told->len <= port->ram_size - told->addr &&
	       (told->addr | told->len | told->offset) % CP_PAGE_SIZE == 0 &&
	       (told->shown != 0) == (fd >= 0);
}

static void apply_window(const struct cp_port *port, const struct member_window *told, int fd)
{
	const struct cp_host *host = &port->remote->host;
	const struct cp_window window = {
		.addr = told->addr, .len = told->len, .fd = fd, .offset = told->offset,
		.stored = told->stored,
	};

	if (!is_valid(port, told, fd) || !host->window(host->opaque, &window))
		end(port, "guest storage cannot be mapped as its system has it");
	close_fd(fd);
}

/* Segments that are in storage now, or no more, one after the other. */
static void apply_windows(const struct cp_port *port)
{
	struct member_window told;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec part = { &told, sizeof(told) };

	for (;;) {
		struct msghdr message = {
			.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			.msg_controllen = sizeof(control.room),
		};
		const struct cmsghdr *head;
		int fd = -1;

		/* The end of the connection is seen by whoever waits. */
		if (recvmsg(port->remote->sock, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) !=
		    sizeof(told))
			return;
		head = CMSG_FIRSTHDR(&message);
		if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(fd)))
			memcpy(&fd, CMSG_DATA(head), sizeof(fd));
		apply_window(port, &told, fd);
	}
}

static void apply_range(const struct cp_port *port, struct member_range range)
{
	const struct cp_host *host = &port->remote->host;

	if (range.address >= port->ram_size || range.length > port->ram_size - range.address)
		return;
	if (range.what == MEMBER_STORED && range.length > 0)
		host->dirty(host->opaque, CP_ABSOLUTE, range.address, range.length);
	else if (range.what != MEMBER_STORED && host->page_changed)
		host->page_changed(host->opaque, range.address, range.what == MEMBER_PAGE_OUT);
}

static void apply_ranges(struct cp_port *port)
{
	struct member_notices *notices = &port->remote->page->notices;
	const uint32_t put = __atomic_load_n(&notices->put, __ATOMIC_ACQUIRE);
	uint32_t taken = notices->taken;

	/* More than there is room for cannot be. */
	if (put - taken > MEMBER_RING)
		taken = put;
	while (taken != put) {
		const struct member_range range = notices->ring[taken % MEMBER_RING];

		/* Taken before it is applied: that may be a call, after which others are. */
		__atomic_store_n(&notices->taken, ++taken, __ATOMIC_RELEASE);
		apply_range(port, range);
		taken = notices->taken;
		if (put - taken > MEMBER_RING)
			break;
	}
}

static struct member_reply exchange(struct cp_port *port, const struct member_call *asked,
				    void *block, size_t len);

/* All that there is to be shown; what else CP has to say waits until that is done. */
static void show(struct cp_port *port)
{
	const struct cp_host *host = &port->remote->host;
	const struct member_call asked = { .function = MEMBER_SHOWN };
	char block[CP_PAGE_SIZE] = { 0 };
	struct member_reply reply;

	do {
		reply = exchange(port, &asked, block, sizeof(block));
		if (host->console && reply.length > 0)
			host->console(host->opaque, block, smaller(reply.length, sizeof(block)));
	} while (reply.value > 0 && reply.length > 0);
}

static void apply_flags(struct cp_port *port, uint32_t flags)
{
	const struct cp_host *host = &port->remote->host;

	if (flags & MEMBER_ALL_STORED)
		host->dirty(host->opaque, CP_ABSOLUTE, 0, port->ram_size);
	if (flags & (MEMBER_STORAGE_CHANGED | MEMBER_ALL_STORED))
		host->storage_changed(host->opaque);
	if (flags & MEMBER_TIMER_SET)
		host->set_timer(host->opaque, __atomic_load_n(&port->remote->page->notices.timer,
							      __ATOMIC_ACQUIRE));
	if (flags & MEMBER_CPUS_CHANGED && host->cpus)
		host->cpus(host->opaque, __atomic_load_n(&port->remote->page->notices.cpus,
							 __ATOMIC_ACQUIRE));
	if (flags & MEMBER_DEVICES_CHANGED && host->devices_changed)
		host->devices_changed(host->opaque);
	if (flags & MEMBER_READER_READY && host->reader_ready)
		host->reader_ready(host->opaque);
	if (flags & MEMBER_CONSOLE)
		show(port);
	for (unsigned int what = 0; what < CP_MACHINE_REQUESTS && host->machine; what++)
		if (flags & (uint32_t)MEMBER_REQUEST << what)
			host->machine(host->opaque, what);
}

static void apply_notices(struct cp_port *port)
{
	struct member_notices *notices = &port->remote->page->notices;
	const struct cp_host *host = &port->remote->host;
	const uint64_t kicks = __atomic_exchange_n(&notices->kicks, 0, __ATOMIC_ACQ_REL);
	const uint64_t externals = __atomic_exchange_n(&notices->externals, 0, __ATOMIC_ACQ_REL);
	const uint32_t flags = __atomic_exchange_n(&notices->flags, 0, __ATOMIC_ACQ_REL);

	port->remote->kicked |= kicks;
	port->remote->called |= externals;
	if (flags & MEMBER_STORAGE_CHANGED)
		apply_windows(port);
	apply_ranges(port);
	apply_flags(port, flags);
	for (unsigned int cpu = 0; cpu < port->config.cpus; cpu++) {
		if (kicks >> cpu & 1)
			host->kick(host->opaque, cpu);
		if (externals >> cpu & 1 && host->external)
			host->external(host->opaque, cpu);
	}
}

/* Say that this side waits, or looks, before it looks once more: the other one looks at that last. */
static void set_waits(uint32_t *waits, bool on)
{
	__atomic_store_n(waits, on, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void __attribute__((noreturn)) ended(const struct cp_port *port)
{
	char why[sizeof(((struct sockaddr_un *)0)->sun_path) + 64];

	snprintf(why, sizeof(why), "the system %s has ended, and this machine with it",
		 port->system_path);
	end(port, why);
}

static bool is_replied(const struct cp_remote *remote)
{
	return __atomic_load_n(&remote->page->sides.replied, __ATOMIC_ACQUIRE) == remote->calls;
}

/* Return: the reply has come. */
static bool look_for_reply(struct cp_remote *remote)
{
	do {
		for (unsigned int i = 0; i < SPIN_LOOKS; i++) {
			if (is_replied(remote)) {
				spin_found(&remote->replies);
				return true;
			}
			spin_pause();
		}
	} while (spin_on(&remote->replies));
	return false;
}

static void wait_for_reply(const struct cp_port *port, int limit_ms)
{
	struct cp_remote *remote = port->remote;
	struct pollfd waits[2] = {
		{ .fd = remote->fd[MEMBER_REPLY], .events = POLLIN },
		/* Its end only: what it says before belongs to the reply. */
		{ .fd = remote->sock },
	};
	uint64_t count;
	int ready;

	set_waits(&remote->page->sides.machine_waits, true);
	/* It can be readable from a reply that was seen before. */
	while (!is_replied(remote)) {
		ready = poll(waits, 2, limit_ms);
		if (ready == 0 || (ready < 0 && errno != EINTR))
			end(port, "the system does not answer");
		if (ready > 0 && waits[0].revents & POLLIN)
			(void)!read(remote->fd[MEMBER_REPLY], &count, sizeof(count));
		else if (ready > 0 && !is_replied(remote))
			ended(port);
	}
	set_waits(&remote->page->sides.machine_waits, false);
}

static void count_call(const struct cp_port *port)
{
	struct cp_remote *remote = port->remote;
	struct member_sides *sides = &remote->page->sides;
	const uint64_t one = 1;

	__atomic_store_n(&sides->called, ++remote->calls, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&sides->process_waits, __ATOMIC_RELAXED) &&
	    write(remote->fd[MEMBER_CALL], &one, sizeof(one)) != sizeof(one))
		ended(port);
}

static struct member_call call_of(enum member_function function, unsigned int cpu)
{
	return (struct member_call){ .function = function, .cpu = cpu };
}

/* @block: as many bytes as there are of it go there, and come back. */
static struct member_reply exchange(struct cp_port *port, const struct member_call *asked,
				    void *block, size_t len)
{
	struct cp_remote *remote = port->remote;
	struct member_page *page = remote->page;
	/* A turn comes when whoever watches the system wants it to. */
	const bool turn = asked->function == MEMBER_TURN;
	struct member_reply reply;

	page->call = *asked;
	page->call.tod = remote->host.tod(remote->host.opaque);
	for (unsigned int cpu = 0; cpu < port->config.cpus; cpu++)
		page->call.prefix[cpu] = (uint32_t)port->absolute(port, (int)cpu, 0);
	if (len > 0)
		memcpy(page->block, block, len);
	count_call(port);
	if (turn || !look_for_reply(remote))
		wait_for_reply(port, turn ? -1 : REPLY_MS);
	reply = page->reply;
	if (len > 0)
		memcpy(block, page->block, len);
	return reply;
}

static struct member_reply call(struct cp_port *port, const struct member_call *asked, void *block,
				size_t len)
{
	const struct member_reply reply = exchange(port, asked, block, len);

	apply_notices(port);
	return reply;
}

static struct member_reply ask(struct cp_port *port, enum member_function function,
			       unsigned int cpu)
{
	const struct member_call asked = call_of(function, cpu);

	return call(port, &asked, NULL, 0);
}

/* A CPU that is at work calls again, or looks before it waits. */
static void set_busy(const struct cp_remote *remote, unsigned int cpu)
{
	uint64_t *busy = &remote->page->notices.busy;

	if (remote->looks)
		__atomic_store_n(busy, *busy | UINT64_C(1) << cpu, __ATOMIC_RELAXED);
}

static struct cp_result instruction(struct cp_port *port, struct member_call *asked,
				    const struct cp_insn *insn, void *block)
{
	struct member_reply reply;

	asked->cpu = insn->cpu;
	memcpy(asked->gr, insn->gr, sizeof(asked->gr));
	asked->problem = insn->problem;
	asked->amode = insn->amode;
	asked->dat = insn->dat;
	asked->asce = insn->asce;
	set_busy(port->remote, insn->cpu);
	reply = call(port, asked, block, block ? CP_PAGE_SIZE : 0);
	memcpy(insn->gr, reply.gr, sizeof(reply.gr));
	port->remote->pause = reply.pause;
	return (struct cp_result){
		.how = reply.how, .cc = (uint8_t)reply.cc, .pgm = (uint16_t)reply.pgm,
	};
}

static struct cp_result iucv(struct cp_port *port, const struct cp_insn *insn)
{
	struct member_call asked = call_of(MEMBER_IUCV, 0);

	return instruction(port, &asked, insn, NULL);
}

static struct cp_result diagnose(struct cp_port *port, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3, uint16_t code)
{
	struct member_call asked = call_of(MEMBER_DIAGNOSE, 0);

	asked.r1 = r1;
	asked.r3 = r3;
	asked.code = code;
	return instruction(port, &asked, insn, NULL);
}

static struct cp_result stsi(struct cp_port *port, const struct cp_insn *insn,
			     uint8_t sysib[CP_PAGE_SIZE])
{
	struct member_call asked = call_of(MEMBER_STSI, 0);

	return instruction(port, &asked, insn, sysib);
}

static struct cp_result sthyi(struct cp_port *port, const struct cp_insn *insn, unsigned int r1,
			      unsigned int r2, uint8_t response[CP_PAGE_SIZE])
{
	struct member_call asked = call_of(MEMBER_STHYI, 0);

	asked.r1 = r1;
	asked.r3 = r2;
	return instruction(port, &asked, insn, response);
}

static uint64_t cpu_id(struct cp_port *port, unsigned int cpu)
{
	return ask(port, MEMBER_CPU_ID, cpu).value;
}

static struct cp_increments increments(struct cp_port *port)
{
	const struct member_reply reply = ask(port, MEMBER_INCREMENTS, 0);

	return (struct cp_increments){ (uint32_t)reply.value, (uint32_t)reply.end };
}

static void sclp(struct cp_port *port, unsigned int cpu, uint32_t command,
		 uint8_t sccb[CP_PAGE_SIZE])
{
	struct member_call asked = call_of(MEMBER_SCLP, cpu);

	asked.code = command;
	asked.length = CP_PAGE_SIZE;
	call(port, &asked, sccb, CP_PAGE_SIZE);
}

static bool interrupt_pending(struct cp_port *port, unsigned int cpu)
{
	return ask(port, MEMBER_PENDING, cpu).value;
}

/* The process looks for that before anything else; if it waits for calls, it is woken as by one. */
static void tell_taken(const struct cp_port *port)
{
	const struct cp_remote *remote = port->remote;
	const uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&remote->page->sides.process_waits, __ATOMIC_RELAXED) &&
	    write(remote->fd[MEMBER_CALL], &one, sizeof(one)) != sizeof(one))
		ended(port);
}

/* Not if the guest has set a prefix since: CP did not know of it when it looked at the address. */
static bool can_take(const struct cp_port *port, const struct member_offer *offer,
		     unsigned int cpu)
{
	return offer->state % MEMBER_OFFER_STATES == MEMBER_OFFERED && offer->cpu == cpu &&
	       offer->address < port->ram_size &&
	       port->ram_size - offer->address >= sizeof(offer->image) &&
	       port->absolute(port, (int)cpu, offer->address) == offer->address;
}

/* Return: false if there is none for @cpu, or it has just been withdrawn. */
static bool take_offer(struct cp_port *port, unsigned int cpu, bool *more)
{
	const struct cp_host *host = &port->remote->host;
	struct member_offer *from = &port->remote->page->offer;
	uint32_t state = __atomic_load_n(&from->state, __ATOMIC_ACQUIRE);
	/* What it is counts only if the state, with its number, has not changed meanwhile. */
	struct member_offer offer = *from;
	uint32_t taken;

	offer.state = state;
	taken = state - MEMBER_OFFERED + MEMBER_TAKEN;
	if (!can_take(port, &offer, cpu))
		return false;
	__atomic_store_n(&from->tod, host->tod(host->opaque), __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&from->state, &state, taken, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return false;
	tell_taken(port);
	apply_notices(port);
	memcpy(port->ram + offer.address, offer.image, sizeof(offer.image));
	host->dirty(host->opaque, CP_ABSOLUTE, offer.address, sizeof(offer.image));
	*more = offer.more;
	return true;
}

/*
 * The reply says what CP knew when it looked.  What another machine has done since is a notice that
 * has been applied already: the emulator must not take it for settled.
 */
static bool interrupt_take(struct cp_port *port, unsigned int cpu, bool *more)
{
	struct member_reply reply;
	bool taken;

	port->remote->kicked = 0;
	set_busy(port->remote, cpu);
	taken = take_offer(port, cpu, more);
	if (!taken) {
		reply = ask(port, MEMBER_TAKE, cpu);
		taken = reply.value;
		*more = reply.more;
	}
	*more |= port->remote->kicked >> cpu & 1;
	return taken;
}

static bool external_take(struct cp_port *port, unsigned int cpu, struct cp_external *external,
			  bool *more)
{
	struct member_reply reply;

	port->remote->called = 0;
	reply = ask(port, MEMBER_EXTERNAL, cpu);
	*more = reply.more || port->remote->called >> cpu & 1;
	*external = (struct cp_external){
		.code = (uint16_t)reply.external_code,
		.subcode = (uint16_t)reply.external_subcode,
		.parameter32 = reply.external_parameter32,
		.parameter = reply.external_parameter,
	};
	return reply.value;
}

/*
 * Asked while the emulator translates, which is no time to tell it of storage.  CP has none to tell
 * because of this, and what it has is applied later: then the page is asked for again.
 */
static struct cp_port_page page(struct cp_port *port, uint64_t addr)
{
	struct member_call asked = call_of(MEMBER_PAGE_ACCESS, 0);
	struct member_reply reply;

	asked.address = addr;
	reply = exchange(port, &asked, NULL, 0);
	return (struct cp_port_page){
		.access = (enum cp_access)reply.value, .out = reply.more, .end = reply.end,
	};
}

static enum cp_paging page_fault(struct cp_port *port, unsigned int cpu, uint64_t addr,
				 uint64_t psw, bool enabled)
{
	struct member_call asked = call_of(MEMBER_PAGE_FAULT, cpu);

	asked.address = addr;
	asked.psw = psw;
	asked.enabled = enabled;
	return (enum cp_paging)call(port, &asked, NULL, 0).value;
}

static bool page_held(struct cp_port *port, unsigned int cpu)
{
	return ask(port, MEMBER_PAGE_HELD, cpu).value;
}

static void reset(struct cp_port *port)
{
	ask(port, MEMBER_RESET, 0);
}

static void reset_cpu(struct cp_port *port, unsigned int cpu)
{
	ask(port, MEMBER_RESET_CPU, cpu);
}

static void cpu_ordered(struct cp_port *port, unsigned int cpu, unsigned int from,
			enum cp_order order)
{
	struct member_call asked = call_of(MEMBER_CPU_ORDERED, cpu);

	asked.r1 = order;
	asked.device = from;
	call(port, &asked, NULL, 0);
}

static void cpu_waits(struct cp_port *port, unsigned int cpu, uint64_t mask, uint64_t address)
{
	struct member_call asked = call_of(MEMBER_CPU_WAITS, cpu);

	asked.gr[0] = mask;
	asked.gr[1] = address;
	call(port, &asked, NULL, 0);
}

static void ipl(struct cp_port *port)
{
	ask(port, MEMBER_IPL, 0);
}

static void timer(struct cp_port *port)
{
	ask(port, MEMBER_TIMER, 0);
}

static bool has_device(struct cp_port *port, uint16_t device)
{
	const struct member_call asked = { .function = MEMBER_HAS_DEVICE, .device = device };

	return call(port, &asked, NULL, 0).value;
}

static enum cp_unit_way unit_way(struct cp_port *port, uint16_t device, uint8_t command)
{
	struct member_call asked = call_of(MEMBER_UNIT_WAY, 0);

	asked.device = device;
	asked.code = command;
	return (enum cp_unit_way)call(port, &asked, NULL, 0).value;
}

static uint32_t unit_length(struct cp_port *port, uint16_t device, uint8_t command)
{
	struct member_call asked = call_of(MEMBER_UNIT_LENGTH, 0);

	asked.device = device;
	asked.code = command;
	return (uint32_t)call(port, &asked, NULL, 0).value;
}

static void unit(struct cp_port *port, struct cp_unit_io *io)
{
	struct member_call asked = call_of(MEMBER_UNIT, 0);
	struct member_reply reply;

	asked.device = io->device;
	asked.code = io->command;
	asked.length = io->length > 0 ? io->length : io->room;
	asked.enabled = (uint8_t)((io->chained ? MEMBER_UNIT_CHAINED : 0) |
				  (io->again ? MEMBER_UNIT_AGAIN : 0) |
				  (io->more ? MEMBER_UNIT_MORE : 0));
	reply = call(port, &asked, io->data, sizeof(io->data));
	io->status = (uint8_t)reply.value;
	io->sense[0] = (uint8_t)(reply.sense >> 8);
	io->sense[1] = (uint8_t)reply.sense;
	io->left = reply.more;
	io->length = (uint32_t)smaller(reply.length, sizeof(io->data));
}

static size_t type(struct cp_port *port, const char *keys, size_t len)
{
	struct member_call asked = call_of(MEMBER_TYPE, 0);
	char block[CP_PAGE_SIZE] = { 0 };

	asked.length = (uint32_t)smaller(len, sizeof(block));
	memcpy(block, keys, asked.length);
	return smaller(call(port, &asked, block, sizeof(block)).value, asked.length);
}

static bool has_line(struct cp_port *port)
{
	return ask(port, MEMBER_HAS_LINE, 0).value;
}

/* The process saves all of CP at a time. */
static uint8_t *save(struct cp_port *port, size_t *len)
{
	(void)port;
	*len = 0;
	return NULL;
}

/* Of a machine that was alone: what CP has of it. */
static int load(struct cp_port *port, const uint8_t *image, size_t len, char *err, size_t errlen)
{
	struct member_call asked = call_of(MEMBER_IMAGE, 0);
	char block[CP_PAGE_SIZE] = { 0 };
	uint64_t result;

	for (size_t at = 0; at < len; at += asked.length) {
		asked.length = (uint32_t)smaller(len - at, sizeof(block));
		memcpy(block, image + at, asked.length);
		call(port, &asked, block, sizeof(block));
	}
	asked = call_of(MEMBER_LOAD, 0);
	result = call(port, &asked, block, sizeof(block)).value;
	if (result == 0)
		return 0;
	snprintf(err, errlen, "%.*s", (int)MEMBER_SENTENCE_MAX - 1, block);
	return result == 1 ? -1 : -2;
}

static void running(struct cp_port *port, bool runs)
{
	struct member_call asked = call_of(MEMBER_CLOCK, 0);

	asked.enabled = runs;
	call(port, &asked, NULL, 0);
}

static void ends(struct cp_port *port)
{
	ask(port, MEMBER_ENDS, 0);
}

static uint64_t turn(struct cp_port *port)
{
	return ask(port, MEMBER_TURN, 0).value;
}

/* The process has done that when the machine joined. */
static void attach(struct cp_port *port)
{
	(void)port;
}

static int fd(const struct cp_port *port)
{
	return port->remote->epoll;
}

static void dispatch(struct cp_port *port)
{
	const struct cp_remote *remote = port->remote;
	struct pollfd waits[2] = {
		{ .fd = remote->fd[MEMBER_NOTICE], .events = POLLIN },
		{ .fd = remote->sock, .events = POLLIN },
	};
	uint64_t count;

	if (poll(waits, 2, 0) > 0 && waits[1].revents & POLLHUP)
		ended(port);
	if (waits[0].revents & POLLIN)
		(void)!read(remote->fd[MEMBER_NOTICE], &count, sizeof(count));
	apply_notices(port);
}

static bool is_told(const struct member_notices *notices)
{
	return __atomic_load_n(&notices->kicks, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&notices->externals, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&notices->flags, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&notices->put, __ATOMIC_ACQUIRE) != notices->taken;
}

static bool look_for_notices(const struct cp_remote *remote)
{
	for (unsigned int i = 0; i < SPIN_LOOKS; i++) {
		if (is_told(&remote->page->notices))
			return true;
		spin_pause();
	}
	return false;
}

/* What comes while it looks wakes nobody else, so there is a last look after that. */
static bool look(struct cp_port *port, bool (*idle)(const void *cpu), const void *cpu)
{
	struct cp_remote *remote = port->remote;
	struct member_notices *notices = &remote->page->notices;
	bool told;

	remote->looks = true;
	__atomic_store_n(&notices->busy, 0, __ATOMIC_RELAXED);
	set_waits(&notices->looks, true);
	while (!(told = look_for_notices(remote)) && idle(cpu) && spin_on(&remote->notices))
		;
	set_waits(&notices->looks, false);
	if (told)
		spin_found(&remote->notices);
	return told || is_told(notices);
}

static bool needs_pause(struct cp_port *port)
{
	return port->remote->pause;
}

const struct cp_calls cp_calls_remote = {
	.iucv = iucv, .diagnose = diagnose, .stsi = stsi, .sthyi = sthyi, .cpu_id = cpu_id,
	.increments = increments, .sclp = sclp,
	.interrupt_pending = interrupt_pending, .interrupt_take = interrupt_take,
	.external_take = external_take, .page = page, .page_fault = page_fault,
	.page_held = page_held, .reset = reset, .reset_cpu = reset_cpu,
	.cpu_ordered = cpu_ordered, .cpu_waits = cpu_waits, .ipl = ipl,
	.timer = timer, .has_device = has_device,
	.unit_way = unit_way, .unit_length = unit_length, .unit = unit,
	.console_type = type, .console_has_line = has_line, .save = save, .load = load,
	.running = running, .ends = ends, .turn = turn, .attach = attach, .fd = fd,
	.dispatch = dispatch, .look = look, .needs_pause = needs_pause,
};
