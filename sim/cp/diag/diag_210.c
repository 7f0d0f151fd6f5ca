/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'210': what a virtual device is (VRDCBLOK). */
#include <string.h>

#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/disk.h"
#include "zvmlab/storage.h"

enum {
	VRDC_DEVICE = 0,	/* 2 */
	VRDC_LENGTH = 2,	/* 2: of the block, this field included */
	VRDC_VIRTUAL_CLASS = 4,
	VRDC_VIRTUAL_TYPE = 5,
	VRDC_VIRTUAL_FLAGS = 7,	/* X'80': the disk is read-only (Linux' dasd.c) */
	VRDC_REAL_CLASS = 8,
	VRDC_REAL_TYPE = 9,
	VRDC_SIZE = 12,		/* without the characteristics of a real device */
};

/* Classes and types: a 3215; a 2540, one number for its reader and its punch; a 1403; a 9336. */
#define CLASS_TERMINAL 0x80
#define CLASS_UNIT_INPUT 0x20
#define CLASS_UNIT_OUTPUT 0x10
#define TYPE_3215 0x00
#define TYPE_2540 0x82
#define TYPE_1403 0x41
#define CLASS_FBA 0x01
#define TYPE_9336 0x40
#define READ_ONLY 0x80

/* Fills in class and type.  Return: the condition code. */
static uint8_t describe(const struct cp *cp, uint16_t device, uint8_t block[VRDC_SIZE])
{
	static const uint8_t units[][2] = {
		[CP_UNIT_READER] = { CLASS_UNIT_INPUT, TYPE_2540 },
		[CP_UNIT_PUNCH] = { CLASS_UNIT_OUTPUT, TYPE_2540 },
		[CP_UNIT_PRINTER] = { CLASS_UNIT_OUTPUT, TYPE_1403 },
	};
	static const uint8_t disk[] = { CLASS_FBA, TYPE_9336 };
	const int unit = spool_unit(cp, device);
	const uint8_t *kind = NULL;
	struct disk_info info;
	bool real = false, read_only = false;

	if (unit >= 0)
		kind = units[cp->config.unit[unit].kind];
	for (unsigned int i = 0; disk_info(cp, i, &info); i++) {
		if (info.device != device)
			continue;
		kind = disk;
		real = true;
		read_only = info.read_only;
	}
	if (!kind && device != cp->config.console)
		return 3;
	memset(block + VRDC_VIRTUAL_CLASS, 0, VRDC_SIZE - VRDC_VIRTUAL_CLASS);
	block[VRDC_VIRTUAL_CLASS] = kind ? kind[0] : CLASS_TERMINAL;
	block[VRDC_VIRTUAL_TYPE] = kind ? kind[1] : TYPE_3215;
	block[VRDC_VIRTUAL_FLAGS] = read_only ? READ_ONLY : 0;
	/* Others are virtual devices without a real one. */
	if (!real)
		return 2;
	block[VRDC_REAL_CLASS] = kind[0];
	block[VRDC_REAL_TYPE] = kind[1];
	return 0;
}

struct cp_result diag_210_device(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	uint8_t block[VRDC_SIZE];
	const struct fault_action fault = diag_fault(cp, FAULT_DIAG210);
	uint16_t pgm;
	uint8_t cc;

	(void)r3;
	if (fault.kind == FAULT_PGM)
		return cp_program((uint16_t)fault.value);
	if (fault.kind == FAULT_CC || fault.kind == FAULT_DROP)
		return cp_cc(fault.kind == FAULT_CC ? (uint8_t)fault.value : 2);
	/* The block's address has 31 bits in every addressing mode. */
	if (addr % 4 != 0 || addr > 0x7fffffff)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_read(cp, (int)insn->cpu, addr, block, VRDC_VIRTUAL_CLASS);
	if (pgm != 0)
		return cp_program(pgm);
	if (get_be16(block + VRDC_LENGTH) < VRDC_SIZE)
		return cp_program(PGM_SPECIFICATION);
	cc = describe(cp, get_be16(block + VRDC_DEVICE), block);
	if (cc == 3)
		return cp_cc(cc);
	pgm = storage_write(cp, (int)insn->cpu, addr, block, sizeof(block));
	if (pgm != 0)
		return cp_program(pgm);
	return cp_cc(cc);
}
