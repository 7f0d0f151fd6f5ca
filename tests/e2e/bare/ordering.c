/* SPDX-License-Identifier: MIT */
/*
 * Two CPUs, round after round: each stores, serializes, and fetches what the other
 * one stores.  At least one of them sees the other's store (z/Architecture Principles
 * of Operation, ch. 5, "CPU Serialization"); that is what sleeping and waking in a
 * kernel stands on.  Says how often neither did, for each way to serialize.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "second.h"

#define LINE 256u			/* bytes, more than a cache line anywhere */
#define SECONDS UINT64_C(1)
#define WAIT_SECONDS UINT64_C(60)	/* for the other CPU to come by */
#define LOOK 100u			/* rounds, or fetches, between two looks at the clock */

/* A word of a line of its own; rounds are numbers that only grow. */
struct word { uint64_t value; } __attribute__((aligned(LINE)));

static volatile struct word go, stored[2], seen[2], done[2];
static volatile struct word fast, stop;

void test_main(void);

/* One CPU's part of a round. */
static void turn(unsigned int cpu, uint64_t round)
{
	stored[cpu].value = round;
	if (fast.value)
		asm volatile("bcr 14,0" : : : "memory");
	else
		asm volatile("bcr 15,0" : : : "memory");
	seen[cpu].value = stored[!cpu].value;
	done[cpu].value = round;
}

void second(void)
{
	uint64_t round = 0;

	while (!stop.value) {
		if (go.value == round)
			continue;
		round = go.value;
		turn(1, round);
	}
	done[1].value = 0;
}

/* Return: false if the other CPU has not come by for all the time there is. */
static int wait_for_second(uint64_t round, uint64_t limit)
{
	for (unsigned int i = 1; done[1].value != round; i++)
		if (i % LOOK == 0 && clock_now() > limit)
			return 0;
	return 1;
}

static void report(const char *how, int came, uint64_t rounds, uint64_t missed)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, how);
	put(&line, came && rounds > 0 ? " BOTH RAN, MISSED " : " ONE STOOD STILL, MISSED ");
	put_hex(&line, missed, 8);
	command(&line);
}

static uint64_t run(const char *how, uint64_t round)
{
	uint64_t first = round, missed = 0, end = clock_now() + SECONDS * TOD_SECOND;
	int came = 1;

	while (came && (round % LOOK != 0 || clock_now() < end)) {
		go.value = ++round;
		turn(0, round);
		came = wait_for_second(round, end + WAIT_SECONDS * TOD_SECOND);
		missed += came && seen[0].value != round && seen[1].value != round;
	}
	report(how, came, round - first, missed);
	return round;
}

void test_main(void)
{
	uint64_t round;

	start_second();
	round = run("BCR 15,0", 0);
	fast.value = 1;
	run("BCR 14,0", round);
	stop.value = 1;
	wait_for_second(0, clock_now() + WAIT_SECONDS * TOD_SECOND);
}
