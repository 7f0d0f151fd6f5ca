/* SPDX-License-Identifier: MIT */
/* Purging translations on all CPUs. */
#ifndef BARE_PURGE_H
#define BARE_PURGE_H

#include <stdint.h>

#define PURGE_TLB 1u			/* of COMPARE AND SWAP AND PURGE's second operand */

/* How often; CPUs look at it to see whether the other one runs. */
static volatile uint64_t purges;

static inline void purge(void)
{
	static volatile uint32_t word __attribute__((aligned(8)));
	register uint32_t old asm("2") = 0;
	register uint32_t new asm("3") = 0;
	register uint64_t where asm("4") = (uint64_t)&word | PURGE_TLB;

	asm volatile(".insn rre,0xb2500000,%0,%2" : "+d" (old) : "d" (new), "d" (where)
		     : "cc", "memory");
	purges++;
}

#endif
