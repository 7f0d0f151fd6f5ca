/* SPDX-License-Identifier: MIT */
/* Big-endian fields of architected blocks. */
#ifndef ZVMLAB_BYTES_H
#define ZVMLAB_BYTES_H

#include <stdint.h>

static inline uint16_t get_be16(const void *at)
{
	const uint8_t *p = at;

	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get_be32(const void *at)
{
	const uint8_t *p = at;

	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}

static inline uint64_t get_be64(const void *at)
{
	const uint8_t *p = at;

	return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}

static inline void put_be16(void *at, uint16_t v)
{
	uint8_t *p = at;

	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)(v & 0xff);
}

static inline void put_be32(void *at, uint32_t v)
{
	put_be16(at, (uint16_t)(v >> 16));
	put_be16((uint8_t *)at + 2, (uint16_t)(v & 0xffff));
}

static inline void put_be64(void *at, uint64_t v)
{
	put_be32(at, (uint32_t)(v >> 32));
	put_be32((uint8_t *)at + 4, (uint32_t)(v & 0xffffffff));
}

#endif
