/* SPDX-License-Identifier: MIT */
/*
 * The tasks and processes that live now: found in /proc, their statistics asked for one by one.
 *
 * Beside the tasks a snapshot has the processes, with the kernel's values of them.  What the kernel
 * does not count, or has not counted since a task began, is absent.
 */
#ifndef TASKMON_LIVING_H
#define TASKMON_LIVING_H

#include "process.h"
#include "snapshot.h"

struct living {
	struct kernel *kernel;
	struct accounting accounting;
	bool probed, keeps_exited;	/* whether it was found out; as process_keeps_exited() */
};

/* The kernel's gaps, in @lacks, as accounting.h has them.  Return: 0 or -errno as kernel_get(). */
int living_lacks(struct kernel *kernel, unsigned int *lacks);

/* Nanoseconds since 1970. */
uint64_t living_now(void);

/* Return: 0 or -errno as kernel_get(). */
int living_open(struct living *living, struct kernel *kernel);

/*
 * Finds out what the kernel keeps of threads that have exited, once: before there is another thread,
 * which would be among those that are looked at.  Whatever asks for processes does so at last.
 */
void living_probe(struct living *living);

/* More than the statistics of each task; bits of a set. */
enum living_parts {
	LIVING_CGROUPS = 1,	/* the cgroup that it is in */
	LIVING_ARGUMENTS = 2,	/* its command line */
	LIVING_PROCESSES = 4,	/* and all processes */
};

/*
 * Takes all tasks, sorted; @snapshot is empty before.  One that goes meanwhile is left out.
 * @parts: enum living_parts.
 * Return: 0; -ENOTDIR if there is no /proc; -errno as kernel_get(); to be freed in any case.
 */
int living_take(struct living *living, struct snapshot *snapshot, unsigned int parts);

/*
 * Adds a task, or the process that a task belongs to, by its number; for the latter again and again
 * while one of its threads exits, for 5 s at most.  *@sums: as process_get().
 * Return: 0; -ESRCH: there is none; another -errno as kernel_get().
 */
int living_add_task(struct living *living, struct snapshot *snapshot, uint32_t id);
int living_add_process(struct living *living, struct snapshot *snapshot, uint32_t id,
		       enum process_sums *sums);

/* To be called when all of these were added; it does not sort. */
void living_end(struct living *living, struct snapshot *snapshot);

/* Why living_take() fails, as kernel_reason(). */
const char *living_reason(int error);

#endif
