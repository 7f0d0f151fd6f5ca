/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: let the CPU timer go below zero
 *
 * STORE CPU TIMER converts what is left from nanoseconds as an unsigned
 * number, so a timer that has run out has a value near 2**61; SET CPU TIMER
 * does the same with a negative value, and ignores -1.  A CPU that was reset
 * has a timer that ran out when the machine started.  Linux reads the timer
 * of each CPU that it starts, and accounts the difference: the second CPU of
 * a guest has 4,071,254,070 s of system time.
 *
 * A machine check and SIGP STORE STATUS store the number of nanoseconds at
 * which the timer runs out instead of the timer.
 *
 * Convert the sign on its own, let a reset set the timer to zero, and store
 * what STORE CPU TIMER does.  With KVM, cputm is the timer itself, as before.
 *
 * Tried with a bare-metal program that compares the timer with the clock,
 * below zero and after a reset, in a register and as it is stored.
 */

//@ file: target/s390x/tcg/misc_helper.c
//@ replace: return time2tod(env->cputm - qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
    int64_t left = env->cputm - qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    return left < 0 ? -time2tod(-left) : time2tod(left);

//@ in: void HELPER(spt)(
//@ replace 6: if (time == -1ULL) {
    time = (int64_t)time < 0 ? -tod2time(-time) : tod2time(time);

//@ file: target/s390x/tcg/excp_helper.c
//@ replace: lowcore->cpu_timer_save_area = cpu_to_be64(env->cputm);
    lowcore->cpu_timer_save_area = cpu_to_be64(helper_stpt(env));

//@ file: target/s390x/cpu.c
//@ before: /* architectured initial value for Breaking-Event-Address register */
#ifndef CONFIG_USER_ONLY
        if (tcg_enabled()) {
            /* The CPU timer, which is zero now, runs out. */
            env->cputm = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        }
#endif

//@ file: target/s390x/helper.c
//@ for: 10.0
//@ after: #include "s390x-internal.h"
#include "exec/helper-proto.h"
#include "system/tcg.h"

//@ replace: sa->cputm = cpu_to_be64(cpu->env.cputm);
    sa->cputm = cpu_to_be64(tcg_enabled() ? helper_stpt(&cpu->env)
                                          : cpu->env.cputm);

//@ file: target/s390x/sigp.c
//@ for: 11.1
//@ after: #include "s390x-internal.h"
#include "exec/helper-proto.h"

//@ replace: sa->cputm = cpu_to_be64(cpu->env.cputm);
    sa->cputm = cpu_to_be64(tcg_enabled() ? helper_stpt(&cpu->env)
                                          : cpu->env.cputm);
