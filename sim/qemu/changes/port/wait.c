/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: say that a CPU is in a disabled wait
 *
 * QEMU itself says so of the last CPU only, and goes on with the others.
 */

//@ file: target/s390x/helper.c
//@ include: hw/s390x/zvmlab.h
//@ in: void s390_handle_wait(
//@ before: s390_cpu_halt(cpu)
    zvmlab_wait(&cpu->env);
