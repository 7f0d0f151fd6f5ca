/* SPDX-License-Identifier: MIT */
/*
 * The monitor segment of the model, and whoever reads it.
 *
 * Sets are replied to in the order in which they came, so what is free of an area
 * is one run, or two around its end.  They are placed as CP places them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model_private.h"

bool segment_open(struct model *m, char *err, size_t errlen)
{
	struct segment *s = &m->segment;
	struct area_place place[AREA_KINDS];
	const enum area_result result = area_lay_out(&m->config.area, place);

	if (result != AREA_LAID_OUT) {
		snprintf(err, errlen, result == AREA_TOO_SMALL ?
			 "a segment of %u pages is too small for four areas" :
			 "the configuration areas do not fit into the segment of %u pages",
			 m->config.area.pages);
		return false;
	}
	for (unsigned int kind = 0; kind < AREA_KINDS; kind++)
		s->ring[kind] = (struct ring){
			.base = place[kind].first + place[kind].control,
			.size = place[kind].data,
			.mca = place[kind].first,
			.elements = place[kind].control * (AREA_PAGE_SIZE / AREA_CONTROL_UNIT),
		};
	s->address = (uint64_t)m->config.segment * AREA_PAGE_SIZE;
	s->rate = m->config.reader;
	s->bytes = calloc(m->config.area.pages, AREA_PAGE_SIZE);
	if (!s->bytes)
		snprintf(err, errlen, "there is no storage for a segment of %u pages",
			 m->config.area.pages);
	return s->bytes != NULL;
}

static void reply(struct segment *s)
{
	const struct unread *oldest = &s->queue[s->head];

	assert(s->outstanding > 0 && s->ring[oldest->kind].used >= oldest->frames);
	s->ring[oldest->kind].used -= oldest->frames;
	s->head = (s->head + 1) % MAX_OUTSTANDING;
	s->outstanding--;
}

void segment_drain(struct segment *s, uint64_t ms)
{
	if (ms <= s->drained)
		return;
	/* A KB a second is a byte a millisecond. */
	s->budget += (ms - s->drained) * s->rate;
	s->drained = ms;
	while (s->outstanding > 0) {
		const uint64_t bytes = s->queue[s->head].bytes;

		if (s->rate != MODEL_AT_ONCE) {
			if (s->budget < bytes)
				return;
			s->budget -= bytes;
		}
		reply(s);
	}
	/* Who has nothing to read does not read ahead. */
	s->budget = 0;
}

/* The beginning of the oldest set in the area, which has one. */
static uint32_t oldest_start(const struct segment *s, uint32_t kind)
{
	for (uint32_t i = 0; i < s->outstanding; i++) {
		const struct unread *set = &s->queue[(s->head + i) % MAX_OUTSTANDING];

		if (set->kind == kind)
			return set->start;
	}
	assert(!"an area in use has a set");
	return 0;
}

uint32_t segment_run(const struct segment *s, uint32_t kind, bool again, uint32_t *start)
{
	const struct ring *ring = &s->ring[kind];
	uint32_t oldest;

	*start = again ? 0 : ring->next;
	if (ring->used == 0)
		return ring->size - *start;
	oldest = oldest_start(s, kind);
	if (ring->next > oldest)
		return again ? oldest : ring->size - ring->next;
	return again ? 0 : oldest - ring->next;
}

bool segment_find(const struct segment *s, uint32_t kind, uint32_t frames, uint32_t *start)
{
	return segment_run(s, kind, false, start) >= frames ||
	       segment_run(s, kind, true, start) >= frames;
}

uint8_t *segment_at(const struct segment *s, uint32_t kind, uint32_t start)
{
	return s->bytes + (size_t)(s->ring[kind].base + start) * AREA_PAGE_SIZE;
}

static void queue(struct segment *s, uint32_t kind, uint32_t start, uint32_t bytes)
{
	const uint32_t frames = (bytes + AREA_PAGE_SIZE - 1) / AREA_PAGE_SIZE;
	struct ring *ring = &s->ring[kind];

	assert(s->outstanding < MAX_OUTSTANDING && frames > 0);
	assert(start + frames <= ring->size && ring->used + frames <= ring->size);
	s->queue[(s->head + s->outstanding++) % MAX_OUTSTANDING] =
		(struct unread){ kind, start, frames, bytes };
	ring->used += frames;
	ring->next = start + frames;
	ring->next_element = (ring->next_element + 1) % ring->elements;
}

bool segment_deliver(struct model *m, uint32_t kind, uint32_t start,
		     const struct record_writer *w, struct model_set *set)
{
	struct segment *s = &m->segment;
	const struct ring *ring = &s->ring[kind];

	m->numbers++;
	if (s->outstanding == MAX_OUTSTANDING) {
		m->total.sets_lost++;
		return false;
	}
	*set = (struct model_set){
		.number = m->numbers,
		.tod = w->tod,
		.data = segment_at(s, kind, start),
		.len = w->pos,
		.start = (uint32_t)(s->address +
				    (uint64_t)(ring->base + start) * AREA_PAGE_SIZE),
		.mca_start = (uint32_t)(s->address + (uint64_t)ring->mca * AREA_PAGE_SIZE +
					ring->next_element * AREA_CONTROL_UNIT),
		.kind = kind,
		.domains = w->domains,
		/* EBCDIC: E or S. */
		.type = kind == AREA_EVENT || kind == AREA_EVENT_CONFIG ? 0xc5 : 0xe2,
	};
	queue(s, kind, start, w->pos);
	m->total.sets++;
	m->total.records += w->records;
	m->total.bytes += w->bytes;
	return true;
}
