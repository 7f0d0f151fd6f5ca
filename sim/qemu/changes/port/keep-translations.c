/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/core: throw no translations away when a CPU is loaded
 *
 * A machine that is put back to its checkpoint has most of its storage
 * unchanged, and checkpoint.c knows which translations still hold.  Only
 * "loadvm" replaces storage behind their back.  With one CPU, tb_flush()
 * flushes at once here: putting a machine back took five times as long.
 */

//@ file: hw/core/cpu-system.c
//@ for: 10.0
//@ include: system/runstate.h
//@ in: static int cpu_common_post_load(
//@ replace: tb_flush(cpu);
        if (runstate_check(RUN_STATE_RESTORE_VM)) {
            tb_flush(cpu);
        }
