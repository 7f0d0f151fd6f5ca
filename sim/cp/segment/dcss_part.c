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

/* What an image says, while what there is remains. */
struct image {
	struct dcss_table table;
	uint32_t loaded[CP_MAX_MACHINES], exclusive[CP_MAX_MACHINES];	/* as in struct cp */
	struct cp_pages own[CP_MAX_MACHINES][CP_MAX_SEGMENTS];
};

static void bit_state(struct state *s, uint32_t *word, uint32_t bit)
{
	bool is_set = *word & bit;

	state_bool(s, &is_set);
	*word = is_set ? *word | bit : *word & ~bit;
}

static bool has_cp_data(const struct dcss *segment)
{
	for (unsigned int i = 0; i < segment->config.ranges; i++)
		if (segment->config.range[i].type == DCSS_SC)
			return true;
	return false;
}

/* Which machines have loaded it. */
static void loaders_state(const struct cp_system *system, struct state *s, struct image *image,
			  unsigned int slot)
{
	const uint32_t bit = UINT32_C(1) << slot;
	struct dcss *segment = &image->table.slot[slot];

	segment->loaders = 0;
	for (unsigned int i = 0; i < system->machines; i++) {
		bit_state(s, &image->loaded[i], bit);
		bit_state(s, &image->exclusive[i], bit);
		state_require(s, s->failed || !(image->exclusive[i] & bit) ||
				 (image->loaded[i] & bit && !has_cp_data(segment)));
		segment->loaders += image->loaded[i] & bit ? 1 : 0;
	}
}

static void segment_state(const struct cp_system *system, struct state *s, struct image *image,
			  unsigned int slot)
{
	struct dcss *segment = &image->table.slot[slot];
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
	loaders_state(system, s, image, slot);
	state_u32(s, &segment->users);
	state_require(s, s->failed || segment->users >= segment->loaders);
	state_u8(s, &cls);
	state_require(s, s->failed || class_valid(segment, cls));
	segment->cls = (enum dcss_class)cls;
	assert(s->failed || config_segment_valid(config));
}

/* Most pages of a segment are empty: those cost one byte.  A file that is loaded is new. */
static void pages_state(struct state *s, const struct cp_pages *pages, uint64_t size)
{
	uint64_t next = s->loading ? 0 : dcss_pages_next(pages, 0, size);

	assert(size > 0 && size % CP_PAGE_SIZE == 0);
	for (uint64_t at = 0; at < size && !s->failed; at += CP_PAGE_SIZE) {
		bool filled = !s->loading && at == next && !dcss_page_is_zero(pages->at + at);

		if (!s->loading && at == next)
			next = dcss_pages_next(pages, at + CP_PAGE_SIZE, size);
		state_bool(s, &filled);
		if (filled && s->trial)
			state_skip(s, CP_PAGE_SIZE);
		else if (filled)
			state_bytes(s, pages->at + at, CP_PAGE_SIZE);
	}
}

/* An emulator has addresses for what its machine has loaded. */
static void require_storage(const struct cp_system *system, struct state *s,
			    const struct image *image, unsigned int slot)
{
	const struct cp_segment_config *config = &image->table.slot[slot].config;

	for (unsigned int i = 0; i < system->machines; i++)
		for (unsigned int j = 0; j < config->ranges &&
					 image->loaded[i] >> slot & 1; j++)
			storage_state_require(system->machine[i], s,
					      dcss_range_start(&config->range[j]),
					      dcss_range_size(&config->range[j]));
}

static bool is_own(const struct image *image, unsigned int machine, unsigned int slot)
{
	return image->loaded[machine] >> slot & 1 &&
	       dcss_needs_own(&image->table.slot[slot], image->exclusive[machine] >> slot & 1);
}

/* Is it shared by machines that store into it? */
static bool is_live(const struct cp_system *system, const struct image *image, unsigned int slot)
{
	for (unsigned int i = 0; i < system->machines; i++)
		if ((image->loaded[i] & ~image->exclusive[i]) >> slot & 1)
			return dcss_needs_live(&image->table.slot[slot], false);
	return false;
}

/* All files that are needed. */
static bool open_files(const struct cp_system *system, struct image *image, unsigned int slot)
{
	const struct dcss *segment = &image->table.slot[slot];
	bool opened;

	if (!segment->defined)
		return true;
	opened = dcss_pages_open(&image->table.saved[slot], segment, true) &&
		 (!is_live(system, image, slot) ||
		  dcss_pages_open(&image->table.live[slot], segment, false));
	for (unsigned int i = 0; i < system->machines && opened; i++)
		opened = !is_own(image, i, slot) ||
			 dcss_pages_open(&image->own[i][slot], segment, false);
	return opened;
}

static void close_table(struct dcss_table *table)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		dcss_pages_close(&table->saved[i], &table->slot[i]);
		dcss_pages_close(&table->live[i], &table->slot[i]);
	}
}

static void close_own(const struct dcss_table *table, struct cp_pages own[CP_MAX_SEGMENTS])
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++)
		dcss_pages_close(&own[i], &table->slot[i]);
}

/* Without memory nothing has happened. */
static bool open_image(const struct cp_system *system, struct image *image)
{
	for (unsigned int slot = 0; slot < CP_MAX_SEGMENTS; slot++) {
		if (open_files(system, image, slot))
			continue;
		close_table(&image->table);
		for (unsigned int i = 0; i < system->machines; i++)
			close_own(&image->table, image->own[i]);
		return false;
	}
	return true;
}

/* What the image says takes the place of what there is. */
static void take_image(struct cp_system *system, const struct image *image)
{
	for (unsigned int i = 0; i < system->machines; i++) {
		struct cp *cp = system->machine[i];

		for (unsigned int slot = 0; slot < CP_MAX_SEGMENTS; slot++)
			if (dcss_loaded(cp, &system->dcss->slot[slot]))
				dcss_hide(cp, &system->dcss->slot[slot]);
		close_own(system->dcss, cp->own);
		memcpy(cp->own, image->own[i], sizeof(cp->own));
		cp->loaded = image->loaded[i];
		cp->exclusive = image->exclusive[i];
	}
	close_table(system->dcss);
	*system->dcss = image->table;
}

static void content_state(const struct cp_system *system, struct state *s,
			  const struct image *image, unsigned int slot)
{
	const struct dcss *segment = &image->table.slot[slot];
	const uint64_t size = dcss_content_size(segment);

	require_storage(system, s, image, slot);
	pages_state(s, &image->table.saved[slot], size);
	if (is_live(system, image, slot))
		pages_state(s, &image->table.live[slot], size);
	for (unsigned int i = 0; i < system->machines; i++)
		if (is_own(image, i, slot))
			pages_state(s, &image->own[i][slot], size);
}

/* Their contents are there. */
static void show_all(const struct cp_system *system, struct state *s)
{
	for (unsigned int i = 0; i < system->machines; i++) {
		struct cp *cp = system->machine[i];

		for (unsigned int slot = 0; slot < CP_MAX_SEGMENTS; slot++)
			if (dcss_loaded(cp, &system->dcss->slot[slot]))
				state_require(s, dcss_show(cp, &system->dcss->slot[slot]));
		dcss_loaded_changed(cp);
	}
}

static void table_state(struct cp_system *system, struct state *s, struct image *image)
{
	state_tag(s, "DCSS");
	state_u16(s, &image->table.last_fileid);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS && !s->failed; i++) {
		state_bool(s, &image->table.slot[i].defined);
		if (!s->failed && image->table.slot[i].defined)
			segment_state(system, s, image, i);
		else
			image->table.slot[i] = (struct dcss){ .defined = false };
	}
	if (s->failed || !s->loading)
		return;
	/* A trial knows what there would be, and has no contents. */
	state_require(s, s->trial || open_image(system, image));
	if (!s->failed)
		take_image(system, image);
}

/* What there is now, which an image takes the place of. */
static void fill_image(const struct cp_system *system, bool loading, struct image *image)
{
	image->table = *system->dcss;
	for (unsigned int i = 0; i < system->machines && !loading; i++) {
		const struct cp *cp = system->machine[i];

		memcpy(image->own[i], cp->own, sizeof(cp->own));
		image->loaded[i] = cp->loaded;
		image->exclusive[i] = cp->exclusive;
	}
	if (!loading)
		return;
	memset(image->table.saved, 0, sizeof(image->table.saved));
	memset(image->table.live, 0, sizeof(image->table.live));
}

static void dcss_state(struct cp *cp, struct state *s)
{
	struct cp_system *system = cp->system;
	struct image *image = calloc(1, sizeof(*image));

	if (!image) {
		s->failed = true;
		return;
	}
	fill_image(system, s->loading, image);
	table_state(system, s, image);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS && !s->failed; i++)
		if (image->table.slot[i].defined)
			content_state(system, s, image, i);
	free(image);
	if (s->loading && !s->failed)
		show_all(system, s);
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
		close_table(system->dcss);
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
