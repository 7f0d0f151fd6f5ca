/* SPDX-License-Identifier: MIT */
/* Made-up tasks of a snapshot. */
#ifndef SNAPSHOT_MADE_H
#define SNAPSHOT_MADE_H

#include <check.h>
#include <string.h>

#include "snapshot.h"

static inline void set(struct stats *stats, enum stats_field field, uint64_t value)
{
	stats->present[field] = true;
	stats->value[field] = value;
}

/* Adds the first task of a process, without any statistics. */
static inline struct snapshot_task *put_task(struct snapshot *snapshot, uint32_t id, uint32_t parent,
					     const char *comm)
{
	struct snapshot_task task = { .process = id, .parent = parent, .state = 'S' };

	task.record.kind = STATS_TASK;
	task.record.id = id;
	task.record.stats.comm_len = strlen(comm);
	memcpy(task.record.stats.comm, comm, strlen(comm));
	ck_assert_int_eq(snapshot_add(snapshot, &task), 0);
	return &snapshot->tasks[snapshot->count - 1];
}

#endif
