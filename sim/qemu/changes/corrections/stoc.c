/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: keep the condition code of a store that is refused
 *
 * gen_op_calc_cc() throws away what the condition code is computed from
 * later.  If STOC's store is refused, and the code is that of an addition
 * with carry, an assertion fails.
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static void gen_op_calc_cc(
//@ replace: set_cc_static(s);
    s->cc_op = CC_OP_STATIC;
