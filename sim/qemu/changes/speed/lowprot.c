/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: let stores beyond a page's protected bytes use its entry
 *
 * While low-address protection is on, a TLB entry of the first two pages is
 * invalid for stores from the start, so that each store is translated and
 * checked anew.  Only the first 512 bytes are protected.  Linux keeps the
 * protection on, and stores into its lowcore beyond them several times in
 * each interruption and system call.
 *
 * Let a target say how many bytes of such a page need the check.  A store
 * that begins after them uses the entry as if it were valid.
 */

//@ file: include/accel/tcg/cpu-ops.h
//@ after: void (*initialize)(void);
    /**
     * @write_inv_bytes: so many bytes of a page with PAGE_WRITE_INV are to be
     *                   checked with each store; 0: all of them
     */
    vaddr write_inv_bytes;

//@ file: target/s390x/cpu.c
//@ after: .tlb_fill = s390_cpu_tlb_fill,
    /* low-address protection */
    .write_inv_bytes = 512,

//@ file: accel/tcg/cputlb.c
//@ before: static void notdirty_write(CPUState *cpu, vaddr mem_vaddr,
/*
 * The address for comparison in an entry for stores.  An entry of a
 * PAGE_WRITE_INV page is marked invalid, but holds for a store that begins
 * after the bytes to be checked.  (An entry that was flushed has all bits one.)
 */
static inline uint64_t tlb_addr_for_store(CPUState *cpu, uint64_t tlb_addr,
                                          vaddr addr)
{
    if (unlikely(tlb_addr & TLB_INVALID_MASK) && tlb_addr != -1) {
        vaddr bytes = cpu->cc->tcg_ops->write_inv_bytes;

        if (bytes && (addr & ~TARGET_PAGE_MASK) >= bytes) {
            return tlb_addr & ~TLB_INVALID_MASK;
        }
    }
    return tlb_addr;
}

//@ in: static int probe_access_internal(
//@ replace: uint64_t tlb_addr = tlb_read_idx(entry, access_type);
    uint64_t tlb_addr = access_type == MMU_DATA_STORE ?
        tlb_addr_for_store(cpu, tlb_addr_write(entry), addr) :
        tlb_read_idx(entry, access_type);

//@ in: static bool mmu_lookup1(
//@ replace: uint64_t tlb_addr = tlb_read_idx(entry, access_type);
    uint64_t tlb_addr = access_type == MMU_DATA_STORE ?
        tlb_addr_for_store(cpu, tlb_addr_write(entry), addr) :
        tlb_read_idx(entry, access_type);

//@ file: accel/tcg/cputlb.c
//@ replace: tlb_addr = tlb_addr_write(tlbe);
    tlb_addr = tlb_addr_for_store(cpu, tlb_addr_write(tlbe), addr);

//@ before: if (tlb_entry->addr_write == (addr | TLB_NOTDIRTY)) {
    if (tlb_entry->addr_write == (addr | TLB_NOTDIRTY | TLB_INVALID_MASK)) {
        tlb_entry->addr_write = addr | TLB_INVALID_MASK;
    }

//@ file: accel/tcg/cputlb.c
//@ for: 10.0
//@ replace: if ((addr & (TLB_INVALID_MASK | TLB_MMIO |
    /* An entry that was flushed has all bits one. */
    if ((addr & (TLB_MMIO |

//@ file: accel/tcg/cputlb.c
//@ for: 11.1
//@ replace: flags &= TLB_INVALID_MASK | TLB_MMIO | TLB_DISCARD_WRITE |
    /* An entry that was flushed has all bits one. */
    flags &= TLB_MMIO | TLB_DISCARD_WRITE | TLB_NOTDIRTY;
