/* SPDX-License-Identifier: MIT */
/*
 * One CPU purges translations again and again, which every CPU has to take part in; the
 * other one gives it orders meanwhile, which it has to take part in, too.  Neither waits
 * for the other forever, and each order is accepted.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "purge.h"
#include "second.h"

#define ROUNDS 20000u
#define SECONDS UINT64_C(10)
#define WAIT_SECONDS UINT64_C(60)	/* for the other CPU to come by */
#define ACCEPTED 0u

static volatile uint64_t stop;

void test_main(void);

void second(void)
{
	while (!stop)
		purge();
}

void test_main(void)
{
	uint64_t limit = clock_now() + WAIT_SECONDS * TOD_SECOND;
	struct line line = { .len = 0 };
	unsigned int wrong = 0, rounds;

	start_second();
	while (purges == 0 && clock_now() < limit)
		;
	limit = clock_now() + SECONDS * TOD_SECOND;
	/* Nothing is to be done for the order: the CPU is operating. */
	for (rounds = 0; rounds < ROUNDS && clock_now() < limit; rounds++)
		wrong += signal_processor(SIGP_START, 1) != ACCEPTED;
	put(&line, purges > 0 && rounds > 0 ? OPERATOR "BOTH RAN, WRONG "
					    : OPERATOR "ONE STOOD STILL, WRONG ");
	put_hex(&line, wrong, 8);
	command(&line);
	stop = 1;
}
