/* SPDX-License-Identifier: MIT */
/*
 * CPUs held between two instructions.
 *
 * A CPU that Hercules stops forgets which interruptions were pending for it alone,
 * signals of other CPUs among them, and "startall" starts also those CPUs that the
 * guest has stopped.  A CPU that is held forgets nothing; CPUs that the guest has stopped
 * stay as they are.  CPU timers and TOD clock stand still, so that the guest does not
 * notice.
 */
#ifndef ZVMLAB_HERCULES_HOLD_H
#define ZVMLAB_HERCULES_HOLD_H

#include "port.h"

/** In a CPU's thread, without the lock: stay here for as long as CPUs are to be held. */
void hold_here(REGS *regs);

/** Hold all CPUs, without the lock.  Return: 0, or -1 with one sentence in @err. */
int hold_cpus(char *err, size_t errlen);
/** Start also those that are stopped, but to be held in front of their first instruction. */
int hold_and_start(char *err, size_t errlen);
/** Let all go on, with the lock held. */
void hold_end(void);
/** Stop all instead, with the lock held. */
void hold_stop(void);
/** With the lock held: is every CPU held, or stopped? */
bool hold_complete(void);
/** With the lock held: is this CPU held? */
bool hold_has(const REGS *regs);
/** The guest's TOD clock, bits 0-55, which stands still while all CPUs are held. */
uint64_t hold_tod(void);
/** Set it, with the lock held. */
void hold_set_tod(uint64_t tod);
/** The CPU timer of a CPU that is held, with the lock held; may be changed. */
S64 *hold_cpu_timer(const REGS *regs);

#endif
