/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: leave the condition code alone in TR
 *
 * TRANSLATE leaves the condition code as it is.  The translator is told that
 * the code has been computed, and what it is computed from is thrown away:
 * the program finds another code, or an assertion ends QEMU.
 *
 * Tried with a bare-metal program that translates 2,000 times after an
 * instruction that sets the code: all codes were wrong.
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static DisasJumpType op_tr(
//@ replace: set_cc_static(s);
