/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: add the BEAR-enhancement facility
 *
 * LOAD PSW EXTENDED (LPSWEY), LOAD BEAR and STORE BEAR.  Without this
 * facility, Linux goes back to user space by an LPSWE that lies in its
 * lowcore.  Code in that page makes each store into it slow.
 */

//@ file: target/s390x/tcg/insn-data.h.inc
//@ after: F(0xb2b2, LPSWE,
/* LOAD PSW EXTENDED (without a breaking event) */
    F(0xeb71, LPSWEY,  SIY,   BEAR, la1, 0, 0, 0, lpswey, 0, IF_PRIV)
/* LOAD BEAR, STORE BEAR */
    F(0xb200, LBEAR,   S,     BEAR, 0, m2_64a, 0, 0, lbear, 0, IF_PRIV)
    F(0xb201, STBEAR,  S,     BEAR, la2, 0, new, m1_64a, stbear, 0, IF_PRIV)

//@ file: target/s390x/tcg/translate.c
//@ before: #define FAC_AIS
#define FAC_BEAR        S390_FEAT_BEAR_ENH /* BEAR-enhancement facility */

//@ before: static DisasJumpType op_lpswe(
static DisasJumpType op_lpswey(DisasContext *s, DisasOps *o)
{
    TCGv_i64 mask = tcg_temp_new_i64();
    TCGv_i64 addr = tcg_temp_new_i64();

    tcg_gen_qemu_ld_i64(mask, o->addr1, get_mem_index(s), MO_BEUQ | MO_ALIGN_8);
    tcg_gen_addi_i64(o->addr1, o->addr1, 8);
    tcg_gen_qemu_ld_i64(addr, o->addr1, get_mem_index(s), MO_BEUQ);
    gen_helper_load_psw(tcg_env, mask, addr);
    return DISAS_NORETURN;
}

static DisasJumpType op_lbear(DisasContext *s, DisasOps *o)
{
    tcg_gen_mov_i64(gbea, o->in2);
    return DISAS_NEXT;
}

static DisasJumpType op_stbear(DisasContext *s, DisasOps *o)
{
    tcg_gen_mov_i64(o->out, gbea);
    return DISAS_NEXT;
}

//@ file: target/s390x/gen-features.c
//@ after: S390_FEAT_PRNO_TRNG,
    S390_FEAT_BEAR_ENH,
