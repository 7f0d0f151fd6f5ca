/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "smaller.h"

enum { MTREND = 11 };

static bool begins_set(const struct selection *s, const struct monrec_item *item)
{
	return item->kind == MONREC_SET ||
	       (s->saved && item->kind == MONREC_ELEMENT && item->at.element > 1);
}

static bool ends_set(const struct monrec_item *item)
{
	return item->kind == MONREC_SET_END || item->kind == MONREC_SET_LOST;
}

static struct selection_last *last_of(struct selection *s, const struct monrec_item *item)
{
	return &s->last[item->element.type == MONREC_TYPE_EVENT];
}

/* The record's set is taken, or why it is not. */
static enum selected judge(struct selection *s, const struct monrec_item *item)
{
	const uint64_t tod = item->record.tod;
	struct selection_last *last = last_of(s, item);

	s->first = s->first ? smaller(s->first, tod) : tod;
	s->end = larger(s->end, tod);
	if (tod < s->span.from)
		return SELECTED_EARLIER;
	if (s->span.to && tod >= s->span.to)
		return s->saved ? SELECTED_NOT : SELECTED_BEHIND;
	if (s->several && tod <= last->begin) {
		s->overlap++;
		s->overlap_until = larger(s->overlap_until, tod);
		return SELECTED_NOT;
	}
	last->tod = tod;
	s->sets++;
	return SELECTED;
}

static void say_gap(const struct selection *s, uint64_t tod)
{
	char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];

	if (s->interval && s->sample && tod > s->sample &&
	    tod - s->sample > s->interval + s->interval / 2)
		fprintf(stderr, "monread: %s: samples are missing from %s, where the files before end, "
			"to %s\n", s->name, clock_zone_text(s->sample, from), clock_zone_text(tod, to));
}

/* The end of a sample tells how far apart samples are. */
static void note_sample(struct selection *s, uint64_t tod)
{
	if (s->new_file && s->several)
		say_gap(s, tod);
	else if (s->sample && tod > s->sample)
		s->interval = tod - s->sample;
	s->new_file = false;
	s->sample = tod;
}

static enum selected take(struct selection *s, const struct monrec_item *item)
{
	if (item->kind == MONREC_RECORD && item->record.domain == 1 &&
	    item->record.number == MTREND && item->element.type != MONREC_TYPE_EVENT)
		note_sample(s, item->record.tod);
	if (ends_set(item))
		s->state = SELECTION_NONE;
	return SELECTED;
}

static enum selected skip(struct selection *s, const struct monrec_item *item)
{
	if (ends_set(item)) {
		s->state = SELECTION_NONE;
		/* It ends the elements before, too, of which some may have been taken. */
		return s->saved ? SELECTED : SELECTED_NOT;
	}
	return s->skipped;
}

static void drop_waiting(struct selection *s)
{
	struct held *held;

	while ((held = hold_take(&s->waiting)))
		free(held);
}

/* A set without a record has no time: it is taken. */
static enum selected wait(struct selection *s, const struct monrec_item *item)
{
	enum selected judged;

	if (item->kind != MONREC_RECORD && !ends_set(item) && hold_add(&s->waiting, item))
		return SELECTED_LATER;
	judged = item->kind == MONREC_RECORD ? judge(s, item) : SELECTED;
	if (judged == SELECTED) {
		s->state = SELECTION_TAKES;
		return take(s, item);
	}
	drop_waiting(s);
	s->skipped = judged == SELECTED_BEHIND ? SELECTED_NOT : judged;
	s->state = SELECTION_SKIPS;
	return judged;
}

enum selected selection_item(struct selection *s, const struct monrec_item *item)
{
	const bool ours = item->kind != MONREC_AGAIN && item->kind != MONREC_ERROR &&
			  item->kind != MONREC_OVERFLOW;

	if (!ours || (!s->several && !s->span.from && !s->span.to))
		return SELECTED;
	if (begins_set(s, item))
		s->state = SELECTION_WAITS;
	switch (s->state) {
	case SELECTION_WAITS:
		return wait(s, item);
	case SELECTION_TAKES:
		return take(s, item);
	case SELECTION_SKIPS:
		return skip(s, item);
	default:
		return SELECTED;
	}
}

void selection_next_file(struct selection *s, const char *name)
{
	char until[CLOCK_TEXT_SIZE];

	drop_waiting(s);
	s->state = SELECTION_NONE;
	if (s->overlap)
		fprintf(stderr, "monread: %s: %" PRIu64 " set%s until %s left out: the files before "
			"have that time, too\n", s->name, s->overlap, s->overlap == 1 ? "" : "s",
			clock_zone_text(s->overlap_until, until));
	for (unsigned int i = 0; i < 2; i++)
		s->last[i].begin = larger(s->last[i].begin, s->last[i].tod);
	s->overlap = 0;
	s->overlap_until = 0;
	s->new_file = true;
	s->name = name;
}

bool selection_end(struct selection *s)
{
	char first[CLOCK_TEXT_SIZE], end[CLOCK_TEXT_SIZE];

	selection_next_file(s, s->name);
	if (s->sets || (!s->span.from && !s->span.to))
		return true;
	if (s->first)
		fprintf(stderr, "monread: no set is of the time of --from and --to: those read are of %s "
			"to %s\n", clock_zone_text(s->first, first), clock_zone_text(s->end, end));
	else
		fputs("monread: no set has a record, whose time could be that of --from and --to\n",
		      stderr);
	return false;
}
