/* SPDX-License-Identifier: MIT */
/* What /proc tells of tasks, and struct taskstats does not. */
#ifndef TOOLS_PROC_H
#define TOOLS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_task {
	uint32_t pid, parent;
	char state;		/* as ps(1) shows it: 'R', 'S', 'D', 'Z' … */
	uint32_t flags;		/* of the kernel's PF_… */
	uint64_t begin;		/* when it began, in ticks since boot: tells apart who had a PID */
};

/* A line of /proc/PID/stat; the name in it may be anything.  Return: whether it is one. */
bool proc_parse(struct proc_task *task, const char *line);

/* Reads a file of that kind.  Return: false if there is no such task, or no /proc. */
bool proc_read(struct proc_task *task, const char *path);

/*
 * The path of the cgroup in /proc/PID/cgroup, @size bytes: that of version 2; where that is the
 * root, the first other one of a hierarchy of version 1.  Paths have no line breaks: the kernel
 * refuses them.
 * Return: where it begins, *@len bytes; NULL if there is none.
 */
const char *proc_parse_cgroup(const char *text, size_t size, size_t *len);

/* The same of a file, to be freed; NULL if there is no such task, or no memory. */
char *proc_read_cgroup(const char *path);

/* Whether there is only its status left of the task. */
bool proc_has_exited(const struct proc_task *task);

/* Whether it is on its way out, but not there. */
bool proc_is_exiting(const struct proc_task *task);

/* Parent of a process, 0 if it is not known: a tree_parent. */
uint32_t proc_parent(uint32_t pid);

#endif
