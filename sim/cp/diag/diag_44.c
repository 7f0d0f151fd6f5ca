/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'44' and X'9C': the CPU has nothing better to do than to wait for a
 * lock.  Dispatching CPUs is the emulator's business, so that there is nothing
 * to do here either.
 */
#include "diag_private.h"

struct cp_result diag_44_yield(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			       unsigned int r3)
{
	(void)cp;
	(void)insn;
	(void)r1;
	(void)r3;
	return cp_done();
}

/* Rx: address of the CPU that holds the lock. */
struct cp_result diag_9c_yield_to(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				  unsigned int r3)
{
	(void)r3;
	assert(r1 < 16);
	if ((uint16_t)insn->gr[r1] >= cp->config.cpus ||
	    !(cp->cpus >> (uint16_t)insn->gr[r1] & 1))
		return cp_program(PGM_SPECIFICATION);
	return cp_done();
}
