/* SPDX-License-Identifier: MIT */
/*
 * A CPU that changes to ESA/390 mode and stays there until somebody stores a byte that is not
 * zero at X'700' (Hercules' panel does).  It says so before and after; in that mode, in which it
 * cannot say anything, there is X'01' at X'702'.
 */
#include <stdint.h>

#include "cp.h"

void test_main(void);

static void say(const char *what)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	command(&line);
}

void test_main(void)
{
	say("CHANGES");
	/* SIGP, set architecture: 0 for ESA/390, 1 for z/Architecture. */
	asm volatile("	sam31\n"
		     "	lhi	%%r1,0\n"
		     "	lhi	%%r2,0\n"
		     "	sigp	%%r1,%%r2,0x12\n"
		     "	mvi	0x702,1\n"
		     "1:	cli	0x700,0\n"
		     "	je	1b\n"
		     "	lhi	%%r1,1\n"
		     "	sigp	%%r1,%%r2,0x12\n"
		     "	sam64" : : : "r1", "r2", "cc", "memory");
	say("IS BACK");
	asm volatile("1:	cli	0x701,0\n"
		     "	je	1b" : : : "cc", "memory");
}
