/* SPDX-License-Identifier: MIT */
/* Files of the spool and the queues they are on; what the control socket asks of them. */
#include <stdio.h>
#include <string.h>

#include "smaller.h"
#include "spool_private.h"
#include "zvmlab/event.h"
#include "zvmlab/input.h"

const char *const spool_queue_name[SPOOL_QUEUES + 1] = {
	[SPOOL_RDR] = "RDR", [SPOOL_PUN] = "PUN", [SPOOL_PRT] = "PRT", [SPOOL_DUMP] = "DMP",
};

const struct cp_unit_config *cp_unit_at(const struct cp_config *config, unsigned int index)
{
	return index < config->units ? &config->unit[index] : NULL;
}

bool spool_class_valid(char c, bool reader)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (reader && c == '*');
}

int spool_unit(const struct cp *cp, uint16_t device)
{
	for (unsigned int i = 0; i < cp->config.units; i++)
		if (cp->config.unit[i].device == device && !cp->unit[i].gone)
			return (int)i;
	return -1;
}

enum spool_queue spool_unit_queue(const struct cp *cp, unsigned int unit)
{
	static const enum spool_queue queues[] = {
		[CP_UNIT_READER] = SPOOL_RDR, [CP_UNIT_PUNCH] = SPOOL_PUN,
		[CP_UNIT_PRINTER] = SPOOL_PRT,
	};

	assert(unit < cp->config.units);
	return queues[cp->config.unit[unit].kind];
}

struct spool_label spool_label_of(const char *user)
{
	struct spool_label label = { .form = "STANDARD", .dest = "OFF" };

	snprintf(label.dist, sizeof(label.dist), "%s", user);
	return label;
}

void spool_device_init(const struct cp *cp, unsigned int unit)
{
	struct spool_device *device = &cp->unit[unit];

	*device = (struct spool_device){
		.spool_class = cp->config.unit[unit].spool_class, .copies = 1,
		.to_queue = (uint8_t)spool_unit_queue(cp, unit),
		.label = spool_label_of(cp->config.userid),
	};
}

struct spool_file *spool_nth(struct cp *cp, const char *owner, enum spool_queue queue,
			     unsigned int index)
{
	struct spool *spool = cp->system->spool;

	for (unsigned int i = 0; i < spool->lines; i++) {
		struct spool_file *file = &spool->file[spool->line[i]];

		if (file->queue == queue && strcmp(file->owner, owner) == 0 && index-- == 0)
			return file;
	}
	return NULL;
}

struct spool_file *spool_find(struct cp *cp, const char *owner, enum spool_queue queue,
			      uint16_t id)
{
	struct spool *spool = cp->system->spool;

	for (unsigned int i = 0; i < spool->lines; i++) {
		struct spool_file *file = &spool->file[spool->line[i]];

		if (file->id == id && file->queue == queue && strcmp(file->owner, owner) == 0)
			return file;
	}
	return NULL;
}

/* A user's files have different numbers, whatever queue they are on, or on none yet. */
static bool id_taken(const struct spool *spool, const char *owner, uint16_t id)
{
	for (unsigned int i = 0; i < SPOOL_MAX_FILES; i++) {
		const struct spool_file *file = &spool->file[i];

		if (file->used && file->id == id && strcmp(file->owner, owner) == 0)
			return true;
	}
	return false;
}

/* The lowest number that is free: there are more numbers than files. */
static uint16_t free_id(const struct spool *spool, const char *owner)
{
	uint16_t id = 1;

	while (id_taken(spool, owner, id))
		id++;
	assert(id <= SPOOL_MAX_ID);
	return id;
}

bool spool_has_room(const struct cp *cp, const char *owner)
{
	const struct spool *spool = cp->system->spool;
	uint32_t files = 0;

	for (unsigned int i = 0; i < SPOOL_MAX_FILES; i++)
		if (spool->file[i].used && strcmp(spool->file[i].owner, owner) == 0)
			files++;
	return files < spool->file_limit;
}

struct spool_file *spool_new(struct cp *cp, const char *owner, enum spool_queue device)
{
	struct spool *spool = cp->system->spool;
	struct spool_file *file = spool->file;

	assert(strlen(owner) <= CP_NAME_LEN && owner[0] != '\0');
	while (file < spool->file + SPOOL_MAX_FILES && file->used)
		file++;
	if (file == spool->file + SPOOL_MAX_FILES || !spool_has_room(cp, owner))
		return NULL;
	*file = (struct spool_file){
		.used = true, .queue = (uint8_t)device, .device = (uint8_t)device,
		.id = free_id(spool, owner), .spool_class = 'A', .copies = 1,
		.tod = cp_system_tod(cp), .label = spool_label_of(owner),
	};
	strcpy(file->owner, owner);
	strcpy(file->origin, owner);
	return file;
}

static uint16_t slot_of(const struct spool *spool, const struct spool_file *file)
{
	return (uint16_t)(file - spool->file);
}

/* Take the file off the line, if it is on it. */
static void off_line(struct spool *spool, const struct spool_file *file)
{
	const uint16_t slot = slot_of(spool, file);

	for (unsigned int i = 0; i < spool->lines; i++) {
		if (spool->line[i] != slot)
			continue;
		spool->lines--;
		memmove(&spool->line[i], &spool->line[i + 1],
			(spool->lines - i) * sizeof(spool->line[0]));
		return;
	}
}

void spool_enqueue(struct cp *cp, struct spool_file *file, const char *owner,
		   enum spool_queue queue)
{
	struct spool *spool = cp->system->spool;

	assert(file->used && !file->open && strlen(owner) <= CP_NAME_LEN);
	off_line(spool, file);
	if (strcmp(file->owner, owner) != 0 && id_taken(spool, owner, file->id))
		file->id = free_id(spool, owner);
	/* It may be the file's own field. */
	memmove(file->owner, owner, strlen(owner) + 1);
	file->queue = (uint8_t)queue;
	file->queued = true;
	assert(spool->lines < SPOOL_MAX_FILES);
	spool->line[spool->lines++] = slot_of(spool, file);
	if (queue == SPOOL_RDR)
		spool_arrived(cp, file);
}

void spool_to_front(struct cp *cp, const struct spool_file *file)
{
	struct spool *spool = cp->system->spool;

	assert(file->queued);
	off_line(spool, file);
	memmove(&spool->line[1], &spool->line[0], spool->lines * sizeof(spool->line[0]));
	spool->line[0] = slot_of(spool, file);
	spool->lines++;
}

void spool_purge(struct cp *cp, struct spool_file *file)
{
	assert(file->used && !file->open);
	off_line(cp->system->spool, file);
	spool_free_pages(cp->system->spool, file);
	file->used = file->queued = false;
}

/* The records of a request; false if there is no room for all. */
static bool fill(struct spool *spool, struct spool_file *file, const struct spool_put *put)
{
	for (size_t at = 0; at < put->len; at += put->record_length) {
		const uint32_t len = (uint32_t)smaller(put->len - at, put->record_length);

		if (!spool_append(spool, file, 0x01, put->data + at, len))
			return false;
	}
	return true;
}

/* Up to 8 printable characters, in the case that they are given in. */
static bool field_valid(const char *text)
{
	const size_t len = text ? strlen(text) : 0;

	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return len <= CP_NAME_LEN;
}

static int put_file(struct cp *cp, const struct spool_put *put, char *err, size_t errlen)
{
	struct spool_file *file;

	if (!field_valid(put->user) || !field_valid(put->origin) || !field_valid(put->name) ||
	    !field_valid(put->type)) {
		snprintf(err, errlen, "users, names and types of spool files have up to 8 "
			 "printable characters without blanks");
		return -1;
	}
	if (!spool_class_valid(put->spool_class, false)) {
		snprintf(err, errlen, "the class of a spool file is a letter A to Z or a digit");
		return -1;
	}
	if (!cp->system->spool->page) {
		snprintf(err, errlen, "there is no spool; the guest's directory entry has no SPOOL "
			 "statement");
		return -1;
	}
	file = spool_new(cp, put->user, put->queue == SPOOL_RDR ? SPOOL_PUN : put->queue);
	if (!file) {
		snprintf(err, errlen, "%s cannot have more files", put->user);
		return -1;
	}
	if (!fill(cp->system->spool, file, put)) {
		spool_purge(cp, file);
		snprintf(err, errlen, "the spool is full: it has no room for %zu bytes", put->len);
		return -1;
	}
	snprintf(file->origin, sizeof(file->origin), "%s", put->origin ? put->origin : put->user);
	snprintf(file->label.name, sizeof(file->label.name), "%s", put->name ? put->name : "");
	snprintf(file->label.type, sizeof(file->label.type), "%s", put->type ? put->type : "");
	file->record_length = (uint16_t)put->record_length;
	file->spool_class = put->spool_class;
	file->user_hold = put->hold;
	file->system_hold = put->system_hold;
	spool_enqueue(cp, file, put->user, put->queue);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_SPOOL, .name = put->user,
					  .text = spool_queue_name[put->queue],
					  .value = file->id });
	return file->id;
}

int spool_put(struct cp *cp, const struct spool_put *put, char *err, size_t errlen)
{
	const char class[2] = { put->spool_class, '\0' };
	int id;

	assert(put->queue < SPOOL_QUEUES && put->len <= SPOOL_MAX_PUT);
	assert(put->record_length > 0 && put->record_length <= SPOOL_MAX_RECORD);
	TRACE_INPUT(cp, spool_put, .user = put->user, .queue = (uint8_t)put->queue,
		    .origin = put->origin, .name = put->name, .type = put->type,
		    .spool_class = class, .hold = put->hold, .system_hold = put->system_hold,
		    .record_length = put->record_length, .data = { put->data, put->len });
	id = put_file(cp, put, err, errlen);
	trace_number(cp, "id", id < 0 ? 0 : (uint64_t)id);
	trace_end(cp);
	return id;
}

void spool_limits(struct cp *cp, uint32_t pages, uint32_t files)
{
	TRACE_INPUT(cp, spool_limits, .pages = pages, .files = files);
	cp->system->spool->page_limit = (uint32_t)smaller(pages, SPOOL_PAGES);
	cp->system->spool->file_limit = (uint32_t)smaller(files, SPOOL_MAX_ID);
	trace_end(cp);
}

struct spool_use spool_use(const struct cp *cp)
{
	const struct spool *spool = cp->system->spool;
	struct spool_use use = { .pages = spool->used };

	if (!spool->page)
		return use;
	use.page_limit = spool->page_limit;
	use.file_limit = spool->file_limit;
	for (unsigned int i = 0; i < SPOOL_MAX_FILES; i++)
		use.files += spool->file[i].used ? 1 : 0;
	return use;
}

bool spool_file(const struct cp *cp, unsigned int index, struct spool_file_info *out)
{
	const struct spool *spool = cp->system->spool;
	const struct spool_file *file = NULL;

	if (index < spool->lines) {
		file = &spool->file[spool->line[index]];
	} else {
		index -= spool->lines;
		for (unsigned int i = 0; spool->file && !file && i < SPOOL_MAX_FILES; i++)
			if (spool->file[i].used && !spool->file[i].queued && index-- == 0)
				file = &spool->file[i];
	}
	if (!file)
		return false;
	*out = (struct spool_file_info){
		.owner = file->owner, .origin = file->origin, .name = file->label.name,
		.type = file->label.type, .form = file->label.form, .dist = file->label.dist,
		.tag = file->label.tag,
		.queue = (enum spool_queue)file->queue,
		.device = (enum spool_queue)file->device, .id = file->id,
		.spool_class = file->spool_class, .open = file->open,
		.user_hold = file->user_hold, .system_hold = file->system_hold,
		.records = file->records, .record_length = file->record_length,
		.pages = file->pages, .copies = file->copies,
	};
	return true;
}

int spool_records(const struct cp *cp, const char *owner, enum spool_queue queue, uint16_t id,
		  uint32_t first, uint8_t *to, size_t room)
{
	const struct spool *spool = cp->system->spool;
	const struct spool_file *file = NULL;
	struct spool_place place = { 0 };
	const uint8_t *data;
	uint32_t len;
	int count = 0;

	for (unsigned int i = 0; !file && i < spool->lines; i++) {
		const struct spool_file *found = &spool->file[spool->line[i]];

		if (found->id == id && found->queue == queue && strcmp(found->owner, owner) == 0)
			file = found;
	}
	if (!file)
		return -1;
	place.page = file->device == SPOOL_DUMP ? 0 : file->first;
	while (room >= file->record_length && (data = spool_next_record(spool, &place, &len))) {
		if (first > 0) {
			first--;
			continue;
		}
		assert(len <= file->record_length);
		memcpy(to, data, len);
		memset(to + len, BLANK, file->record_length - len);
		to += file->record_length;
		room -= file->record_length;
		count++;
	}
	return count;
}
