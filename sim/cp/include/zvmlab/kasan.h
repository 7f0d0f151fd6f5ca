/* SPDX-License-Identifier: MIT */
/*
 * CP's own accesses to storage, seen by the guest's kernel if that is built with KASAN.
 *
 * Such a kernel keeps a byte of shadow for each 8 bytes of its storage (its
 * Documentation/dev-tools/kasan.rst): 0 if all of them may be used, 1 to 7 if the first so many
 * may, X'80' and above if none may.  The shadow of the virtual address A is at the virtual address
 * (A >> 3) + offset.  CP's accesses are below the kernel, which checks its own only: of a buffer that
 * it has freed, and whose address CP still has, it would learn nothing.
 */
#ifndef ZVMLAB_KASAN_H
#define ZVMLAB_KASAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;

struct kasan_shadow {
	uint64_t offset;	/**< CONFIG_KASAN_SHADOW_OFFSET */
	uint64_t identity;	/**< virtual address of what has the real address 0 */
};

/**
 * From now on, look at the shadow at each access that a call of CP makes; NULL: do not.  A reset
 * ends it.  Return: false if the emulator cannot read the shadow.
 */
bool kasan_watch(struct cp *cp, const struct kasan_shadow *shadow);

#endif
