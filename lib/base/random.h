/* SPDX-License-Identifier: MIT */
/* SplitMix64 (Steele, Lea, Flood 2014): a sequence of numbers that its first state decides. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/** The sequence's next number.  Any state may be the first; it is advanced. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#endif
