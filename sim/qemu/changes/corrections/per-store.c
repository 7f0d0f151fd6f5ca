/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: tell a storage-alteration event after its instruction
 *
 * The event is found by a watchpoint.  The instruction is executed once
 * more, and the program interruption is to come after it.  But the
 * translated code only looked for it if instruction-fetching events are on,
 * so it came with the next interruption.
 */

//@ file: target/s390x/cpu.h
//@ before: #define FLAG_MASK_PER_STORE_REAL
#define FLAG_MASK_PER_STORE             0x10000000u

//@ file: target/s390x/cpu.c
//@ after: if (env->psw.mask & PSW_MASK_PER) {
        if (env->cregs[9] & PER_CR9_EVENT_STORE) {
            flags |= FLAG_MASK_PER_STORE;
        }

//@ file: target/s390x/tcg/translate.c
//@ in: static DisasJumpType translate_one(
//@ before: out:
#ifndef CONFIG_USER_ONLY
    if ((s->base.tb->flags & FLAG_MASK_PER_STORE) &&
        !(s->base.tb->flags & FLAG_MASK_PER_IFETCH)) {
        if (ret == DISAS_NEXT || ret == DISAS_TOO_MANY) {
            tcg_gen_movi_i64(psw_addr, s->pc_tmp);
        }
        update_cc_op(s);
        tcg_gen_st_i32(tcg_constant_i32(s->ilen), tcg_env,
                       offsetof(CPUS390XState, int_pgm_ilen));
        gen_helper_per_check_exception(tcg_env);
    }
#endif
