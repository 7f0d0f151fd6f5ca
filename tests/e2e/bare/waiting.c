/* SPDX-License-Identifier: MIT */
/*
 * Gives its time slice away, again and again: DIAGNOSE X'44', as a spinning kernel does.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"

#define TIMES 300000u

void test_main(void);

void test_main(void)
{
	struct line line = { .len = 0 };

	for (unsigned int i = 0; i < TIMES; i++)
		asm volatile("diag 0,0,0x44" : : : "memory");
	put(&line, OPERATOR "WAITED");
	command(&line);
}
