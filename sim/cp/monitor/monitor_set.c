/* SPDX-License-Identifier: MIT */
/* Data sets: slots, room in the segment, storing elements and their control area. */
#include <string.h>

#include "monitor_private.h"
#include "bytes.h"
#include "zvmlab/trace.h"

/* MCE: type, domains, byte 3, first and last byte of the records. */
enum { MCE_TYPE = 0, MCE_DOMAINS = 1, MCE_BYTE3 = 3, MCE_START = 4, MCE_END = 8 };

struct mon_set *mon_set_new(struct monitor *m, enum mon_kind kind)
{
	const uint64_t number = m->last_number + 1;

	assert(kind < MON_KINDS);
	for (uint32_t i = 0; i < MON_MAX_SETS; i++) {
		struct mon_set *set = &m->set[(number + i) % MON_MAX_SETS];

		if (set->number != 0)
			continue;
		*set = (struct mon_set){ .number = number, .kind = kind, .held = true };
		m->last_number = number;
		return set;
	}
	return NULL;
}

struct mon_set *mon_set_reserve(struct monitor *m, enum mon_kind kind, uint32_t frames,
				unsigned int mces)
{
	const uint32_t unit = m->area[kind].ring[MON_CONTROL].unit;
	struct mon_set *set;

	assert(mces > 0 && mces <= MON_MAX_MCES && m->segment);
	set = mon_set_new(m, kind);
	if (!set)
		return NULL;
	if (!mon_piece_take(m, set, MON_DATA, frames) ||
	    !mon_piece_take(m, set, MON_CONTROL, (mces * MCE_SIZE + unit - 1) / unit)) {
		mon_piece_give(m, set, MON_DATA);
		set->number = 0;
		return NULL;
	}
	return set;
}

void mon_set_release(struct cp *cp, struct mon_set *set)
{
	assert(set->number != 0 && set->pending == 0 && !set->held);
	mon_piece_give(cp->system->monitor, set, MON_DATA);
	mon_piece_give(cp->system->monitor, set, MON_CONTROL);
	set->number = 0;
}

/* Where an element that may begin at @from does begin. */
static uint64_t place(uint64_t from, const struct mon_element *element)
{
	const uint64_t start = from - from % CP_PAGE_SIZE + element->phase;

	assert(element->phase < CP_PAGE_SIZE);
	return start < from ? start + CP_PAGE_SIZE : start;
}

uint64_t mon_set_frames(const struct mon_element *elements, unsigned int count)
{
	uint64_t end = 0;

	for (unsigned int i = 0; i < count; i++)
		end = place(end, &elements[i]) + elements[i].len;
	return (end + CP_PAGE_SIZE - 1) / CP_PAGE_SIZE;
}

static uint64_t piece_offset(const struct monitor *m, const struct mon_set *set, unsigned int which)
{
	const struct mon_ring *ring = &m->area[set->kind].ring[which];

	assert(set->number != 0 && set->piece[which].len > 0);
	assert(set->piece[which].len <= ring->size &&
	       set->piece[which].start <= ring->size - set->piece[which].len);
	return ring->base + (uint64_t)set->piece[which].start * ring->unit;
}

static void store_element(struct cp *cp, uint64_t addr, uint8_t *to,
			  const struct mon_element *element, const struct fault_action *fault)
{
	assert(element->data && element->len > 0);
	memcpy(to, element->data, element->len);
	if (fault->kind == FAULT_CORRUPT)
		to[fault->offset % element->len] ^= (uint8_t)fault->value;
	/* Hashing whole sets would slow down a CP that is only watched. */
	if (trace_full(cp))
		trace_access(cp, true, addr, to, element->len);
}

bool mon_set_store(struct cp *cp, struct mon_set *set, const struct mon_element *elements,
		   unsigned int count)
{
	struct monitor *m = cp->system->monitor;
	const uint64_t data = piece_offset(m, set, MON_DATA);
	const uint64_t control = piece_offset(m, set, MON_CONTROL);
	const uint64_t data_len = (uint64_t)set->piece[MON_DATA].len * CP_PAGE_SIZE;
	const uint32_t base = (uint32_t)dcss_start(m->segment);
	uint8_t *to = dcss_map(cp, m->segment, data, data_len);
	uint8_t *mce = dcss_map(cp, m->segment, control, count * MCE_SIZE);
	const struct fault_call call = {
		.path = FAULT_ANY_PATH, .user = "", .name = m->segment->config.name,
	};
	struct fault_action fault;
	uint64_t at = 0;

	assert(set->held && count > 0 && count <= MON_MAX_MCES);
	if (!to || !mce)
		return false;
	fault = fault_check(cp, FAULT_SEGMENT_CONTENT, &call);
	for (unsigned int i = 0; i < count; i++, mce += MCE_SIZE) {
		at = place(at, &elements[i]);
		assert(at + elements[i].len <= data_len);
		if (fault.kind != FAULT_DROP)
			store_element(cp, base + data + at, to + at, &elements[i], &fault);
		mce[MCE_TYPE] = elements[i].type;
		put_be16(mce + MCE_DOMAINS, elements[i].domains);
		mce[MCE_BYTE3] = elements[i].byte3;
		put_be32(mce + MCE_START, (uint32_t)(base + data + at));
		at += elements[i].len;
		put_be32(mce + MCE_END, (uint32_t)(base + data + at - 1));
		if (trace_full(cp))
			trace_access(cp, true, base + control + i * MCE_SIZE, mce, MCE_SIZE);
	}
	dcss_dirty(cp, m->segment, data, data_len);
	dcss_dirty(cp, m->segment, control, count * MCE_SIZE);
	set->mca_start = (uint32_t)(base + control);
	set->mca_end = set->mca_start + count * MCE_SIZE - 1;
	return true;
}

bool monitor_set(const struct cp *cp, uint64_t number, struct mon_set_info *out)
{
	const struct monitor *m = cp->system->monitor;

	for (uint32_t i = 0; number != 0 && i < MON_MAX_SETS; i++) {
		const struct mon_set *set = &m->set[(number + i) % MON_MAX_SETS];

		if (set->number != number)
			continue;
		*out = (struct mon_set_info){
			.number = number, .kind = set->kind,
			.mca_start = set->mca_start, .mca_end = set->mca_end,
		};
		for (unsigned int u = 0; u < MON_MAX_USERS; u++)
			out->waiting += set->unanswered[u] > 0;
		return true;
	}
	return false;
}

bool monitor_area(const struct cp *cp, enum mon_kind kind, struct mon_area_info *out)
{
	const struct monitor *m = cp->system->monitor;
	const struct mon_ring *ring;

	if (!m->segment || (unsigned int)kind >= MON_KINDS)
		return false;
	ring = &m->area[kind].ring[MON_DATA];
	*out = (struct mon_area_info){
		.start = dcss_start(m->segment) + ring->base,
		.size = (uint64_t)ring->size * ring->unit,
		.used = (uint64_t)ring->used * ring->unit,
	};
	return true;
}
