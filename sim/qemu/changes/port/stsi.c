/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: ask CP first at STORE SYSTEM INFORMATION
 *
 * Level 3.2.2 names CP, and other levels the machine below it.  CP is asked
 * after the checks that come first.
 */

//@ file: target/s390x/tcg/misc_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: == STSI_R0_FC_CURRENT) {
    cc = zvmlab_stsi(env, a0, ra);
    if (cc >= 0) {
        return cc;
    }
    cc = 0;
