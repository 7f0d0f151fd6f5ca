/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: refuse pages that CP does not let the guest use
 *
 * Every translation of a real or virtual address ends in mmu_helper.c.
 * SIGNAL PROCESSOR and SET PREFIX take absolute addresses, of which QEMU
 * itself only asks whether it has storage there: a CPU could go on in pages
 * that belong to nobody.
 *
 * An access exception of a helper is asserted to be one of the TLB's, so it
 * is entered as such.
 */

//@ file: target/s390x/mmu_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: return address_space_access_valid(&address_space_memory,
    if (!zvmlab_addressable(addr)) {
        return false;
    }

//@ before: mmu_handle_skey(*raddr, rw, flags);
        if (zvmlab_protected(*raddr, rw == MMU_DATA_STORE, flags)) {
            *tec |= 0x4;
            return PGM_PROTECTION;
        }

//@ before: mmu_handle_skey(*addr, rw, flags);
    if (zvmlab_protected(*addr, rw == MMU_DATA_STORE, flags)) {
        *tec = (raddr & TARGET_PAGE_MASK) | FS_WRITE | 0x4;
        return PGM_PROTECTION;
    }

//@ in: static void trigger_access_exception(
//@ before: trigger_pgm_exception(env, type);
        env->tlb_fill_exc = type;
        env->tlb_fill_tec = tec;

//@ file: target/s390x/tcg/misc_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: if (!mmu_absolute_addr_valid(prefix, true)) {
    if (!zvmlab_reachable(prefix, sizeof(struct LowCore), false)) {
        tcg_s390_program_interrupt(env, PGM_ADDRESSING, GETPC());
    }

//@ file: target/s390x/sigp.c
//@ include: hw/s390x/zvmlab.h
//@ before: if (!address_space_access_valid(&address_space_memory,
    if (!zvmlab_reachable(addr, sizeof(struct LowCore), false)) {
        set_sigp_status(si, SIGP_STAT_INVALID_PARAMETER);
        return;
    }

//@ file: target/s390x/helper.c
//@ for: 10.0
//@ include: hw/s390x/zvmlab.h
//@ in: int s390_store_status(
//@ before: sa = cpu_physical_memory_map(addr, &len, true);
    if (!zvmlab_reachable(addr, len, true)) {
        return -EFAULT;
    }

//@ in: int s390_store_adtl_status(
//@ before: sa = cpu_physical_memory_map(addr, &save, true);
    if (!zvmlab_reachable(addr, len, true)) {
        return -EFAULT;
    }

//@ file: target/s390x/sigp.c
//@ for: 11.1
//@ in: int s390_store_status(
//@ before: sa = address_space_map(as, addr, &len, true, attrs);
    if (!zvmlab_reachable(addr, len, true)) {
        return -EFAULT;
    }

//@ in: int s390_store_adtl_status(
//@ before: sa = address_space_map(as, addr, &save, true, attrs);
    if (!zvmlab_reachable(addr, len, true)) {
        return -EFAULT;
    }
