/* SPDX-License-Identifier: MIT */
/*
 * The values of a process, of all that the kernel tells of it.  Pure.
 *
 * No source has everything:
 *	- The sums of taskstats have waits.  They lack what a thread used on its way out, and on
 *	  kernels like 6.1.176 CPU times and switches of all threads that have exited.
 *	- The CPU clock of the process has all its CPU time.
 *	- /proc/PID/stat has page faults, and CPU time in ticks by mode.
 *	- /proc/PID/io has the I/O.
 * Sums over the tasks that live are the process' if no task has exited, which has been on a CPU: then
 * the sums of taskstats count that more often than they do.  What is no sum, like the most resident
 * storage, is that of the tasks that live.  Everything else is not known.
 */
#ifndef TASKMON_PROCESS_VALUES_H
#define TASKMON_PROCESS_VALUES_H

#include "proc.h"
#include "stats.h"

struct process_known {
	bool has_sums;		/* each thread is in them once */
	bool keeps_exited;	/* no field of them lacks threads that have exited */
	struct stats sums;
	bool has_clock;
	uint64_t clock_ns;
	bool has_shown;
	struct proc_task shown;	/* after the sums */
	bool has_io;
	struct proc_io io;
};

/* @stats: sums over its living tasks, which become those of the process. */
void process_values(struct stats *stats, const struct process_known *known);

#endif
