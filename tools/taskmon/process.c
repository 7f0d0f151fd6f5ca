/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "proc.h"
#include "tool_text.h"

/* An exit takes less than the first, unless it has to wait, and then nobody knows how long. */
#define PAUSE_FIRST_NS 1000000
#define PAUSE_MOST_NS 100000000
#define LIMIT_S 5

static void keep(void *context, const struct stats_record *record)
{
	*(struct stats_record *)context = *record;
}

/*
 * The threads that live, as bytes to be compared, in the kernel's order: what begins is last.
 * Return: 1; 0 if one is on its way out; -errno.
 */
static int list_threads(uint32_t id, struct text *threads)
{
	char path[sizeof("/proc/4294967295/task/4294967295/stat")];
	struct dirent *entry;
	int ret = 1;
	DIR *folder;

	text_clear(threads);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", id);
	folder = opendir(path);
	if (!folder)
		return -errno;
	while (ret == 1 && (entry = readdir(folder))) {
		struct proc_task task;
		uint32_t thread;

		if (sscanf(entry->d_name, "%" SCNu32, &thread) != 1)
			continue;
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", id, thread);
		/* One that has gone meanwhile may have exited since it was counted. */
		if (!proc_read(&task, path) || proc_is_exiting(&task))
			ret = 0;
		else if (!proc_has_exited(&task)) {
			text_append(threads, (const char *)&task.pid, sizeof(task.pid));
			text_append(threads, (const char *)&task.begin, sizeof(task.begin));
		}
	}
	closedir(folder);
	return threads->failed ? -ENOMEM : ret;
}

/* Whether all that lived before the question lives after it. */
static bool begins_with(const struct text *after, const struct text *before)
{
	return after->len >= before->len &&
	       (!before->len || memcmp(after->bytes, before->bytes, before->len) == 0);
}

static int ask(struct kernel *kernel, uint32_t id, struct stats_record *record, int *steady)
{
	struct text before = { 0 }, after = { 0 };
	int ret;

	*steady = list_threads(id, &before);
	ret = kernel_get(kernel, STATS_PROCESS, id, keep, record);
	if (*steady == 1)
		*steady = list_threads(id, &after);
	if (*steady == 1 && !begins_with(&after, &before))
		*steady = 0;
	text_free(&before);
	text_free(&after);
	return ret;
}

static bool is_over(const struct timespec *limit)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > limit->tv_sec ||
	       (now.tv_sec == limit->tv_sec && now.tv_nsec >= limit->tv_nsec);
}

int process_get(struct kernel *kernel, uint32_t id, struct stats_record *record,
		enum process_sums *sums)
{
	struct timespec pause = { .tv_nsec = PAUSE_FIRST_NS }, limit;
	struct stats_record task = { 0 };
	int ret, steady;

	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += LIMIT_S;
	for (;;) {
		ret = ask(kernel, id, record, &steady);
		if (ret || steady != 0 || is_over(&limit))
			break;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MOST_NS)
			pause.tv_nsec *= 2;
	}
	*sums = steady == 1 ? PROCESS_SUMS_RIGHT :
		steady == 0 ? PROCESS_SUMS_TWICE : PROCESS_SUMS_UNKNOWN;
	/* Since when the process is there its task knows. */
	if (!ret && !kernel_get(kernel, STATS_TASK, id, keep, &task)) {
		record->has_elapsed = task.has_elapsed;
		record->elapsed_us = task.elapsed_us;
	}
	return ret;
}
