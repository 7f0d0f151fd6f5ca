/* SPDX-License-Identifier: MIT */
/*
 * Executes what is at the beginning of the segment CODE, again and again, and reports by
 * "MSG OPERATOR …" whenever it leaves another number in GR2, until that is 0.  If there is a
 * segment ACROSS, storage ends where CODE begins, and CODE has only the end of a branch.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdint.h>

#include "cp.h"

#define LOADSHRX 0x20
#define NUMBERS 4u

void test_main(void);

static const char names[][8] __attribute__((aligned(8))) = { "CODE    ", "ACROSS  " };

/* The segment's address, or 0. */
static uint64_t load(const char *name)
{
	register uint64_t rx asm("2") = (uint64_t)name;
	register uint64_t ry asm("4") = LOADSHRX;
	int cc;

	asm volatile("diag %0,%1,0x64\n\tipm %2" : "+d" (rx), "+d" (ry), "=d" (cc) : : "cc", "memory");
	return (unsigned int)cc >> 28 > 1 ? 0 : rx;
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

/* LOAD HALFWORD IMMEDIATE of a number into GR2, BRANCH to GR14. */
static void put_code(uint64_t at, uint16_t number)
{
	*(volatile uint64_t *)at = UINT64_C(0xa729000007fe0000) | (uint64_t)number << 32;
}

/*
 * BRANCH RELATIVE whose second halfword is CODE's first one: so many times eight halfwords back
 * there is code that leaves the next lower number.  None of it begins in CODE.
 */
static uint64_t put_branch(uint64_t segment)
{
	const uint64_t code = segment - 2;

	for (uint16_t number = 0; number < NUMBERS; number++)
		put_code(code - 16 * (number + 1u), number);
	*(volatile uint16_t *)code = 0xa7f4;
	*(volatile int16_t *)segment = -8 * 2;
	return code;
}

void test_main(void)
{
	const uint64_t segment = load(names[0]);
	const uint64_t code = load(names[1]) ? put_branch(segment) : segment;
	uint64_t last = 0, now = 1;

	if (code == segment)
		put_code(code, 1);
	while (now != 0) {
		now = call(code);
		if (now != last)
			report(now);
		last = now;
	}
}
