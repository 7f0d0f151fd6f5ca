/* SPDX-License-Identifier: MIT */
/* Which pages are out, and who wants to know of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "page_private.h"
#include "zvmlab/event.h"
#include "zvmlab/trace.h"

/* In Ry of DIAGNOSE X'258': the handshake is established already. */
#define RC_ESTABLISHED 8

uint32_t page_place_of(const struct paging *paging, uint64_t addr)
{
	uint32_t low = 0, high = paging->pages;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (paging->page[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)(CP_PAGE_SIZE - 1);
}

struct page_out *page_find(struct paging *paging, uint64_t addr)
{
	const uint32_t place = page_place_of(paging, page_of(addr));

	if (place == paging->pages || paging->page[place].addr != page_of(addr))
		return NULL;
	return &paging->page[place];
}

bool cp_page_is_out(const struct cp *cp, uint64_t addr)
{
	const struct page_out *page;

	/* Whoever asks does so for every page of storage. */
	if (cp->paging->pages == 0)
		return false;
	page = page_find(cp->paging, addr);
	return page && page->out;
}

void page_set_out(struct cp *cp, struct page_out *page, bool out)
{
	if (page->out == out)
		return;
	page->out = out;
	cp->host.page_changed(cp->host.opaque, page->addr, out);
}

static struct page_out *add(struct paging *paging, uint64_t addr)
{
	const uint32_t place = page_place_of(paging, addr);
	struct page_out *page = &paging->page[place];

	assert(paging->pages < PAGE_MAX_OUT && addr % CP_PAGE_SIZE == 0);
	memmove(page + 1, page, (paging->pages - place) * sizeof(*page));
	*page = (struct page_out){ .addr = addr };
	paging->pages++;
	return page;
}

void page_forget(struct cp *cp, struct page_out *page)
{
	struct paging *paging = cp->paging;
	struct page_out *end = paging->page + paging->pages;

	assert(page >= paging->page && page < end);
	page_set_out(cp, page, false);
	memmove(page, page + 1, (size_t)(end - page - 1) * sizeof(*page));
	paging->pages--;
}

void page_tell(struct cp *cp, const char *what, unsigned int cpu, uint32_t fault)
{
	if (cp->paging->turns_left == 0)
		cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_PAGE, .name = "", .text = what,
						  .path = cpu, .value = fault });
}

static bool may_go_out(struct cp *cp, uint64_t addr, uint64_t pages, char *err, size_t errlen)
{
	uint64_t fresh = 0;

	if (!cp->host.page_changed) {
		snprintf(err, errlen, "this emulator cannot intercept the guest's accesses to a "
			 "single page; QEMU can");
		return false;
	}
	if (addr % CP_PAGE_SIZE != 0 || pages > PAGE_MAX_OUT) {
		snprintf(err, errlen, "X'%" PRIx64 "' and %" PRIu64 " pages: the address must be that "
			 "of a page, and at most %u pages can be out", addr, pages, PAGE_MAX_OUT);
		return false;
	}
	for (uint64_t i = 0; i < pages; i++) {
		const uint64_t at = addr + i * CP_PAGE_SIZE;

		if (at < addr || cp_page_access(cp, at) == CP_ACCESS_NONE) {
			snprintf(err, errlen, "the guest has no page at absolute X'%" PRIx64 "'", at);
			return false;
		}
		fresh += page_find(cp->paging, at) == NULL;
	}
	if (fresh <= PAGE_MAX_OUT - cp->paging->pages)
		return true;
	snprintf(err, errlen, "%u pages are out, and at most %u can be", cp->paging->pages,
		 PAGE_MAX_OUT);
	return false;
}

int page_out(struct cp *cp, uint64_t addr, uint64_t pages, bool hold, char *err, size_t errlen)
{
	if (!may_go_out(cp, addr, pages, err, errlen))
		return -1;
	TRACE_INPUT(cp, page_out, .address = addr, .pages = pages, .hold = hold);
	for (uint64_t at = addr; at < addr + pages * CP_PAGE_SIZE; at += CP_PAGE_SIZE) {
		struct page_out *page = page_find(cp->paging, at);

		if (!page)
			page = add(cp->paging, at);
		page->hold = hold;
		page_set_out(cp, page, true);
	}
	trace_end(cp);
	return 0;
}

uint64_t page_establish(struct cp *cp, unsigned int cpu, const struct page_handshake *handshake)
{
	struct page_handshake *now = &cp->paging->handshake[cpu];

	assert(cpu < cp->config.cpus && handshake->token % 8 == 0);
	if (now->established)
		return RC_ESTABLISHED;
	*now = *handshake;
	now->established = true;
	return 0;
}

const struct page_handshake *page_handshake(const struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	return &cp->paging->handshake[cpu];
}

const struct page_out *page_at(const struct cp *cp, unsigned int index)
{
	return index < cp->paging->pages ? &cp->paging->page[index] : NULL;
}

const struct page_fault *page_fault_at(const struct cp *cp, unsigned int index)
{
	return index < cp->paging->faults ? &cp->paging->fault[index] : NULL;
}

const struct page_counts *page_counts(const struct cp *cp)
{
	return &cp->paging->counts;
}

uint32_t page_thrashing(const struct cp *cp)
{
	return cp->paging->turns_left;
}
