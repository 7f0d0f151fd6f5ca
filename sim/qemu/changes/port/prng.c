/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: give KMC its function 67
 *
 * Pseudorandom numbers, by which Linux moves its kernel: without them it
 * says "KASLR disabled: CPU has no PRNG".
 */

//@ file: target/s390x/gen-features.c
//@ before: S390_FEAT_PRNO_TRNG,
    S390_FEAT_KMC_PRNG,

//@ file: target/s390x/tcg/crypto_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: case 114: /* CPACF_PRNO_TRNG */
    case 67: /* KMC's pseudorandom numbers */
        return zvmlab_kmc_prng(env, r1, r2, ra);
