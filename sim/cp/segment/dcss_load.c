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
		segment->defined = dcss_saved_open(table, segment);
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

/* Does a machine that has loaded it need frames that no other uses? */
static bool needs_own(const struct dcss *segment, bool exclusive)
{
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const enum dcss_type type = segment->config.range[i].type;

		if (type == DCSS_EW || type == DCSS_EN)
			return true;
	}
	return exclusive;
}

/* Do other machines use the frames in a way that contradicts this one's? */
static bool frames_in_use(const struct cp *cp, const struct dcss *segment, bool exclusive)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *other = &cp->system->dcss->slot[i];

		if (other->loaders == 0 || dcss_loaded(cp, other))
			continue;
		if (other == segment ? needs_own(segment, exclusive || other->exclusive)
				     : dcss_overlap(segment, other) &&
				       (dcss_stored_into(segment, exclusive) ||
					dcss_stored_into(other, other->exclusive)))
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
	if (frames_in_use(cp, segment, exclusive))
		return DCSS_RC_IN_USE;
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
	dcss_saved_close(cp->system->dcss, segment);
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
	if (segment->loaders == 0)
		dcss_saved_loaded(cp, segment);
	segment->loaders++;
	cp->loaded |= dcss_bit(cp, segment);
	dcss_use(cp, segment, 1);
	dcss_loaded_changed(cp);
	assert(storage_overlay(cp, dcss_start(segment)) != CP_ACCESS_NONE);
	tell(cp, segment, "loaded");
}

/* The machine has it no more. */
static void take_back(struct cp *cp, struct dcss *segment)
{
	assert(segment->defined && dcss_loaded(cp, segment) && segment->users > 0);
	assert(segment->loaders > 0);
	cp->loaded &= ~dcss_bit(cp, segment);
	segment->loaders--;
	segment->exclusive = false;
	if (segment->loaders == 0)
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

void dcss_reset(struct cp *cp)
{
	bool changed = false;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->system->dcss->slot[i];

		if (!dcss_loaded(cp, segment))
			continue;
		take_back(cp, segment);
		changed = true;
	}
	if (changed)
		dcss_loaded_changed(cp);
	assert(cp->overlays == 0);
}
