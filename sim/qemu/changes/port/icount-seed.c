/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: let a seed decide how long a CPU's turn is
 *
 * With -icount a CPU has its turn until the next timer is due, nearly always
 * the same one.  Races show only in other interleavings.
 */

//@ file: accel/tcg/tcg-accel-ops-icount.c
//@ in: void icount_prepare_for_run(
//@ replace: cpu->icount_budget = MIN(icount_get_limit(), cpu_budget);
    cpu->icount_budget = zvmlab_turn(cpu, MIN(icount_get_limit(), cpu_budget));

//@ before: void icount_prepare_for_run(
/* Of our device: the turn's length, at most @budget. */
int64_t zvmlab_turn(const CPUState *cpu, int64_t budget);
