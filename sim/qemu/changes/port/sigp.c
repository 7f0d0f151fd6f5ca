/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: do not wait for another CPU in translated code
 *
 * Some orders of SIGNAL PROCESSOR are carried out by the addressed CPU's
 * thread, and QEMU waits for it within translated code.  If translations are
 * being purged at that moment, all CPUs wait for each other for ever.
 */

//@ file: target/s390x/tcg/misc_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: cc = handle_sigp(env, order_code
    if (!zvmlab_sigp(env, order_code & SIGP_ORDER_MASK, r1, r3, GETPC())) {
        bql_unlock();
        return SIGP_CC_NOT_OPERATIONAL;
    }
