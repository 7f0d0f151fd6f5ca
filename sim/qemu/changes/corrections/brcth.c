/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: count BRCTH's target from the target of EXECUTE
 *
 * The branch target of BRANCH RELATIVE ON COUNT HIGH is taken from the
 * EXECUTE that executes it: the program goes on somewhere else.  All other
 * relative branches count from the instruction that is executed.
 *
 * Tried with a bare-metal program that executes BRCTH, near and far, with EX
 * and with EXRL.
 *
 * Fixes: e8ecdfeb30f0 ("target/s390x: Fix EXECUTE of relative branches")
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static DisasJumpType op_bcth(
//@ replace: int imm = get_field(s, i2);
    bool is_imm;
    int imm;

//@ replace: return help_branch(s, &c, 1, imm, o->in2);
    disas_jdest(s, i2, is_imm, imm, o->in2);
    return help_branch(s, &c, is_imm, imm, o->in2);
