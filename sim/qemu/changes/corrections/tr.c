/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: leave the condition code alone in TR
 *
 * The block is told that the code is in cc_op, where it need not be.
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static DisasJumpType op_tr(
//@ replace: set_cc_static(s);
    /* The condition code stays what it is, however it is kept. */
