/* SPDX-License-Identifier: MIT */
/*
 * Entry and interruption handlers of the bare-metal tests.
 *
 * Offsets in the prefix area are those of the z/Architecture Principles of
 * Operation: external-interruption code X'86', external and program old PSW X'130' and X'150', new PSW X'1B0' and
 * X'1D0', program interruption code X'8E'.
 */
	.globl	_start
	.weak	external_interruption
	.text
_start:
	/* A load begins in ESA/390 mode, where the emulator has one. */
	lhi	%r1, 1
	sigp	%r1, %r0, 0x12		/* set architecture: z/Architecture */
	sam64
	larl	%r15, stack_end - 160
	larl	%r1, program_new_psw
	mvc	0x1d0(16), 0(%r1)
	larl	%r1, external_new_psw
	mvc	0x1b0(16), 0(%r1)
	brasl	%r14, test_main
	lghi	%r2, 0
1:	lghi	%r1, 0
	sigp	%r1, %r2, 5		/* stop: the machine powers off */
	j	1b			/* busy: another CPU's order is still being dealt with */

/* Note the code and go on after the instruction: the tests look at the code. */
program_check:
	stg	%r1, 0x200
	stg	%r2, 0x208
	larl	%r1, program_code
	llgh	%r2, 0x8e
	st	%r2, 0(%r1)
	lg	%r2, 0x208
	lg	%r1, 0x200
	lpswe	0x150

/* A wait is over; a program that expects no interruption has no such function. */
external:
	stmg	%r0, %r15, 0x210
	ni	0x131, 0xfd		/* PSW bit 14: wait */
	aghi	%r15, -160
	llgh	%r2, 0x86
	brasl	%r14, external_interruption
	lmg	%r0, %r15, 0x210
	lpswe	0x130

	.align	8
program_new_psw:
	.quad	0x0000000180000000, program_check
external_new_psw:
	.quad	0x0000000180000000, external

	.section .bss
	.align	8
	.globl	program_code
program_code:
	.space	8
	.space	8192
stack_end:

	.section .note.GNU-stack,"",@progbits
