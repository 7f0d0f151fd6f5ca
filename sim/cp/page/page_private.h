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

/* page.c, for page_fault.c */
/** The page that contains @addr, or NULL. */
struct page_out *page_find(struct paging *paging, uint64_t addr);
/** It goes out, or comes in; the port is told. */
void page_set_out(struct cp *cp, struct page_out *page, bool out);
/** It takes part no more, and is in. */
void page_forget(struct cp *cp, struct page_out *page);
/** Something has happened that an observer may wait for; not while pages take turns. */
void page_tell(struct cp *cp, const char *what, unsigned int cpu, uint32_t fault);

/* page_fault.c, for page.c */
/** The page at @addr is in.  Return: number of faults that are completed. */
unsigned int page_complete(struct cp *cp, uint64_t addr, uint16_t to);
/** The functions of zvmlab/external.h for the parts. */
bool page_external_pending(const struct cp *cp, unsigned int cpu);
void page_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external);
/** Faults of which CPU @cpu has told, and that still wait, are forgotten. */
void page_forget_faults(struct cp *cp, unsigned int cpu);

#endif
