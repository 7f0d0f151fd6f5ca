/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: store a byte in CSST, and fail in the right half
 *
 * COMPARE AND SWAP AND STORE with a storage characteristic of 0 stores one
 * byte, which is always aligned: extract32() of no bits ends QEMU with an
 * assertion.  An operand of four bytes that is found unequal goes into the
 * left half of its register instead of the right one.
 *
 * Test the alignment with a mask, and deposit the word in bits 32-63.
 *
 * Tried with a bare-metal program that compares 2,000 words, equal and
 * unequal, with a model.
 */

//@ file: target/s390x/tcg/mem_helper.c
//@ replace: if (extract32(a1, 0, fc + 2) || extract32(a2, 0, sc)) {
    if ((a1 & ((4u << fc) - 1)) || (a2 & ((1u << sc) - 1))) {

//@ replace: env->regs[r3] = deposit64(env->regs[r3], 32, 32, ov);
            env->regs[r3] = deposit64(env->regs[r3], 0, 32, ov);
