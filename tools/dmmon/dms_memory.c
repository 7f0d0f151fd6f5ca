// SPDX-License-Identifier: MIT
/* The kernel memory that a region takes. */
#include "dms_memory.h"

#include <string.h>

#define FIXED 128u
#define POINTER 8u
#define AREA_SHARED 120u
#define AREA_CPU 104u
#define BUCKET 8u
#define QUARTER 4u

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint64_t dms_memory(const struct dms_machine *machine, uint64_t areas, uint64_t bounds)
{
	uint64_t cpus = machine->possible_cpus;
	uint64_t area = plus(AREA_SHARED, times(AREA_CPU, cpus));
	uint64_t fixed = plus(FIXED, times(POINTER, machine->built_cpus));

	if (bounds)
		area = plus(area, times(times(BUCKET, plus(bounds, 1)), plus(1, cpus)));
	return plus(fixed, times(areas, area));
}

uint64_t dms_memory_limit(const struct dms_machine *machine)
{
	return machine->memory / QUARTER;
}

bool dms_memory_exceeded(const struct dms_machine *machine, uint64_t bytes)
{
	return plus(machine->allocated, bytes) > dms_memory_limit(machine);
}

uint64_t dms_count_cpus(const char *list)
{
	const char *end = list + strcspn(list, "\n");
	uint64_t sum = 0;

	while (list < end) {
		uint64_t first, last;

		if (!dms_number(&list, end, &first))
			return 0;
		last = first;
		if (*list == '-') {
			list++;
			if (!dms_number(&list, end, &last))
				return 0;
		}
		if (last < first || last > UINT32_MAX || (list < end && *list != ','))
			return 0;
		sum += last - first + 1;
		list += *list == ',';
	}
	return sum;
}
