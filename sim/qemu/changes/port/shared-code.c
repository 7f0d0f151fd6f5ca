/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: translate anew what other processes may have stored into
 *
 * QEMU learns of stores of its own CPUs and devices into code that it has
 * translated.  Pages of a segment that several guests share change without
 * that: what is there now is executed, one instruction at a time, and its
 * translation is not looked up again, as in pages of a device.
 */

//@ file: accel/tcg/translate-all.c
//@ include: hw/s390x/zvmlab.h
//@ in: TranslationBlock *tb_gen_code(
//@ before: if (phys_pc == -1) {
    const bool once = phys_pc != -1 && zvmlab_stored_by_others(phys_pc);

    if (once) {
        cflags = (cflags & ~CF_COUNT_MASK) | 1;
    }

//@ in: TranslationBlock *tb_gen_code(
//@ before: if (tb_page_addr0(tb) == -1) {
    if (once) {
        tb_unlock_pages(tb);
        tb_set_page_addr0(tb, -1);
        tb_set_page_addr1(tb, -1);
    }
