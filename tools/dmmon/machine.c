// SPDX-License-Identifier: MIT
#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

uint64_t machine_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}
