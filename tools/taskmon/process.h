/* SPDX-License-Identifier: MIT */
/*
 * The sums of a thread group that lives, each thread counted once.
 *
 * When a thread exits the kernel first adds what it used to the sums of those that are gone, and
 * later, when its memory and files are closed, takes it off those that live: who asks in between
 * gets it twice.  Such a thread can be seen in /proc.
 */
#ifndef TASKMON_PROCESS_H
#define TASKMON_PROCESS_H

#include "kernel.h"

enum process_sums {
	PROCESS_SUMS_RIGHT,
	PROCESS_SUMS_TWICE,	/* a thread was on its way out all the time */
	PROCESS_SUMS_UNKNOWN,	/* /proc does not tell */
};

/*
 * Asks for a thread group by any of its tasks, again and again while one of them exits, for 5 s at
 * most.  *@sums: what the answer is.
 * Return: as kernel_get().
 */
int process_get(struct kernel *kernel, uint32_t id, struct stats_record *record,
		enum process_sums *sums);

#endif
