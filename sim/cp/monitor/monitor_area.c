/* SPDX-License-Identifier: MIT */
/*
 * The segment: its layout, and the pieces of each area.
 *
 * An area is control frames followed by data frames, so that a control area
 * never directly follows the records it describes (Linux's reader would take
 * the end of such records for the control element).  Pieces are given out in
 * the order of addresses, beginning again at the low end; whatever has been
 * given back out of order is found on the way round.
 */
#include "monitor_private.h"

#define MAX_ADDRESS 0x7fffffffu

static void lay_area(struct monitor *m, enum mon_kind kind, const struct area_place *place)
{
	assert(place->control > 0 && place->data > 0);
	m->area[kind].ring[MON_CONTROL] = (struct mon_ring){
		.base = (uint64_t)place->first * CP_PAGE_SIZE,
		.unit = MON_CONTROL_UNIT,
		.size = place->control * (CP_PAGE_SIZE / MON_CONTROL_UNIT),
		.after = MON_NO_SET,
	};
	m->area[kind].ring[MON_DATA] = (struct mon_ring){
		.base = (uint64_t)(place->first + place->control) * CP_PAGE_SIZE,
		.unit = CP_PAGE_SIZE,
		.size = place->data,
		.after = MON_NO_SET,
	};
}

enum mon_refusal mon_layout(struct cp *cp, const struct dcss *segment)
{
	struct monitor *m = cp->system->monitor;
	const uint64_t bytes = dcss_end(segment) + 1 - dcss_start(segment);
	const struct area_wish wish = {
		.pages = (uint32_t)(bytes / CP_PAGE_SIZE),
		.partition = m->settings[true].partition_pages,
		.sample_config = m->settings[false].config_pages,
		.event_config = m->settings[true].config_pages,
		.usual_sample_config = MON_SAMPLE_CONFIG_PAGES,
	};
	struct area_place place[AREA_KINDS];
	enum area_result result;

	assert(mon_idle(m));
	if (dcss_end(segment) > MAX_ADDRESS)
		return MON_BAD_SEGMENT;
	result = area_lay_out(&wish, place);
	if (result != AREA_LAID_OUT)
		return result == AREA_TOO_SMALL ? MON_TOO_SMALL : MON_CONFIG_TOO_LARGE;
	for (unsigned int kind = 0; kind < MON_KINDS; kind++)
		lay_area(m, kind, &place[kind]);
	return MON_ACCEPTED;
}

bool mon_idle(const struct monitor *m)
{
	for (unsigned int kind = 0; kind < MON_KINDS; kind++)
		for (unsigned int which = 0; which < MON_RINGS; which++)
			if (m->area[kind].ring[which].used > 0)
				return false;
	return true;
}

uint32_t mon_data_capacity(const struct monitor *m, enum mon_kind kind)
{
	const struct mon_ring *ring = &m->area[kind].ring[MON_DATA];

	assert((unsigned int)kind < MON_KINDS);
	return ring->size * ring->unit;
}

static bool fit(uint32_t from, uint32_t to, uint32_t units, uint32_t *start)
{
	if (from > to || to - from < units)
		return false;
	*start = from;
	return true;
}

/* Look in the gap behind @piece, from @from on; the last piece's gap goes on at the low end. */
static bool fit_gap(const struct mon_ring *ring, const struct mon_piece *piece,
		    const struct mon_piece *next, uint32_t from, uint32_t units, uint32_t *start)
{
	const bool last = next->start <= piece->start;

	assert(units > 0 && piece->len > 0 && next->len > 0);
	if (!last)
		return fit(from, next->start, units, start);
	if (from >= piece->start + piece->len && fit(from, ring->size, units, start))
		return true;
	return fit(from < next->start ? from : 0, next->start, units, start);
}

/* Return: the slot behind whose piece the new one goes, MON_NO_SET if there is no room. */
static uint16_t search(const struct monitor *m, const struct mon_ring *ring, unsigned int which,
		       uint32_t units, uint32_t *start)
{
	uint16_t at = ring->after;
	uint32_t from = ring->next;

	const struct mon_piece *piece;

	assert(at != MON_NO_SET);
	/* Once around the ring of pieces; the gap it began in has another part before ring->next. */
	do {
		piece = &m->set[at].piece[which];
		if (fit_gap(ring, piece, &m->set[piece->next].piece[which], from, units, start))
			return at;
		at = piece->next;
		piece = &m->set[at].piece[which];
		from = piece->start + piece->len;
	} while (at != ring->after);
	return fit_gap(ring, piece, &m->set[piece->next].piece[which], from, units, start) ?
	       at : MON_NO_SET;
}

static void link_after(struct monitor *m, struct mon_set *set, unsigned int which, uint16_t before)
{
	const uint16_t self = mon_set_index(m, set);
	struct mon_piece *piece = &set->piece[which];

	if (before == MON_NO_SET) {
		piece->prev = piece->next = self;
		return;
	}
	assert(before < MON_MAX_SETS && before != self);
	piece->prev = before;
	piece->next = m->set[before].piece[which].next;
	m->set[piece->next].piece[which].prev = self;
	m->set[before].piece[which].next = self;
}

bool mon_piece_take(struct monitor *m, struct mon_set *set, unsigned int which, uint32_t units)
{
	struct mon_ring *ring = &m->area[set->kind].ring[which];
	struct mon_piece *piece = &set->piece[which];
	uint16_t before = MON_NO_SET;
	uint32_t start;

	assert(units > 0 && piece->len == 0);
	if (units > ring->size - ring->used)
		return false;
	if (ring->after == MON_NO_SET) {
		start = units <= ring->size - ring->next ? ring->next : 0;
	} else {
		before = search(m, ring, which, units, &start);
		if (before == MON_NO_SET)
			return false;
	}
	assert(start <= ring->size && units <= ring->size - start);
	link_after(m, set, which, before);
	piece->start = start;
	piece->len = units;
	ring->used += units;
	ring->after = mon_set_index(m, set);
	ring->next = start + units;
	return true;
}

void mon_piece_trim(struct monitor *m, struct mon_set *set, unsigned int which, uint32_t units)
{
	struct mon_ring *ring = &m->area[set->kind].ring[which];
	struct mon_piece *piece = &set->piece[which];

	assert(units > 0 && units <= piece->len);
	ring->used -= piece->len - units;
	piece->len = units;
	if (ring->after == mon_set_index(m, set))
		ring->next = piece->start + units;
}

void mon_piece_give(struct monitor *m, struct mon_set *set, unsigned int which)
{
	struct mon_ring *ring = &m->area[set->kind].ring[which];
	struct mon_piece *piece = &set->piece[which];
	const uint16_t self = mon_set_index(m, set);

	if (piece->len == 0)
		return;
	assert(ring->used >= piece->len);
	ring->used -= piece->len;
	if (ring->after == self)
		ring->after = piece->prev == self ? MON_NO_SET : piece->prev;
	m->set[piece->prev].piece[which].next = piece->next;
	m->set[piece->next].piece[which].prev = piece->prev;
	*piece = (struct mon_piece){ .len = 0 };
	assert((ring->used == 0) == (ring->after == MON_NO_SET));
}

/* Slots with a piece of this ring in the order of addresses.  Return: how many. */
static unsigned int sorted(const struct monitor *m, enum mon_kind kind, unsigned int which,
			   uint16_t order[MON_MAX_SETS])
{
	unsigned int count = 0;

	for (uint16_t slot = 0; slot < MON_MAX_SETS; slot++) {
		const struct mon_set *set = &m->set[slot];
		unsigned int at;

		if (set->number == 0 || set->kind != kind || set->piece[which].len == 0)
			continue;
		for (at = count++; at > 0; at--) {
			if (m->set[order[at - 1]].piece[which].start <= set->piece[which].start)
				break;
			order[at] = order[at - 1];
		}
		order[at] = slot;
	}
	assert(count <= MON_MAX_SETS);
	return count;
}

static bool rebuild(struct monitor *m, enum mon_kind kind, unsigned int which)
{
	struct mon_ring *ring = &m->area[kind].ring[which];
	uint16_t order[MON_MAX_SETS];
	const unsigned int count = sorted(m, kind, which, order);
	uint32_t end = 0;

	assert((unsigned int)kind < MON_KINDS && which < MON_RINGS);
	ring->used = 0;
	ring->after = count > 0 ? order[count - 1] : MON_NO_SET;
	for (unsigned int i = 0; i < count; i++) {
		struct mon_piece *piece = &m->set[order[i]].piece[which];

		if (piece->start < end || piece->start > ring->size ||
		    piece->len > ring->size - piece->start)
			return false;
		end = piece->start + piece->len;
		piece->prev = order[(i + count - 1) % count];
		piece->next = order[(i + 1) % count];
		ring->used += piece->len;
		if (piece->start >= ring->next)
			continue;
		if (end > ring->next)
			return false;
		ring->after = order[i];
	}
	assert(ring->used <= ring->size);
	return true;
}

bool mon_rings_rebuild(struct monitor *m, enum mon_kind kind)
{
	for (unsigned int which = 0; which < MON_RINGS; which++)
		if (!rebuild(m, kind, which))
			return false;
	return true;
}
