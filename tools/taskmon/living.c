/* SPDX-License-Identifier: MIT */
#include "living.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "number.h"
#include "proc.h"

#define NS_PER_S 1000000000u
#define PATH_SIZE sizeof("/proc/4294967295/task/4294967295/cgroup")
/* For a thread that exits: one of many processes is not waited for. */
#define LIMIT_OF_MANY_MS 20
#define LIMIT_OF_ONE_MS 5000

/* The purpose of a look through a folder of all tasks. */
struct look {
	struct living *living;
	struct snapshot *snapshot;
	unsigned int parts;
	uint32_t process;
};

static uint64_t now_in(clockid_t clock, uint64_t units)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * units + (uint64_t)now.tv_nsec / (NS_PER_S / units);
}

/* The first one, as proc.h has them, that begins after now. */
static uint64_t tick(void)
{
	return now_in(CLOCK_BOOTTIME, PROC_TICKS) + 1;
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

uint64_t living_now(void)
{
	return now_in(CLOCK_REALTIME, NS_PER_S);
}

int living_lacks(struct kernel *kernel, unsigned int *lacks)
{
	struct stats_record own = { 0 };
	int ret = kernel_get(kernel, STATS_TASK, (uint32_t)getpid(), keep, &own);

	/* Without /proc nothing is known of the file. */
	if (!ret)
		*lacks = accounting_lacks(&own.stats, !access("/proc/self/io", F_OK) ||
						      access("/proc/self/stat", F_OK));
	return ret;
}

int living_open(struct living *living, struct kernel *kernel)
{
	int ret;

	*living = (struct living){ .kernel = kernel, .accounting = ACCOUNTING_NONE };
	ret = living_lacks(kernel, &living->accounting.lacks);
	if (ret)
		return ret;
	accounting_look(&living->accounting, delayacct_read(), tick());
	return 0;
}

/* A task whose file of /proc was read.  Return: as kernel_get(). */
static int get_task(struct look *look, const struct proc_task *shown)
{
	struct snapshot_task task = { .process = look->process };
	char path[PATH_SIZE];
	int ret = kernel_get(look->living->kernel, STATS_TASK, shown->pid, keep, &task.record);

	if (ret)
		return ret;
	task.record.exited = proc_has_exited(shown);
	task.parent = shown->parent;
	task.state = shown->state;
	task.exiting = proc_is_exiting(shown) || proc_has_exited(shown);
	task.begin = shown->begin;
	task.time_ns = now_in(CLOCK_MONOTONIC, NS_PER_S);
	if (look->parts & LIVING_CGROUPS) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/cgroup",
			 look->process, shown->pid);
		task.cgroup = proc_read_cgroup(path);
	}
	if (look->parts & LIVING_ARGUMENTS) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", shown->pid);
		task.arguments = proc_read_arguments(path);
	}
	return snapshot_add(look->snapshot, &task);
}

static int take_task(struct look *look, uint32_t id)
{
	struct proc_task shown;
	char path[PATH_SIZE];
	int ret;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", look->process, id);
	if (!proc_read(&shown, path))
		return 0;
	ret = get_task(look, &shown);
	return ret == -ESRCH ? 0 : ret;
}

void living_probe(struct living *living)
{
	if (!living->probed)
		living->keeps_exited = process_keeps_exited(living->kernel);
	living->probed = true;
}

/* The process of the tasks in @tasks, which has the kernel's values.  Return: as kernel_get(). */
static int get_process(struct living *living, const struct snapshot *tasks, unsigned int limit_ms,
		       struct snapshot *process, enum process_sums *sums)
{
	struct process_known known = { 0 };
	int ret = snapshot_sums(process, tasks, BY_PROCESS);

	/* That takes a thread, which others would see. */
	living_probe(living);
	known.keeps_exited = living->keeps_exited;
	if (!ret)
		ret = process_know(living->kernel, process->tasks->record.id, limit_ms, &known,
				   sums);
	if (!ret)
		process_values(&process->tasks->record.stats, &known);
	if (!ret)
		process->tasks->time_ns = now_in(CLOCK_MONOTONIC, NS_PER_S);
	return ret;
}

/* Adds what is only one, and becomes empty. */
static int move_one(struct snapshot *to, struct snapshot *from)
{
	int ret = snapshot_add(to, &from->tasks[0]);

	from->count = 0;
	return ret;
}

static int take_process(struct look *look, uint32_t id)
{
	const size_t first = look->snapshot->count;
	struct snapshot tasks = { 0 }, process = { 0 };
	enum process_sums sums;
	char path[PATH_SIZE];
	int ret;

	look->process = id;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", id);
	ret = each_number(path, take_task, look);
	if (ret == -ENOENT || ret == -ESRCH)
		ret = 0;
	if (ret || !(look->parts & LIVING_PROCESSES) || look->snapshot->count == first)
		return ret;
	tasks.tasks = &look->snapshot->tasks[first];
	tasks.count = look->snapshot->count - first;
	ret = get_process(look->living, &tasks, LIMIT_OF_MANY_MS, &process, &sums);
	if (!ret)
		ret = move_one(look->snapshot, &process);
	snapshot_free(&process);
	return ret == -ESRCH ? 0 : ret;
}

int living_take(struct living *living, struct snapshot *snapshot, unsigned int parts)
{
	struct look look = { .living = living, .snapshot = snapshot, .parts = parts };
	int ret;

	/* Those who ask are among the tasks: without any there is no /proc. */
	ret = each_number("/proc", take_process, &look);
	if (ret == -ENOENT || (!ret && !snapshot->count))
		ret = -ENOTDIR;
	living_end(living, snapshot);
	snapshot_sort(snapshot);
	return ret;
}

int living_add_task(struct living *living, struct snapshot *snapshot, uint32_t id)
{
	struct look look = { .living = living, .snapshot = snapshot };
	struct proc_task shown;
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", id);
	if (!proc_read(&shown, path))
		shown = (struct proc_task){ .pid = id };
	return get_task(&look, &shown);
}

/* Without /proc: the sums of the kernel, and since when the process is there, as its task says. */
static int add_sums(struct living *living, struct snapshot *snapshot, uint32_t id,
		    const struct stats_record *task, enum process_sums *sums)
{
	struct snapshot_task process = { .process = id };
	int ret = process_get(living->kernel, id, LIMIT_OF_ONE_MS, &process.record, sums);

	process.record.has_elapsed = task->has_elapsed;
	process.record.elapsed_us = task->elapsed_us;
	return ret ? ret : snapshot_add(snapshot, &process);
}

int living_add_process(struct living *living, struct snapshot *snapshot, uint32_t id,
		       enum process_sums *sums)
{
	struct snapshot tasks = { 0 }, process = { 0 };
	struct look look = { .living = living, .snapshot = &tasks, .process = id };
	struct stats_record task = { 0 };
	char path[PATH_SIZE];
	int ret = kernel_get(living->kernel, STATS_TASK, id, keep, &task);

	if (ret)
		return ret;
	if (task.stats.present[STATS_TGID])
		look.process = (uint32_t)task.stats.value[STATS_TGID];
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", look.process);
	ret = each_number(path, take_task, &look);
	if (ret == -ENOENT || (!ret && !tasks.count))
		return add_sums(living, snapshot, look.process, &task, sums);
	if (!ret)
		ret = get_process(living, &tasks, LIMIT_OF_ONE_MS, &process, sums);
	if (!ret)
		ret = move_one(snapshot, &process);
	snapshot_free(&tasks);
	snapshot_free(&process);
	return ret;
}

void living_end(struct living *living, struct snapshot *snapshot)
{
	struct accounting *accounting = &living->accounting;

	accounting_look(accounting, delayacct_read(), tick());
	for (size_t i = 0; i < snapshot->count; i++)
		accounting_apply(accounting, &snapshot->tasks[i].record.stats,
				 snapshot->tasks[i].begin);
	snapshot->delays = accounting->state;
	snapshot->changes = accounting->changes;
	snapshot->time_ns = now_in(CLOCK_MONOTONIC, NS_PER_S);
}

const char *living_reason(int error)
{
	return error == -ENOTDIR ? "/proc shows none; is it mounted?" : kernel_reason(error);
}
