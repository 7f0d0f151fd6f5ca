/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'00': extended-identification code. */
#include <stdio.h>

#include "diag_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "zvmlab/storage.h"

/* Offsets of the block; what is not listed is zero. */
enum {
	ID_SYSTEM = 0,		/* 8: "z/VM" */
	ID_PRODUCT_VERSION = 10,
	ID_CPU_VERSION = 11,	/* X'FF': a virtual CPU */
	ID_CPU_ADDRESS = 14,	/* 2 */
	ID_USERID = 16,		/* 8 */
	ID_TIME_ZONE = 32,	/* 4: seconds east of UTC; the core's clock is UTC */
	ID_VERSION = 36,	/* version, release, then modification in 2 */
	ID_SIZE = 40,
};

struct cp_result diag_00_extended_id(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				     unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	uint8_t block[ID_SIZE] = { 0 };
	unsigned int version, release, modification;
	int32_t len = (int32_t)insn->gr[r3];
	uint16_t pgm;
	int parts;

	if (addr % 8 != 0 || len <= 0)
		return cp_program(PGM_SPECIFICATION);
	if (len > ID_SIZE)
		len = ID_SIZE;
	parts = sscanf(cp->config.level, "z/VM %2u.%2u.%2u", &version, &release, &modification);
	assert(parts == 3);
	(void)parts;
	assert(version <= UINT8_MAX && release <= UINT8_MAX && len > 0);
	ebcdic_encode(block + ID_SYSTEM, cp->config.level, 8);
	block[ID_PRODUCT_VERSION] = (uint8_t)version;
	block[ID_CPU_VERSION] = 0xff;
	put_be16(block + ID_CPU_ADDRESS, (uint16_t)insn->cpu);
	ebcdic_name(block + ID_USERID, cp->config.userid);
	put_be32(block + ID_TIME_ZONE, 0);
	block[ID_VERSION] = (uint8_t)version;
	block[ID_VERSION + 1] = (uint8_t)release;
	put_be16(block + ID_VERSION + 2, (uint16_t)modification);
	pgm = storage_write(cp, (int)insn->cpu, addr, block, (size_t)len);
	if (pgm != 0)
		return cp_program(pgm);
	diag_set(insn, r3, diag_operand(insn, r3) - (uint64_t)len);
	return cp_done();
}
