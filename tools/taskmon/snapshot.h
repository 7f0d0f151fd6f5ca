/* SPDX-License-Identifier: MIT */
/*
 * All tasks and processes that live at a time, what they did between two times, and sums over some
 * of them.
 *
 * A process is no sum over its tasks: it has what those used that have exited, too.  So sums by
 * user, cgroup and command are of processes.
 *
 * A task is the same at both times if its number and its beginning are.  One that is new has
 * done all that it has counted since; of one that is gone it is not known what it still did.
 * Pure; living_take() in living.h asks the kernel.
 */
#ifndef TASKMON_SNAPSHOT_H
#define TASKMON_SNAPSHOT_H

#include "accounting.h"
#include "stats.h"

/* Intervals that are remembered of a task. */
#define SNAPSHOT_HISTORY 10u

struct snapshot_task {
	struct stats_record record;
	uint32_t process;	/* that it belongs to; 0 for sums other than those of a process */
	uint32_t parent;	/* process; 0: none */
	char state;		/* as proc.h has it; of a process that of its busiest task; 0: none */
	bool exiting;		/* or it has exited: the message about that is under way, or has come */
	uint64_t begin;		/* as proc.h has it */
	char *cgroup;		/* NULL: not known; owned */
	char *name;		/* of a user or cgroup that the sums are of; NULL: none; owned */
	char *arguments;	/* its command line; NULL: not known, or it has none; owned */
	uint64_t time_ns;	/* when the kernel was asked, by CLOCK_MONOTONIC; 0: as the snapshot */
	uint64_t interval_ns;	/* in which it did all that, of sums the mean; by snapshot_since() */
	uint64_t history[SNAPSHOT_HISTORY];	/* percent of a CPU, the oldest interval first */
	unsigned int history_count;
	uint64_t cpu_ns;	/* CPU time since it began; by snapshot_since() */
	unsigned int depth;	/* processes above it that are shown, too; by snapshot_order_tree() */
};

/* All zero: empty. */
struct snapshot {
	struct snapshot_task *tasks;
	size_t count, room;
	uint64_t time_ns;	/* when it was taken, by CLOCK_MONOTONIC */
	enum delayacct_state delays;	/* whether they were accounted then */
	unsigned int changes;	/* of that, as accounting.h counts them */
};

void snapshot_free(struct snapshot *snapshot);

/* Adds a task; what it owns is the snapshot's, or freed.  Return: 0 or -ENOMEM. */
int snapshot_add(struct snapshot *snapshot, const struct snapshot_task *task);

/* By kind and number: to be done when all were added, before it is compared. */
void snapshot_sort(struct snapshot *snapshot);

/* The task of this kind and number in a sorted snapshot; NULL if there is none. */
struct snapshot_task *snapshot_find(const struct snapshot *snapshot, enum stats_kind kind,
				    uint32_t id);

/* A copy of all of it in @copies, which is empty before.  Return: 0 or -ENOMEM. */
int snapshot_copy(struct snapshot *copies, const struct snapshot *all);

/* Removes what is not of this kind. */
void snapshot_keep(struct snapshot *snapshot, enum stats_kind kind);

/*
 * What the tasks of @now did since @before, both sorted; in @since, which is empty before.
 * Return: 0 or -ENOMEM, @since is to be freed in either case.
 */
int snapshot_since(struct snapshot *since, const struct snapshot *before,
		   const struct snapshot *now);

enum snapshot_by { BY_TASK, BY_PROCESS, BY_USER, BY_CGROUP, BY_COMMAND };

/*
 * Sums over all in @all, sorted by number or name; in @sums, which is empty before.  Those by process
 * are over tasks, and have name, user, parent and cgroup of the first one.
 * Return: as above.
 */
int snapshot_sums(struct snapshot *sums, const struct snapshot *all, enum snapshot_by by);

/* The selection of tasks: all members must hold. */
#define FILTER_PIDS_MAX 64u

struct filter {
	uint32_t pids[FILTER_PIDS_MAX];	/* only these; none: any */
	unsigned int pid_count;
	bool has_user;
	uint32_t user;
	const char *name;	/* a part of the name of the program; NULL: any */
	uint32_t tree;		/* this process, and all processes below it; 0: any */
	const char *cgroup;	/* this path, or below it; NULL: any */
	bool active;		/* did anything */
};

/* Removes the tasks, or processes, of a sorted snapshot that are not wanted. */
void snapshot_filter(struct snapshot *snapshot, const struct filter *filter);

/*
 * What of @tasks, which are sorted and lose what is not wanted, is wanted, added up; in @chosen,
 * which is empty before.  By task that is all of it as it is, else the processes, and a filter is
 * about these; whether anything was done is asked of the sums.
 * Return: 0 or -ENOMEM.
 */
int snapshot_choose(struct snapshot *chosen, struct snapshot *tasks, const struct filter *filter,
		    enum snapshot_by by);

/* Order of two tasks: below 0 if the first comes first. */
typedef int snapshot_compare(const struct snapshot_task *a, const struct snapshot_task *b,
			     const void *context);

/* Sorts by @compare; equals by number, then by name. */
void snapshot_order(struct snapshot *snapshot, snapshot_compare *compare, const void *context);

/*
 * The same of processes, each there once, among the children of each parent; children follow it,
 * and have a depth.  A parent that is not there is none.
 * Return: 0 or -ENOMEM, with the order unchanged.
 */
int snapshot_order_tree(struct snapshot *snapshot, snapshot_compare *compare, const void *context);

#endif
