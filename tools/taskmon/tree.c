/* SPDX-License-Identifier: MIT */
#include "tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* The most that kernel.pid_max can be; of the table only what is used takes storage. */
#define PIDS_MAX (1u << 22)
/* In acct(5) and struct taskstats: the last task of a process. */
#define LAST_TASK 0x20u
/* The kernel's idle task, init, and the father of kernel threads. */
#define LAST_WITHOUT_PARENT 2u
/* Processes above each other; more are a circle, which numbers that are used again could make. */
#define DEPTH_MAX 10000u

struct used {
	struct stats stats;
	uint64_t tasks;
};

struct process {
	struct used *used;	/* of it and below it, since it last exited; NULL: nothing */
	uint32_t parent;	/* of the last one of this number that has exited, if one has */
	bool exited;
};

struct tree {
	struct process *processes;	/* by PID; PIDS_MAX */
	uint32_t end;			/* above those that are in use */
};

struct tree *tree_new(void)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->processes = calloc(PIDS_MAX, sizeof(*tree->processes));
	if (tree->processes)
		return tree;
	free(tree);
	return NULL;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (uint32_t pid = 0; pid < tree->end; pid++)
		free(tree->processes[pid].used);
	free(tree->processes);
	free(tree);
}

static struct process *process_of(struct tree *tree, uint32_t pid)
{
	assert(pid < PIDS_MAX);
	if (pid >= tree->end)
		tree->end = pid + 1;
	return &tree->processes[pid];
}

static void add(struct used *sum, const struct used *more)
{
	stats_add(&sum->stats, &more->stats);
	sum->tasks += more->tasks;
}

/* A process that exits leaves its sums to its parent. */
static void hand_on(struct process *from, struct process *to)
{
	if (from == to)
		return;
	if (to->used) {
		add(to->used, from->used);
		free(from->used);
	} else {
		to->used = from->used;
	}
	from->used = NULL;
}

int tree_take(struct tree *tree, const struct stats_record *record)
{
	const struct stats *stats = &record->stats;
	uint64_t pid = stats->value[STATS_TGID], parent = stats->value[STATS_PPID];
	struct process *process;

	if (record->kind != STATS_TASK)
		return 0;
	if (!stats->present[STATS_TGID] || pid >= PIDS_MAX || parent >= PIDS_MAX)
		return -ENODATA;
	process = process_of(tree, (uint32_t)pid);
	if (!process->used)
		process->used = calloc(1, sizeof(*process->used));
	if (!process->used)
		return -ENOMEM;
	add(process->used, &(struct used){ .stats = *stats, .tasks = 1 });
	/* A thread's record that is late comes after that of the last one: it has exited then, too. */
	if (stats->value[STATS_FLAG] & LAST_TASK) {
		process->exited = true;
		process->parent = (uint32_t)parent;
		hand_on(process, process_of(tree, (uint32_t)parent));
	}
	return 0;
}

/*
 * The process that is above all those above @pid: @root, if @pid is below that; or one that has no
 * parent, or whose parent nobody knows.
 */
static uint32_t above_all(const struct tree *tree, uint32_t pid, uint32_t root,
			  tree_parent *parent)
{
	for (unsigned int depth = 0; pid != root && depth < DEPTH_MAX; depth++) {
		uint32_t above = parent(pid);

		if (!above && pid < PIDS_MAX && tree->processes[pid].exited)
			above = tree->processes[pid].parent;
		if (!above)
			break;
		pid = above;
	}
	return pid;
}

uint64_t tree_sum(const struct tree *tree, uint32_t root, tree_parent *parent,
		  struct stats_record *sum)
{
	struct used all = { 0 };
	uint64_t unknown = 0;

	for (uint32_t pid = 0; pid < tree->end; pid++) {
		const struct used *used = tree->processes[pid].used;
		uint32_t above;

		if (!used)
			continue;
		above = above_all(tree, pid, root, parent);
		if (above == root)
			add(&all, used);
		else if (above > LAST_WITHOUT_PARENT)
			unknown += used->tasks;
	}
	sum->stats = all.stats;
	sum->tasks = all.tasks;
	return unknown;
}
