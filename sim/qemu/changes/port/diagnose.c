/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: ask CP first at DIAGNOSE
 *
 * The code is an address, which QEMU takes for a signed number.  The helper
 * sees the condition code and may set it, which stock QEMU never does.
 */

//@ file: target/s390x/tcg/translate.c
//@ before: gen_helper_diag(
    update_cc_op(s);

//@ after: gen_helper_diag(
    set_cc_static(s);

//@ file: target/s390x/tcg/misc_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: switch (num) {
    num = zvmlab_diag_code(env, num);
    if (zvmlab_diag(env, r1, r3, num, GETPC())) {
        return;
    }
