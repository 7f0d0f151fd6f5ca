/* SPDX-License-Identifier: MIT */
/* CPUs held between two instructions. */
#include "hold.h"

#include <stdio.h>
#include <unistd.h>

/* A CPU comes by within microseconds: looked at every ms, for 5 s. */
#define CHECK_US 1000
#define CHECKS 5000u

/* All guarded by Hercules' interrupt lock; wanted is looked at without it, too. */
static struct {
	bool wanted;
	CPU_BITMAP held;
	S64 timer[MAX_CPUS];
} hold;

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
		/* Hercules' clock went on and may have found that the time had come. */
		if (*timer >= 0)
			OFF_IC_PTIMER(regs);
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
	if (!complete && start)
		hold_stop();
	else if (!complete)
		hold_end();
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
