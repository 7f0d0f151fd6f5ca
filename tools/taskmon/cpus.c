/* SPDX-License-Identifier: MIT */
#include "cpus.h"
#include "number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number below CPUS_MAX at *@at, and *@at after it. */
static bool take_cpu(const char **at, unsigned int *cpu)
{
	uint64_t number;

	if (!number_take(at, *at + strlen(*at), 10, CPUS_MAX - 1, &number))
		return false;
	*cpu = (unsigned int)number;
	return true;
}

bool cpus_parse(struct cpus *cpus, const char *list)
{
	unsigned int first, last;

	memset(cpus, 0, sizeof(*cpus));
	for (;;) {
		if (!take_cpu(&list, &first))
			return false;
		last = first;
		if (*list == '-' && (list++, !take_cpu(&list, &last)))
			return false;
		if (last < first)
			return false;
		for (unsigned int cpu = first; cpu <= last; cpu++) {
			cpus->count += !cpus->is[cpu];
			cpus->is[cpu] = true;
		}
		if (*list != ',')
			break;
		list++;
	}
	return *list == '\0' || strcmp(list, "\n") == 0;
}

int cpus_read(struct cpus *cpus, const char *name)
{
	char path[128], list[4096];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	good = fgets(list, sizeof(list), file) && cpus_parse(cpus, list);
	fclose(file);
	return good ? 0 : -EINVAL;
}

unsigned int cpus_outside(const struct cpus *cpus, const struct cpus *all)
{
	unsigned int cpu = 0;

	while (cpu < CPUS_MAX && !(cpus->is[cpu] && !all->is[cpu]))
		cpu++;
	return cpu;
}

/* Behind the text of the list, as far as there is room. */
static void append(char *list, size_t size, const char *before, unsigned int cpu)
{
	const size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%u", before, cpu);
}

void cpus_format(const struct cpus *cpus, char *list, size_t size)
{
	list[0] = '\0';
	for (unsigned int first = 0, last; first < CPUS_MAX; first = last + 1) {
		last = first;
		if (!cpus->is[first])
			continue;
		while (last + 1 < CPUS_MAX && cpus->is[last + 1])
			last++;
		append(list, size, *list ? "," : "", first);
		if (last > first)
			append(list, size, "-", last);
	}
}
