/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'258': page-reference service.  The guest asks to be told of page
 * faults that the host resolves; all its pages are there, so that it is never
 * told of any, and nothing has to be remembered.
 */
#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/storage.h"

enum {
	PFAULT_CODE = 0,	/* 2: X'0258' */
	PFAULT_FUNCTION = 2,	/* 2 */
	PFAULT_LENGTH = 4,	/* 2: in doublewords */
	PFAULT_VERSION = 6,	/* 2 */
	PFAULT_TOKEN = 8,	/* 8: where the token is */
	PFAULT_SELECT = 16,	/* 8: bits of the PSW to look at … */
	PFAULT_COMPARE = 24,	/* 8: … and what they must be */
	PFAULT_MODE = 32,	/* 8 */
	PFAULT_SIZE = 40,
};
#define FUNCTION_TOKEN 0
#define FUNCTION_CANCEL 1
#define VERSION 2
#define MODE_ZARCH UINT64_C(0x8000000000000000)

static uint16_t check_token(struct cp *cp, const struct cp_insn *insn, const uint8_t *block)
{
	uint64_t token = get_be64(block + PFAULT_TOKEN);

	assert(get_be16(block + PFAULT_FUNCTION) == FUNCTION_TOKEN);
	if (token % 8 != 0 || get_be64(block + PFAULT_MODE) != MODE_ZARCH ||
	    (get_be64(block + PFAULT_COMPARE) & ~get_be64(block + PFAULT_SELECT)) != 0)
		return PGM_SPECIFICATION;
	return storage_check(cp, (int)insn->cpu, token, 8, false);
}

static uint16_t check_cancel(const uint8_t *block)
{
	assert(get_be16(block + PFAULT_FUNCTION) == FUNCTION_CANCEL);
	for (unsigned int i = PFAULT_TOKEN; i < PFAULT_SIZE; i++)
		if (block[i] != 0)
			return PGM_SPECIFICATION;
	return 0;
}

struct cp_result diag_258_pfault(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	uint8_t block[PFAULT_SIZE];
	uint16_t pgm;

	if (addr % 8 != 0)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_read(cp, (int)insn->cpu, addr, block, sizeof(block));
	if (pgm != 0)
		return cp_program(pgm);
	if (get_be16(block + PFAULT_CODE) != 0x258 ||
	    get_be16(block + PFAULT_LENGTH) != PFAULT_SIZE / 8 ||
	    get_be16(block + PFAULT_VERSION) != VERSION)
		return cp_program(PGM_SPECIFICATION);
	switch (get_be16(block + PFAULT_FUNCTION)) {
	case FUNCTION_TOKEN:
		pgm = check_token(cp, insn, block);
		break;
	case FUNCTION_CANCEL:
		pgm = check_cancel(block);
		break;
	default:
		pgm = PGM_SPECIFICATION;
	}
	if (pgm != 0)
		return cp_program(pgm);
	diag_set(insn, r3, 0);
	return cp_done();
}
