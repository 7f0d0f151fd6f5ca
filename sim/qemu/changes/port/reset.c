/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x: tell CP of resets
 *
 * CP is clean for the next kernel.
 */

//@ file: target/s390x/cpu.c
//@ include: hw/s390x/zvmlab.h
//@ after: cpu->env.sigp_order = 0;
    zvmlab_reset_cpu(&cpu->env);

//@ file: hw/s390x/s390-virtio-ccw.c
//@ include: hw/s390x/zvmlab.h
//@ after: s390_cmma_reset();
    zvmlab_reset();
