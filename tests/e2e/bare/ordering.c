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

#define LINE 256u			/* bytes, more than a cache line anywhere */
#define SECONDS UINT64_C(1)
#define TOD_SECOND (UINT64_C(1000000) << 12)
#define LOOK 100u			/* rounds, or fetches, between two looks at the clock */

#define RESTART_NEW_PSW 0x1a0
#define PSW_64 UINT64_C(0x0000000180000000)
enum { SIGP_STOP = 5, SIGP_RESTART = 6 };

/* A word of a line of its own; rounds are numbers that only grow. */
struct word { uint64_t value; } __attribute__((aligned(LINE)));

static volatile struct word go, stored[2], seen[2], done[2];
static volatile struct word fast, stop;
uint64_t second_stack[512];

void test_main(void);
void second(void);
extern char second_entry[];

asm("second_entry:\n"
    "	larl	%r15, second_stack + 4096 - 160\n"
    "	brasl	%r14, second\n");

static uint64_t clock_now(void)
{
	uint64_t tod;

	asm volatile("stck %0" : "=Q" (tod) : : "cc", "memory");
	return tod;
}

static unsigned int signal_processor(unsigned int order, unsigned int cpu)
{
	register uint64_t parameter asm("1") = 0;
	register uint64_t address asm("2") = cpu;
	unsigned int cc;

	asm volatile("sigp %1,%2,0(%3)\n\tipm %0\n\tsrl %0,28"
		     : "=d" (cc), "+d" (parameter) : "d" (address), "a" (order) : "cc", "memory");
	return cc;
}

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
	while (1)
		signal_processor(SIGP_STOP, 1);
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
		came = wait_for_second(round, end + 5 * SECONDS * TOD_SECOND);
		missed += came && seen[0].value != round && seen[1].value != round;
	}
	report(how, came, round - first, missed);
	return round;
}

void test_main(void)
{
	const uint64_t psw[2] = { PSW_64, (uint64_t)second_entry };
	uint64_t round;

	asm volatile("mvc %0(16,0),%1" : : "i" (RESTART_NEW_PSW), "Q" (psw) : "memory");
	while (signal_processor(SIGP_RESTART, 1) == 2)
		;
	round = run("BCR 15,0", 0);
	fast.value = 1;
	run("BCR 14,0", round);
	stop.value = 1;
	wait_for_second(0, clock_now() + 5 * SECONDS * TOD_SECOND);
}
