/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: keep the condition code of a store that is refused
 *
 * STORE ON CONDITION computes the condition code before it stores, and
 * gen_op_calc_cc() then throws away what the code is computed from.  If the
 * store is refused, the code is computed once more: if it is that of an
 * addition with carry, an assertion fails, and a program without privileges
 * ends QEMU.
 *
 * Keep these values.
 *
 * Tried with a bare-metal program that stores where there is no storage,
 * after additions of 2,000 pairs.
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static void gen_op_calc_cc(
//@ replace: set_cc_static(s);
    s->cc_op = CC_OP_STATIC;
