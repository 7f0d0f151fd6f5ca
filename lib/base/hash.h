/* SPDX-License-Identifier: MIT */
/* FNV-1a with 64 bits (Fowler, Noll, Vo), to tell contents apart; it does not protect against forgery. */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

/** The hash of no bytes. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

/** The hash of all bytes so far, @hash, and of @len more. */
static inline uint64_t hash_more(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
