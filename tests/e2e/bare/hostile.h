/* SPDX-License-Identifier: MIT */
/*
 * What a CPU of the hostile guest needs to survive what it does: a prefix area of its own
 * with interruption handlers that go on, or begin anew, and a way into problem state from
 * which any interruption leads back.
 *
 * Offsets in the prefix area are those of the z/Architecture Principles of Operation: old
 * PSWs from X'120' on and new ones from X'1A0' on, for restart, external, SVC, program,
 * machine-check and I/O interruptions.  What is from X'400' on is the program's own.
 */
#ifndef BARE_HOSTILE_H
#define BARE_HOSTILE_H

#include <stdint.h>

#define CPUS 4u
#define STACK 4096u

/* At X'400' of the prefix area. */
struct own {
	uint64_t programs, externals;	/* interruptions */
	uint64_t never, long_time;	/* clock comparator, CPU timer */
	uint8_t wild, unused[7];	/* is anything better than to go on? */
	uint64_t psw[2];		/* 0x428: the way into problem state */
	uint64_t gr[16];		/* 0x438 */
};

#define OWN 0x400

_Static_assert(__builtin_offsetof(struct own, psw) == 0x28, "as the code below has it");
_Static_assert(__builtin_offsetof(struct own, gr) == 0x38, "as the code below has it");

/* The program's: CPU @cpu begins, or begins anew; with its own prefix area. */
void hostile_cpu(unsigned int cpu);

extern uint8_t prefix_areas[CPUS][8192], stacks[CPUS][STACK];
extern char restart_entry[], again[], external_handler[], svc_handler[], program_handler[];

/* CPU 0 has the prefix area at 0; nobody stops it, so that the others can rely on it. */
asm("	.pushsection .bss\n"
    "	.balign 8192\n"
    "prefix_areas:	.space 4 * 8192\n"
    "stacks:	.space 4 * 4096\n"
    "	.popsection\n"
    "	.pushsection .text\n"
    "restart_entry:\n"
    "again:\n"
    "	stap	0x3f8\n"
    "	llgh	%r2,0x3f8\n"
    "	sllg	%r1,%r2,12\n"
    "	larl	%r15,stacks+4096-160\n"
    "	agr	%r15,%r1\n"
    "	sllg	%r1,%r2,13\n"
    "	larl	%r3,prefix_areas\n"
    "	agr	%r3,%r1\n"
    "	ltgr	%r2,%r2\n"
    "	je	0f\n"
    "	st	%r3,152(%r15)\n"
    "	spx	152(%r15)\n"
    "0:	brasl	%r14,hostile_cpu\n"
    "	j	.\n"
    /* External: the clock comparator and the CPU timer would interrupt for ever. */
    "external_handler:\n"
    "	agsi	0x408,1\n"
    "	sckc	0x410\n"
    "	spt	0x418\n"
    "	ni	0x131,0xfd\n"
    "	tm	0x131,0x01\n"
    "	jo	again\n"
    "	lpswe	0x130\n"
    /* SVC: the way back from problem state, wherever it has led. */
    "svc_handler:\n"
    "	cli	0x420,0\n"
    "	jne	again\n"
    "	ni	0x141,0xfe\n"
    "	lpswe	0x140\n"
    "program_handler:\n"
    "	agsi	0x400,1\n"
    "	cli	0x420,0\n"
    "	jne	again\n"
    "	lpswe	0x150\n"
    "	.popsection\n");

/* Problem state with the registers and the PSW of the prefix area.  Does not return. */
static inline void go_wild(void)
{
	asm volatile("lmg %%r0,%%r15,0x438(0)\n\tlpswe 0x428(0)" : : : "memory");
	__builtin_unreachable();
}

#endif
