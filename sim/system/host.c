/* SPDX-License-Identifier: MIT */
/*
 * What the core asks of a machine whose emulator is another process: storage is mapped here as
 * well, and all else are notices (cp_member.h).
 */
#define _GNU_SOURCE /* fallocate */
#include "system_private.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "smaller.h"

/* A prefix is a multiple of this, and the address of as much (PoP, "Prefixing"). */
#define PREFIX_AREA UINT64_C(0x2000)

uint64_t member_absolute(const struct cp_port *port, int cpu, uint64_t addr)
{
	const struct member *member =
		(const struct member *)((const char *)port - offsetof(struct member, port));
	uint64_t prefix;

	if (cpu == CP_ABSOLUTE)
		return addr;
	prefix = member->prefix[cpu] & ~(PREFIX_AREA - 1);
	if (addr < PREFIX_AREA)
		return addr + prefix;
	return addr - prefix < PREFIX_AREA ? addr - prefix : addr;
}

/* Between its calls a machine's clock goes on as the host's does, unless it counts instructions. */
static uint64_t host_tod(void *opaque)
{
	const struct member *member = member_of(opaque);
	const bool goes = member->runs && !member->calling && !member->sys->turn_ns;
	const uint64_t ns = goes ? spin_now_ns() - member->tod_ns : 0;

	return member->tod + ns / 1000000000u * SYS_TOD_SECOND + ns % 1000000000u * 4096 / 1000;
}

/* Order counts: whoever sees the bit sees what was written before it. */
static void set_flags(struct member *member, uint32_t flags)
{
	__atomic_fetch_or(&member->page->notices.flags, flags, __ATOMIC_RELEASE);
	member_notice(member);
}

static void put(struct member *member, struct member_range range)
{
	struct member_notices *notices = &member->page->notices;

	if (member->put - __atomic_load_n(&notices->taken, __ATOMIC_ACQUIRE) >= MEMBER_RING) {
		set_flags(member, MEMBER_ALL_STORED);
		return;
	}
	notices->ring[member->put++ % MEMBER_RING] = range;
	__atomic_store_n(&notices->put, member->put, __ATOMIC_RELEASE);
	member_notice(member);
}

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	struct member *member = member_of(opaque);
	void *stored = member_stored(member, cpu, addr);

	return stored ? stored : member->map(opaque, cpu, addr, len);
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	uint64_t at = cp_port_stored(opaque, cpu, addr, len);

	if (member_stored(member_of(opaque), cpu, addr))
		return;
	while (len > 0) {
		const uint32_t part = (uint32_t)smaller(len, UINT32_MAX);

		put(member_of(opaque), (struct member_range){ at, part, MEMBER_STORED });
		at += part;
		len -= part;
	}
}

static bool host_release(void *opaque, int cpu, uint64_t addr)
{
	const struct cp_port *port = opaque;
	const uint64_t at = cp_port_stored(port, cpu, addr, CP_PAGE_SIZE);

	return fallocate(port->ram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
			 CP_PAGE_SIZE) == 0;
}

/* The machine takes it when it has the reply: there is room for all that one call can do. */
static bool send_window(const struct member *member, const struct cp_window *window)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct member_window told = {
		.addr = window->addr, .len = window->len, .offset = window->offset,
		.shown = window->fd >= 0, .stored = window->stored,
	};
	struct iovec part = { &told, sizeof(told) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (window->fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &window->fd, sizeof(int));
	}
	return sendmsg(member->sock, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(told);
}

static bool host_window(void *opaque, const struct cp_window *window)
{
	struct member *member = member_of(opaque);

	if (!cp_port_window(&member->port, window))
		return false;
	if (send_window(member, window))
		return true;
	/* It has gone, or does not look: in either case it does not know its storage any more. */
	member_break(member);
	return false;
}

static void host_kick(void *opaque, unsigned int cpu)
{
	struct member *member = member_of(opaque);

	member_hopes(member);

	__atomic_fetch_or(&member->page->notices.kicks, UINT64_C(1) << cpu, __ATOMIC_RELEASE);
	member_notice(member);
}

static void host_external(void *opaque, unsigned int cpu)
{
	struct member *member = member_of(opaque);

	__atomic_fetch_or(&member->page->notices.externals, UINT64_C(1) << cpu, __ATOMIC_RELEASE);
	member_notice(member);
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	struct member *member = member_of(opaque);

	__atomic_store_n(&member->page->notices.timer, tod, __ATOMIC_RELEASE);
	set_flags(member, MEMBER_TIMER_SET);
}

static void host_storage_changed(void *opaque)
{
	set_flags(member_of(opaque), MEMBER_STORAGE_CHANGED);
}

static void host_page_changed(void *opaque, uint64_t addr, bool out)
{
	put(member_of(opaque), (struct member_range){
		.address = addr, .length = CP_PAGE_SIZE,
		.what = out ? MEMBER_PAGE_OUT : MEMBER_PAGE_IN,
	});
}

static void host_cpus(void *opaque, uint64_t defined)
{
	struct member *member = member_of(opaque);

	__atomic_store_n(&member->page->notices.cpus, defined, __ATOMIC_RELEASE);
	set_flags(member, MEMBER_CPUS_CHANGED);
}

static void host_devices_changed(void *opaque)
{
	set_flags(member_of(opaque), MEMBER_DEVICES_CHANGED);
}

static void host_reader_ready(void *opaque)
{
	set_flags(member_of(opaque), MEMBER_READER_READY);
}

static void host_console(void *opaque, const char *text, size_t len)
{
	struct member *member = member_of(opaque);
	const size_t taken = smaller(len, sizeof(member->shown) - member->shown_len);

	memcpy(member->shown + member->shown_len, text, taken);
	member->shown_len += taken;
	set_flags(member, MEMBER_CONSOLE);
}

size_t member_shown(struct cp_port *port, uint8_t *to, size_t size, uint64_t *left)
{
	struct member *member = member_of(port);
	const size_t len = smaller(member->shown_len, size);

	memcpy(to, member->shown, len);
	member->shown_len -= len;
	memmove(member->shown, member->shown + len, member->shown_len);
	*left = member->shown_len;
	return len;
}

static void host_machine(void *opaque, enum cp_machine_request what)
{
	set_flags(member_of(opaque), (uint32_t)MEMBER_REQUEST << what);
}

/* What it can, as its hello says; the core knows what to do without. */
static void add_abilities(const struct member *member, struct cp_host *host)
{
	if (member->can & MEMBER_CAN_PAGE) {
		host->page_changed = host_page_changed;
		host->external = host_external;
	}
	if (member->can & MEMBER_CAN_CPUS)
		host->cpus = host_cpus;
	if (member->can & MEMBER_CAN_MACHINE)
		host->machine = host_machine;
	if (member->can & MEMBER_CAN_DEVICES) {
		host->devices_changed = host_devices_changed;
		host->reader_ready = host_reader_ready;
	}
	if (member->can & MEMBER_CAN_CONSOLE)
		host->console = host_console;
	host->sclp = member->can & MEMBER_CAN_SCLP;
}

void member_host(struct member *member, struct cp_host *host)
{
	cp_port_host(&member->port, host);
	member->map = host->map;
	host->map = host_map;
	host->window = host_window;
	host->dirty = host_dirty;
	host->release = host_release;
	host->tod = host_tod;
	host->kick = host_kick;
	host->set_timer = host_set_timer;
	host->storage_changed = host_storage_changed;
	add_abilities(member, host);
}
