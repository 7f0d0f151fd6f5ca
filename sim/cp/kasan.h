/* SPDX-License-Identifier: MIT */
/* What storage.c asks of kasan.c. */
#ifndef KASAN_H
#define KASAN_H

#include "cp_private.h"

/* kasan_check() if the kernel has a shadow; @how: "reads" or "writes". */
void kasan_look(struct cp *cp, const char *how, uint64_t addr, size_t len);

/**
 * The core has the access @how at the real address @addr: is it one that the kernel would have been
 * allowed?  An access that belongs to no call is a test's.
 */
static inline void kasan_check(struct cp *cp, const char *how, uint64_t addr, size_t len)
{
	if (cp->kasan.on && cp->host.home_read && cp->system->calls > 0 && len > 0)
		kasan_look(cp, how, addr, len);
}

#endif
