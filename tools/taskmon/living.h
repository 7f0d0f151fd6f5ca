/* SPDX-License-Identifier: MIT */
/* The tasks that live now: found in /proc, their statistics asked for one by one. */
#ifndef TASKMON_LIVING_H
#define TASKMON_LIVING_H

#include "kernel.h"
#include "snapshot.h"

/*
 * Takes all tasks, sorted; @snapshot is empty before.  One that goes meanwhile is left out.
 * @cgroups: and in which cgroup each is.
 * Return: 0; -ENOTDIR if there is no /proc; -errno as kernel_get(); to be freed in any case.
 */
int living_take(struct snapshot *snapshot, struct kernel *kernel, bool cgroups);

/* Why living_take() fails, as kernel_reason(). */
const char *living_reason(int error);

/* Nanoseconds by CLOCK_MONOTONIC. */
uint64_t living_now(void);

#endif
