/* SPDX-License-Identifier: MIT */
#include "proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Since Linux 2.6.12, and shown in /proc. */
#define PF_EXITING 0x4u
#define CGROUP_SIZE 65536u
/* What is longer is cut. */
#define ARGUMENTS_SIZE 4096u

bool proc_parse(struct proc_task *task, const char *line)
{
	/* The name may hold anything, but nothing after it has a parenthesis. */
	const char *after = strrchr(line, ')');

	return after && sscanf(line, "%" SCNu32 " (", &task->pid) == 1 &&
	       sscanf(after, ") %c %" SCNu32 " %*d %*d %*d %*d %" SCNu32 " %" SCNu64 " %*u %" SCNu64
		      " %*u %" SCNu64 " %" SCNu64 " %*d %*d %*d %*d %*d %*d %" SCNu64,
		      &task->state, &task->parent, &task->flags, &task->minor_faults,
		      &task->major_faults, &task->user_ticks, &task->system_ticks,
		      &task->begin) == 8;
}

/* The beginning of a file, of @size bytes with the NUL behind it.  Return: false if it has none. */
static bool read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return false;
	/* One read, lest a name with a line break in it cut the line. */
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return len;
}

bool proc_read(struct proc_task *task, const char *path)
{
	char line[1024];

	return read_text(path, line, sizeof(line)) && proc_parse(task, line);
}

bool proc_parse_io(struct proc_io *io, const char *text)
{
	return sscanf(text,
		      "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64
		      " read_bytes: %" SCNu64 " write_bytes: %" SCNu64
		      " cancelled_write_bytes: %" SCNu64,
		      &io->read_characters, &io->written_characters, &io->read_calls,
		      &io->write_calls, &io->read_bytes, &io->written_bytes,
		      &io->cancelled_bytes) == 7;
}

bool proc_read_io(struct proc_io *io, const char *path)
{
	char text[512];

	return read_text(path, text, sizeof(text)) && proc_parse_io(io, text);
}

/* The text after the second colon of a line; NULL if there is none. */
static const char *path_of(const char *line, size_t len)
{
	const char *first = memchr(line, ':', len);
	const char *second;

	if (!first)
		return NULL;
	second = memchr(first + 1, ':', len - (size_t)(first + 1 - line));
	return second && second + 1 < line + len ? second + 1 : NULL;
}

const char *proc_parse_cgroup(const char *text, size_t size, size_t *len)
{
	const char *root = NULL, *other = NULL;
	size_t found_len = 1;	/* of "/", if there is no other */

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t line = end ? (size_t)(end - text) : size;
		const char *path = path_of(text, line);
		size_t path_len = path ? (size_t)(text + line - path) : 0;
		bool unified = line >= 3 && memcmp(text, "0::", 3) == 0;

		if (path_len == 1) {
			root = path;
		} else if (path && (unified || !other)) {
			other = path;
			found_len = path_len;
		}
		line += end != NULL;
		text += line;
		size -= line;
	}
	*len = found_len;
	return other ? other : root;
}

char *proc_read_cgroup(const char *path)
{
	/* Paths have 4096 bytes at most, and there are a dozen hierarchies. */
	char *text = malloc(CGROUP_SIZE), *found = NULL;
	FILE *file = text ? fopen(path, "re") : NULL;
	const char *begin;
	size_t len;

	if (file) {
		begin = proc_parse_cgroup(text, fread(text, 1, CGROUP_SIZE, file), &len);
		found = begin ? strndup(begin, len) : NULL;
		fclose(file);
	}
	free(text);
	return found;
}

char *proc_read_arguments(const char *path)
{
	char text[ARGUMENTS_SIZE];
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(text, 1, sizeof(text), file) : 0;

	if (file)
		fclose(file);
	/* A NUL ends each word. */
	while (len && text[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return len ? strndup(text, len) : NULL;
}

bool proc_read_name(uint32_t process, char name[PROC_NAME_SIZE])
{
	char path[sizeof("/proc/4294967295/comm")];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", process);
	if (!read_text(path, name, PROC_NAME_SIZE))
		return false;
	name[strcspn(name, "\n")] = '\0';
	return true;
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
