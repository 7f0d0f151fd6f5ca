/* SPDX-License-Identifier: MIT */
#ifndef SMALLER_H
#define SMALLER_H

#include <stdint.h>

/** The smaller of two numbers; the result fits wherever either of them does. */
static inline uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a < b ? b : a;
}

#endif
