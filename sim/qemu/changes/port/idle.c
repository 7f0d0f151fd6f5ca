/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system: say when a CPU's thread begins to wait, and when it goes on
 *
 * A CPU that has nothing to do but to take ticks of its clock can have fewer
 * of them, and its thread waits for them itself: the main thread would wake
 * several times for each, and then the CPU's.
 */

//@ file: system/cpus.c
//@ before: qemu_plugin_vcpu_idle_cb(cpu);
            zvmlab_sleeps(cpu);

//@ before: qemu_plugin_vcpu_resume_cb(cpu);
        zvmlab_wakes(cpu);

//@ before: bool cpu_thread_is_idle(CPUState *cpu)
/* Of our device, which may have the clock comparator's interruption come later meanwhile. */
void zvmlab_sleeps(CPUState *cpu);
void zvmlab_wakes(CPUState *cpu);
void zvmlab_wait_ns(CPUState *cpu, int64_t ns);

/* QEMU's own function knows milliseconds. */
void zvmlab_wait_ns(CPUState *cpu, int64_t ns)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    ns += until.tv_nsec;
    until.tv_sec += ns / NANOSECONDS_PER_SECOND;
    until.tv_nsec = ns % NANOSECONDS_PER_SECOND;
    pthread_cond_clockwait(&cpu->halt_cond->cond, &bql.lock, CLOCK_MONOTONIC, &until);
}
