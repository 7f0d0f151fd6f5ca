/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ticks of a CPU that has nothing else to do.  A kernel without CONFIG_NO_HZ, as Debian's are, asks for
 * 250 interruptions of the clock comparator a second also then, and each wakes two threads of the
 * host: some dozens of idle guests would take all of its processors.
 *
 * So a CPU that was woken by nothing but short ticks for a while gets the next ones later and later,
 * as it may under any CP: a virtual CPU goes on when CP dispatches it.  Whatever else wakes it ends
 * that.  Its thread waits for ticks itself, since the main thread wakes several times for one.
 */
#include "qemu/osdep.h"
#include "port.h"

#include <time.h>

#include "hw/s390x/zvmlab.h"

/* After work of any length so many are on time at most: a sleep of up to 0.1 s ends on time. */
#define TICKS 25u
/*
 * So many are on time after the shortest work, since the kernel may wait for some of them, and one
 * more for each TICK_NS that it took.  To give all of them to a guest that has passed on a message
 * would cost ten times as much as the message.
 */
#define TICKS_SHORT 2u
/* How much later the first one comes, and at most.  Linux knows by the clock how many it has missed. */
#define LATER_NS INT64_C(4000000)
#define LATEST_NS INT64_C(60000000)
#define DOUBLED 4u
/* What is to come later than that is no tick. */
#define FARTHEST_NS NANOSECONDS_PER_SECOND
/* A tick takes less of a thread's time, and what the guest is waiting for more. */
#define TICK_NS 1000000

static int64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * NANOSECONDS_PER_SECOND + now.tv_nsec;
}

/* Instructions that are counted, and clocks that jump, cost nothing while all CPUs wait. */
static struct zvmlab_idle *idle_of(const CPUState *cs)
{
	ZvmlabCp *s = zvmlab_cp;

	if (!s || icount_enabled() || s->passing)
		return NULL;
	return &s->idle[cs->cpu_index];
}

/* Of a CPU that has run for @worked ns. */
static unsigned int ticks_on_time(int64_t worked)
{
	return (unsigned int)MIN(TICKS_SHORT + worked / TICK_NS, TICKS);
}

void zvmlab_sleeps(CPUState *cs)
{
	struct zvmlab_idle *idle = idle_of(cs);
	int64_t worked;

	if (!idle)
		return;
	worked = thread_ns() - idle->woken;
	if (!idle->ticked || worked > TICK_NS)
		idle->ticks = MIN(idle->ticks, TICKS - ticks_on_time(worked));
	else if (idle->ticks < TICKS + DOUBLED)
		idle->ticks++;
}

/* The tick is the main thread's again, unless it is time for it. */
static void end_rest(CPUState *cs, struct zvmlab_idle *idle)
{
	QEMUTimer *timer = cpu_env(cs)->tod_timer;
	const bool is_time = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) >= idle->until;

	idle->until = 0;
	if (is_time)
		timer->cb(timer->opaque);
	else
		timer_mod_ns(timer, idle->due);
}

static int64_t later_ns(const struct zvmlab_idle *idle)
{
	return idle->ticks < TICKS ? 0 : MIN(LATER_NS << (idle->ticks - TICKS), LATEST_NS);
}

/* To take a timer from the main thread costs time if something else wakes the CPU, as it did last. */
bool zvmlab_rests(CPUState *cs)
{
	struct zvmlab_idle *idle = idle_of(cs);
	QEMUTimer *timer = cpu_env(cs)->tod_timer;
	int64_t left;

	if (!idle || !idle->ticked || cpu_is_stopped(cs) || !timer_pending(timer))
		return false;
	idle->due = timer_expire_time_ns(timer);
	left = idle->due - qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	if (left > FARTHEST_NS || left + later_ns(idle) <= 0)
		return false;
	idle->until = idle->due + later_ns(idle);
	timer_del(timer);
	zvmlab_wait_ns(cs, left + later_ns(idle));
	if (idle->until)
		end_rest(cs, idle);
	return true;
}

void zvmlab_end_rests(ZvmlabCp *s)
{
	CPUState *cs;

	CPU_FOREACH(cs) {
		struct zvmlab_idle *idle = &s->idle[cs->cpu_index];

		if (!idle->until)
			continue;
		timer_mod_ns(cpu_env(cs)->tod_timer, idle->due);
		idle->until = 0;
		qemu_cond_broadcast(cs->halt_cond);
	}
}

void zvmlab_wakes(CPUState *cs)
{
	struct zvmlab_idle *idle = idle_of(cs);

	if (!idle)
		return;
	idle->ticked = cpu_env(cs)->pending_int == INTERRUPT_EXT_CLOCK_COMPARATOR;
	idle->woken = thread_ns();
}
