/* SPDX-License-Identifier: MIT */
/*
 * What a process and all that it has started used, from the messages about their exits.
 *
 * A task's last record tells its process and the parent of that.  The record of a process' last
 * task is marked: then what the process used, and what its children left to it, goes on to its
 * parent.  So there is a sum for each process that lives, of itself and of what has exited below
 * it; what has exited altogether is in the sum of the one process that waits for all of it.
 *
 * A child whose parent exits first has another parent then: the next ancestor that asked for it by
 * PR_SET_CHILD_SUBREAPER.  Who wants a whole tree asks for it, and is its root.
 *
 * Pure; in the order in which the messages come, in which a few are late: a thread that exits
 * together with the last one, a child that exits together with its parent.  tree_sum() finds
 * what these belong to.
 */
#ifndef TASKMON_TREE_H
#define TASKMON_TREE_H

#include "stats.h"

struct tree;

/* Return: NULL without memory. */
struct tree *tree_new(void);
void tree_free(struct tree *tree);

/*
 * The record of a task that has exited; of other kinds nothing is taken.
 * Return: 0; -ENOMEM; -ENODATA if the kernel does not tell what is needed (before Linux 5.19).
 */
int tree_take(struct tree *tree, const struct stats_record *record);

/* Parent of a process that still has its number, 0 if there is none. */
typedef uint32_t tree_parent(uint32_t pid);

/*
 * The sum of all that has exited below @root, which is not part of it, in sum->stats and
 * sum->tasks.
 * Return: how many more tasks may be below it: of processes that are gone, and whose own message
 * was lost.
 */
uint64_t tree_sum(const struct tree *tree, uint32_t root, tree_parent *parent,
		  struct stats_record *sum);

#endif
