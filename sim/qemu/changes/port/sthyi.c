/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: let CP execute STORE HYPERVISOR INFORMATION
 *
 * QEMU does not have B256.  It is not marked privileged, because programs
 * use it.  Linux executes it only if facility bit 74 is on.
 */

//@ file: target/s390x/tcg/insn-data.h.inc
//@ after: C(0xb255, MVST,
    F(0xb256, STHYI,   RRE,   Z,   0, 0, 0, 0, zvmlab_sthyi, 0, IF_IO)

//@ file: target/s390x/helper.h
//@ after: DEF_HELPER_4(diag,
DEF_HELPER_3(zvmlab_sthyi, i32, env, i32, i32)

//@ file: target/s390x/tcg/translate.c
//@ before: static DisasJumpType op_diag(
static DisasJumpType op_zvmlab_sthyi(DisasContext *s, DisasOps *o)
{
    gen_helper_zvmlab_sthyi(cc_op, tcg_env,
                            tcg_constant_i32(get_field(s, r1)),
                            tcg_constant_i32(get_field(s, r2)));
    set_cc_static(s);
    return DISAS_NEXT;
}

//@ file: target/s390x/tcg/misc_helper.c
//@ include: hw/s390x/zvmlab.h
//@ after: s390_get_feat_block(S390_FEAT_TYPE_STFL, stfl_bytes);
    zvmlab_facilities(stfl_bytes);
