/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernel versions; the only place that asks for one.
 */
#ifndef MON_COMPAT_H
#define MON_COMPAT_H

#include <linux/types.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#include <asm/machine.h>
#else
#include <asm/setup.h>

static inline bool machine_is_vm(void)
{
	return MACHINE_IS_VM;
}
#endif

#endif /* MON_COMPAT_H */
