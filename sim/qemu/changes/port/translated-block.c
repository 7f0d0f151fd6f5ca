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

//@ file: target/s390x/cpu.h
//@ before: uint32_t core_id;
    uint64_t zvmlab_left; /* the block that is covered and was the last one, as zvmlab_cover.leaves */

//@ file: target/s390x/tcg/translate.c
//@ include: hw/s390x/zvmlab.h
//@ after: #include "exec/translation-block.h"
#include "tcg/tcg-temp-internal.h"

//@ before: static void s390x_tr_translate_insn(
/*
 * The block that begins here, or the edge to it, is reported the first time.  Temporaries that end
 * at the label need not be stored at the branch before it.
 */
static void gen_cover(uint64_t place)
{
    TCGv_i64 known = tcg_temp_ebb_new_i64(), way = tcg_temp_ebb_new_i64();
    TCGv_ptr at = tcg_temp_ebb_new_ptr();
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
    tcg_gen_ld_i64(way, tcg_env, offsetof(CPUS390XState, zvmlab_left));
    tcg_gen_st_i64(tcg_constant_i64(cover.leaves), tcg_env, offsetof(CPUS390XState, zvmlab_left));
    tcg_gen_xori_i64(way, way, cover.arrives);
    tcg_gen_andi_i64(known, way, ZVMLAB_EDGE_OFFSET);
    tcg_gen_trunc_i64_ptr(at, known);
    tcg_gen_add_ptr(at, at, tcg_constant_ptr(cover.edges));
    tcg_gen_ld_i64(known, at, 0);
    tcg_gen_brcond_i64(TCG_COND_EQ, known, way, done);
    gen_helper_zvmlab_seen(way);
    gen_set_label(done);
}

//@ in: static void s390x_tr_translate_insn(
//@ before: dc->base.is_jmp = translate_one(env, dc);
    /* An instruction that is the target of an EXECUTE begins no block. */
    if (dcbase->num_insns == 1 && !dc->ex_value &&
        !(dcbase->tb->flags & FLAG_MASK_PSTATE)) {
        gen_cover(dcbase->pc_next);
    }
