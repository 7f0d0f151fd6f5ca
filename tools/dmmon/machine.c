// SPDX-License-Identifier: MIT
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"

#define CPUS "/sys/devices/system/cpu/"
#define ALLOCATED "/sys/module/dm_mod/parameters/stats_current_allocated_bytes"
#define NS_PER_S 1000000000u
#define BYTES_PER_KIB 1024u

static bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool there = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	return there;
}

static bool read_number(const char *path, uint64_t *number)
{
	char line[32];
	const char *at = line;

	return read_line(path, line, sizeof(line)) && dms_number(&at, line + strlen(line), number);
}

/* MemTotal, from which the kernel takes the quarter, but for a few pages. */
static bool read_memory(uint64_t *bytes)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemTotal: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	*bytes = kib * BYTES_PER_KIB;
	return kib > 0;
}

bool machine_read(struct dms_machine *machine)
{
	char line[4096];

	memset(machine, 0, sizeof(*machine));
	if (!read_line(CPUS "possible", line, sizeof(line)) ||
	    !read_number(CPUS "kernel_max", &machine->built_cpus) ||
	    !read_number(ALLOCATED, &machine->allocated) || !read_memory(&machine->memory))
		return false;
	/* The highest number a CPU can have. */
	machine->built_cpus++;
	machine->possible_cpus = dms_count_cpus(line);
	return machine->possible_cpus > 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t machine_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t machine_pid_namespace(void)
{
	struct stat found;

	return stat("/proc/self/ns/pid", &found) ? 0 : found.st_ino;
}

bool machine_process(uint64_t pid, struct dms_process *process)
{
	/* So long the machine has slept, which only one of the clocks counts. */
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);
	uint64_t slept = boot > monotonic ? boot - monotonic : 0, ticks, begin;
	struct proc_task task;
	char path[64], name[32] = "";

	*process = (struct dms_process){ .pid_namespace = machine_pid_namespace() };
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	process->there = proc_read(&task, path);
	if (!process->there)
		return process->pid_namespace;
	process->ended = proc_has_exited(&task);
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", pid);
	process->is_dmmon = read_line(path, name, sizeof(name)) && strcmp(name, "dmmon\n") == 0;
	ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	begin = task.begin / ticks * NS_PER_S + task.begin % ticks * NS_PER_S / ticks;
	process->begin_ns = begin > slept ? begin - slept : 0;
	return process->pid_namespace;
}
