/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells of a process that lives.
 *
 * When a thread exits the kernel first adds what it used to the sums of those that are gone, and
 * later, when its memory and files are closed, takes it off those that live: who asks in between
 * gets it twice.  Such a thread can be seen in /proc.
 */
#ifndef TASKMON_PROCESS_H
#define TASKMON_PROCESS_H

#include "kernel.h"
#include "process_values.h"

enum process_sums {
	PROCESS_SUMS_RIGHT,
	PROCESS_SUMS_TWICE,	/* a thread was on its way out all the time */
	PROCESS_SUMS_UNKNOWN,	/* /proc does not tell */
};

/*
 * Asks for a thread group by any of its tasks, again and again while one of them exits, for
 * @limit_ms at most.  *@sums: what the answer is.
 * Return: as kernel_get().
 */
int process_get(struct kernel *kernel, uint32_t id, unsigned int limit_ms,
		struct stats_record *record, enum process_sums *sums);

/*
 * Whether the sums of a process keep all fields of threads that have exited: a thread of our own
 * exits, and is looked for.  For who has no other thread.
 */
bool process_keeps_exited(struct kernel *kernel);

/*
 * All that there is of process @id, by its own number; @limit_ms and @sums as above.
 * Return: 0, with what could be read in @known; -errno as kernel_get().
 */
int process_know(struct kernel *kernel, uint32_t id, unsigned int limit_ms,
		 struct process_known *known, enum process_sums *sums);

#endif
