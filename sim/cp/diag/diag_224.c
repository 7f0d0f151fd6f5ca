/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'224' names the types of a machine's CPUs.  It is a partition's; Linux
 * does not ask CP for it.  A guest that does gets the specification exception of a
 * code that is not installed.
 */
#include "diag_private.h"

struct cp_result diag_224_names(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				unsigned int r3)
{
	(void)cp;
	(void)insn;
	(void)r1;
	(void)r3;
	return cp_program(PGM_SPECIFICATION);
}
