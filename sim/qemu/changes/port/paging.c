/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: let a CPU wait for a page that CP has paged out
 *
 * No TLB has such a page, because all are purged when it goes out.  The
 * access that fills the TLB asks CP, and leaves translated code as for an
 * exception.  A CPU that waits is like one that is halted.
 */

//@ file: target/s390x/tcg/excp_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: tlb_set_page(cs, address & TARGET_PAGE_MASK, raddr, prot,
        zvmlab_page(env, raddr, probe, retaddr);

//@ file: target/s390x/cpu-system.c
//@ include: hw/s390x/zvmlab.h
//@ before: return s390_cpu_has_int(cpu);
    if (zvmlab_held(&cpu->env)) {
        return false;
    }
