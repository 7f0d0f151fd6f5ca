/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: store a byte in CSST, and fail in the right half
 *
 * A storage characteristic of 0 means one byte, which is aligned.  The word
 * that was found goes into bits 32-63.
 */

//@ file: target/s390x/tcg/mem_helper.c
//@ replace: if (extract32(a1, 0, fc + 2) || extract32(a2, 0, sc)) {
    if ((a1 & ((4u << fc) - 1)) || (a2 & ((1u << sc) - 1))) {

//@ replace: env->regs[r3] = deposit64(env->regs[r3], 32, 32, ov);
            env->regs[r3] = deposit64(env->regs[r3], 0, 32, ov);
