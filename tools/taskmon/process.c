/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"
#include "tool_text.h"

/* An exit takes less than the first, unless it has to wait, and then nobody knows how long. */
#define PAUSE_FIRST_NS 1000000
#define PAUSE_MOST_NS 100000000
/* For our own thread, which has nothing to wait for. */
#define OWN_LIMIT_MS 5000
#define OWN_TRIES 10
#define NS_PER_S 1000000000u
#define NS_PER_MS 1000000u

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

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) ? 0 : (uint64_t)now.tv_sec * NS_PER_S +
						(uint64_t)now.tv_nsec;
}

int process_get(struct kernel *kernel, uint32_t id, unsigned int limit_ms,
		struct stats_record *record, enum process_sums *sums)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)limit_ms * NS_PER_MS;
	struct timespec pause = { .tv_nsec = PAUSE_FIRST_NS };
	int ret, steady;

	for (;;) {
		ret = ask(kernel, id, record, &steady);
		if (ret || steady != 0 || now_ns(CLOCK_MONOTONIC) >= end)
			break;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_MOST_NS)
			pause.tv_nsec *= 2;
	}
	*sums = steady == 1 ? PROCESS_SUMS_RIGHT :
		steady == 0 ? PROCESS_SUMS_TWICE : PROCESS_SUMS_UNKNOWN;
	return ret;
}

/* Sleeps, which is a voluntary switch. */
static void *sleep_and_exit(void *context)
{
	const struct timespec little = { .tv_nsec = 1 };

	nanosleep(&little, NULL);
	return context;
}

bool process_keeps_exited(struct kernel *kernel)
{
	const uint32_t own = (uint32_t)getpid();
	struct stats_record before = { 0 }, after = { 0 }, sum = { 0 };
	enum process_sums sums;
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_and_exit, NULL) || pthread_join(thread, NULL))
		return false;
	/* Whoever sleeps while it asks has more switches itself. */
	for (int i = 0; i < OWN_TRIES; i++) {
		if (kernel_get(kernel, STATS_TASK, own, keep, &before) ||
		    process_get(kernel, own, OWN_LIMIT_MS, &sum, &sums) ||
		    kernel_get(kernel, STATS_TASK, own, keep, &after) || sums != PROCESS_SUMS_RIGHT)
			return false;
		if (before.stats.value[STATS_NVCSW] == after.stats.value[STATS_NVCSW])
			return sum.stats.value[STATS_NVCSW] > after.stats.value[STATS_NVCSW];
	}
	return false;
}

int process_know(struct kernel *kernel, uint32_t id, unsigned int limit_ms,
		 struct process_known *known, enum process_sums *sums)
{
	struct stats_record record = { 0 };
	char path[sizeof("/proc/4294967295/stat")];
	clockid_t clock;
	int ret = process_get(kernel, id, limit_ms, &record, sums);

	if (ret)
		return ret;
	known->has_sums = *sums == PROCESS_SUMS_RIGHT;
	known->sums = record.stats;
	known->clock_ns = clock_getcpuclockid((pid_t)id, &clock) ? 0 : now_ns(clock);
	known->has_clock = known->clock_ns;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", id);
	known->has_shown = proc_read(&known->shown, path);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/io", id);
	known->has_io = proc_read_io(&known->io, path);
	return 0;
}
