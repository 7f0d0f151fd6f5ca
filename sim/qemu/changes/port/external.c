/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: present CP's external interruptions
 *
 * Two bits of pending_int: IUCV (0x4000), and CP's own (0x2603).  CP says
 * what is stored at the moment of the interruption; if another CPU was
 * faster, there is none.
 *
 * CP's own come first: an initial interruption belongs to the instruction
 * that has just been nullified.
 */

//@ file: target/s390x/cpu.h
//@ after: #define INTERRUPT_STOP
#define INTERRUPT_EXT_IUCV               (1 << 9)
#define INTERRUPT_EXT_CP                 (1 << 10)

//@ file: target/s390x/interrupt.c
//@ include: hw/s390x/zvmlab.h
//@ before: if (qemu_s390_flic_has_service(flic) &&
    if (zvmlab_ext_int(env) || zvmlab_own_int(env)) {
        return true;
    }

//@ file: target/s390x/tcg/excp_helper.c
//@ include: hw/s390x/zvmlab.h
//@ before: } else if (qemu_s390_flic_has_service(flic) &&
    } else if (zvmlab_ext_int(env)) {
        if (!zvmlab_take_ext_int(env, lowcore)) {
            return;
        }

//@ before: if ((env->pending_int & INTERRUPT_EMERGENCY_SIGNAL) &&
    if (zvmlab_own_int(env)) {
        if (!zvmlab_take_external(env, lowcore)) {
            return;
        }
    } else
