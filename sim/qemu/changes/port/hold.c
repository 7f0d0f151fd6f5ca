/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: let a CPU stop at a chosen instruction
 *
 * A test holds a CPU at a function of the guest's kernel.  QEMU's breakpoints
 * would stop the whole machine, and have the CPU execute all other
 * instructions of the page one by one.  Here, the translation of the one
 * instruction begins with a call; no other translation changes.
 */

//@ file: target/s390x/helper.h
//@ after: DEF_HELPER_4(diag,
DEF_HELPER_2(zvmlab_hold, void, env, i64)

//@ file: target/s390x/tcg/translate.c
//@ include: hw/s390x/zvmlab.h
//@ in: static void s390x_tr_translate_insn(
//@ before: dc->base.is_jmp = translate_one(env, dc);
    /* The target of an EXECUTE has been passed at the EXECUTE already. */
    if (!dc->ex_value && zvmlab_may_stop_at(dc->base.pc_next)) {
        gen_helper_zvmlab_hold(tcg_env, tcg_constant_i64(dc->base.pc_next));
    }
