/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'258': page-reference service.  A CPU asks to be told of pages that CP
 * has to bring in, or no longer to be told; page/ remembers what it said.
 */
#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/page.h"
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

static struct cp_result end(const struct cp_insn *insn, unsigned int r3, uint64_t rc)
{
	diag_set(insn, r3, rc);
	return cp_done();
}

static struct cp_result token(struct cp *cp, const struct cp_insn *insn, unsigned int r3,
			      const uint8_t *block)
{
	const struct page_handshake handshake = {
		.token = get_be64(block + PFAULT_TOKEN),
		.select = get_be64(block + PFAULT_SELECT),
		.compare = get_be64(block + PFAULT_COMPARE),
	};
	struct fault_action action;
	uint16_t pgm;

	if (handshake.token % 8 != 0 || get_be64(block + PFAULT_MODE) != MODE_ZARCH ||
	    (handshake.compare & ~handshake.select) != 0)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_check(cp, (int)insn->cpu, handshake.token, 8, false);
	if (pgm != 0)
		return cp_program(pgm);
	action = diag_fault(cp, FAULT_PAGE_HANDSHAKE);
	if (action.kind == FAULT_PGM)
		return cp_program((uint16_t)action.value);
	if (action.kind != FAULT_NONE)
		return end(insn, r3, action.kind == FAULT_RC ? action.value : 0);
	return end(insn, r3, page_establish(cp, insn->cpu, &handshake));
}

static struct cp_result cancel(struct cp *cp, const struct cp_insn *insn, unsigned int r3,
			       const uint8_t *block)
{
	struct fault_action action;

	for (unsigned int i = PFAULT_TOKEN; i < PFAULT_SIZE; i++)
		if (block[i] != 0)
			return cp_program(PGM_SPECIFICATION);
	action = diag_fault(cp, FAULT_PAGE_CANCEL);
	if (action.kind == FAULT_PGM)
		return cp_program((uint16_t)action.value);
	if (action.kind != FAULT_NONE)
		return end(insn, r3, action.kind == FAULT_RC ? action.value : 0);
	return end(insn, r3, page_cancel(cp, insn->cpu));
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
		return token(cp, insn, r3, block);
	case FUNCTION_CANCEL:
		return cancel(cp, insn, r3, block);
	default:
		return cp_program(PGM_SPECIFICATION);
	}
}
