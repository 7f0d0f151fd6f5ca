/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: count BRCTH's target from the target of EXECUTE
 *
 * The branch target of BRANCH RELATIVE ON COUNT HIGH was taken from the
 * EXECUTE that executes it.  All other relative branches count from the
 * instruction already.
 */

//@ file: target/s390x/tcg/translate.c
//@ in: static DisasJumpType op_bcth(
//@ replace: int imm = get_field(s, i2);
    bool is_imm;
    int imm;

//@ replace: return help_branch(s, &c, 1, imm, o->in2);
    disas_jdest(s, i2, is_imm, imm, o->in2);
    return help_branch(s, &c, is_imm, imm, o->in2);
