/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: set the condition code in CSP
 *
 * The block is not told that the code has been computed.
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static DisasJumpType op_csp(
//@ after: tcg_gen_extrl_i64_i32(cc_op, cc);
    set_cc_static(s);
