/* SPDX-License-Identifier: MIT */
/*
 * One CPU purges translations again and again, the other one executes instructions of
 * CP's meanwhile: each takes effect once.  A buffer that was declared twice, or retrieved
 * twice, gives an error the second time.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "purge.h"
#include "second.h"

#define ROUNDS 20000u
#define SECONDS UINT64_C(10)
#define WAIT_SECONDS UINT64_C(60)	/* for the other CPU to come by */

enum { DECLARE_BUFFER = 0x0c, RETRIEVE_BUFFER = 0x02 };

static volatile uint64_t stop;

void test_main(void);

void second(void)
{
	while (!stop)
		purge();
}

/* Return: the condition code. */
static unsigned int iucv(uint64_t function, const uint8_t *parm)
{
	register uint64_t r0 asm("0") = function;
	register uint64_t r1 asm("1") = (uint64_t)parm;
	unsigned int cc;

	asm volatile(".insn s,0xb2f00000,0\n\tipm %0\n\tsrl %0,28"
		     : "=d" (cc) : "d" (r0), "d" (r1) : "cc", "memory");
	return cc;
}

void test_main(void)
{
	static uint8_t buffer[40] __attribute__((aligned(8)));
	static uint8_t parm[40] __attribute__((aligned(8)));
	const uint32_t at = (uint32_t)(uint64_t)buffer;
	uint64_t limit = clock_now() + WAIT_SECONDS * TOD_SECOND;
	struct line line = { .len = 0 };
	unsigned int wrong = 0, rounds;

	start_second();
	while (purges == 0 && clock_now() < limit)
		;
	limit = clock_now() + SECONDS * TOD_SECOND;
	for (rounds = 0; rounds < ROUNDS && clock_now() < limit; rounds++) {
		__builtin_memset(parm, 0, sizeof(parm));
		__builtin_memcpy(parm + 12, &at, sizeof(at));
		wrong += iucv(DECLARE_BUFFER, parm) != 0;
		wrong += iucv(RETRIEVE_BUFFER, parm) != 0;
	}
	put(&line, purges > 0 && rounds > 0 ? OPERATOR "BOTH RAN, WRONG "
					    : OPERATOR "ONE STOOD STILL, WRONG ");
	put_hex(&line, wrong, 8);
	command(&line);
	stop = 1;
}
