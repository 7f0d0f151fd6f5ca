// SPDX-License-Identifier: GPL-2.0-only
/*
 * The read machine of monreader.  The header says what it does.
 */
#include "mon_stream.h"

static_assert(sizeof(size_t) >= 8, "lengths of records have up to 33 bits");

/* Every address in here is an offset in the segment, so that nothing overflows. */
static u64 offset_of(const struct mon_stream *s, u32 address)
{
	MON_ASSERT(address >= s->start && address <= s->end);
	return (u64)address - s->start;
}

static u32 get_be32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

bool mon_stream_init(struct mon_stream *s, const u8 *segment, u64 start, u64 end)
{
	if (end <= start || end > 0xffffffff)
		return false;
	s->segment = segment;
	s->start = (u32)start;
	s->end = (u32)end;
	s->counts = (struct mon_counts){ 0 };
	mon_stream_open(s);
	return true;
}

void mon_stream_open(struct mon_stream *s)
{
	s->head = 0;
	s->count = 0;
	s->limit = MON_LIMIT;
	s->overflow = false;
	s->severed = false;
	s->state = MON_IDLE;
	s->defect = MON_DEFECT_NONE;
}

void mon_stream_limit(struct mon_stream *s, unsigned int granted)
{
	s->limit = MON_LIMIT;
	if (granted < MON_LIMIT)
		s->limit = granted ? granted : 1;
}

static struct mon_note *note_at(struct mon_stream *s, unsigned int number)
{
	MON_ASSERT(s->head < MON_RING && number < MON_LIMIT);
	return &s->queue[(s->head + number) % MON_RING];
}

bool mon_stream_notify(struct mon_stream *s, const struct mon_note *note)
{
	bool fits = s->count < MON_LIMIT;
	struct mon_note *newest;

	MON_ASSERT(s->limit >= 1 && s->limit <= MON_LIMIT && s->count <= MON_LIMIT);
	if (fits) {
		newest = note_at(s, s->count);
		*newest = *note;
		newest->full = false;
		/* Pairs with mon_stream_begin(): who sees the count sees the message. */
		smp_store_release(&s->count, s->count + 1);
		if (s->count < s->limit)
			return true;
	} else {
		newest = note_at(s, s->count - 1);
	}
	newest->full = true;
	s->counts.overflows++;
	return fits;
}

void mon_stream_sever(struct mon_stream *s)
{
	/* Pairs with mon_stream_begin(): who sees it sees all messages before it. */
	smp_store_release(&s->severed, true);
	s->counts.severs++;
}

enum mon_poll mon_stream_poll(const struct mon_stream *s)
{
	if (s->count || READ_ONCE(s->overflow))
		return MON_POLL_READABLE;
	return s->severed ? MON_POLL_SEVERED : MON_POLL_EMPTY;
}

static enum mon_defect area_defect(const struct mon_stream *s, const struct mon_note *note)
{
	if (!note->addressed)
		return MON_DEFECT_NO_ADDRESSES;
	if (note->last <= note->first)
		return MON_DEFECT_AREA_EMPTY;
	if (((u64)note->last - note->first + 1) % MON_ELEMENT_SIZE)
		return MON_DEFECT_AREA_LENGTH;
	if (note->first < s->start)
		return MON_DEFECT_AREA_BEGIN;
	if (note->last > s->end)
		return MON_DEFECT_AREA_END;
	return MON_DEFECT_NONE;
}

static enum mon_defect element_defect(const struct mon_stream *s)
{
	u32 first = get_be32(&s->element[4]);
	u32 last = get_be32(&s->element[8]);

	if (!s->element[0])
		return MON_DEFECT_TYPE;
	if (!s->element[1] && !s->element[2])
		return MON_DEFECT_DOMAINS;
	if (last < first)
		return MON_DEFECT_RECORDS_EMPTY;
	if (first < s->start)
		return MON_DEFECT_RECORDS_BEGIN;
	if (last > s->end)
		return MON_DEFECT_RECORDS_END;
	return MON_DEFECT_NONE;
}

/*
 * Copies the element once, whatever CP does to it meanwhile, and judges the copy.
 * The barrier keeps the compiler from looking at CP's bytes a second time.
 */
static void enter_element(struct mon_stream *s)
{
	u64 at = offset_of(s, s->queue[s->head].first) + (u64)s->index * MON_ELEMENT_SIZE;

	MON_ASSERT(s->index < s->elements);
	MON_ASSERT(at + MON_ELEMENT_SIZE <= (u64)s->end - s->start + 1);
	memcpy(s->element, s->segment + at, MON_ELEMENT_SIZE);
	barrier();
	s->from = s->element;
	s->at = 0;
	s->stop = MON_ELEMENT_SIZE;
	s->defect = element_defect(s);
	s->state = s->defect ? MON_INVALID : MON_ELEMENT;
}

static void enter_records(struct mon_stream *s)
{
	s->from = s->segment;
	s->at = offset_of(s, get_be32(&s->element[4]));
	s->stop = offset_of(s, get_be32(&s->element[8])) + 1;
	MON_ASSERT(s->at < s->stop && s->stop <= (u64)s->end - s->start + 1);
	s->state = MON_RECORDS;
}

void mon_stream_advance(struct mon_stream *s)
{
	MON_ASSERT((s->state == MON_ELEMENT || s->state == MON_RECORDS) && s->at == s->stop);
	if (s->state == MON_ELEMENT) {
		enter_records(s);
		return;
	}
	s->index++;
	if (s->index < s->elements)
		enter_element(s);
	else
		s->state = MON_COMPLETE;
}

enum mon_begin mon_stream_begin(struct mon_stream *s)
{
	const struct mon_note *note = &s->queue[s->head];
	bool severed;

	MON_ASSERT(s->state == MON_IDLE && s->head < MON_RING);
	if (s->overflow) {
		WRITE_ONCE(s->overflow, false);
		return MON_BEGIN_OVERFLOW;
	}
	/* Pairs with mon_stream_sever(); first, for no message follows a sever. */
	severed = smp_load_acquire(&s->severed);
	/* Pairs with mon_stream_notify(). */
	if (!smp_load_acquire(&s->count))
		return severed ? MON_BEGIN_SEVERED : MON_BEGIN_EMPTY;
	s->index = 0;
	s->bytes = 0;
	s->defect = area_defect(s, note);
	if (s->defect) {
		s->state = MON_INVALID;
		return MON_BEGIN_SET;
	}
	s->elements = (u32)(((u64)note->last - note->first + 1) / MON_ELEMENT_SIZE);
	enter_element(s);
	return MON_BEGIN_SET;
}

const char *mon_defect_text(enum mon_defect defect)
{
	switch (defect) {
	case MON_DEFECT_NONE:
		break;
	case MON_DEFECT_NO_ADDRESSES:
		return "the message has no data in its parameter list";
	case MON_DEFECT_AREA_EMPTY:
		return "the control area ends before it begins";
	case MON_DEFECT_AREA_LENGTH:
		return "the control area is not made of 12-byte elements";
	case MON_DEFECT_AREA_BEGIN:
		return "the control area begins before the segment";
	case MON_DEFECT_AREA_END:
		return "the control area ends behind the segment";
	case MON_DEFECT_TYPE:
		return "a control element has no type";
	case MON_DEFECT_DOMAINS:
		return "a control element names no domain";
	case MON_DEFECT_RECORDS_EMPTY:
		return "records end before they begin";
	case MON_DEFECT_RECORDS_BEGIN:
		return "records begin before the segment";
	case MON_DEFECT_RECORDS_END:
		return "records end behind the segment";
	}
	return "no defect";
}
