/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target/s390x: say that a CPU waits from now on
 *
 * A guest's clocks can jump over time in which all CPUs wait.  Whoever has
 * them jump is told when that may be so, instead of looking again and again.
 */

//@ file: target/s390x/cpu-system.c
//@ include: hw/s390x/zvmlab.h
//@ in: s390_cpu_halt(S390CPU *cpu)
//@ after: cs->exception_index = EXCP_HLT;
        zvmlab_halts();
