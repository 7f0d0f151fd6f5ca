/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390/ipl: Let RCU watch an idle CPU that is restarted
 *
 * A restart interruption cannot be masked, so it may come when the CPU is
 * idle, which RCU does not watch then.  do_restart() takes a lock all the
 * same, by lgr_info_log(), and lockdep's trace point says
 *
 *   RCU not watching for tracepoint
 *   WARNING: include/trace/events/lock.h:23 at lock_acquire
 *
 * which is a panic with panic_on_warn, in place of what on_restart asks for.
 * The functions of on_restart take locks, too, on the CPU of the first IPL.
 *
 * Tell RCU, as other interruptions of this kind do.
 *
 * Tried with a CPU that is restarted at the beginning of arch_cpu_idle().
 *
 * Fixes: 3ab121ab1866 ("[S390] kernel: Add z/VM LGR detection")
 */
//@ file: arch/s390/kernel/ipl.c
//@ before: #include <linux/crash_dump.h>
#include <linux/context_tracking.h>
//@ in: static void __do_restart(void *ignore)
//@ before: 	smp_send_stop();
	/* It may have been idle, too, and this never returns */
	ct_nmi_enter();
//@ in: void do_restart(void *arg)
//@ before: 	tracing_off();
	/* The CPU may have been idle; this never returns */
	ct_nmi_enter();
