/* SPDX-License-Identifier: MIT */
/* A second CPU, for programs that have two; and the clock, so that no wait lasts for ever. */
#ifndef BARE_SECOND_H
#define BARE_SECOND_H

#include <stdint.h>

#define TOD_SECOND (UINT64_C(1000000) << 12)
#define RESTART_NEW_PSW 0x1a0
#define PSW_64 UINT64_C(0x0000000180000000)

enum { SIGP_START = 4, SIGP_STOP = 5, SIGP_RESTART = 6, SIGP_BUSY = 2 };

/* The program's: what CPU 1 does; returns when it is to stop. */
void second(void);

extern char second_entry[];
uint64_t second_stack[512];

asm("second_entry:\n"
    "	larl	%r15, second_stack + 4096 - 160\n"
    "	brasl	%r14, second_main\n");

static inline uint64_t clock_now(void)
{
	uint64_t tod;

	asm volatile("stck %0" : "=Q" (tod) : : "cc", "memory");
	return tod;
}

static inline unsigned int signal_processor(unsigned int order, unsigned int cpu)
{
	register uint64_t parameter asm("1") = 0;
	register uint64_t address asm("2") = cpu;
	unsigned int cc;

	asm volatile("sigp %1,%2,0(%3)\n\tipm %0\n\tsrl %0,28"
		     : "=d" (cc), "+d" (parameter) : "d" (address), "a" (order) : "cc", "memory");
	return cc;
}

void second_main(void);
void second_main(void)
{
	second();
	while (1)
		signal_processor(SIGP_STOP, 1);
}

static inline void start_second(void)
{
	const uint64_t psw[2] = { PSW_64, (uint64_t)second_entry };

	asm volatile("mvc %0(16,0),%1" : : "i" (RESTART_NEW_PSW), "Q" (psw) : "memory");
	while (signal_processor(SIGP_RESTART, 1) == SIGP_BUSY)
		;
}

#endif
