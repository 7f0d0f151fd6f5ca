/* SPDX-License-Identifier: MIT */
#include "proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Since Linux 2.6.12, and shown in /proc. */
#define PF_EXITING 0x4u

bool proc_parse(struct proc_task *task, const char *line)
{
	/* The name may hold anything, but nothing after it has a parenthesis. */
	const char *after = strrchr(line, ')');

	return after && sscanf(line, "%" SCNu32 " (", &task->pid) == 1 &&
	       sscanf(after, ") %c %" SCNu32 " %*d %*d %*d %*d %" SCNu32
		      " %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		      &task->state, &task->parent, &task->flags, &task->begin) == 4;
}

bool proc_read(struct proc_task *task, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	bool good;

	if (!file)
		return false;
	/* One read, lest a name with a line break in it cut the line. */
	line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
	good = proc_parse(task, line);
	fclose(file);
	return good;
}

bool proc_has_exited(const struct proc_task *task)
{
	return task->state == 'Z' || task->state == 'X';
}

bool proc_is_exiting(const struct proc_task *task)
{
	return (task->flags & PF_EXITING) && !proc_has_exited(task);
}

uint32_t proc_parent(uint32_t pid)
{
	struct proc_task task;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	return proc_read(&task, path) ? task.parent : 0;
}
