/* SPDX-License-Identifier: MIT */
#include "living.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "number.h"
#include "proc.h"

#define NS_PER_S 1000000000u
#define PATH_SIZE sizeof("/proc/4294967295/task/4294967295/cgroup")

/* What a folder of all tasks is looked through for. */
struct look {
	struct snapshot *snapshot;
	struct kernel *kernel;
	bool cgroups;
	uint32_t process;
};

uint64_t living_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void keep(void *context, const struct stats_record *record)
{
	*(struct stats_record *)context = *record;
}

/* Each number that is a name in a folder.  Return: 0; -errno of the folder or of @each. */
static int each_number(const char *path, int (*each)(struct look *look, uint32_t number),
		       struct look *look)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint64_t number;
	int ret = 0;

	if (!folder)
		return -errno;
	while (!ret && (entry = readdir(folder)))
		if (number_parse(entry->d_name, 1, UINT32_MAX, &number))
			ret = each(look, (uint32_t)number);
	closedir(folder);
	return ret;
}

static int take_task(struct look *look, uint32_t id)
{
	struct snapshot_task task = { .process = look->process };
	struct proc_task shown;
	char path[PATH_SIZE];
	int ret;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", look->process, id);
	if (!proc_read(&shown, path))
		return 0;
	ret = kernel_get(look->kernel, STATS_TASK, id, keep, &task.record);
	if (ret)
		return ret == -ESRCH ? 0 : ret;
	task.record.exited = proc_has_exited(&shown);
	task.parent = shown.parent;
	task.state = shown.state;
	task.begin = shown.begin;
	if (look->cgroups) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/cgroup",
			 look->process, id);
		task.cgroup = proc_read_cgroup(path);
	}
	return snapshot_add(look->snapshot, &task);
}

static int take_process(struct look *look, uint32_t id)
{
	char path[PATH_SIZE];
	int ret;

	look->process = id;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", id);
	ret = each_number(path, take_task, look);
	return ret == -ENOENT || ret == -ESRCH ? 0 : ret;
}

int living_take(struct snapshot *snapshot, struct kernel *kernel, bool cgroups)
{
	struct look look = { .snapshot = snapshot, .kernel = kernel, .cgroups = cgroups };
	int ret;

	/* Those who ask are among the tasks: without any there is no /proc. */
	ret = each_number("/proc", take_process, &look);
	if (ret == -ENOENT || (!ret && !snapshot->count))
		ret = -ENOTDIR;
	snapshot->time_ns = living_now();
	snapshot_sort(snapshot);
	return ret;
}

const char *living_reason(int error)
{
	return error == -ENOTDIR ? "/proc shows none; is it mounted?" : kernel_reason(error);
}
