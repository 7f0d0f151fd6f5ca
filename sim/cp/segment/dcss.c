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

bool dcss_exclusive(const struct cp *cp, const struct dcss *segment)
{
	return cp->exclusive & dcss_bit(cp, segment);
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

/* What lies in a machine's storage is the machine's. */
bool dcss_has_place(const struct cp *cp, const struct dcss *segment)
{
	if (!dcss_in_storage(cp, segment))
		return true;
	for (unsigned int i = 0; i < cp->system->machines; i++)
		if (!dcss_in_storage(cp->system->machine[i], segment))
			return true;
	return false;
}

void dcss_dirty(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	const uint64_t first = dcss_start(segment) + offset;

	assert(len > 0 && first + len - 1 <= dcss_end(segment));
	for (unsigned int i = 0; i < cp->system->machines; i++) {
		struct cp *machine = cp->system->machine[i];

		if (dcss_loaded(machine, segment) && !dcss_in_storage(machine, segment))
			machine->host.dirty(machine->host.opaque, CP_ABSOLUTE, first, len);
	}
}

static void overlay(struct cp *cp, const struct dcss *segment)
{
	assert(segment->defined);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		storage_overlay_add(cp, range->first, range->last,
				    dcss_exclusive(cp, segment) ? CP_ACCESS_WRITE :
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
