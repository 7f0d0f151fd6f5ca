/* SPDX-License-Identifier: MIT */
/*
 * Large tables that are mostly not used.  Their pages take memory, and time to be cleared, only
 * when they are touched; calloc() clears what a process has used before.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>

/** @count entries of @size bytes, all zero; NULL without memory. */
void *table_new(size_t count, size_t size);
/** With the same @count and @size; @table may be NULL. */
void table_free(void *table, size_t count, size_t size);

#endif
