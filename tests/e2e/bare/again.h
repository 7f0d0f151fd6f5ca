/* SPDX-License-Identifier: MIT */
/* What programs need that begin more than once: DIAGNOSE X'308', and does CP remember them? */
#ifndef BARE_AGAIN_H
#define BARE_AGAIN_H

#include <stdint.h>

/* Subcodes: reset and begin with the PSW at address 0; load; the parameters of a load. */
enum { RESET_CLEAR = 0, RESET_NORMAL = 1, LOAD_CLEAR = 3, STORE_PARAMETERS = 6 };

/* Return: the code, if the machine is still there. */
static inline uint64_t diagnose_308(uint64_t subcode, void *block)
{
	register uint64_t address asm("2") = (uint64_t)block;
	register uint64_t code asm("3") = 0;
	register uint64_t which asm("4") = subcode;

	asm volatile("diag %0,%2,0x308" : "+d" (address), "+d" (code) : "d" (which)
		     : "cc", "memory");
	return code;
}

/* Return: IPRCODE; 13 if a buffer of the last time is still declared. */
static inline uint8_t declare_buffer(void)
{
	enum { DECLARE_BUFFER = 0x0c };
	static uint8_t buffer[40] __attribute__((aligned(8)));
	static uint8_t parm[40] __attribute__((aligned(8)));
	uint32_t at = (uint32_t)(uint64_t)buffer;
	register uint64_t r0 asm("0") = DECLARE_BUFFER;
	register uint64_t r1 asm("1") = (uint64_t)parm;

	__builtin_memcpy(parm + 12, &at, sizeof(at));
	asm volatile(".insn s,0xb2f00000,0" : : "d" (r0), "d" (r1) : "cc", "memory");
	return parm[3];
}

#endif
