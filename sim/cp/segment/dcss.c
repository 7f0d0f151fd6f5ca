/* SPDX-License-Identifier: MIT */
/* Saved segments: the table, and access to pages. */
#include "zvmlab/dcss.h"

#include <string.h>

#include "dcss_private.h"
#include "zvmlab/storage.h"

uint64_t dcss_start(const struct dcss *segment)
{
	assert(segment->config.ranges > 0);
	return dcss_range_start(&segment->config.range[0]);
}

uint64_t dcss_end(const struct dcss *segment)
{
	const struct cp_segment_range *last = &segment->config.range[segment->config.ranges - 1];

	assert(segment->config.ranges > 0);
	return dcss_range_start(last) + dcss_range_size(last) - 1;
}

struct dcss *dcss_at(struct cp *cp, unsigned int index)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++)
		if (cp->system->dcss->slot[i].defined && index-- == 0)
			return &cp->system->dcss->slot[i];
	return NULL;
}

bool dcss_loaded(const struct cp *cp, const struct dcss *segment)
{
	return cp->loaded & dcss_bit(cp, segment);
}

struct dcss *dcss_find(struct cp *cp, const char *name)
{
	struct dcss *skeleton = NULL;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->system->dcss->slot[i];

		if (!segment->defined || segment->cls == DCSS_PENDING_PURGE ||
		    strcmp(segment->config.name, name) != 0)
			continue;
		if (segment->cls != DCSS_SKELETON)
			return segment;
		skeleton = segment;
	}
	return skeleton;
}

struct dcss *dcss_find_loaded(struct cp *cp, const char *name)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->system->dcss->slot[i];

		assert(segment->defined || segment->loaders == 0);
		if (dcss_loaded(cp, segment) && strcmp(segment->config.name, name) == 0)
			return segment;
	}
	return NULL;
}

bool dcss_allowed(const struct cp *cp, const struct dcss *segment)
{
	assert(segment->defined);
	if (!segment->config.restricted)
		return true;
	for (unsigned int i = 0; i < cp->config.namesaves; i++)
		if (strcmp(cp->config.namesave[i], segment->config.name) == 0)
			return true;
	return false;
}

bool dcss_in_storage(const struct cp *cp, const struct dcss *segment)
{
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		uint64_t start = dcss_range_start(&segment->config.range[i]);
		uint64_t size = dcss_range_size(&segment->config.range[i]);

		if (storage_overlaps(cp, start, start + size - 1))
			return true;
	}
	return false;
}

enum cp_access dcss_type_access(enum dcss_type type)
{
	switch (type) {
	case DCSS_SR:
	case DCSS_ER:
	case DCSS_SC:
		return CP_ACCESS_READ;
	case DCSS_SW:
	case DCSS_EW:
	case DCSS_SN:
	case DCSS_EN:
		break;
	}
	return CP_ACCESS_WRITE;
}

/* Is every byte from @first to @last in a range of the segment? */
static bool covered(const struct dcss *segment, uint64_t first, uint64_t last)
{
	assert(first <= last);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		uint64_t start = dcss_range_start(&segment->config.range[i]);
		uint64_t size = dcss_range_size(&segment->config.range[i]);

		if (first < start)
			return false;
		if (last - start < size)
			return true;
		if (first - start < size)
			first = start + size;
	}
	return false;
}

/* A machine in which the segment has frames: what lies in a machine's storage is the machine's. */
static struct cp *frames_by(struct cp *cp, const struct dcss *segment)
{
	if (!dcss_in_storage(cp, segment))
		return cp;
	for (unsigned int i = 0; i < cp->system->machines; i++)
		if (!dcss_in_storage(cp->system->machine[i], segment))
			return cp->system->machine[i];
	return NULL;
}

void *dcss_frames(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	uint64_t size = dcss_end(segment) - dcss_start(segment) + 1;
	uint64_t first = dcss_start(segment) + offset;

	assert(segment->defined);
	cp = frames_by(cp, segment);
	if (!cp || len == 0 || offset >= size || len > size - offset ||
	    !covered(segment, first, first + len - 1))
		return NULL;
	return storage_map(cp, CP_ABSOLUTE, first, len);
}

static void overlay(struct cp *cp, const struct dcss *segment)
{
	assert(segment->defined);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		storage_overlay_add(cp, range->first, range->last,
				    segment->exclusive ? CP_ACCESS_WRITE :
							 dcss_type_access(range->type));
	}
}

void dcss_loaded_changed(struct cp *cp)
{
	storage_overlay_clear(cp);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++)
		if (dcss_loaded(cp, &cp->system->dcss->slot[i]))
			overlay(cp, &cp->system->dcss->slot[i]);
	cp->host.storage_changed(cp->host.opaque);
}

bool dcss_overlap(const struct dcss *a, const struct dcss *b)
{
	return dcss_start(a) <= dcss_end(b) && dcss_end(a) >= dcss_start(b);
}
