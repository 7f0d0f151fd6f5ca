/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: find an instruction's second page with no page locked
 *
 * An instruction that lies across two pages is read with the first one
 * locked.  To find the second one, a TLB is filled, which may take the BQL:
 * if a table of the guest's address space is in no storage, for one.
 * Whoever has the BQL and stores into the first page, as a device does, waits
 * for the page's lock: neither thread ever goes on, and nobody gets the BQL
 * any more.
 *
 * Give the first page up while the second one is looked up, then lock both
 * and translate from the beginning, as where the order of locks demands it.
 * The second time, the TLB has the page.
 *
 * Tried with a bare-metal program that executes such an instruction on one
 * CPU, while another CPU has data stored into the first page.
 */

//@ file: accel/tcg/translator.c
//@ before: static bool translator_ld(
/*
 * Look up the second page at @addr, which may take the BQL.  The translation
 * begins again then; returns only if the page is MMIO, as the first one is from
 * now on.
 */
static void translator_find_page1(CPUArchState *env, TranslationBlock *tb,
                                  vaddr addr)
{
    tb_page_addr_t page0 = tb_page_addr0(tb), page1;
    void *host;

    tb_unlock_pages(tb);
    /* Nothing is to be unlocked any more if there is an exception. */
    tb_set_page_addr0(tb, -1);
    page1 = get_page_addr_code_hostp(env, addr, &host);
    if (page1 == -1) {
        return;
    }
    tb_set_page_addr0(tb, page0);
    tb_set_page_addr1(tb, page1);
    tb_lock_page0(page0);
    tb_lock_page1(page0, page1);
    siglongjmp(tcg_ctx->jmp_trans, -3);
}

//@ in: static bool translator_ld(
//@ before: new_page1 = get_page_addr_code_hostp(env, base, &db->host_addr[1]);
        if (tb_page_addr1(tb) == -1) {
            translator_find_page1(env, tb, base);
            /* As below. */
            db->max_insns = db->num_insns;
            return false;
        }

