/* SPDX-License-Identifier: MIT */
/*
 * Memory for JSON.  jansson leaves out what it has no memory for, and does not always say so: an
 * answer could lack a member or an element and look complete.
 */
#include <stdlib.h>

#include "ctl_private.h"

static uint64_t failures;

static void *json_memory(size_t size)
{
	void *at = malloc(size);

	if (!at)
		failures++;
	return at;
}

void ctl_memory_watch(void)
{
	json_set_alloc_funcs(json_memory, free);
}

uint64_t ctl_memory_failures(void)
{
	return failures;
}
