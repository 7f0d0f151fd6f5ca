/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: translate anew what other processes may have stored into
 *
 * QEMU learns of stores of its own CPUs and devices into code that it has
 * translated.  Pages of a segment that several guests share change without
 * that: what is there now is executed, one instruction at a time, and its
 * translation is not looked up again, as in pages of a device.
 *
 * An instruction that ends in such a page, and begins before it, is a block of
 * its own (s390x_tr_translate_insn()).  Its second page stays known, so that no
 * block jumps to it directly.
 */

//@ file: accel/tcg/translate-all.c
//@ before: TBContext tb_ctx;
/* Of our device: do other processes store into the page at this address of QEMU's storage? */
bool zvmlab_stored_by_others(uint64_t ram_addr);

//@ in: TranslationBlock *tb_gen_code(
//@ replace: if (phys_pc == -1) {
    const bool once = phys_pc != -1 && zvmlab_stored_by_others(phys_pc);

    if (phys_pc == -1 || once) {

//@ in: TranslationBlock *tb_gen_code(
//@ before: if (tb_page_addr0(tb) == -1) {
    if (once) {
        tb_unlock_pages(tb);
        tb_set_page_addr0(tb, -1);
        tb_set_page_addr1(tb, -1);
    } else if (tb_page_addr1(tb) != -1 && zvmlab_stored_by_others(tb_page_addr1(tb))) {
        assert(tb->icount == 1);
        tb_unlock_pages(tb);
        tb_set_page_addr0(tb, -1);
        tb->cflags = (tb->cflags & ~CF_COUNT_MASK) | 1;
    }
