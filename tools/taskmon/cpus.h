/* SPDX-License-Identifier: MIT */
/* Sets of CPUs, written as the kernel writes them: "0-3,5". */
#ifndef TASKMON_CPUS_H
#define TASKMON_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#define CPUS_MAX 4096u

struct cpus {
	bool is[CPUS_MAX];
	unsigned int count;
};

/*
 * Reads a list: numbers and ranges parted by commas, CPUs below CPUS_MAX; a line feed may end
 * it.  Return: false, with @cpus undefined, if it is none or holds no CPU.
 */
bool cpus_parse(struct cpus *cpus, const char *list);

/* Reads /sys/devices/system/cpu/NAME ("possible", "online").  Return: 0 or -errno. */
int cpus_read(struct cpus *cpus, const char *name);

/* The first CPU of @cpus that is not in @all; CPUS_MAX if there is none. */
unsigned int cpus_outside(const struct cpus *cpus, const struct cpus *all);

/* Writes the list; cut, and still ended by a NUL, if @size does not do. */
void cpus_format(const struct cpus *cpus, char *list, size_t size);

#endif
