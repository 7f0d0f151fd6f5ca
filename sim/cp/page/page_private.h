/* SPDX-License-Identifier: MIT */
/* Shared by the files of paging. */
#ifndef PAGE_PRIVATE_H
#define PAGE_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/page.h"

struct paging {
	struct page_handshake handshake[CP_MAX_CPUS];
	/* Both without gaps: pages by address, faults by number. */
	uint32_t pages, faults;
	struct page_out page[PAGE_MAX_OUT];
	struct page_fault fault[PAGE_MAX_FAULTS];
	uint32_t last_fault;
	uint64_t last_order;
	uint32_t turns_left, depth;	/* page_thrash() */
	struct page_counts counts;
};

/* page.c */
/** Index of the first page at @addr or above. */
uint32_t page_place_of(const struct paging *paging, uint64_t addr);
/** The page that contains @addr, or NULL. */
struct page_out *page_find(struct paging *paging, uint64_t addr);
/** It goes out, or comes in; the port is told. */
void page_set_out(struct cp *cp, struct page_out *page, bool out);
/** It takes part no more, and is in. */
void page_forget(struct cp *cp, struct page_out *page);
/** Something has happened that an observer may wait for; not while pages take turns. */
void page_tell(struct cp *cp, const char *what, unsigned int cpu, uint32_t fault);

/* page_fault.c, for page_part.c */
/** The functions of zvmlab/external.h for the parts. */
bool page_external_pending(const struct cp *cp, unsigned int cpu);
void page_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external);
/** Forget the handshake of CPU @cpu, and faults of which it has told and that still wait. */
void page_forget_handshake(struct cp *cp, unsigned int cpu);

#endif
