/* SPDX-License-Identifier: MIT */
/*
 * SipHash-2-4: a keyed function that nobody can turn round, or guess, without the
 * key (J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input PRF, 2012).
 */
#include "anonymise.h"

static uint64_t rotate(uint64_t value, unsigned int by)
{
	return value << by | value >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned int count)
{
	while (count-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

/* Up to 8 bytes, the first one lowest. */
static uint64_t word(const uint8_t *bytes, unsigned int len)
{
	uint64_t value = 0;

	while (len-- > 0)
		value = value << 8 | bytes[len];
	return value;
}

static void take(uint64_t v[4], uint64_t value)
{
	v[3] ^= value;
	rounds(v, 2);
	v[0] ^= value;
}

uint64_t siphash(const uint64_t key[2], const uint8_t *bytes, uint8_t len)
{
	/* "somepseudorandomlygeneratedbytes" */
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573),
	};
	unsigned int left = len;

	for (; left >= 8; left -= 8, bytes += 8)
		take(v, word(bytes, 8));
	take(v, word(bytes, left) | (uint64_t)len << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
