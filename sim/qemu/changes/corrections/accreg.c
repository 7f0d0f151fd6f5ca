/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: treat access-register mode as primary-space mode
 *
 * A program can turn access-register mode on with SET ADDRESS SPACE CONTROL
 * (SAC, SACF) or a PSW.  QEMU has no access-register translation: its next
 * access to storage ends QEMU with an assertion.
 *
 * Take all access registers for zero, which names the primary space.
 *
 * Tried with a bare-metal program that stores and fetches in that mode.
 */

//@ file: target/s390x/cpu.h
//@ in: static inline int s390x_env_mmu_index(
//@ replace 2: case PSW_ASC_ACCREG:

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
