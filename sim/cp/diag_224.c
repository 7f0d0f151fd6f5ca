/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'204', X'224' and X'2FC' tell how a machine's CPUs are shared among
 * partitions and guests.  The core measures none of that, so that they are not
 * installed: Linux takes the specification exception for just this.
 */
#include "diag_private.h"

struct cp_result diag_not_installed(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				    unsigned int r3)
{
	(void)cp;
	(void)insn;
	(void)r1;
	(void)r3;
	return cp_program(PGM_SPECIFICATION);
}
