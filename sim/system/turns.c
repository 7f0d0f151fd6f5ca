/* SPDX-License-Identifier: MIT */
/*
 * A system whose machines take turns, so that two runs are the same: one machine at a time runs, for
 * a millisecond of its own time, in which its clock jumps over what it waits; then the next, in the
 * order of their log-ons.  Each emulator counts instructions, and asks for its machine's turn by a
 * call, whose reply is the turn.
 *
 * Clients of the control sockets are served only while no machine has a turn, and turns are given
 * only when an order asks for them ("run"): until a client has been told of something, or a machine
 * has ended, and the turn in which that happened is over.  CP's own clock is that of the turns.
 */
#include "system_private.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Time of day at the beginning, any would do: 2026-01-01, as QEMU's machines have it then. */
#define FIRST_SECOND (UINT64_C(2208988800) + 1767225600)

/* Requests of clients are served, or wait. */
static void serve_clients(const struct sys *sys, bool serve)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = SYS_CLIENTS };

	epoll_ctl(sys->epoll, serve ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, sys->clients, &event);
}

int sys_take_turns(struct sys *sys)
{
	sys->time = FIRST_SECOND * SYS_TOD_SECOND;
	sys->clients = epoll_create1(EPOLL_CLOEXEC);
	if (sys->clients < 0)
		return -1;
	serve_clients(sys, true);
	return 0;
}

static void stand(struct sys *sys)
{
	sys->going = false;
	serve_clients(sys, true);
	sys_tell(sys, "stands\n");
}

/* The first that has logged on after the last one that had a turn in this round. */
static struct member *next(struct sys *sys)
{
	struct member *found = NULL;

	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++) {
		struct member *member = &sys->member[i];

		if (member->port.cp && member->runs && member->logon > sys->last &&
		    (!found || member->logon < found->logon))
			found = member;
	}
	return found;
}

static void begin_round(struct sys *sys)
{
	sys->last = 0;
	sys->time += sys->turn_ns * 4096 / 1000;
	if (sys->alarm && sys->alarm <= sys->time) {
		sys->alarm = 0;
		cp_system_timer(sys->cp);
	}
}

/* Its call for a turn is answered by the turn. */
static void begin_turn(struct sys *sys, struct member *member)
{
	sys->turn = member;
	sys->last = member->logon;
	member->asks = false;
	member_reply(member, &(struct member_reply){ .value = sys->turn_ns });
}

static void give_turns(struct sys *sys)
{
	while (sys->going && !sys->turn) {
		struct member *member = next(sys);

		if (sys->told || (!member && sys->last == 0)) {
			stand(sys);
		} else if (!member) {
			begin_round(sys);
		} else if (member->asks) {
			begin_turn(sys, member);
		} else {
			/* It has just begun to run, and asks next. */
			return;
		}
	}
}

void sys_run_machines(struct sys *sys)
{
	if (!sys->going)
		serve_clients(sys, false);
	sys->going = true;
	sys->told = false;
	give_turns(sys);
}

void sys_stand(struct sys *sys)
{
	sys->told = true;
	if (sys->going)
		give_turns(sys);
	else
		sys_tell(sys, "stands\n");
}

static bool is_awaited(const struct sys *sys, const struct member *member)
{
	return sys->awaited[0] && strcmp(member->port.config.userid, sys->awaited) == 0;
}

static void tell_awaited(struct sys *sys, const char *line)
{
	sys->awaited[0] = '\0';
	sys_tell(sys, line);
}

void sys_await(struct sys *sys, const char *userid)
{
	bool there = false;

	snprintf(sys->awaited, sizeof(sys->awaited), "%s", userid);
	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++) {
		const struct member *member = &sys->member[i];

		if (!member->port.cp || !is_awaited(sys, member))
			continue;
		there = true;
		if (member->asks)
			tell_awaited(sys, "waits\n");
	}
	if (!there)
		tell_awaited(sys, "gone\n");
}

void member_asks(struct member *member)
{
	struct sys *sys = member->sys;

	member->asks = true;
	if (is_awaited(sys, member))
		tell_awaited(sys, "waits\n");
	if (sys->turn == member)
		sys->turn = NULL;
	give_turns(sys);
}

void member_goes(const struct member *member)
{
	/* Its end is an event, too, whether or not it had clients. */
	member->sys->told = true;
	if (is_awaited(member->sys, member))
		tell_awaited(member->sys, "gone\n");
}

void member_stands(struct member *member)
{
	struct sys *sys = member->sys;

	member->asks = false;
	/* What others do meanwhile would depend on how long its emulator takes to end. */
	if (sys->turn == member && !(member->ends && member->port.cp))
		sys->turn = NULL;
	if (sys->turn_ns)
		give_turns(sys);
}

void member_told(void *opaque)
{
	((struct member *)opaque)->sys->told = true;
}
