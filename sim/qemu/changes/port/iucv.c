/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: execute B2F0 as CP does
 *
 * The instruction by which a guest calls IUCV.  It is not marked privileged:
 * CP answers problem state with an operation exception.
 */

//@ file: target/s390x/tcg/insn-data.h.inc
//@ after: F(0x8300, DIAG,
    F(0xb2f0, IUCV,    S,     Z,   0, 0, 0, 0, zvmlab_iucv, 0, IF_IO)

//@ file: target/s390x/helper.h
//@ after: DEF_HELPER_4(diag,
DEF_HELPER_1(zvmlab_iucv, void, env)

//@ file: target/s390x/tcg/translate.c
//@ before: static DisasJumpType op_diag(
static DisasJumpType op_zvmlab_iucv(DisasContext *s, DisasOps *o)
{
    update_cc_op(s);
    gen_helper_zvmlab_iucv(tcg_env);
    set_cc_static(s);
    return DISAS_NEXT;
}
