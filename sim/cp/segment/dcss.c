/* SPDX-License-Identifier: MIT */
/* Saved segments: the table, access to pages, load and purge by the guest. */
#include "zvmlab/dcss.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dcss_private.h"
#include "smaller.h"
#include "zvmlab/event.h"
#include "zvmlab/storage.h"

#define MAX_FILEID 9999

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
		if (cp->dcss->slot[i].defined && index-- == 0)
			return &cp->dcss->slot[i];
	return NULL;
}

struct dcss *dcss_find(struct cp *cp, const char *name)
{
	struct dcss *skeleton = NULL;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->dcss->slot[i];

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
		struct dcss *segment = &cp->dcss->slot[i];

		assert(segment->defined || !segment->loaded);
		if (segment->loaded && strcmp(segment->config.name, name) == 0)
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

static uint64_t dcss_highest(const struct cp *cp)
{
	uint64_t highest = 0;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *segment = &cp->dcss->slot[i];

		if (segment->defined && dcss_end(segment) > highest)
			highest = dcss_end(segment);
	}
	return highest;
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

void *dcss_frames(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	uint64_t size = dcss_end(segment) - dcss_start(segment) + 1;
	uint64_t first = dcss_start(segment) + offset;

	assert(segment->defined);
	/* What lies in the guest's storage is the guest's: the segment has no frames there. */
	if (len == 0 || offset >= size || len > size - offset ||
	    !covered(segment, first, first + len - 1) || dcss_in_storage(cp, segment))
		return NULL;
	return storage_map(cp, CP_ABSOLUTE, first, len);
}

/* SAVESEG has been given while the guest has other pages at its address. */
static bool elsewhere(const struct dcss *segment)
{
	return segment->kept && !segment->loaded;
}

void *dcss_map(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	void *at = dcss_frames(cp, segment, offset, len);

	return at && elsewhere(segment) ? dcss_saved(cp, segment, offset) : at;
}

void dcss_dirty(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	assert(len > 0 && offset + len - 1 <= dcss_end(segment) - dcss_start(segment));
	if (!elsewhere(segment))
		cp->host.dirty(cp->host.opaque, CP_ABSOLUTE, dcss_start(segment) + offset, len);
}

struct dcss *dcss_new(struct cp *cp, const struct cp_segment_config *config, enum dcss_class cls)
{
	struct dcss_table *table = cp->dcss;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &table->slot[i];

		assert(segment->defined || (!segment->loaded && segment->users == 0));
		if (segment->defined)
			continue;
		/* As many numbers as spool files can have: the old ones are long gone. */
		table->last_fileid = (uint16_t)(table->last_fileid % MAX_FILEID + 1);
		*segment = (struct dcss){
			.config = *config, .fileid = table->last_fileid, .cls = cls,
		};
		assert(segment->fileid > 0 && segment->fileid <= MAX_FILEID);
		segment->config.file = NULL;
		segment->defined = dcss_saved_open(table, segment);
		return segment->defined ? segment : NULL;
	}
	return NULL;
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
		if (cp->dcss->slot[i].loaded)
			overlay(cp, &cp->dcss->slot[i]);
	cp->host.storage_changed(cp->host.opaque);
}

bool dcss_overlap(const struct dcss *a, const struct dcss *b)
{
	return dcss_start(a) <= dcss_end(b) && dcss_end(a) >= dcss_start(b);
}

static bool overlaps_loaded(const struct cp *cp, const struct dcss *segment)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *other = &cp->dcss->slot[i];

		if (other->loaded && dcss_overlap(segment, other))
			return true;
	}
	return false;
}

/* Has the emulator storage for every range? */
static bool has_frames(struct cp *cp, const struct dcss *segment)
{
	assert(segment->defined && segment->config.ranges > 0);
	for (unsigned int i = 0; i < segment->config.ranges; i++)
		if (!storage_map(cp, CP_ABSOLUTE, dcss_range_start(&segment->config.range[i]),
				 dcss_range_size(&segment->config.range[i])))
			return false;
	return true;
}

uint16_t dcss_load_refused(struct cp *cp, const struct dcss *segment, bool exclusive)
{
	assert(segment->defined && !segment->loaded);
	if (segment->cls == DCSS_SKELETON)
		return DCSS_RC_NOT_FOUND;
	if (!dcss_allowed(cp, segment))
		return DCSS_RC_NOT_AUTHORISED;
	for (unsigned int i = 0; i < segment->config.ranges; i++)
		if (exclusive && segment->config.range[i].type == DCSS_SC)
			return DCSS_RC_NOT_AUTHORISED;
	if (overlaps_loaded(cp, segment))
		return DCSS_RC_OVERLAP;
	return has_frames(cp, segment) ? 0 : DCSS_RC_PAGING;
}

static void tell(struct cp *cp, const struct dcss *segment, const char *what)
{
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_SEGMENT, .name = segment->config.name,
					  .text = what });
}

void dcss_undefine(struct cp *cp, struct dcss *segment)
{
	assert(segment->defined && !segment->loaded && segment->users == 0);
	dcss_saved_close(cp->dcss, segment);
	segment->defined = false;
	segment->kept = false;
}

void dcss_use(struct cp *cp, struct dcss *segment, int delta)
{
	assert(segment->defined && (delta == 1 || delta == -1));
	assert(delta > 0 || segment->users > 0);
	segment->users += (uint32_t)delta;
	if (segment->users == 0 && segment->cls == DCSS_PENDING_PURGE)
		dcss_undefine(cp, segment);
}

void dcss_load(struct cp *cp, struct dcss *segment, bool exclusive)
{
	assert(dcss_load_refused(cp, segment, exclusive) == 0);
	segment->exclusive = exclusive;
	dcss_saved_loaded(cp, segment);
	segment->loaded = true;
	dcss_use(cp, segment, 1);
	dcss_loaded_changed(cp);
	assert(storage_overlay(cp, dcss_start(segment)) != CP_ACCESS_NONE);
	tell(cp, segment, "loaded");
}

/* The guest has it no more. */
static void take_back(struct cp *cp, struct dcss *segment)
{
	assert(segment->defined && segment->loaded && segment->users > 0);
	segment->loaded = false;
	segment->exclusive = false;
	dcss_saved_purged(cp, segment);
	dcss_use(cp, segment, -1);
}

void dcss_unload(struct cp *cp, struct dcss *segment)
{
	if (!dcss_in_storage(cp, segment))
		parts_purged(cp, dcss_start(segment), dcss_end(segment));
	take_back(cp, segment);
	dcss_loaded_changed(cp);
	tell(cp, segment, "purged");
}

static void dcss_reset(struct cp *cp)
{
	bool changed = false;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->dcss->slot[i];

		if (!segment->loaded)
			continue;
		take_back(cp, segment);
		changed = true;
	}
	if (changed)
		dcss_loaded_changed(cp);
	assert(cp->overlays == 0);
}

static void dcss_fini(struct cp *cp)
{
	if (cp->dcss)
		dcss_saved_close_all(cp->dcss, CP_MAX_SEGMENTS);
	free(cp->dcss);
	cp->dcss = NULL;
}

static int dcss_init(struct cp *cp, char *err, size_t errlen)
{
	const struct cp_config *config = &cp->config;

	assert(!cp->dcss && config->segments <= CP_MAX_SEGMENTS);
	cp->dcss = calloc(1, sizeof(*cp->dcss));
	if (!cp->dcss) {
		snprintf(err, errlen, "not enough memory for the saved segments");
		return -1;
	}
	for (unsigned int i = 0; i < config->segments; i++) {
		const struct cp_segment_config *s = &config->segment[i];
		struct dcss *segment =
			dcss_new(cp, s, s->restricted ? DCSS_RESTRICTED : DCSS_ACTIVE);

		if (!segment) {
			snprintf(err, errlen, "not enough memory for the saved segments");
			dcss_fini(cp);
			return -1;
		}
		if (s->file && dcss_read_file(cp, segment, s->file, err, errlen) != 0) {
			dcss_fini(cp);
			return -1;
		}
	}
	return 0;
}

const struct cp_part dcss_part = {
	.init = dcss_init,
	.fini = dcss_fini,
	.reset = dcss_reset,
	.state = dcss_state,
	.highest = dcss_highest,
};
