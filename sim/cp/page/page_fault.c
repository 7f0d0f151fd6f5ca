/* SPDX-License-Identifier: MIT */
/* Faults: who meets a page that is out, what it is told, and when. */
#include <string.h>

#include "page_private.h"
#include "bytes.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* In Ry of DIAGNOSE X'258': there is no handshake. */
#define RC_NOT_ESTABLISHED 4

static uint64_t corrupted(uint64_t token, const struct fault_action *action)
{
	const unsigned int byte = action->offset % 8;

	if (action->kind != FAULT_CORRUPT)
		return token;
	return token ^ (uint64_t)(uint8_t)action->value << (56 - 8 * byte);
}

/* What was meant for a CPU that has been detached since is any CPU's. */
static bool is_for_any(const struct cp *cp, uint16_t to)
{
	return to == PAGE_ANY_CPU || !(cp->cpus >> to & 1);
}

/* Every CPU that could take an interruption looks for one. */
static void kick(struct cp *cp, uint16_t to)
{
	if (is_for_any(cp, to))
		cp_external_kick(cp);
	else
		cp->host.external(cp->host.opaque, to);
}

static struct page_fault *waiting_fault(struct paging *paging, uint64_t addr, uint64_t token)
{
	for (uint32_t i = 0; i < paging->faults; i++) {
		struct page_fault *fault = &paging->fault[i];

		if (fault->addr == addr && fault->token == token &&
		    fault->completion == PAGE_COMPLETION_WAITS)
			return fault;
	}
	return NULL;
}

static struct page_fault *new_fault(struct paging *paging)
{
	struct page_fault *fault = &paging->fault[paging->faults];

	if (paging->faults == PAGE_MAX_FAULTS || paging->last_fault == INT32_MAX)
		return NULL;
	*fault = (struct page_fault){ .id = ++paging->last_fault, .to = PAGE_ANY_CPU };
	paging->faults++;
	return fault;
}

static void drop_fault(struct paging *paging, struct page_fault *fault)
{
	const struct page_fault *end = paging->fault + paging->faults;

	assert(fault >= paging->fault && fault < end);
	memmove(fault, fault + 1, (size_t)(end - fault - 1) * sizeof(*fault));
	paging->faults--;
}

/* A fault of which both has been told is over. */
static void drop_if_over(struct paging *paging, struct page_fault *fault)
{
	if (fault->initial == PAGE_INITIAL_TAKEN && fault->completion == PAGE_COMPLETION_TAKEN)
		drop_fault(paging, fault);
}

static void complete(struct cp *cp, struct page_fault *fault, uint16_t to)
{
	const struct fault_action action = fault_of_guest(cp, FAULT_PAGE_COMPLETION, "");

	assert(fault->completion == PAGE_COMPLETION_WAITS);
	if (action.kind == FAULT_DROP) {
		fault->completion = PAGE_COMPLETION_TAKEN;
		return;
	}
	fault->completion = PAGE_COMPLETION_PENDING;
	fault->completion_token = corrupted(fault->token, &action);
	fault->to = to;
	fault->order = ++cp->paging->last_order;
	fault->copies = action.kind == FAULT_DUPLICATE;
	if (action.kind == FAULT_DELAY)
		fault->delay = action.value;
	else if (action.kind == FAULT_REORDER)
		fault->delay = 1;
	kick(cp, to);
}

static unsigned int complete_at(struct cp *cp, uint64_t addr, uint16_t to)
{
	struct paging *paging = cp->paging;
	unsigned int completed = 0;

	for (uint32_t i = paging->faults; i-- > 0;) {
		struct page_fault *fault = &paging->fault[i];

		if (fault->addr != addr || fault->completion != PAGE_COMPLETION_WAITS)
			continue;
		complete(cp, fault, to);
		completed++;
		drop_if_over(paging, fault);
	}
	return completed;
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
	while ((place = page_place_of(paging, addr)) < paging->pages &&
	       paging->page[place].addr < last) {
		const uint64_t at = paging->page[place].addr;

		page_forget(cp, &paging->page[place]);
		completed += complete_at(cp, at, to);
	}
	trace_number(cp, "completed", completed);
	trace_end(cp);
	return completed;
}

/* Pending interruptions stay; a held initial interruption ends with its CPU. */
static void forget_faults(struct cp *cp, unsigned int cpu)
{
	struct paging *paging = cp->paging;

	for (uint32_t i = paging->faults; i-- > 0;) {
		struct page_fault *fault = &paging->fault[i];
		const bool held = fault->initial == PAGE_INITIAL_HELD;

		if (fault->cpu != cpu)
			continue;
		fault->initial = PAGE_INITIAL_TAKEN;
		if (fault->completion == PAGE_COMPLETION_WAITS)
			fault->completion = PAGE_COMPLETION_TAKEN;
		drop_if_over(paging, fault);
		if (held)
			kick(cp, (uint16_t)cpu);
	}
}

void page_forget_handshake(struct cp *cp, unsigned int cpu)
{
	forget_faults(cp, cpu);
	cp->paging->handshake[cpu] = (struct page_handshake){ .established = false };
}

uint64_t page_cancel(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	if (!cp->paging->handshake[cpu].established)
		return RC_NOT_ESTABLISHED;
	page_forget_handshake(cp, cpu);
	return 0;
}

/* CP does not tell the guest, who waits until the page is there: now. */
static enum cp_paging resolve(struct cp *cp, struct page_out *page, unsigned int cpu)
{
	const uint64_t addr = page->addr;

	cp->paging->counts.resolved++;
	page_forget(cp, page);
	complete_at(cp, addr, PAGE_ANY_CPU);
	page_tell(cp, "resolved", cpu, 0);
	return CP_PAGE_IN;
}

/* All faults of a page whose turn is over. */
static void come_in(struct cp *cp, uint64_t addr)
{
	struct page_out *page = page_find(cp->paging, addr);

	if (page)
		page_set_out(cp, page, false);
	complete_at(cp, addr, PAGE_ANY_CPU);
}

static bool has_fault(const struct paging *paging, uint64_t addr)
{
	for (uint32_t i = 0; i < paging->faults; i++)
		if (paging->fault[i].addr == addr)
			return true;
	return false;
}

static void end_turns(struct cp *cp)
{
	struct paging *paging = cp->paging;

	for (uint32_t i = paging->pages; i-- > 0;) {
		const uint64_t addr = paging->page[i].addr;

		if (!paging->page[i].turns)
			continue;
		page_forget(cp, &paging->page[i]);
		complete_at(cp, addr, PAGE_ANY_CPU);
	}
}

/* One of those that wait, by chance. */
static const struct page_fault *draw(struct cp *cp, uint32_t waiting)
{
	uint64_t chosen = cp_random(cp) % waiting;

	for (uint32_t i = 0; i < cp->paging->faults; i++)
		if (cp->paging->fault[i].completion == PAGE_COMPLETION_WAITS && chosen-- == 0)
			return &cp->paging->fault[i];
	return NULL;
}

/* The guest is being told of one more fault. */
static void take_turns(struct cp *cp)
{
	struct paging *paging = cp->paging;
	uint32_t waiting = 0;

	if (paging->turns_left == 0)
		return;
	/* Pages whose guest has been told that they are in: it has had time to use them. */
	for (uint32_t i = 0; i < paging->pages; i++)
		if (paging->page[i].turns && !has_fault(paging, paging->page[i].addr))
			page_set_out(cp, &paging->page[i], true);
	for (uint32_t i = 0; i < paging->faults; i++)
		waiting += paging->fault[i].completion == PAGE_COMPLETION_WAITS;
	if (waiting > paging->depth) {
		const struct page_fault *drawn = draw(cp, waiting);

		assert(drawn);
		come_in(cp, drawn->addr);
	}
	if (--paging->turns_left > 0)
		return;
	end_turns(cp);
	page_tell(cp, "turns-end", 0, 0);
}

/* Is the guest to be told?  Then @token is whose fault it is. */
static bool wants_to_know(struct cp *cp, unsigned int cpu, uint64_t psw, bool enabled,
			  uint64_t *token)
{
	const struct page_handshake *handshake = &cp->paging->handshake[cpu];
	uint8_t bytes[8];

	if (!enabled || !handshake->established ||
	    (psw & handshake->select) != handshake->compare ||
	    storage_read(cp, (int)cpu, handshake->token, bytes, sizeof(bytes)) != 0)
		return false;
	*token = get_be64(bytes);
	return true;
}

static enum cp_paging meet(struct cp *cp, struct page_out *page, unsigned int cpu, uint64_t psw,
			   bool enabled)
{
	struct fault_action action;
	struct page_fault *fault;
	uint64_t token;
	bool held;

	if (!wants_to_know(cp, cpu, psw, enabled, &token))
		return resolve(cp, page, cpu);
	action = fault_of_guest(cp, FAULT_PAGE_INITIAL, "");
	fault = action.kind == FAULT_DROP ? NULL : waiting_fault(cp->paging, page->addr, token);
	if (!fault && action.kind != FAULT_DROP)
		fault = new_fault(cp->paging);
	if (!fault)
		return resolve(cp, page, cpu);
	held = page->hold;
	fault->addr = page->addr;
	fault->token = token;
	fault->initial_token = corrupted(token, &action);
	fault->cpu = (uint16_t)cpu;
	fault->initial = held ? PAGE_INITIAL_HELD : PAGE_INITIAL_PENDING;
	page->hold = false;
	trace_number(cp, "fault", fault->id);
	if (held)
		page_tell(cp, "held", cpu, fault->id);
	else
		kick(cp, (uint16_t)cpu);
	take_turns(cp);
	return held ? CP_PAGE_HELD : CP_PAGE_INITIAL;
}

enum cp_paging cp_page_fault(struct cp *cp, unsigned int cpu, uint64_t addr, uint64_t psw,
			     bool enabled)
{
	static const char *const names[] = {
		[CP_PAGE_IN] = "in", [CP_PAGE_INITIAL] = "initial", [CP_PAGE_HELD] = "held",
	};
	enum cp_paging result = CP_PAGE_IN;
	struct page_out *page;

	assert(cpu < cp->config.cpus && !cp->system->recording);
	TRACE_INPUT(cp, page_fault, .cpu = cpu, .address = addr, .psw = psw, .enabled = enabled);
	page = page_find(cp->paging, addr);
	if (page && page->out)
		result = meet(cp, page, cpu, psw, enabled);
	trace_text(cp, "page", names[result]);
	trace_end(cp);
	return result;
}

bool cp_page_held(const struct cp *cp, unsigned int cpu)
{
	for (uint32_t i = 0; i < cp->paging->faults; i++)
		if (cp->paging->fault[i].cpu == cpu &&
		    cp->paging->fault[i].initial == PAGE_INITIAL_HELD)
			return true;
	return false;
}

bool page_release(struct cp *cp, uint32_t number)
{
	bool found = false;

	TRACE_INPUT(cp, page_release, .fault = number);
	for (uint32_t i = 0; i < cp->paging->faults; i++) {
		struct page_fault *fault = &cp->paging->fault[i];

		if (fault->id != number || fault->initial != PAGE_INITIAL_HELD)
			continue;
		fault->initial = PAGE_INITIAL_PENDING;
		kick(cp, fault->cpu);
		found = true;
	}
	trace_number(cp, "released", found);
	trace_end(cp);
	return found;
}

void page_thrash(struct cp *cp, uint32_t faults, uint32_t depth)
{
	struct paging *paging = cp->paging;

	TRACE_INPUT(cp, page_thrash, .faults = faults, .depth = depth);
	if (faults == 0)
		end_turns(cp);
	else
		for (uint32_t i = 0; i < paging->pages; i++)
			paging->page[i].turns = true;
	paging->turns_left = faults;
	paging->depth = depth;
	trace_end(cp);
}

/* The initial interruption is the CPU's own, and comes before it does anything else. */
static struct page_fault *initial_for(struct paging *paging, unsigned int cpu)
{
	for (uint32_t i = 0; i < paging->faults; i++)
		if (paging->fault[i].cpu == cpu &&
		    paging->fault[i].initial == PAGE_INITIAL_PENDING)
			return &paging->fault[i];
	return NULL;
}

static struct page_fault *completion_for(const struct cp *cp, unsigned int cpu)
{
	struct paging *paging = cp->paging;
	struct page_fault *first = NULL;

	for (uint32_t i = 0; i < paging->faults; i++) {
		struct page_fault *fault = &paging->fault[i];

		if (fault->completion == PAGE_COMPLETION_PENDING && fault->delay == 0 &&
		    (is_for_any(cp, fault->to) || fault->to == cpu) &&
		    (!first || fault->order < first->order))
			first = fault;
	}
	return first;
}

bool page_external_pending(const struct cp *cp, unsigned int cpu)
{
	return cp->paging->faults > 0 &&
	       (initial_for(cp->paging, cpu) || completion_for(cp, cpu));
}

/* One completion more has been presented: those that are delayed come nearer. */
static void hasten(struct cp *cp)
{
	struct paging *paging = cp->paging;

	for (uint32_t i = 0; i < paging->faults; i++) {
		struct page_fault *fault = &paging->fault[i];

		if (fault->completion == PAGE_COMPLETION_PENDING && fault->delay > 0 &&
		    --fault->delay == 0)
			kick(cp, fault->to);
	}
}

static void take_initial(struct cp *cp, struct page_fault *fault, struct cp_external *external)
{
	external->subcode = PAGE_EXT_INITIAL;
	external->parameter = fault->initial_token;
	fault->initial = PAGE_INITIAL_TAKEN;
	cp->paging->counts.initial++;
	page_tell(cp, "initial", fault->cpu, fault->id);
	drop_if_over(cp->paging, fault);
}

static void take_completion(struct cp *cp, unsigned int cpu, struct page_fault *fault,
			    struct cp_external *external)
{
	external->subcode = PAGE_EXT_COMPLETION;
	external->parameter = fault->completion_token;
	cp->paging->counts.completion++;
	page_tell(cp, "completion", cpu, fault->id);
	if (fault->copies > 0) {
		fault->copies--;
	} else {
		fault->completion = PAGE_COMPLETION_TAKEN;
		drop_if_over(cp->paging, fault);
	}
	hasten(cp);
}

void page_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external)
{
	struct page_fault *fault = initial_for(cp->paging, cpu);

	if (fault)
		take_initial(cp, fault, external);
	else
		take_completion(cp, cpu, completion_for(cp, cpu), external);
}
