/* SPDX-License-Identifier: MIT */
/* What the process has to look at: descriptors, and members once an event has been served. */
#include "system_private.h"

#include <sys/epoll.h>

int sys_watch(struct sys *sys, int fd, enum sys_source source, const struct member *member)
{
	const uint64_t slot = member ? (uint64_t)(member - sys->member) : 0;
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = slot << 8 | source };
	const bool client = source == SYS_CONTROL && sys->turn_ns;

	return epoll_ctl(client ? sys->clients : sys->epoll, EPOLL_CTL_ADD, fd, &event);
}

void sys_unwatch(const struct sys *sys, int fd)
{
	epoll_ctl(sys->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void member_notice(struct member *member)
{
	struct sys *sys = member->sys;

	member->noticed = true;
	if (member->listed)
		return;
	member->listed = true;
	sys->look[sys->looks++] = member;
}

void member_break(struct member *member)
{
	member_notice(member);
	member->broken = true;
}
