/* SPDX-License-Identifier: MIT */
/*
 * Says the numbers from 0 on to the operator, and each makes an event or two; then waits.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"

#define TIMES 10000u

void test_main(void);

void test_main(void)
{
	for (unsigned int i = 0; i < TIMES; i++) {
		struct line line = { .len = 0 };

		put(&line, OPERATOR);
		put_hex(&line, i, 8);
		command(&line);
	}
	for (;;)
		asm volatile("diag 0,0,0x44" : : : "memory");
}
