/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: tell which blocks of the kernel are executed
 *
 * Coverage of an unmodified kernel guides a fuzzer.  A block in the ranges
 * that are asked for begins with a look whether it, or the way to it, is
 * known; a helper is called the first time only.  No other translation
 * changes.
 */

//@ file: target/s390x/helper.h
//@ after: DEF_HELPER_4(diag,
DEF_HELPER_FLAGS_1(zvmlab_seen, TCG_CALL_NO_RWG, void, i64)

//@ file: target/s390x/tcg/translate.c
//@ include: hw/s390x/zvmlab.h
//@ before: static void s390x_tr_translate_insn(
/* The block that begins here, or the edge to it, is reported the first time. */
static void gen_cover(uint64_t place)
{
    TCGv_ptr at = tcg_temp_new_ptr(), last = tcg_temp_new_ptr();
    TCGv_i64 known = tcg_temp_new_i64();
    TCGv_i64 edge = tcg_temp_new_i64();
    struct zvmlab_cover cover;
    TCGLabel *done;

    if (!zvmlab_covered(place, &cover)) {
        return;
    }
    done = gen_new_label();
    if (!cover.edges) {
        tcg_gen_ld8u_i64(known, tcg_constant_ptr(cover.seen), 0);
        tcg_gen_brcondi_i64(TCG_COND_NE, known, 0, done);
        gen_helper_zvmlab_seen(tcg_constant_i64(cover.block));
        gen_set_label(done);
        return;
    }
    tcg_gen_ld32u_i64(known, tcg_env, offsetof(CPUS390XState, core_id));
    tcg_gen_shli_i64(known, known, 3);
    tcg_gen_trunc_i64_ptr(last, known);
    tcg_gen_add_ptr(last, last, tcg_constant_ptr(cover.last));
    tcg_gen_ld_i64(edge, last, 0);
    tcg_gen_st_i64(tcg_constant_i64(cover.block << 32), last, 0);
    tcg_gen_ori_i64(edge, edge, cover.block);
    tcg_gen_muli_i64(known, edge, ZVMLAB_EDGE_FACTOR);
    tcg_gen_shri_i64(known, known, cover.shift);
    tcg_gen_shli_i64(known, known, 3);
    tcg_gen_trunc_i64_ptr(at, known);
    tcg_gen_add_ptr(at, at, tcg_constant_ptr(cover.edges));
    tcg_gen_ld_i64(known, at, 0);
    tcg_gen_brcond_i64(TCG_COND_EQ, known, edge, done);
    gen_helper_zvmlab_seen(edge);
    gen_set_label(done);
}

//@ in: static void s390x_tr_translate_insn(
//@ before: dc->base.is_jmp = translate_one(env, dc);
    /* An instruction that is the target of an EXECUTE begins no block. */
    if (dcbase->num_insns == 1 && !dc->ex_value &&
        !(dcbase->tb->flags & FLAG_MASK_PSTATE)) {
        gen_cover(dcbase->pc_next);
    }
