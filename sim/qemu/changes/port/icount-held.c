/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accel/tcg: let the clock take its time while a CPU is held
 *
 * With -icount the clock jumps as soon as all CPUs wait.  A test can hold one
 * of them for a second; for its kernel that would be a minute, in which the
 * CPU did nothing.
 */

//@ file: accel/tcg/icount-common.c
//@ in: void icount_start_warp_timer(
//@ before: if (deadline > 0) {
    if (!icount_sleep && deadline > 0 && !zvmlab_may_jump(deadline)) {
        return;
    }

//@ before: void icount_start_warp_timer(void)
/* Of our device: may the clock jump so far now? */
bool zvmlab_may_jump(int64_t ns);

