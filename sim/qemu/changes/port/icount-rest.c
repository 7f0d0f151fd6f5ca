/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: let the clock jump only while no CPU has its turn
 *
 * With -icount the clock jumps over the time in which all CPUs wait.  QEMU
 * lets it do so while CPUs still take turns, and which one is next then
 * depends on the host's threads.
 */

//@ file: include/system/cpu-timers.h
//@ for: 10.0
//@ before: void icount_start_warp_timer(void);
extern bool icount_cpus_rest, icount_start_over;

//@ file: include/exec/icount.h
//@ for: 11.1
//@ before: void icount_start_warp_timer(void);
extern bool icount_cpus_rest, icount_start_over;

//@ file: accel/tcg/icount-common.c
//@ before: void icount_start_warp_timer(void)
/*
 * No CPU has its turn; the first one has the next turn, whose was next before.
 * Changed and read with the BQL held.
 */
bool icount_cpus_rest, icount_start_over;

//@ before: if (qtest_enabled()) {
        if (!icount_cpus_rest || icount_start_over) {
            return;
        }

//@ file: accel/tcg/tcg-accel-ops-rr.c
//@ before: qatomic_set_mb(&rr_current_cpu, cpu);
            icount_cpus_rest = false;

//@ after: rr_stop_kick_timer();
        icount_cpus_rest = true;
