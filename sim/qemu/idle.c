/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ticks of a CPU that has nothing else to do.  A kernel without CONFIG_NO_HZ, as Debian's are, asks for
 * 250 interruptions of the clock comparator a second also then, and each wakes two threads of the
 * host: some dozens of idle guests would take all of its processors.
 *
 * So a CPU that was woken by nothing but short ticks for a while gets the next one later, as it may
 * under any CP: a virtual CPU goes on when CP dispatches it.  Whatever else wakes it ends that.
 */
#include "qemu/osdep.h"
#include "port.h"

#include <time.h>

#include "hw/s390x/zvmlab.h"

/* So many one after the other: a sleep of up to 0.1 s ends on time. */
#define TICKS 25u
/* How much later the next one comes.  Linux takes the jiffies that it has missed from the clock. */
#define LATER_NS 20000000
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

void zvmlab_sleeps(CPUState *cs)
{
	struct zvmlab_idle *idle = idle_of(cs);
	QEMUTimer *timer = cpu_env(cs)->tod_timer;

	if (!idle)
		return;
	if (!idle->ticked || thread_ns() - idle->woken > TICK_NS)
		idle->ticks = 0;
	else if (idle->ticks < TICKS)
		idle->ticks++;
	if (idle->ticks < TICKS || cpu_is_stopped(cs) || !timer_pending(timer))
		return;
	idle->due = timer_expire_time_ns(timer);
	timer_mod_ns(timer, idle->due + LATER_NS);
}

void zvmlab_wakes(CPUState *cs)
{
	struct zvmlab_idle *idle = idle_of(cs);
	const CPUS390XState *env = cpu_env(cs);

	if (!idle)
		return;
	/* Machines that are restored or stop have their timers anew. */
	if (idle->due && timer_pending(env->tod_timer) &&
	    timer_expire_time_ns(env->tod_timer) == idle->due + LATER_NS)
		timer_mod_ns(env->tod_timer, idle->due);
	idle->due = 0;
	idle->ticked = env->pending_int == INTERRUPT_EXT_CLOCK_COMPARATOR;
	idle->woken = thread_ns();
}
