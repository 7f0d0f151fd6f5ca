/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system: let a CPU look for work before its thread waits
 *
 * A guest of a system gets interruptions from another process.  If its CPU
 * waits, that process wakes the main thread and this one the CPU's, which
 * takes many times as long as the work; often the work comes at once.
 */

//@ file: system/cpus.c
//@ before: qemu_cond_wait(cpu->halt_cond
        if (zvmlab_waits(cpu)) {
            continue;
        }

//@ before: bool cpu_thread_is_idle(CPUState *cpu)
/* Of our device: has it waited itself, or released the BQL, so that this has to be asked again? */
bool zvmlab_waits(CPUState *cpu);
