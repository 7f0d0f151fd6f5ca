/* SPDX-License-Identifier: MIT */
/* Facts on tasks that /proc has, and struct taskstats has not. */
#ifndef TOOLS_PROC_H
#define TOOLS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proc_task {
	uint32_t pid, parent;
	char state;		/* as ps(1) shows it: 'R', 'S', 'D', 'Z' … */
	uint32_t flags;		/* of the kernel's PF_… */
	/* Of /proc/PID/stat these are the process', with those of its tasks that have exited. */
	uint64_t minor_faults, major_faults;
	uint64_t user_ticks, system_ticks;	/* CPU time in ticks, PROC_TICKS a second */
	uint64_t begin;		/* when it began, in ticks since boot: tells apart who had a PID */
};

#define PROC_TICKS 100u		/* USER_HZ */

/* /proc/PID/io: of a process with those of its tasks that have exited. */
struct proc_io {
	uint64_t read_characters, written_characters, read_calls, write_calls;
	uint64_t read_bytes, written_bytes, cancelled_bytes;
};

/* A line of /proc/PID/stat; the name in it may be anything.  Return: whether it is one. */
bool proc_parse(struct proc_task *task, const char *line);

/* Reads a file of that kind.  Return: false if there is no such task, or no /proc. */
bool proc_read(struct proc_task *task, const char *path);

/* All of such a file's text.  Return: false if something is missing. */
bool proc_parse_io(struct proc_io *io, const char *text);

/* Reads such a file.  Return: false if there is none, or if it may not be read. */
bool proc_read_io(struct proc_io *io, const char *path);

/*
 * The path of the cgroup in /proc/PID/cgroup, @size bytes: that of version 2; where that is the
 * root, the first other one of a hierarchy of version 1.  Paths have no line breaks: the kernel
 * refuses them.
 * Return: where it begins, *@len bytes; NULL if there is none.
 */
const char *proc_parse_cgroup(const char *text, size_t size, size_t *len);

/* The same of a file, to be freed; NULL if there is no such task, or no memory. */
char *proc_read_cgroup(const char *path);

/* The command line in /proc/PID/cmdline, blanks between its words, to be freed; NULL: none. */
char *proc_read_arguments(const char *path);

/* The name of a process, without what follows a line break in it.  Return: false if there is none. */
#define PROC_NAME_SIZE 32u
bool proc_read_name(uint32_t process, char name[PROC_NAME_SIZE]);

/* Whether there is only its status left of the task. */
bool proc_has_exited(const struct proc_task *task);

/* Whether it is on its way out, but not there. */
bool proc_is_exiting(const struct proc_task *task);

/* Parent of a process, 0 if it is not known: a tree_parent. */
uint32_t proc_parent(uint32_t pid);

#endif
