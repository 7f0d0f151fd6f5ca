/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: report only what an interruption stores as written
 *
 * An interruption stores some dozen bytes into the lowcore, but all 8 KiB of
 * it are reported as written when it is unmapped.  So each interruption
 * throws away all translated code in these two pages.  Linux has some there:
 * the LPSWE by which it goes back to user space.  It is translated again
 * after each system call.
 *
 * Report the bytes from the first to the last that the interruption stores
 * into.
 */

//@ file: target/s390x/s390x-internal.h
//@ before: void cpu_unmap_lowcore(
/* Nothing was stored before offset @first, and nothing from offset @end on. */
void cpu_unmap_lowcore_stored(CPUS390XState *env, LowCore *lowcore,
                              hwaddr first, hwaddr end);
/* Members @first to @last of the lowcore may have been stored into. */
#define unmap_stored(env, lowcore, first, last)                          \
    cpu_unmap_lowcore_stored(env, lowcore, offsetof(LowCore, first),     \
                             offsetof(LowCore, last) +                   \
                             sizeof((lowcore)->last))

//@ file: target/s390x/helper.c
//@ before: void do_restart_interrupt(
void cpu_unmap_lowcore_stored(CPUS390XState *env, LowCore *lowcore,
                              hwaddr first, hwaddr end)
{
    assert(first < end && end <= sizeof(LowCore));
    address_space_unmap(env_cpu(env)->as, (uint8_t *)lowcore + first,
                        end - first, true, end - first);
}

//@ in: void do_restart_interrupt(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, restart_old_psw, restart_old_psw);

//@ file: target/s390x/tcg/excp_helper.c
//@ in: static void do_program_interrupt(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, pgm_ilen, program_old_psw);

//@ in: static void do_svc_interrupt(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, svc_ilen, svc_old_psw);

//@ in: static void do_ext_interrupt(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, ext_params, external_old_psw);

//@ in: static void do_io_interrupt(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, subchannel_id, io_old_psw);

//@ in: static void do_mchk_interrupt(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, ar_access_id, cregs_save_area);

//@ file: target/s390x/tcg/misc_helper.c
//@ in: uint32_t HELPER(tpi)(
//@ replace: cpu_unmap_lowcore(
        unmap_stored(env, lowcore, subchannel_id, io_int_word);

//@ in: void HELPER(stfl)(
//@ replace: cpu_unmap_lowcore(
    unmap_stored(env, lowcore, stfl_fac_list, stfl_fac_list);
