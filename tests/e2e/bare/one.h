/* SPDX-License-Identifier: MIT */
/*
 * One instruction, made up at run time, executed with all general registers as they are
 * given, in any addressing mode.  The code is in one page and what it loads and stores
 * in the next one, wherever the two are.
 */
#ifndef BARE_ONE_H
#define BARE_ONE_H

#include <stdint.h>

#define PAGE 4096u

/* The second page. */
struct one_data {
	uint64_t in[16];	/* 0x00 */
	uint64_t out[16];	/* 0x80 */
	uint64_t kept;		/* 0x100: GR15 of the caller */
	uint64_t ipm;		/* 0x108: as INSERT PROGRAM MASK leaves it */
};

_Static_assert(__builtin_offsetof(struct one_data, ipm) == 0x108, "as the code below has it");

extern uint8_t one_code[2 * PAGE], one_slot[];

asm("	.pushsection .data\n"
    "	.balign	4096\n"
    "one_code:\n"
    "	stmg	%r6,%r15,48(%r15)\n"
    "	stgrl	%r15,one_code+4096+0x100\n"
    "	.irp	r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
    "	lgrl	%r\\r,one_code+4096+8*\\r\n"
    "	.endr\n"
    "one_slot:\n"
    "	.space	8\n"
    "	sam64\n"
    "	.irp	r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
    "	stgrl	%r\\r,one_code+4096+0x80+8*\\r\n"
    "	.endr\n"
    "	ipm	%r0\n"
    "	stgrl	%r0,one_code+4096+0x108\n"
    "	lgrl	%r15,one_code+4096+0x100\n"
    "	lmg	%r6,%r15,48(%r15)\n"
    "	br	%r14\n"
    "	.balign	4096\n"
    "	.space	4096\n"
    "	.popsection\n");

enum { SAM24 = 0x010c, SAM31 = 0x010d, SAM64 = 0x010e };

#define NOP 0x0700u

static inline struct one_data *one_data(uint8_t *code)
{
	return (struct one_data *)(code + PAGE);
}

/* An instruction of four bytes, or of six: left-aligned in the lower six of @insn. */
static inline void one_execute(uint8_t *code, uint16_t mode, uint64_t insn)
{
	const uint64_t slot = (uint64_t)mode << 48 | insn;

	__builtin_memcpy(code + ((uint64_t)one_slot - (uint64_t)one_code), &slot, sizeof(slot));
	((void (*)(void))code)();
}

static inline unsigned int one_cc(uint8_t *code)
{
	return one_data(code)->ipm >> 28 & 3;
}

#endif
