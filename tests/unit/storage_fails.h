/* SPDX-License-Identifier: MIT */
/*
 * Storage that runs out: the one allocation after @storage_left others fails, once.  For programs
 * that are linked with --wrap for the functions below (WRAP in module.mk).  Assertions of libcheck take
 * storage, too: none may stand where one is to fail.
 */
#ifndef STORAGE_FAILS_H
#define STORAGE_FAILS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Allocations that succeed before one fails; below 0: none fails. */
static long storage_left = -1;

static inline bool storage_fails(void)
{
	if (storage_left < 0 || storage_left-- > 0)
		return false;
	errno = ENOMEM;
	return true;
}

#define STORAGE_WRAP(type, name, parameters, arguments) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return storage_fails() ? NULL : __real_##name arguments; \
	}

STORAGE_WRAP(void *, malloc, (size_t size), (size))
STORAGE_WRAP(void *, calloc, (size_t count, size_t size), (count, size))
STORAGE_WRAP(void *, realloc, (void *old, size_t size), (old, size))
STORAGE_WRAP(void *, reallocarray, (void *old, size_t count, size_t size), (old, count, size))
STORAGE_WRAP(char *, strdup, (const char *text), (text))
STORAGE_WRAP(char *, strndup, (const char *text, size_t len), (text, len))

#endif
