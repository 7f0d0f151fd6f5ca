/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of the read machine: the kernel's, or the same for a program.
 */
#ifndef MON_TYPES_H
#define MON_TYPES_H

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

/* Conditions that must never happen: checked by kernels with lock debugging, free in others. */
#define MON_ASSERT(condition) \
	((void)WARN_ON_ONCE(IS_ENABLED(CONFIG_PROVE_LOCKING) && !(condition)))
#else
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define MON_ASSERT(condition) assert(condition)

/* The compiler takes nothing in memory for known any more. */
static inline void barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
/* As in the kernel; who uses one says what it pairs with. */
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
/* The same. */
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#endif

#endif /* MON_TYPES_H */
