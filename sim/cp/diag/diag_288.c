/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'288': time bomb.  CP has none: a watchdog that the emulator was given
 * answers, else its specification exception.  The trace tells of the attempt.
 */
#include "diag_private.h"

struct cp_result diag_288_time_bomb(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				    unsigned int r3)
{
	(void)cp;
	(void)insn;
	(void)r1;
	(void)r3;
	return cp_pass();
}
