/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: take turns in the same order each time
 *
 * After a stop the first CPU has the next turn: which one was next depends
 * on what the host did first.
 *
 * A CPU whose turn begins when a timer is due would have no time at all,
 * again and again, so timers run before a turn.  Timers of the host's clock
 * shorten a turn by chance, so they do not count.
 */

//@ file: accel/tcg/tcg-accel-ops-rr.c
//@ in: static void *rr_cpu_thread_fn(
//@ before: if (!cpu) {
        if (icount_start_over) {
            cpu = NULL;
            rr_stop_kick_timer();
            rr_start_kick_timer();
            icount_start_over = cpu_is_stopped(first_cpu);
        }

//@ before: if (cpu_can_run(cpu)) {
            if (icount_enabled()) {
                qatomic_set(&rr_current_cpu, NULL);
                icount_handle_deadline();
                if (cpu->exit_request) {
                    break;
                }
                qatomic_set(&rr_current_cpu, cpu);
            }

//@ file: accel/tcg/tcg-accel-ops-icount.c
//@ before: if ((deadline < 0) || (deadline > INT32_MAX)) {
        deadline = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL,
                                              QEMU_TIMER_ATTR_ALL);
