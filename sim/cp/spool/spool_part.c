/* SPDX-License-Identifier: MIT */
/* The spool as a part of the CP: made, reset, saved and loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spool_private.h"
#include "table.h"
#include "zvmlab/state.h"

static void class_state(struct state *state, char *c, bool reader)
{
	uint8_t byte = (uint8_t)*c;

	state_u8(state, &byte);
	*c = (char)byte;
	state_require(state, spool_class_valid(*c, reader));
}

static void label_state(struct state *state, struct spool_label *label)
{
	char *tag = label->tag;
	uint8_t len = (uint8_t)strnlen(tag, SPOOL_TAG_LEN);

	state_name(state, label->name);
	state_name(state, label->type);
	state_name(state, label->form);
	state_name(state, label->dest);
	state_name(state, label->dist);
	state_u8(state, &len);
	state_require(state, len <= SPOOL_TAG_LEN);
	if (state->failed)
		return;
	state_bytes(state, tag, len);
	tag[len] = '\0';
	for (unsigned int i = 0; i < len; i++)
		state_require(state, tag[i] >= 0x20 && tag[i] < 0x7f);
}

/* On loading the pages of one file after the other are taken from the free ones. */
static void pages_state(struct spool *spool, struct spool_file *file, struct state *state)
{
	uint16_t count = file->pages, page = file->first;

	state_u16(state, &count);
	state_u16(state, &file->fill);
	state_require(state, file->fill <= SPLINK_DATA_END - SPLINK_DATA);
	if (state->loading)
		file->first = file->last = file->pages = 0;
	for (unsigned int i = 0; i < count && !state->failed; i++) {
		if (state->loading) {
			state_require(state, spool->free != 0);
			if (state->failed)
				return;
			spool_add_page(spool, file);
			page = file->last;
		}
		state_bytes(state, spool->page[page - 1], CP_PAGE_SIZE);
		page = spool->next[page - 1];
	}
	if (state->loading)
		state_require(state, file->device == SPOOL_DUMP
					     ? file->records == file->pages && file->pages > 0
					     : spool_pages_valid(spool, file));
}

static void file_state(struct spool *spool, struct spool_file *file, struct state *state)
{
	state_bool(state, &file->used);
	if (!file->used)
		return;
	state_bool(state, &file->open);
	state_bool(state, &file->queued);
	state_u8(state, &file->queue);
	state_u8(state, &file->device);
	state_require(state, file->queue < SPOOL_QUEUES && file->device <= SPOOL_DUMP &&
			     file->device != SPOOL_RDR);
	state_u16(state, &file->id);
	state_require(state, file->id > 0 && file->id <= SPOOL_MAX_ID);
	state_name(state, file->owner);
	state_require(state, file->owner[0] != '\0');
	state_name(state, file->origin);
	label_state(state, &file->label);
	class_state(state, &file->spool_class, false);
	state_bool(state, &file->user_hold);
	state_bool(state, &file->system_hold);
	state_bool(state, &file->keep);
	state_u8(state, &file->copies);
	state_require(state, file->copies > 0);
	state_u16(state, &file->record_length);
	state_require(state, file->record_length > 0 && file->record_length <= SPOOL_MAX_RECORD);
	state_u32(state, &file->records);
	state_u64(state, &file->tod);
	if (!state->failed)
		pages_state(spool, file, state);
}

static void device_state(struct cp *cp, unsigned int unit, struct state *state)
{
	struct spool_device *device = &cp->unit[unit];
	const bool reader = spool_unit_queue(cp, unit) == SPOOL_RDR;

	class_state(state, &device->spool_class, reader);
	state_bool(state, &device->cont);
	state_bool(state, &device->hold);
	state_bool(state, &device->keep);
	state_u8(state, &device->copies);
	state_require(state, device->copies > 0);
	state_name(state, device->to);
	state_u8(state, &device->to_queue);
	state_require(state, device->to_queue < SPOOL_QUEUES);
	label_state(state, &device->label);
	state_u16(state, &device->file);
	state_bool(state, &device->gone);
	state_require(state, !device->gone || device->file == 0);
	state_u16(state, &device->at);
	state_u32(state, &device->seen);
}

/* May the device have this file open: a reader one of a queue, others one that they have made? */
static bool may_have_open(const struct cp *cp, unsigned int unit, const struct spool_file *file)
{
	const enum spool_queue queue = spool_unit_queue(cp, unit);

	if (!file->used || !file->open || strcmp(file->owner, cp->config.userid) != 0)
		return false;
	if (queue == SPOOL_RDR)
		return file->queued;
	return !file->queued && file->device == queue &&
	       file->record_length == spool_unit_length(cp, unit);
}

/* The page that is read next, as its place in the file: pages are other ones after loading. */
static void place_state(struct cp *cp, unsigned int unit, struct state *state)
{
	struct spool_device *device = &cp->unit[unit];
	struct spool_place place = { 0 };
	struct spool_file *file;
	uint16_t index = 0;
	uint32_t len;

	state_require(state, device->file <= SPOOL_MAX_FILES);
	if (state->failed || device->file == 0) {
		state_require(state, device->at == 0 && device->seen == 0);
		return;
	}
	file = &cp->system->spool->file[device->file - 1];
	state_require(state, may_have_open(cp, unit, file));
	while (!state->loading && index < file->pages &&
	       spool_page_at(cp->system->spool, file, index) != device->page)
		index++;
	state_u16(state, &index);
	state_require(state, index <= file->pages);
	if (!state->loading || state->failed)
		return;
	device->page = spool_page_at(cp->system->spool, file, index);
	/* A place within the page must be one that reading leads to. */
	place.page = device->page;
	while (device->page && file->device != SPOOL_DUMP &&
	       (place.at != device->at || place.seen != device->seen) &&
	       spool_next_record(cp->system->spool, &place, &len) && place.page == device->page)
		;
	state_require(state, place.page == device->page && place.at == device->at &&
			     place.seen == device->seen);
}

static void line_state(struct spool *spool, struct state *state)
{
	unsigned int queued = 0;

	state_u16(state, &spool->lines);
	state_require(state, spool->lines <= SPOOL_MAX_FILES);
	for (unsigned int i = 0; i < spool->lines && !state->failed; i++) {
		state_u16(state, &spool->line[i]);
		state_require(state, spool->line[i] < SPOOL_MAX_FILES &&
				     spool->file[spool->line[i]].queued);
		for (unsigned int j = 0; state->loading && j < i; j++)
			state_require(state, spool->line[j] != spool->line[i]);
	}
	for (unsigned int i = 0; i < SPOOL_MAX_FILES; i++)
		queued += spool->file[i].used && spool->file[i].queued ? 1 : 0;
	state_require(state, state->failed || queued == spool->lines);
}

/* Devices that have the file in this slot. */
static unsigned int devices_of(const struct cp_system *system, unsigned int slot)
{
	unsigned int devices = 0;

	for (unsigned int i = 0; i < system->machines; i++) {
		const struct cp *cp = system->machine[i];

		for (unsigned int j = 0; j < cp->config.units; j++)
			devices += cp->unit[j].file == slot + 1 ? 1 : 0;
	}
	return devices;
}

/* A user's files have different numbers, and an open one has a device. */
static bool files_valid(const struct cp_system *system)
{
	const struct spool *spool = system->spool;

	for (unsigned int i = 0; i < SPOOL_MAX_FILES; i++) {
		const struct spool_file *file = &spool->file[i];

		if (!file->used)
			continue;
		for (unsigned int j = 0; j < i; j++)
			if (spool->file[j].used && spool->file[j].id == file->id &&
			    strcmp(spool->file[j].owner, file->owner) == 0)
				return false;
		if (devices_of(system, i) != (file->open ? 1 : 0) || (!file->open && !file->queued))
			return false;
	}
	return true;
}

static void clear_files(struct spool *spool)
{
	for (unsigned int i = 0; i < SPOOL_MAX_FILES; i++)
		if (spool->file[i].used)
			spool->file[i] = (struct spool_file){ .used = false };
	spool->lines = 0;
	spool_pages_init(spool);
}

static void clear_devices(struct cp *cp)
{
	for (unsigned int i = 0; i < cp->config.units; i++)
		spool_device_init(cp, i);
}

static void clear(struct cp_system *system)
{
	clear_files(system->spool);
	for (unsigned int i = 0; i < system->machines; i++)
		clear_devices(system->machine[i]);
}

static void devices_state(struct cp *cp, struct state *state)
{
	for (unsigned int i = 0; i < cp->config.units && !state->failed; i++) {
		device_state(cp, i, state);
		place_state(cp, i, state);
	}
}

static void spool_state(struct cp *cp, struct state *state)
{
	struct spool *spool = cp->system->spool;

	state_tag(state, "CSPL");
	if (!spool->page)
		return;
	if (state->loading)
		clear(cp->system);
	state_u32(state, &spool->page_limit);
	state_u32(state, &spool->file_limit);
	state_require(state, spool->page_limit <= SPOOL_PAGES &&
			     spool->file_limit <= SPOOL_MAX_ID);
	for (unsigned int i = 0; i < SPOOL_MAX_FILES && !state->failed; i++)
		file_state(spool, &spool->file[i], state);
	for (unsigned int i = 0; i < cp->system->machines; i++)
		devices_state(cp->system->machine[i], state);
	if (!state->failed)
		line_state(spool, state);
	if (!state->failed && state->loading)
		state_require(state, files_valid(cp->system));
	if (state->failed && state->loading)
		clear(cp->system);
}

static void empty(struct spool *spool)
{
	clear_files(spool);
	spool->page_limit = SPOOL_PAGES;
	spool->file_limit = SPOOL_MAX_ID;
}

static void free_files(struct spool *spool)
{
	table_free(spool->page, SPOOL_PAGES, sizeof(*spool->page));
	free(spool->next);
	free(spool->file);
	free(spool->line);
	*spool = (struct spool){ .page = NULL };
}

static void spool_fini_system(struct cp_system *system)
{
	if (system->spool)
		free_files(system->spool);
	free(system->spool);
	system->spool = NULL;
}

static int spool_init_system(struct cp_system *system, char *err, size_t errlen)
{
	assert(!system->spool);
	system->spool = calloc(1, sizeof(*system->spool));
	if (system->spool)
		return 0;
	snprintf(err, errlen, "not enough memory for the spool");
	return -1;
}

static bool allocate(struct spool *spool)
{
	spool->page = table_new(SPOOL_PAGES, sizeof(*spool->page));
	spool->next = calloc(SPOOL_PAGES, sizeof(*spool->next));
	spool->file = calloc(SPOOL_MAX_FILES, sizeof(*spool->file));
	spool->line = calloc(SPOOL_MAX_FILES, sizeof(*spool->line));
	if (spool->page && spool->next && spool->file && spool->line)
		return true;
	free_files(spool);
	return false;
}

static void spool_fini(struct cp *cp)
{
	free(cp->unit);
	cp->unit = NULL;
}

/* The first machine that has devices brings the spool with it. */
static int spool_init(struct cp *cp, char *err, size_t errlen)
{
	struct spool *spool = cp->system->spool;
	const bool needed = cp->config.units > 0 && !spool->page;

	cp->unit = calloc(CP_MAX_UNITS, sizeof(*cp->unit));
	if (!cp->unit || (needed && !allocate(spool))) {
		snprintf(err, errlen, "not enough memory for the spool");
		spool_fini(cp);
		return -1;
	}
	if (needed)
		empty(spool);
	clear_devices(cp);
	return 0;
}

/*
 * Files belong to the system.  A file that is being read goes back to its queue as it was; one
 * that is being written stays open, so that nothing is lost before its CLOSE.
 */
static void spool_reset(struct cp *cp)
{
	for (unsigned int i = 0; i < cp->config.units; i++) {
		struct spool_device *device = &cp->unit[i];

		if (device->file == 0 || spool_unit_queue(cp, i) != SPOOL_RDR)
			continue;
		cp->system->spool->file[device->file - 1].open = false;
		device->file = device->page = device->at = 0;
		device->seen = 0;
	}
}

void spool_detach(struct cp *cp, unsigned int unit)
{
	struct spool_file *sent;

	(void)spool_close(cp, unit, &(struct spool_close){ .even_cont = true }, &sent);
	spool_device_init(cp, unit);
	cp->unit[unit].gone = true;
}

/* What the machine was writing is complete. */
static void spool_logoff(struct cp *cp, const char *userid)
{
	struct spool_file *sent;

	if (strcmp(userid, cp->config.userid) != 0)
		return;
	for (unsigned int i = 0; i < cp->config.units; i++)
		(void)spool_close(cp, i, &(struct spool_close){ .even_cont = true }, &sent);
}

const struct cp_part spool_part = {
	.init_system = spool_init_system,
	.fini_system = spool_fini_system,
	.init = spool_init,
	.fini = spool_fini,
	.reset = spool_reset,
	.logoff = spool_logoff,
	.state_system = spool_state,
};
