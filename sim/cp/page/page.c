/* SPDX-License-Identifier: MIT */
/* The pages that are out, the CPUs that want to know, and the part as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_private.h"
#include "zvmlab/event.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* In Ry of DIAGNOSE X'258': the handshake is established already; there is none. */
#define RC_ESTABLISHED 8
#define RC_NOT_ESTABLISHED 4

/* Index of the first page at @addr or above. */
static uint32_t place_of(const struct paging *paging, uint64_t addr)
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
	const uint32_t place = place_of(paging, page_of(addr));

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
	const uint32_t place = place_of(paging, addr);
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

unsigned int page_in(struct cp *cp, uint64_t addr, uint32_t pages, uint16_t to)
{
	const uint64_t size = (uint64_t)pages * CP_PAGE_SIZE;
	const uint64_t last = size > UINT64_MAX - addr ? UINT64_MAX : addr + size;
	struct paging *paging = cp->paging;
	unsigned int completed = 0;
	uint32_t place;

	assert(to == PAGE_ANY_CPU || to < cp->config.cpus);
	TRACE_INPUT(cp, page_in, .address = addr, .pages = pages, .to = to);
	while ((place = place_of(paging, addr)) < paging->pages &&
	       paging->page[place].addr < last) {
		const uint64_t at = paging->page[place].addr;

		page_forget(cp, &paging->page[place]);
		completed += page_complete(cp, at, to);
	}
	trace_number(cp, "completed", completed);
	trace_end(cp);
	return completed;
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

static void cancel(struct cp *cp, unsigned int cpu)
{
	page_forget_faults(cp, cpu);
	cp->paging->handshake[cpu] = (struct page_handshake){ .established = false };
}

uint64_t page_cancel(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	if (!cp->paging->handshake[cpu].established)
		return RC_NOT_ESTABLISHED;
	cancel(cp, cpu);
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

static int paging_init(struct cp *cp, char *err, size_t errlen)
{
	assert(!cp->host.page_changed == !cp->host.external);
	cp->paging = calloc(1, sizeof(*cp->paging));
	if (cp->paging)
		return 0;
	snprintf(err, errlen, "not enough memory for paging");
	return -1;
}

static void paging_fini(struct cp *cp)
{
	free(cp->paging);
	cp->paging = NULL;
}

/* CPUs that wait go on, as they are reset. */
static void paging_reset(struct cp *cp)
{
	struct paging *paging = cp->paging;
	uint64_t held = 0;

	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++)
		held |= (uint64_t)cp_page_held(cp, cpu) << cpu;
	while (paging->pages > 0)
		page_forget(cp, &paging->page[paging->pages - 1]);
	memset(paging, 0, sizeof(*paging));
	for (; held; held &= held - 1)
		cp->host.external(cp->host.opaque, (unsigned int)__builtin_ctzll(held));
}

static void paging_reset_cpu(struct cp *cp, unsigned int cpu)
{
	cancel(cp, cpu);
}

static void page_state(struct cp *cp, struct state *s, struct page_out *page, uint64_t least)
{
	state_u64(s, &page->addr);
	state_require(s, page->addr >= least && page->addr % CP_PAGE_SIZE == 0);
	storage_state_require(cp, s, page->addr, CP_PAGE_SIZE);
	state_bool(s, &page->out);
	state_bool(s, &page->hold);
	state_bool(s, &page->turns);
	state_require(s, page->out || page->turns);
}

static void fault_state(const struct cp *cp, struct state *s, struct page_fault *fault,
			const struct paging *paging)
{
	uint8_t initial = (uint8_t)fault->initial, completion = (uint8_t)fault->completion;

	state_u32(s, &fault->id);
	state_u64(s, &fault->addr);
	state_u64(s, &fault->token);
	state_u64(s, &fault->initial_token);
	state_u64(s, &fault->completion_token);
	state_u16(s, &fault->cpu);
	state_u16(s, &fault->to);
	state_u8(s, &initial);
	state_u8(s, &completion);
	state_u32(s, &fault->delay);
	state_u32(s, &fault->copies);
	state_u64(s, &fault->order);
	state_require(s, initial <= PAGE_INITIAL_TAKEN && completion <= PAGE_COMPLETION_TAKEN);
	state_require(s, initial < PAGE_INITIAL_TAKEN || completion < PAGE_COMPLETION_TAKEN);
	state_require(s, fault->id <= paging->last_fault && fault->order <= paging->last_order &&
			 fault->addr % CP_PAGE_SIZE == 0 && fault->cpu < cp->config.cpus &&
			 (fault->to == PAGE_ANY_CPU || fault->to < cp->config.cpus));
	fault->initial = (enum page_initial)initial;
	fault->completion = (enum page_completion)completion;
}

static void handshake_state(struct state *s, struct page_handshake *handshake)
{
	state_bool(s, &handshake->established);
	state_u64(s, &handshake->token);
	state_u64(s, &handshake->select);
	state_u64(s, &handshake->compare);
	state_require(s, handshake->token % 8 == 0);
}

static void lists_state(struct cp *cp, struct state *s, struct paging *paging)
{
	uint64_t least = 0;
	uint32_t id = 0;

	state_u32(s, &paging->pages);
	state_u32(s, &paging->faults);
	/* An image of another emulator may have what this one cannot do. */
	state_require(s, paging->pages <= (cp->host.page_changed ? PAGE_MAX_OUT : 0) &&
			 paging->faults <= (cp->host.page_changed ? PAGE_MAX_FAULTS : 0));
	for (uint32_t i = 0; i < paging->pages && !s->failed; i++) {
		page_state(cp, s, &paging->page[i], least);
		least = paging->page[i].addr + CP_PAGE_SIZE;
	}
	for (uint32_t i = 0; i < paging->faults && !s->failed; i++) {
		fault_state(cp, s, &paging->fault[i], paging);
		state_require(s, paging->fault[i].id > id);
		id = paging->fault[i].id;
	}
}

static void paging_state(struct cp *cp, struct state *s)
{
	struct paging *paging = cp->paging;

	state_tag(s, "PAGE");
	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++)
		handshake_state(s, &paging->handshake[cpu]);
	state_u32(s, &paging->last_fault);
	state_u64(s, &paging->last_order);
	state_u32(s, &paging->turns_left);
	state_u32(s, &paging->depth);
	state_u64(s, &paging->counts.initial);
	state_u64(s, &paging->counts.completion);
	state_u64(s, &paging->counts.resolved);
	lists_state(cp, s, paging);
	if (s->loading && s->failed)
		memset(paging, 0, sizeof(*paging));
}

const struct cp_part paging_part = {
	.init = paging_init,
	.fini = paging_fini,
	.reset = paging_reset,
	.reset_cpu = paging_reset_cpu,
	.state = paging_state,
	.external_pending = page_external_pending,
	.external_take = page_external_take,
	.external_held = cp_page_held,
};
