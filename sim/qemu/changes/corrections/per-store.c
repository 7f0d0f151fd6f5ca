/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: tell a storage-alteration event after its instruction
 *
 * A storage-alteration event of PER is found by a watchpoint.  The
 * instruction is executed once more then, and the program interruption is to
 * come after it.  But the translated code only looks for it if
 * instruction-fetching events are on, so it comes with the next interruption.
 *
 * Look for it behind each instruction if storage-alteration events are on.
 *
 * Tried with a bare-metal program that stores 400 times with that event
 * alone: all of them came late.
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
//@ replace 7: /* io should be the last instruction in tb when icount is enabled */
    /* io should be the last instruction in tb when icount is enabled */
    if (unlikely(icount && ret == DISAS_NEXT)) {
        ret = DISAS_TOO_MANY;
    }

#ifndef CONFIG_USER_ONLY
    if (s->base.tb->flags & (FLAG_MASK_PER_IFETCH | FLAG_MASK_PER_STORE)) {

//@ before: gen_helper_per_check_exception(tcg_env);
        tcg_gen_st_i32(tcg_constant_i32(s->ilen), tcg_env,
                       offsetof(CPUS390XState, int_pgm_ilen));
