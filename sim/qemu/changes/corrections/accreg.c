/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: treat access-register mode as primary-space mode
 *
 * Any program can turn it on with SET ACCESS (SAC, SACF) or a PSW, and QEMU
 * ends.  There are no access lists, so all access registers name the primary
 * space.
 */

//@ file: target/s390x/cpu.h
//@ in: static inline int s390x_env_mmu_index(
//@ replace: case PSW_ASC_ACCREG:

//@ before: case PSW_ASC_PRIMARY:
    case PSW_ASC_ACCREG:

//@ file: target/s390x/mmu_helper.c
//@ replace: case PSW_ASC_ACCREG:

//@ in: int mmu_translate(CPUS390XState *env,
//@ before: case PSW_ASC_PRIMARY:
    case PSW_ASC_ACCREG:

//@ file: target/s390x/tcg/translate.c
//@ in: static int get_mem_index(
//@ before: case PSW_ASC_PRIMARY >> FLAG_MASK_PSW_SHIFT:
    case PSW_ASC_ACCREG >> FLAG_MASK_PSW_SHIFT:
