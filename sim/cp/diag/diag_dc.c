/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'DC': application monitor data (APPLDATA). */
#include "diag_private.h"
#include "bytes.h"
#include "zvmlab/storage.h"

enum {
	APPLDATA_CODE = 0,	/* 2: X'00DC' */
	APPLDATA_FUNCTION = 2,
	APPLDATA_LENGTH = 3,	/* of the parameter list */
	APPLDATA_HEAD = 4,
};
/* Start interval, stop, event, configuration; with 64-bit addresses from FUNCTION_LONG. */
#define FUNCTION_LAST 0x03
#define FUNCTION_LONG 0x80
#define LENGTH_SHORT 16
#define LENGTH_LONG 32

enum { RC_BAD_CODE = 1, RC_BAD_FUNCTION = 2, RC_BAD_LENGTH = 3, RC_NOT_AUTHORISED = 5 };

static unsigned int judge(const uint8_t head[APPLDATA_HEAD])
{
	uint8_t function = head[APPLDATA_FUNCTION];
	uint8_t length = function & FUNCTION_LONG ? LENGTH_LONG : LENGTH_SHORT;

	if (get_be16(head + APPLDATA_CODE) != 0xdc)
		return RC_BAD_CODE;
	if ((function & ~FUNCTION_LONG) > FUNCTION_LAST)
		return RC_BAD_FUNCTION;
	if (head[APPLDATA_LENGTH] != length)
		return RC_BAD_LENGTH;
	assert(length <= LENGTH_LONG);
	/* No user of this CP may write application data: docs/choices.md. */
	return RC_NOT_AUTHORISED;
}

/* Rx: parameter list; Ry: becomes the return code. */
struct cp_result diag_dc_appldata(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				  unsigned int r3)
{
	uint8_t list[LENGTH_LONG];
	uint64_t addr = diag_address(insn, r1);
	uint16_t pgm = storage_read(cp, (int)insn->cpu, addr, list, APPLDATA_HEAD);
	unsigned int rc;

	if (pgm != 0)
		return cp_program(pgm);
	rc = judge(list);
	assert(rc != 0);
	if (rc == RC_NOT_AUTHORISED)
		pgm = storage_read(cp, (int)insn->cpu, addr, list, list[APPLDATA_LENGTH]);
	if (pgm != 0)
		return cp_program(pgm);
	diag_set(insn, r3, rc);
	return cp_done();
}
