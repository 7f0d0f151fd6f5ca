/* SPDX-License-Identifier: MIT */
/* The system's socket, and whose turn it is. */
#define _GNU_SOURCE /* accept4 */
#include "system_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "listen.h"
#include "smaller.h"

#define WHAT "system's socket"
/* The TOD clock began in 1900. */
#define SECONDS_TO_1970 UINT64_C(2208988800)
/* A call comes within so many ns of the last one if it is looked for instead of being waited for. */
#define CALL_NS 150000
/* CP looks at its clock, and asks again, if it was woken too soon. */
#define LONGEST_WAIT (1000000 * SYS_TOD_SECOND)

uint64_t sys_time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ((uint64_t)now.tv_sec + SECONDS_TO_1970) * SYS_TOD_SECOND +
	       (uint64_t)now.tv_nsec * 4096 / 1000;
}

static uint64_t system_tod(void *opaque)
{
	const struct sys *sys = opaque;

	return sys->turn_ns ? sys->time : sys->tod();
}

static void system_set_timer(void *opaque, uint64_t tod)
{
	struct sys *sys = opaque;
	const uint64_t now = sys->tod();
	const uint64_t wait = tod > now ? smaller(tod - now, LONGEST_WAIT) : 0;
	/* All zero would be no time at all. */
	const struct itimerspec when = { .it_value = {
		.tv_sec = (time_t)(wait / SYS_TOD_SECOND),
		.tv_nsec = tod ? (long)(wait % SYS_TOD_SECOND * 1000 / 4096) | 1 : 0,
	} };

	sys->alarm = tod;
	if (!sys->turn_ns)
		timerfd_settime(sys->timer, 0, &when, NULL);
}

/* Return: 0, or -1 with errno. */
static int create_fds(struct sys *sys)
{
	sys->epoll = epoll_create1(EPOLL_CLOEXEC);
	sys->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (sys->epoll < 0 || sys->timer < 0 || (sys->turn_ns && sys_take_turns(sys) != 0))
		return -1;
	return sys_watch(sys, sys->timer, SYS_TIMER, NULL);
}

struct sys *sys_open(const struct cp_config *config, uint64_t (*tod)(void), int starts,
		     uint64_t turn_ns, char *err, size_t errlen)
{
	struct sys *sys = calloc(1, sizeof(*sys));
	const struct cp_system_host host = {
		.opaque = sys, .tod = system_tod, .set_timer = system_set_timer,
		.in_directory = sys_in_directory, .start = sys_start,
	};

	if (!sys) {
		snprintf(err, errlen, "not enough memory for the system");
		return NULL;
	}
	sys->listen_fd = sys->epoll = sys->timer = sys->orders = sys->clients = -1;
	sys->tod = tod;
	sys->starts = starts;
	sys->turn_ns = turn_ns;
	sys->spin.limit = CALL_NS;
	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++)
		sys->member[i].sock = -1;
	if (create_fds(sys) != 0) {
		snprintf(err, errlen, "the system cannot be created: %s", strerror(errno));
		sys_close(sys);
		return NULL;
	}
	sys->cp = cp_system_create(config, &host, err, errlen);
	if (sys->cp)
		return sys;
	sys_close(sys);
	return NULL;
}

int sys_listen(struct sys *sys, const char *path, char *err, size_t errlen)
{
	sys->path = strdup(path);
	if (!sys->path) {
		snprintf(err, errlen, "not enough memory for the system");
		return -1;
	}
	sys->listen_fd = ctl_listen(path, SOCK_SEQPACKET, WHAT, &sys->inode, err, errlen);
	if (sys->listen_fd < 0)
		return -1;
	if (sys_watch(sys, sys->listen_fd, SYS_LISTEN, NULL) == 0)
		return 0;
	snprintf(err, errlen, WHAT " %s cannot be watched: %s", path, strerror(errno));
	return -1;
}

/* A free slot, or that of the stranger who has been silent for longest. */
static struct member *make_room(struct sys *sys)
{
	struct member *oldest = NULL;
	unsigned int strangers = 0;

	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++) {
		struct member *member = &sys->member[i];

		if (member->sock < 0 || member->page || member->waits)
			continue;
		strangers++;
		if (!oldest || member->since < oldest->since)
			oldest = member;
	}
	if (strangers == SYS_STRANGERS) {
		member_end(oldest);
		return oldest;
	}
	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++)
		if (sys->member[i].sock < 0)
			return &sys->member[i];
	return NULL;
}

static void accept_member(struct sys *sys)
{
	const int fd = accept4(sys->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct member *member;

	if (fd < 0)
		return;
	member = make_room(sys);
	/* So many machines are logged on or wait for it, and there is room for no more of them. */
	if (!member) {
		close(fd);
		return;
	}
	*member = (struct member){
		.sys = sys, .since = ++sys->connections, .listed = member->listed,
		.hopes = member->hopes,
	};
	if (sys->slots <= (unsigned int)(member - sys->member))
		sys->slots = (unsigned int)(member - sys->member) + 1;
	member_connect(member, fd);
}

static void timer_rings(struct sys *sys)
{
	uint64_t count;

	if (read(sys->timer, &count, sizeof(count)) == sizeof(count))
		cp_system_timer(sys->cp);
}

/* All that there is for it are interruptions of CPUs that are at work. */
static bool can_wait(const struct member *member)
{
	const struct member_notices *notices = &member->page->notices;
	const uint64_t cpus = __atomic_load_n(&notices->kicks, __ATOMIC_RELAXED) |
			      __atomic_load_n(&notices->externals, __ATOMIC_RELAXED);

	return !(cpus & ~__atomic_load_n(&notices->busy, __ATOMIC_RELAXED)) &&
	       cpus && !__atomic_load_n(&notices->flags, __ATOMIC_RELAXED);
}

static void tell(struct member *member)
{
	/* Whoever waits for its turn looks then. */
	if (member->asks || __atomic_load_n(&member->page->notices.looks, __ATOMIC_RELAXED))
		return;
	if (can_wait(member))
		member_tell_later(member);
	else
		member_tell(member);
}

static struct member *next_broken(const struct sys *sys)
{
	for (unsigned int i = 0; i < sys->looks; i++)
		if (sys->look[i]->broken)
			return sys->look[i];
	return NULL;
}

/* Of their log-off others are told, which may break one of these. */
static void end_broken(struct sys *sys)
{
	struct member *member;

	while ((member = next_broken(sys)) != NULL) {
		sys_settle(sys);
		member->broken = false;
		member_end(member);
	}
}

static void look_at_members(struct sys *sys)
{
	/* What is there for a machine came before this: it sees that when it stops looking by itself. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < sys->looks; i++) {
		struct member *member = sys->look[i];

		if (member->noticed)
			tell(member);
		member->noticed = member->listed = false;
	}
	sys->looks = 0;
}

static void serve(struct sys *sys, uint64_t data)
{
	struct member *member = &sys->member[data >> 8];
	uint64_t count;

	switch ((enum sys_source)(data & 0xff)) {
	case SYS_STOP:
		break;
	case SYS_LISTEN:
		accept_member(sys);
		break;
	case SYS_TIMER:
		timer_rings(sys);
		break;
	case SYS_SOCKET:
		/* Whoever has started the emulator has said before in which order they log on. */
		sys_look_for_orders(sys);
		member_said(member);
		break;
	case SYS_CALL:
		/* The call itself is found by its count. */
		(void)!read(member->fd[MEMBER_CALL], &count, sizeof(count));
		break;
	case SYS_ORDER:
		sys_ordered(sys);
		break;
	case SYS_CONTROL:
		member->port.calls->dispatch(&member->port);
		break;
	case SYS_CLIENTS:
		break;
	}
}

/* The event, or the one among clients that it tells of. */
static bool is_served(const struct sys *sys, struct epoll_event *event)
{
	if ((event->data.u64 & 0xff) != SYS_CLIENTS)
		return true;
	return epoll_wait(sys->clients, event, 1, 0) == 1;
}

/* One event at a time: serving it can end the connection that another one is about. */
int sys_run(struct sys *sys, int stop)
{
	struct epoll_event event = { .events = 0 };
	struct member *caller;

	if (sys_watch(sys, stop, SYS_STOP, NULL) != 0)
		return -1;
	for (;;) {
		const int ready = sys_wait(sys, &event, &caller);

		if (ready < 0 && errno != EINTR)
			return -1;
		if (ready == 1 && (event.data.u64 & 0xff) == SYS_STOP)
			return 0;
		sys_settle(sys);
		if (caller)
			member_called(caller);
		else if (ready == 1 && is_served(sys, &event))
			serve(sys, event.data.u64);
		end_broken(sys);
		sys_offer(sys);
		look_at_members(sys);
	}
}

unsigned int sys_machines(const struct sys *sys)
{
	unsigned int machines = 0;

	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++)
		machines += sys->member[i].sock >= 0 && sys->member[i].page != NULL;
	return machines;
}

/* Who has been logged on for longest, or NULL. */
static struct member *first(struct sys *sys)
{
	struct member *found = NULL;

	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++)
		if (sys->member[i].port.cp && (!found || sys->member[i].logon < found->logon))
			found = &sys->member[i];
	return found;
}

void sys_close(struct sys *sys)
{
	struct member *member;

	if (!sys)
		return;
	if (sys->listen_fd >= 0)
		ctl_unlisten(sys->path, sys->inode);
	sys->going = false;
	sys_settle(sys);
	/* Traces tell of it, and two of the same are equal. */
	while ((member = first(sys)) != NULL)
		member_end(member);
	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++)
		member_end(&sys->member[i]);
	cp_system_destroy(sys->cp);
	if (sys->listen_fd >= 0)
		close(sys->listen_fd);
	if (sys->timer >= 0)
		close(sys->timer);
	if (sys->epoll >= 0)
		close(sys->epoll);
	if (sys->clients >= 0)
		close(sys->clients);
	free(sys->path);
	free(sys);
}
