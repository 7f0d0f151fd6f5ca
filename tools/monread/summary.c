/* SPDX-License-Identifier: MIT */
/* monread: a line for each set. */
#include "sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct summary {
	struct sink sink;
	FILE *out;
	uint64_t records, bytes, tod;
	unsigned int samples, events;	/* elements */
	unsigned int lost, overflows;
};

static struct summary *summary_of(struct sink *sink)
{
	return (struct summary *)sink;
}

static void forget(struct summary *s)
{
	s->records = 0;
	s->bytes = 0;
	s->tod = 0;
	s->samples = 0;
	s->events = 0;
}

static void add_record(struct summary *s, const struct monrec_record *record)
{
	s->records++;
	s->bytes += record->len;
	/* Whatever is last: the end of an interval, if there is one. */
	s->tod = record->tod;
}

static int print_set(struct summary *s, uint64_t set)
{
	char time[TOD_TEXT_SIZE];

	fprintf(s->out, "set %" PRIu64 ", %s: %s%s%s, %" PRIu64 " records, %" PRIu64 " bytes", set,
		tod_text(s->tod, time), s->samples ? "samples" : "",
		s->samples && s->events ? " and " : "", s->events ? "events" : "", s->records,
		s->bytes);
	if (s->lost || s->overflows)
		fprintf(s->out, "; before it %u lost, %u overflows", s->lost, s->overflows);
	fputc('\n', s->out);
	s->lost = 0;
	s->overflows = 0;
	return fflush(s->out) ? -errno : 0;
}

static int summary_item(struct sink *sink, const struct monrec_item *item)
{
	struct summary *s = summary_of(sink);

	switch (item->kind) {
	case MONREC_SET:
		forget(s);
		return 0;
	case MONREC_ELEMENT:
		s->samples += item->element.type == MONREC_TYPE_SAMPLE;
		s->events += item->element.type == MONREC_TYPE_EVENT;
		return 0;
	case MONREC_RECORD:
		add_record(s, &item->record);
		return 0;
	case MONREC_SET_END:
		return print_set(s, item->at.set);
	case MONREC_SET_LOST:
		s->lost++;
		return 0;
	case MONREC_OVERFLOW:
		s->overflows++;
		return 0;
	default:
		return 0;
	}
}

static int nothing(struct sink *sink)
{
	(void)sink;
	return 0;
}

static int summary_close(struct sink *sink)
{
	free(summary_of(sink));
	return 0;
}

struct sink *summary_sink(FILE *out)
{
	static const struct sink_ops ops = { summary_item, nothing, nothing, summary_close, false };
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->sink.ops = &ops;
	s->out = out;
	return &s->sink;
}
