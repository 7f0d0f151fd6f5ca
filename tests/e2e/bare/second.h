/* SPDX-License-Identifier: MIT */
/* A second CPU, for programs that have two. */
#ifndef BARE_SECOND_H
#define BARE_SECOND_H

#include <stdint.h>

#include "processor.h"

/* The program's: what CPU 1 does; returns when it is to stop. */
void second(void);

extern char second_entry[];
uint64_t second_stack[512];

asm("second_entry:\n"
    "	larl	%r15, second_stack + 4096 - 160\n"
    "	brasl	%r14, second_main\n");

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
