/* SPDX-License-Identifier: MIT */
/* CPUs held between two instructions; the guest's clocks stand still meanwhile. */
#include "hold.h"

#include <stdio.h>
#include <unistd.h>

/* A CPU comes by within microseconds: looked at every ms, for 5 s. */
#define CHECK_US 1000
#define CHECKS 5000u
/* How often Hercules looks at the clocks of a guest that is held; they show nothing new. */
#define CLOCK_US 20000

/* All guarded by Hercules' interrupt lock; wanted is looked at without it, too. */
static struct {
	bool wanted;
	bool stopped;		/* the clocks stand still */
	int clock_us;		/* how often Hercules looks at them else */
	CPU_BITMAP held;
	uint64_t tod;		/* bits 0-55 */
	S64 timer[MAX_CPUS];
} hold;

static uint64_t tod(void)
{
	return tod_clock(sysblk.regs[0] ? sysblk.regs[0] : &sysblk.dummyregs);
}

uint64_t hold_tod(void)
{
	return hold.stopped ? hold.tod : tod();
}

void hold_set_tod(uint64_t tod)
{
	set_tod_clock(tod);
	hold.tod = tod;
}

static void stop_clocks(void)
{
	/* A clock that is steered cannot be set. */
	if (hold.stopped || get_tod_steering() != 0.0)
		return;
	hold.tod = tod();
	hold.clock_us = sysblk.timerint;
	sysblk.timerint = CLOCK_US;
	hold.stopped = true;
}

static void start_clocks(void)
{
	if (!hold.stopped)
		return;
	set_tod_clock(hold.tod);
	sysblk.timerint = hold.clock_us;
	hold.stopped = false;
}

/* With the lock held, which is given up on the way; as in an enabled wait. */
static void stay(REGS *regs)
{
	hold.held |= regs->cpubit;
	sysblk.waiting_mask |= regs->cpubit;
	while (hold.wanted && regs->cpustate == CPUSTATE_STARTED) {
		sysblk.intowner = LOCK_OWNER_NONE;
		wait_condition(&regs->intcond, &sysblk.intlock);
	}
	while (sysblk.syncing)
		wait_condition(&sysblk.sync_bc_cond, &sysblk.intlock);
	sysblk.intowner = regs->cpuad;
	sysblk.waiting_mask &= ~regs->cpubit;
	hold.held &= ~regs->cpubit;
}

void hold_here(REGS *regs)
{
	S64 *timer = &hold.timer[regs->cpuad];

	if (!__atomic_load_n(&hold.wanted, __ATOMIC_ACQUIRE))
		return;
	port_lock(regs);
	if (hold.wanted && regs->cpustate == CPUSTATE_STARTED) {
		/* The PSW has the instruction's address from here on. */
		INVALIDATE_AIA(regs);
		*timer = cpu_timer(regs);
		stay(regs);
		set_cpu_timer(regs, *timer);
		/* Hercules' clocks went on and may have found that the time had come. */
		if (*timer >= 0)
			OFF_IC_PTIMER(regs);
		if (tod_clock(regs) <= regs->clkc)
			OFF_IC_CLKC(regs);
	}
	port_unlock();
}

bool hold_has(const REGS *regs)
{
	return hold.held & regs->cpubit;
}

S64 *hold_cpu_timer(const REGS *regs)
{
	return &hold.timer[regs->cpuad];
}

bool hold_complete(void)
{
	bool complete = hold.wanted;

	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		const REGS *regs = sysblk.regs[i];

		complete &= !regs || hold_has(regs) || regs->cpustate == CPUSTATE_STOPPED;
	}
	return complete;
}

void hold_end(void)
{
	start_clocks();
	port->own.calls->running(&port->own, port->used);
	__atomic_store_n(&hold.wanted, false, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		if (sysblk.regs[i] && hold_has(sysblk.regs[i]))
			WAKEUP_CPU(sysblk.regs[i]);
}

void hold_stop(void)
{
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		if (sysblk.regs[i])
			sysblk.regs[i]->cpustate = CPUSTATE_STOPPING;
	hold_end();
}

static int begin(bool start, char *err, size_t errlen)
{
	bool complete;

	port_lock(NULL);
	__atomic_store_n(&hold.wanted, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		REGS *regs = sysblk.regs[i];

		/* Hercules lets go what is pending for a stopped CPU whenever it is woken. */
		if (!regs || (regs->cpustate == CPUSTATE_STOPPED && !start))
			continue;
		if (start) {
			regs->opinterv = 0;
			regs->cpustate = CPUSTATE_STARTED;
		}
		ON_IC_INTERRUPT(regs);
		WAKEUP_CPU(regs);
	}
	complete = hold_complete();
	for (unsigned int i = 0; i < CHECKS && !complete; i++) {
		port_unlock();
		usleep(CHECK_US);
		port_lock(NULL);
		complete = hold_complete();
	}
	if (complete) {
		stop_clocks();
		port->own.calls->running(&port->own, false);
	} else if (start) {
		hold_stop();
	} else {
		hold_end();
	}
	port_unlock();
	if (complete)
		return 0;
	snprintf(err, errlen, "not all CPUs can be held: one is in ESA/390 mode, or does not "
		 "respond");
	return -1;
}

int hold_cpus(char *err, size_t errlen)
{
	return begin(false, err, errlen);
}

int hold_and_start(char *err, size_t errlen)
{
	return begin(true, err, errlen);
}
