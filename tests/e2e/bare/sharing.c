/* SPDX-License-Identifier: MIT */
/*
 * Executes what is at the beginning of the segment CODE, again and again, and reports by
 * "MSG OPERATOR …" whenever it leaves another number in GR2, until that is 0.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdint.h>

#include "cp.h"

#define LOADSHRX 0x20

void test_main(void);

static const char name[] __attribute__((aligned(8))) = "CODE    ";

static uint64_t load(void)
{
	register uint64_t rx asm("2") = (uint64_t)name;
	register uint64_t ry asm("4") = LOADSHRX;

	asm volatile("diag %0,%1,0x64" : "+d" (rx), "+d" (ry) : : "cc", "memory");
	return rx;
}

static uint64_t call(uint64_t code)
{
	register uint64_t found asm("2");

	asm volatile("basr %%r14,%1" : "=d" (found) : "a" (code) : "14", "cc", "memory");
	return found;
}

static void report(uint64_t number)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, "RAN ");
	put_hex(&line, number, 1);
	command(&line);
}

void test_main(void)
{
	const uint64_t code = load();
	uint64_t last = 0, now = 1;

	/* LOAD HALFWORD IMMEDIATE of 1 into GR2, BRANCH to GR14. */
	*(volatile uint64_t *)code = UINT64_C(0xa729000107fe0000);
	while (now != 0) {
		now = call(code);
		if (now != last)
			report(now);
		last = now;
	}
}
