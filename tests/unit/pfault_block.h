/* SPDX-License-Identifier: MIT */
/* The block of DIAGNOSE X'258', as IBM's CP Programming Services and Linux have it. */
#ifndef PFAULT_BLOCK_H
#define PFAULT_BLOCK_H

#include "fixture.h"

enum {
	PFAULT_CODE = 0,	/* 2 */
	PFAULT_FUNCTION = 2,	/* 2 */
	PFAULT_LENGTH = 4,	/* 2: in doublewords */
	PFAULT_VERSION = 6,	/* 2 */
	PFAULT_TOKEN = 8,	/* 8: its address */
	PFAULT_SELECT = 16,	/* 8 */
	PFAULT_COMPARE = 24,	/* 8 */
	PFAULT_MODE = 32,	/* 8 */
	PFAULT_SIZE = 40,
};

/* The address of Linux 6.1's token, and the mask that it selects: problem state, PSW bit 15. */
#define PFAULT_AT 0x3b8u
#define PFAULT_PROBLEM (UINT64_C(1) << 48)

/* At @addr as Linux fills it in, with function 0 (token) or 1 (cancel). */
static inline uint8_t *pfault_put(uint64_t addr, uint16_t function)
{
	uint8_t *block = fx_at(addr, PFAULT_SIZE);

	memset(block, 0, PFAULT_SIZE);
	put_be16(block + PFAULT_CODE, 0x258);
	put_be16(block + PFAULT_FUNCTION, function);
	put_be16(block + PFAULT_LENGTH, 5);
	put_be16(block + PFAULT_VERSION, 2);
	if (function == 1)
		return block;
	put_be64(block + PFAULT_TOKEN, PFAULT_AT);
	put_be64(block + PFAULT_SELECT, PFAULT_PROBLEM);
	put_be64(block + PFAULT_COMPARE, PFAULT_PROBLEM);
	put_be64(block + PFAULT_MODE, UINT64_C(1) << 63);
	return block;
}

#endif
