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

/* Adds the first task of a process, which has used, waited for and done nothing. */
static inline struct snapshot_task *put_task(struct snapshot *snapshot, uint32_t id, uint32_t parent,
					     const char *comm)
{
	struct snapshot_task task = { .process = id, .parent = parent, .state = 'S' };

	task.record.kind = STATS_TASK;
	task.record.id = id;
	task.record.stats.comm_len = strlen(comm);
	memcpy(task.record.stats.comm, comm, strlen(comm));
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		task.record.stats.present[field] = stats_is_sum(field);
	ck_assert_int_eq(snapshot_add(snapshot, &task), 0);
	return &snapshot->tasks[snapshot->count - 1];
}

/* Adds the processes of the tasks that there are, in which no other task has exited, and sorts. */
static inline void put_processes(struct snapshot *snapshot)
{
	struct snapshot processes = { 0 };

	ck_assert_int_eq(snapshot_sums(&processes, snapshot, BY_PROCESS), 0);
	for (size_t i = 0; i < processes.count; i++)
		ck_assert_int_eq(snapshot_add(snapshot, &processes.tasks[i]), 0);
	processes.count = 0;
	snapshot_free(&processes);
	snapshot_sort(snapshot);
}

#endif
