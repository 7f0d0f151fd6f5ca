/* SPDX-License-Identifier: MIT */
/*
 * What the process serves next.  While machines are at work it looks at their counts of calls: a
 * system call to learn of each would take longer than what is asked.
 */
#include "system_private.h"

#include <sys/epoll.h>
#include <unistd.h>

/* With so many events one after the other, clients do not keep machines from being served. */
#define EVENTS_IN_A_ROW 32u
/* In ns: a CPU at work is told of an interruption so late at most, and a call is likely before. */
#define LATER_NS 200000

static bool has_called(const struct member *member)
{
	return member->page &&
	       __atomic_load_n(&member->page->sides.called, __ATOMIC_ACQUIRE) != member->served;
}

/* In turn. */
static struct member *next_caller(struct sys *sys)
{
	for (unsigned int i = 1; i <= sys->slots; i++) {
		const unsigned int slot = (sys->caller + i) % sys->slots;

		if (has_called(&sys->member[slot])) {
			sys->caller = slot;
			return &sys->member[slot];
		}
	}
	return NULL;
}

/* Return: there is a call, of *@caller, or an offer has been taken, after which others are made. */
static bool look_for_call(struct sys *sys, struct member **caller)
{
	for (unsigned int i = 0; i < SPIN_LOOKS; i++) {
		*caller = next_caller(sys);
		if (*caller || sys_has_taken(sys))
			return true;
		spin_pause();
	}
	return false;
}

void member_tell(struct member *member)
{
	const uint64_t one = 1;

	if (member->due)
		member->sys->due--;
	member->due = 0;
	/* A counter that is full is readable. */
	(void)!write(member->fd[MEMBER_NOTICE], &one, sizeof(one));
}

void member_tell_later(struct member *member)
{
	if (member->due)
		return;
	member->due = spin_now_ns() + LATER_NS;
	member->sys->due++;
}

static bool has_looked(const struct member *member)
{
	const struct member_notices *notices = &member->page->notices;

	return __atomic_load_n(&notices->looks, __ATOMIC_RELAXED) ||
	       !(__atomic_load_n(&notices->kicks, __ATOMIC_RELAXED) |
		 __atomic_load_n(&notices->externals, __ATOMIC_RELAXED) |
		 __atomic_load_n(&notices->flags, __ATOMIC_RELAXED) |
		 (member->put ^ __atomic_load_n(&notices->taken, __ATOMIC_RELAXED)));
}

/* Those who have had the time for it, or all: before a wait, of which nobody knows how long it is. */
static void tell_those_due(struct sys *sys, bool all)
{
	const uint64_t now = sys->due ? spin_now_ns() : 0;

	for (unsigned int i = 0; i < sys->slots && sys->due; i++) {
		struct member *member = &sys->member[i];

		if (!member->due || (!all && now < member->due))
			continue;
		if (has_looked(member)) {
			member->due = 0;
			sys->due--;
		} else {
			member_tell(member);
		}
	}
}

static void set_waits(struct sys *sys, bool waits)
{
	for (unsigned int i = 0; i < sys->slots; i++)
		if (sys->member[i].page)
			__atomic_store_n(&sys->member[i].page->sides.process_waits, waits,
					 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Whoever calls from here on makes its descriptor readable. */
static int wait_for_any(struct sys *sys, struct epoll_event *event, struct member **caller)
{
	int ready = 0;

	tell_those_due(sys, true);
	set_waits(sys, true);
	*caller = next_caller(sys);
	if (!*caller && !sys_has_taken(sys))
		ready = epoll_wait(sys->epoll, event, 1, -1);
	set_waits(sys, false);
	return ready;
}

/* An event that was there before a call comes before it. */
int sys_wait(struct sys *sys, struct epoll_event *event, struct member **caller)
{
	bool called;
	int ready;

	do {
		tell_those_due(sys, false);
		*caller = sys->events < EVENTS_IN_A_ROW ? NULL : next_caller(sys);
		ready = *caller ? 0 : epoll_wait(sys->epoll, event, 1, 0);
		called = *caller || (ready == 0 && look_for_call(sys, caller));
		sys->events = ready > 0 ? sys->events + 1 : 0;
		if (ready != 0 || called) {
			spin_found(&sys->spin);
			return ready;
		}
	} while (spin_on(&sys->spin));
	return wait_for_any(sys, event, caller);
}
