/* SPDX-License-Identifier: MIT */
/* Saved segments as a part of the CP: made, saved and loaded with their contents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_parse.h"
#include "dcss_private.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"

static void range_state(struct state *s, struct cp_segment_range *range)
{
	uint8_t type = (uint8_t)range->type;

	state_u32(s, &range->first);
	state_u32(s, &range->last);
	state_u8(s, &type);
	state_require(s, config_type_name(type) != NULL);
	range->type = (enum dcss_type)type;
}

static bool class_valid(const struct dcss *segment, uint8_t cls)
{
	switch (cls) {
	case DCSS_SKELETON:
		return segment->users == 0;
	case DCSS_ACTIVE:
		return !segment->config.restricted;
	case DCSS_RESTRICTED:
		return segment->config.restricted;
	case DCSS_PENDING_PURGE:
		return segment->users > 0;
	default:
		return false;
	}
}

/* By which machines it has been loaded; @loaded: for each of them the bits of all segments. */
static void loaders_state(const struct cp_system *system, struct state *s, struct dcss *segment,
			  uint32_t bit, uint32_t *loaded)
{
	segment->loaders = 0;
	for (unsigned int i = 0; i < system->machines; i++) {
		bool is_loaded = loaded[i] & bit;

		state_bool(s, &is_loaded);
		loaded[i] = is_loaded ? loaded[i] | bit : loaded[i] & ~bit;
		segment->loaders += is_loaded ? 1 : 0;
	}
}

static void segment_state(const struct cp_system *system, struct state *s, struct dcss *segment,
			  uint32_t bit, uint32_t *loaded)
{
	struct cp_segment_config *config = &segment->config;
	uint8_t ranges = (uint8_t)config->ranges, cls = (uint8_t)segment->cls;
	char name[CP_NAME_LEN + 1];
	struct config_span span;

	state_bytes(s, config->name, sizeof(config->name));
	state_require(s, config->name[CP_NAME_LEN] == '\0');
	config->name[CP_NAME_LEN] = '\0';
	span = (struct config_span){ config->name, config->name + strlen(config->name) };
	state_require(s, config_name(span, false, name) && strcmp(name, config->name) == 0);
	state_u8(s, &ranges);
	state_require(s, ranges >= 1 && ranges <= CP_MAX_RANGES);
	for (unsigned int i = 0; i < ranges && !s->failed; i++)
		range_state(s, &config->range[i]);
	config->ranges = ranges;
	state_require(s, s->failed || config_segment_valid(config));
	state_bool(s, &config->restricted);
	state_u16(s, &segment->fileid);
	loaders_state(system, s, segment, bit, loaded);
	state_bool(s, &segment->exclusive);
	state_bool(s, &segment->kept);
	state_u32(s, &segment->users);
	state_require(s, s->failed || (segment->users >= segment->loaders &&
				       (!segment->exclusive || segment->loaders == 1)));
	state_u8(s, &cls);
	state_require(s, s->failed || class_valid(segment, cls));
	segment->cls = (enum dcss_class)cls;
	assert(s->failed || config_segment_valid(config));
}

/* Most pages of a segment are empty: those cost one byte. */
static void pages_state(struct state *s, uint8_t *at, uint64_t size)
{
	assert(size > 0 && size % CP_PAGE_SIZE == 0);
	for (uint64_t done = 0; done < size && !s->failed; done += CP_PAGE_SIZE) {
		bool filled = !s->loading && !dcss_page_is_zero(at + done);

		state_bool(s, &filled);
		if (filled && s->trial)
			state_skip(s, CP_PAGE_SIZE);
		else if (filled)
			state_bytes(s, at + done, CP_PAGE_SIZE);
		else if (s->loading && !s->trial && !s->failed && !dcss_page_is_zero(at + done))
			memset(at + done, 0, CP_PAGE_SIZE);
	}
}

/* An emulator has storage for what its machine has loaded. */
static void require_storage(const struct cp_system *system, struct state *s,
			    const struct dcss *segment, uint64_t addr, uint64_t size)
{
	for (unsigned int i = 0; i < system->machines; i++)
		if (dcss_loaded(system->machine[i], segment))
			storage_state_require(system->machine[i], s, addr, size);
}

static void content_state(struct cp *cp, struct state *s, const struct dcss *segment)
{
	for (unsigned int i = 0; i < segment->config.ranges && !s->failed; i++) {
		uint64_t offset = dcss_range_start(&segment->config.range[i]) - dcss_start(segment);
		uint64_t size = dcss_range_size(&segment->config.range[i]);
		uint8_t *at = dcss_frames(cp, segment, offset, size);
		bool has_frames = at != NULL;

		require_storage(cp->system, s, segment, dcss_start(segment) + offset, size);
		state_bool(s, &has_frames);
		state_require(s, has_frames == (at != NULL));
		if (!at)
			continue;
		pages_state(s, at, size);
		if (s->loading && !s->trial)
			dcss_dirty(cp, segment, offset, size);
	}
}

/* Segments of an image, with room for what they keep aside. */
static bool take_table(struct cp_system *system, struct dcss_table *next, const uint32_t *loaded)
{
	unsigned int i = 0;

	memset(next->saved, 0, sizeof(next->saved));
	while (i < CP_MAX_SEGMENTS &&
	       (!next->slot[i].defined || dcss_saved_open(next, &next->slot[i])))
		i++;
	if (i < CP_MAX_SEGMENTS) {
		dcss_saved_close_all(next, i);
		return false;
	}
	dcss_saved_close_all(system->dcss, CP_MAX_SEGMENTS);
	*system->dcss = *next;
	for (i = 0; i < system->machines; i++) {
		system->machine[i]->loaded = loaded[i];
		dcss_loaded_changed(system->machine[i]);
	}
	return true;
}

static void dcss_state(struct cp *cp, struct state *s)
{
	struct cp_system *system = cp->system;
	struct dcss_table next = *system->dcss;
	uint32_t loaded[CP_MAX_MACHINES] = { 0 };

	for (unsigned int i = 0; !s->loading && i < system->machines; i++)
		loaded[i] = system->machine[i]->loaded;

	state_tag(s, "DCSS");
	state_u16(s, &next.last_fileid);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS && !s->failed; i++) {
		state_bool(s, &next.slot[i].defined);
		if (!s->failed && next.slot[i].defined)
			segment_state(system, s, &next.slot[i], UINT32_C(1) << i, loaded);
		else
			next.slot[i] = (struct dcss){ .defined = false };
	}
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS && !s->failed; i++)
		state_require(s, !next.slot[i].defined || dcss_saved_valid(&next, &next.slot[i]));
	if (s->failed)
		return;
	if (s->loading)
		state_require(s, take_table(system, &next, loaded));
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS && !s->failed; i++) {
		const struct dcss *segment = &cp->system->dcss->slot[i];

		if (segment->defined)
			content_state(cp, s, segment);
		if (segment->defined && segment->kept)
			pages_state(s, dcss_saved(cp, segment, 0), dcss_content_size(segment));
	}
}

static uint64_t dcss_highest(const struct cp *cp)
{
	uint64_t highest = 0;

	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *segment = &cp->system->dcss->slot[i];

		if (segment->defined && dcss_end(segment) > highest)
			highest = dcss_end(segment);
	}
	return highest;
}

static void dcss_fini_system(struct cp_system *system)
{
	if (system->dcss)
		dcss_saved_close_all(system->dcss, CP_MAX_SEGMENTS);
	free(system->dcss);
	system->dcss = NULL;
}

static int dcss_init_system(struct cp_system *system, char *err, size_t errlen)
{
	const struct cp_config *config = &system->config;

	assert(!system->dcss && config->segments <= CP_MAX_SEGMENTS);
	system->dcss = calloc(1, sizeof(*system->dcss));
	for (unsigned int i = 0; system->dcss && i < config->segments; i++) {
		const struct cp_segment_config *s = &config->segment[i];

		if (!dcss_new(system->dcss, s, s->restricted ? DCSS_RESTRICTED : DCSS_ACTIVE))
			dcss_fini_system(system);
	}
	if (system->dcss)
		return 0;
	snprintf(err, errlen, "not enough memory for the saved segments");
	return -1;
}

/* The first machine brings the frames; its storage is not the segments' own. */
static int dcss_init(struct cp *cp, char *err, size_t errlen)
{
	const struct cp_config *config = &cp->system->config;
	struct dcss_table *table = cp->system->dcss;

	for (unsigned int i = 0; !table->filled && i < config->segments; i++) {
		const char *file = config->segment[i].file;

		if (file && dcss_read_file(cp, &table->slot[i], file, err, errlen) != 0)
			return -1;
	}
	table->filled = true;
	return 0;
}

const struct cp_part dcss_part = {
	.init_system = dcss_init_system,
	.fini_system = dcss_fini_system,
	.init = dcss_init,
	.reset = dcss_reset,
	.state_system = dcss_state,
	.highest = dcss_highest,
};
