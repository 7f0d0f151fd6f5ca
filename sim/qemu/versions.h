/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has another name, or another place, in QEMU 10.0 than in 7.2: here it has that of 10.0. */
#ifndef ZVMLAB_VERSIONS_H
#define ZVMLAB_VERSIONS_H

#include "hw/core/cpu.h"
#include "qemu/seqlock.h"

#if __has_include("system/runstate.h")
#include "exec/cputlb.h"
#include "exec/tb-flush.h"
#include "system/cpu-timers-internal.h"
#include "system/cpu-timers.h"
#include "system/cpus.h"
#include "system/reset.h"
#include "system/runstate.h"
#include "system/system.h"
#include "system/tcg.h"
#define CPU_CAN_DO_IO(cs) ((cs)->neg.can_do_io)
#else
#include "exec/exec-all.h"
#include "qemu/main-loop.h"
#include "softmmu/timers-state.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/cpus.h"
#include "sysemu/reset.h"
#include "sysemu/runstate.h"
#include "sysemu/sysemu.h"
#include "sysemu/tcg.h"
#define CPU_CAN_DO_IO(cs) ((cs)->can_do_io)
#define bql_locked() qemu_mutex_iothread_locked()
#define bql_lock() qemu_mutex_lock_iothread()
#define bql_unlock() qemu_mutex_unlock_iothread()
/* Here the second argument is the last address. */
#define tb_invalidate_phys_range(first, last) tb_invalidate_phys_range(first, (last) + 1)
#endif

#endif
