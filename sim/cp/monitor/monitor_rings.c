/* SPDX-License-Identifier: MIT */
/* The lists of pieces, made again from a loaded image. */
#include "monitor_private.h"

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
