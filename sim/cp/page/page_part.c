/* SPDX-License-Identifier: MIT */
/* Paging as a part of the CP: made, reset, saved and loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page_private.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"

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
	page_forget_handshake(cp, cpu);
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

const struct cp_part page_part = {
	.init = paging_init,
	.fini = paging_fini,
	.reset = paging_reset,
	.reset_cpu = paging_reset_cpu,
	.state = paging_state,
	.external_pending = page_external_pending,
	.external_take = page_external_take,
	.external_held = cp_page_held,
};
