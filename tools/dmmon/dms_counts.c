// SPDX-License-Identifier: MIT
/* Counters: the kernel's lines, read. */
#include "dms_counts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000u

int dms_counts_init(struct dms_counts *counts, const struct dms_region *r, size_t room)
{
	size_t bytes;

	memset(counts, 0, sizeof(*counts));
	counts->stride = DMS_COUNTERS + dms_buckets(r);
	if (__builtin_mul_overflow(room, counts->stride * sizeof(uint64_t), &bytes))
		return DMS_NO_MEMORY;
	counts->value = calloc(room ? room : 1, counts->stride * sizeof(uint64_t));
	if (!counts->value)
		return DMS_NO_MEMORY;
	counts->room = room;
	return 0;
}

void dms_counts_free(struct dms_counts *counts)
{
	free(counts->value);
	memset(counts, 0, sizeof(*counts));
}

static bool literal(const char **at, const char *end, char wanted)
{
	if (*at == end || **at != wanted)
		return false;
	(*at)++;
	return true;
}

/* Counter 9: an int, with a sign if it is below 0. */
static bool in_flight(const char **at, const char *end, uint64_t *value)
{
	bool below = literal(at, end, '-');

	if (!dms_number(at, end, value) || *value > (uint64_t)INT_MAX + below)
		return false;
	if (below)
		*value = -*value;
	return true;
}

/* The numbers behind the area, to the end of the line. */
static bool read_numbers(const char *at, const char *end, uint64_t *row, size_t stride)
{
	for (size_t i = 0; i < DMS_COUNTERS; i++)
		if (!literal(&at, end, ' ') ||
		    !(i == DMS_IN_FLIGHT ? in_flight : dms_number)(&at, end, &row[i]))
			return false;
	for (size_t i = DMS_COUNTERS; i < stride; i++)
		if (!literal(&at, end, i == DMS_COUNTERS ? ' ' : ':') ||
		    !dms_number(&at, end, &row[i]))
			return false;
	return at == end;
}

/* One line, [@at, @end) without its line break, that is to be about area @index. */
static int read_line(const struct dms_region *r, uint64_t index, const char *at, const char *end,
		     uint64_t *row, size_t stride)
{
	uint64_t start, step, length = dms_area_length(r, index);

	if (!dms_number(&at, end, &start) || !literal(&at, end, '+') ||
	    !dms_number(&at, end, &step))
		return DMS_BAD_LINE;
	/* A kernel that prints what the document promises is right, too. */
	if (start != dms_area_start(r, index) || (step != r->step && step != length))
		return DMS_BAD_AREA;
	return read_numbers(at, end, row, stride) ? 0 : DMS_BAD_LINE;
}

int dms_counts_read(struct dms_counts *counts, const struct dms_region *r, const char *text,
		    size_t len)
{
	uint64_t areas = dms_area_count(r->length, r->step);
	const char *end = text + len, *next;

	for (const char *at = text; at < end; at = next + 1) {
		int error;

		next = memchr(at, '\n', (size_t)(end - at));
		/* The kernel ends every line, unless there was no room for all of it. */
		if (!next)
			return DMS_BAD_LINE;
		if (counts->count == counts->room || counts->first >= areas ||
		    counts->count >= areas - counts->first)
			return DMS_TOO_MANY;
		error = read_line(r, counts->first + counts->count, at, next,
				  dms_row(counts, counts->count), counts->stride);
		if (error)
			return error;
		counts->count++;
	}
	return 0;
}

uint64_t dms_time_ns(const struct dms_region *r, uint64_t time)
{
	if (r->precise)
		return time;
	return time > UINT64_MAX / NS_PER_MS ? UINT64_MAX : time * NS_PER_MS;
}
