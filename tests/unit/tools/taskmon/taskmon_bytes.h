/* SPDX-License-Identifier: MIT */
/* A made-up struct taskstats. */
#ifndef TASKMON_BYTES_H
#define TASKMON_BYTES_H

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

static inline void put_version(uint8_t *bytes, unsigned int version, enum stats_order order)
{
	uint16_t number = order == STATS_BIG ? htobe16((uint16_t)version) :
			  htole16((uint16_t)version);

	memcpy(bytes, &number, sizeof(number));
}

/* Every byte is 1, 2, …, 251, 1, …: a value tells its place.  To be freed. */
static inline uint8_t *synthetic(size_t size, unsigned int version, enum stats_order order)
{
	uint8_t *bytes = malloc(size ? size : 1);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i % 251 + 1);
	if (size >= 2)
		put_version(bytes, version, order);
	return bytes;
}

#endif
