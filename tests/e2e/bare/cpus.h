/* SPDX-License-Identifier: MIT */
/* As many CPUs as the machine has, up to CPUS. */
#ifndef BARE_CPUS_H
#define BARE_CPUS_H

#include "processor.h"

enum { CPUS = 4, STACK = 4096, STORED_ADDRESS = 0x300 };

/* The program's: what CPU 1 and those after it do; never returns. */
void other_cpu(unsigned int cpu);

extern char other_entry[];
char other_stacks[CPUS][STACK] __attribute__((aligned(8)));
volatile uint64_t other_runs;

/* All have one prefix area: they start one after the other, and find their stacks by address. */
asm("other_entry:\n"
    "	larl	%r1, other_stacks\n"
    "	stap	0x300\n"
    "	llgh	%r2, 0x300\n"
    "	sllg	%r3, %r2, 12\n"
    "	la	%r15, 4096-160(%r3,%r1)\n"
    "	larl	%r1, other_runs\n"
    "	stg	%r2, 0(%r1)\n"
    "	brasl	%r14, other_cpu\n");

_Static_assert(STACK == 4096 && STORED_ADDRESS == 0x300, "as the code above has it");

/* Return: how many run, this one included. */
static inline unsigned int start_others(void)
{
	const uint64_t psw[2] = { PSW_64, (uint64_t)other_entry };
	const uint64_t limit = clock_now() + PATIENCE;
	unsigned int cpu;

	asm volatile("mvc %0(16,0),%1" : : "i" (RESTART_NEW_PSW), "Q" (psw) : "memory");
	for (cpu = 1; cpu < CPUS; cpu++) {
		if (signal_processor(SIGP_SENSE, cpu) == SIGP_NOT_THERE)
			break;
		while (signal_processor(SIGP_RESTART, cpu) == SIGP_BUSY)
			;
		while (other_runs != cpu && clock_now() < limit)
			;
	}
	return cpu;
}

#endif
