/* SPDX-License-Identifier: MIT */
/*
 * Says that it has been loaded, declares a buffer, and asks to be loaded again, as
 * kernels do to reboot: DIAGNOSE X'308', subcode 3 (load clear).
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdint.h>

#include "cp.h"

void test_main(void);

enum { DECLARE_BUFFER = 0x0c, LOAD_CLEAR = 3 };

/* Return: IPRCODE; 13 if a buffer of the last time is still declared. */
static uint8_t declare_buffer(void)
{
	static uint8_t buffer[40] __attribute__((aligned(8)));
	static uint8_t parm[40] __attribute__((aligned(8)));
	uint32_t at = (uint32_t)(uint64_t)buffer;
	register uint64_t r0 asm("0") = DECLARE_BUFFER;
	register uint64_t r1 asm("1") = (uint64_t)parm;

	__builtin_memcpy(parm + 12, &at, sizeof(at));
	asm volatile(".insn s,0xb2f00000,0" : : "d" (r0), "d" (r1) : "cc", "memory");
	return parm[3];
}

static void load_clear(void)
{
	register uint64_t block asm("2") = 0;
	register uint64_t code asm("3") = 0;
	register uint64_t subcode asm("4") = LOAD_CLEAR;

	asm volatile("diag %0,%2,0x308" : "+d" (block), "+d" (code) : "d" (subcode)
		     : "cc", "memory");
}

void test_main(void)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR "LOADED ");
	put_hex(&line, declare_buffer(), 2);
	command(&line);
	load_clear();
}
