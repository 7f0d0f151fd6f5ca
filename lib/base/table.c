/* SPDX-License-Identifier: MIT */
/* Large tables; see table.h. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "table.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

void *table_new(size_t count, size_t size)
{
	void *table;

	assert(count > 0 && size > 0 && count <= SIZE_MAX / size);
	table = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return table == MAP_FAILED ? NULL : table;
}

void table_free(void *table, size_t count, size_t size)
{
	if (table)
		munmap(table, count * size);
}
