/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x: name the CPUs that the guest has
 *
 * CP defines and detaches CPUs of the machine, and SCLP knows of those that are there.
 */

//@ file: hw/s390x/sclp.c
//@ include: hw/s390x/zvmlab.h
//@ before: entry[*count].address
        if (!zvmlab_has_cpu(i)) {
            continue;
        }
