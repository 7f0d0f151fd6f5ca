/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has another name, or another place, in QEMU 11.1 than in 10.0: here it has that of 11.1. */
#ifndef ZVMLAB_VERSIONS_H
#define ZVMLAB_VERSIONS_H

#include "exec/cputlb.h"
#include "exec/tb-flush.h"
#include "hw/core/cpu.h"
#include "qemu/seqlock.h"
#include "system/cpu-timers-internal.h"
#include "system/cpu-timers.h"
#include "system/cpus.h"
#include "system/reset.h"
#include "system/runstate.h"
#include "system/system.h"
#include "system/tcg.h"

#if __has_include("hw/core/boards.h")
#include "accel/tcg/cpu-ldst.h"
#include "accel/tcg/cpu-loop.h"
#include "exec/icount.h"
#include "exec/page-protection.h"
#include "exec/translation-block.h"
#include "hw/core/boards.h"
#include "hw/core/qdev-properties-system.h"
#include "hw/core/qdev-properties.h"
#include "hw/core/qdev.h"
#include "hw/core/resettable.h"
#include "hw/core/sysbus.h"
#include "system/address-spaces.h"
#include "system/memory.h"
#include "system/ramblock.h"
/* Of a class_init. */
#define CLASS_DATA const void
/* Do devices that are saved begin with what a stream begins with? */
#define DEVICES_BEGIN_STREAM false
/* Does an object that refuses to be deleted say why? */
#define DELETION_SAYS_WHY 1
#define unmap_lowcore(env, lowcore) cpu_unmap_lowcore(env, lowcore)
#else
#include "exec/address-spaces.h"
#include "exec/cpu_ldst.h"
#include "exec/exec-all.h"
#include "exec/memory.h"
#include "hw/boards.h"
#include "hw/qdev-core.h"
#include "hw/qdev-properties-system.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "hw/sysbus.h"
#include "migration/qemu-file.h"
#include "migration/savevm.h"
#define CLASS_DATA void
#define DEVICES_BEGIN_STREAM true
#define DELETION_SAYS_WHY 0
#define CharFrontend CharBackend
#define unmap_lowcore(env, lowcore) cpu_unmap_lowcore(lowcore)
#define queue_tb_flush(cpu) tb_flush(cpu)
#define tb_flush__exclusive_or_serial() tb_flush(current_cpu)
#define tb_invalidate_phys_range(cpu, first, last) tb_invalidate_phys_range(first, last)
/* Here they say on standard error what is wrong. */
#define qemu_save_device_state(f, errp) ((void)(errp), qemu_save_device_state(f))
#define qemu_load_device_state(f, errp) ((void)(errp), qemu_load_device_state(f))
#endif

#endif
