/* SPDX-License-Identifier: MIT */
/* The clock, so that no wait lasts for ever, and orders to CPUs. */
#ifndef BARE_PROCESSOR_H
#define BARE_PROCESSOR_H

#include <stdint.h>

#define TOD_SECOND (UINT64_C(1000000) << 12)
/* For what another CPU does, which the host may not run for a while. */
#define PATIENCE (60 * TOD_SECOND)
#define RESTART_NEW_PSW 0x1a0
#define PSW_64 UINT64_C(0x0000000180000000)

enum { SIGP_SENSE = 1, SIGP_START = 4, SIGP_STOP = 5, SIGP_RESTART = 6 };
enum { SIGP_INITIAL_CPU_RESET = 11, SIGP_STORE_STATUS = 14, SIGP_BUSY = 2 };
enum { SIGP_NOT_THERE = 3 };

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

#endif
