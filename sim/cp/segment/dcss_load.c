/* SPDX-License-Identifier: MIT */
/* Saved segments: slots of the table, load and purge by the guest. */

#include "dcss_private.h"
#include "zvmlab/event.h"
#include "zvmlab/storage.h"

#define MAX_FILEID 9999

struct dcss *dcss_new(struct dcss_table *table, const struct cp_segment_config *config,
		      enum dcss_class cls)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &table->slot[i];

		assert(segment->defined || (segment->loaders == 0 && segment->users == 0));
		if (segment->defined)
			continue;
		/* As many numbers as spool files can have: the old ones are long gone. */
		table->last_fileid = (uint16_t)(table->last_fileid % MAX_FILEID + 1);
		*segment = (struct dcss){
			.config = *config, .fileid = table->last_fileid, .cls = cls,
		};
		assert(segment->fileid > 0 && segment->fileid <= MAX_FILEID);
		segment->config.file = NULL;
		segment->defined = dcss_pages_open(&table->saved[i], segment, true);
		return segment->defined ? segment : NULL;
	}
	return NULL;
}

static bool overlaps_loaded(const struct cp *cp, const struct dcss *segment)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *other = &cp->system->dcss->slot[i];

		if (dcss_loaded(cp, other) && dcss_overlap(segment, other))
			return true;
	}
	return false;
}

/* Has the emulator addresses for every range? */
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
	assert(segment->defined && !dcss_loaded(cp, segment));
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
	assert(segment->defined && segment->loaders == 0 && segment->users == 0);
	dcss_pages_close(&cp->system->dcss->saved[dcss_slot(cp, segment)], segment);
	segment->defined = false;
}

void dcss_use(struct cp *cp, struct dcss *segment, int delta)
{
	assert(segment->defined && (delta == 1 || delta == -1));
	assert(delta > 0 || segment->users > 0);
	segment->users += (uint32_t)delta;
	if (segment->users == 0 && segment->cls == DCSS_PENDING_PURGE)
		dcss_undefine(cp, segment);
}

/* The machine has it no more. */
static void take_back(struct cp *cp, struct dcss *segment)
{
	assert(segment->defined && dcss_loaded(cp, segment));
	dcss_hide(cp, segment);
	cp->loaded &= ~dcss_bit(cp, segment);
	cp->exclusive &= ~dcss_bit(cp, segment);
	dcss_pages_given_back(cp, segment);
}

uint16_t dcss_load(struct cp *cp, struct dcss *segment, bool exclusive)
{
	assert(dcss_load_refused(cp, segment, exclusive) == 0);
	if (!dcss_pages_needed(cp, segment, exclusive)) {
		dcss_pages_given_back(cp, segment);
		return DCSS_RC_PAGING;
	}
	cp->loaded |= dcss_bit(cp, segment);
	if (exclusive)
		cp->exclusive |= dcss_bit(cp, segment);
	if (!dcss_show(cp, segment)) {
		take_back(cp, segment);
		dcss_loaded_changed(cp);
		return DCSS_RC_PAGING;
	}
	segment->loaders++;
	dcss_use(cp, segment, 1);
	dcss_loaded_changed(cp);
	assert(storage_overlay(cp, dcss_start(segment)) != CP_ACCESS_NONE);
	tell(cp, segment, "loaded");
	return 0;
}

static void unload(struct cp *cp, struct dcss *segment)
{
	assert(segment->loaders > 0 && segment->users > 0);
	take_back(cp, segment);
	segment->loaders--;
	dcss_use(cp, segment, -1);
}

void dcss_unload(struct cp *cp, struct dcss *segment)
{
	if (!dcss_in_storage(cp, segment))
		parts_purged(cp, dcss_start(segment), dcss_end(segment));
	unload(cp, segment);
	dcss_loaded_changed(cp);
	tell(cp, segment, "purged");
}

void dcss_reset(struct cp *cp)
{
	bool changed = false;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->system->dcss->slot[i];

		if (!dcss_loaded(cp, segment))
			continue;
		unload(cp, segment);
		changed = true;
	}
	if (changed)
		dcss_loaded_changed(cp);
	assert(cp->overlays == 0);
}
