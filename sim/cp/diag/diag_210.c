/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'210': what a virtual device is (VRDCBLOK). */
#include <string.h>

#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/storage.h"

enum {
	VRDC_DEVICE = 0,	/* 2 */
	VRDC_LENGTH = 2,	/* 2: of the block, this field included */
	VRDC_VIRTUAL_CLASS = 4,
	VRDC_VIRTUAL_TYPE = 5,
	VRDC_SIZE = 12,		/* without the characteristics of a real device */
};

/* Class and type of a 3215. */
#define CLASS_TERMINAL 0x80
#define TYPE_3215 0x00

struct cp_result diag_210_device(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	uint8_t block[VRDC_SIZE];
	uint16_t pgm;

	(void)r3;
	/* The block's address has 31 bits in every addressing mode. */
	if (addr % 4 != 0 || addr > 0x7fffffff)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_read(cp, (int)insn->cpu, addr, block, VRDC_VIRTUAL_CLASS);
	if (pgm != 0)
		return cp_program(pgm);
	if (get_be16(block + VRDC_LENGTH) < VRDC_SIZE)
		return cp_program(PGM_SPECIFICATION);
	if (get_be16(block + VRDC_DEVICE) != cp->config.console)
		return cp_cc(3);
	assert(get_be16(block + VRDC_LENGTH) >= sizeof(block));
	memset(block + VRDC_VIRTUAL_CLASS, 0, VRDC_SIZE - VRDC_VIRTUAL_CLASS);
	block[VRDC_VIRTUAL_CLASS] = CLASS_TERMINAL;
	block[VRDC_VIRTUAL_TYPE] = TYPE_3215;
	pgm = storage_write(cp, (int)insn->cpu, addr, block, sizeof(block));
	if (pgm != 0)
		return cp_program(pgm);
	/* A virtual device without a real one. */
	return cp_cc(2);
}
