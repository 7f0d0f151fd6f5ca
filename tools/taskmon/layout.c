/* SPDX-License-Identifier: MIT */
/* The offsets of struct taskstats' fields in each of its layouts. */
#include <assert.h>

#include "stats.h"

/* Size of the version that aligned its fields, 4, and of 15, with eight longest and shortest. */
#define ALIGNED_SIZE 272u
#define WAITS_INSIDE_SIZE 560u

/* Offsets in the normal layout behind the beginning, and behind the name and the policy. */
#define BEHIND_BEGIN 16u
#define BEHIND_POLICY 120u
#define BEHIND_BTIME 144u

/*
 * Of each wait, in the order of their longest and shortest at the end of version 16: where these
 * are in version 15, in offsets of the normal layout: behind the total.
 */
static const size_t inserted[] = { 32, 48, 64, 328, 344, 368, 416, 432 };
#define PAIR 16u			/* the longest and the shortest */
#define FIRST_PAIR 432u			/* in the normal layout */
#define FIRST_TIME 560u

const uint16_t stats_normal_offsets[STATS_FIELDS] = {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, needs, \
	      meaning) \
	[STATS_##id] = (offset),
#include "fields.def"
#undef FIELD
};

enum stats_layout stats_layout_of(unsigned int version, size_t size)
{
	if (version <= 1)
		return STATS_FIRST;
	/* The alignment added 8 bytes, so the size tells it from what was before. */
	if (version <= 4 && size < ALIGNED_SIZE)
		return STATS_UNALIGNED;
	if (version == 15 || (version == 14 && size >= WAITS_INSIDE_SIZE))
		return STATS_WAITS_INSIDE;
	return STATS_NORMAL;
}

static size_t waits_inside(size_t offset)
{
	size_t before = 0;

	if (offset >= FIRST_TIME)
		return SIZE_MAX;
	if (offset >= FIRST_PAIR) {
		size_t wait = (offset - FIRST_PAIR) / PAIR;

		return inserted[wait] + wait * PAIR + (offset - FIRST_PAIR) % PAIR;
	}
	/* The last one is inserted at the first pair: it ends this. */
	while (inserted[before] <= offset)
		before++;
	return offset + before * PAIR;
}

size_t stats_offset_in(enum stats_layout layout, enum stats_field field)
{
	size_t offset;

	assert(field < STATS_FIELDS);
	offset = stats_normal_offsets[field];
	switch (layout) {
	case STATS_FIRST:
		if (field == STATS_VERSION)
			return offset;
		return offset < BEHIND_BEGIN ? SIZE_MAX : offset - 8;
	case STATS_UNALIGNED:
		if (offset < BEHIND_POLICY)
			return offset;
		return offset < BEHIND_BTIME ? offset - 4 : offset - 8;
	case STATS_WAITS_INSIDE:
		return waits_inside(offset);
	case STATS_NORMAL:
	case STATS_LAYOUTS:
		break;
	}
	return offset;
}
