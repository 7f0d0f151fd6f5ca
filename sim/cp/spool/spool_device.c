/* SPDX-License-Identifier: MIT */
/* Virtual unit record devices: their channel commands, and the files these make and read. */
#include <stdio.h>
#include <string.h>

#include "spool_private.h"
#include "zvmlab/event.h"
#include "zvmlab/input.h"
#include "zvmlab/trace.h"

/*
 * Channel commands (IBM 1403 Printer, GA24-3312; IBM 2540 Component Description, GA21-9033).
 * Of a printer's, the upper five bits say how the paper moves.
 */
enum {
	COMMAND_WRITE = 0x01,
	COMMAND_READ = 0x02,
	COMMAND_NOP = 0x03,
	TYPE_MASK = 0x07,
	TYPE_WRITE = 0x01,
	TYPE_READ = 0x02,
	TYPE_IMMEDIATE = 0x03,
	/* Stackers of a punch, and of a reader with the feed that goes with them. */
	STACKER_MASK = 0xc0,
};

/* Space 1 to 3 lines (bits 3 and 4), or skip to channel 1 to 12 (bit 0, and bits 1 to 4). */
static bool paper_moves(uint8_t command)
{
	const unsigned int lines = command >> 3;

	return lines <= 3 || (lines > 16 && lines <= 16 + 12);
}

static enum cp_unit_way way_of(enum spool_queue queue, uint8_t command)
{
	switch (queue) {
	case SPOOL_RDR:
		return (command & ~STACKER_MASK) == TYPE_READ ? CP_UNIT_GIVES : CP_UNIT_REJECT;
	case SPOOL_PUN:
		return (command & ~STACKER_MASK) == TYPE_WRITE ? CP_UNIT_TAKES : CP_UNIT_REJECT;
	default:
		if ((command & TYPE_MASK) == TYPE_WRITE && paper_moves(command))
			return CP_UNIT_TAKES;
		if ((command & TYPE_MASK) == TYPE_IMMEDIATE && command != COMMAND_NOP &&
		    paper_moves(command))
			return CP_UNIT_NO_DATA;
		return CP_UNIT_REJECT;
	}
}

enum cp_unit_way spool_unit_way(const struct cp *cp, unsigned int unit, uint8_t command)
{
	return way_of(spool_unit_queue(cp, unit), command);
}

uint32_t spool_unit_length(const struct cp *cp, unsigned int unit)
{
	return spool_unit_queue(cp, unit) == SPOOL_PRT ? SPOOL_MAX_RECORD : SPOOL_CARD;
}

static void ends_with_check(struct cp_unit_io *io, uint8_t sense)
{
	io->status = CP_UNIT_ENDED | CP_UNIT_CHECK;
	io->sense[0] = sense;
	io->length = 0;
}

static struct spool_file *active(struct cp *cp, unsigned int unit)
{
	const uint16_t file = cp->unit[unit].file;

	return file ? &cp->system->spool->file[file - 1] : NULL;
}

static void activate(struct cp *cp, unsigned int unit, struct spool_file *file)
{
	struct spool_device *device = &cp->unit[unit];

	file->open = true;
	device->file = (uint16_t)(file - cp->system->spool->file + 1);
	/* From its beginning: without a file the place is 0. */
	device->page = file->first;
}

struct spool_file *spool_select(struct cp *cp, unsigned int unit)
{
	struct spool_file *file = active(cp, unit);

	for (unsigned int i = 0; !file; i++) {
		struct spool_file *next = spool_nth(cp, cp->config.userid, SPOOL_RDR, i);

		if (!next)
			return NULL;
		if (!spool_may_read(&cp->unit[unit], next))
			continue;
		activate(cp, unit, next);
		file = next;
	}
	return file;
}

/* The file that an output device writes; a new one if there is none. */
static struct spool_file *output(struct cp *cp, unsigned int unit)
{
	struct spool_file *file = active(cp, unit);

	if (file)
		return file;
	file = spool_new(cp, cp->config.userid, spool_unit_queue(cp, unit));
	if (!file)
		return NULL;
	file->record_length = (uint16_t)spool_unit_length(cp, unit);
	activate(cp, unit, file);
	return file;
}

static void tell_full(struct cp *cp)
{
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_SPOOL, .name = cp->config.userid,
					  .text = "full", .value = 0 });
}

static void write_record(struct cp *cp, unsigned int unit, struct cp_unit_io *io)
{
	struct fault_action fault;
	struct spool_file *file;
	bool done;

	fault = fault_of_guest(cp, FAULT_SPOOL_WRITE, spool_queue_name[spool_unit_queue(cp, unit)]);
	if (fault.kind == FAULT_RC) {
		ends_with_check(io, (uint8_t)fault.value);
		return;
	}
	if (fault.kind == FAULT_DROP)
		return;
	if (fault.kind == FAULT_CORRUPT && io->length > 0)
		io->data[fault.offset % io->length] ^= (uint8_t)fault.value;
	file = output(cp, unit);
	done = file && (io->length > 0
				? spool_append(cp->system->spool, file, io->command, io->data, io->length)
				: spool_append_immediate(cp->system->spool, file, io->command));
	if (done)
		return;
	tell_full(cp);
	ends_with_check(io, CP_SENSE_INTERVENTION);
}

/* At its end the file is closed as the device's settings say. */
static void read_record(struct cp *cp, unsigned int unit, struct cp_unit_io *io)
{
	struct spool_device *device = &cp->unit[unit];
	const struct fault_action fault = fault_of_guest(cp, FAULT_SPOOL_READ, "RDR");
	struct spool_file *file, *sent;
	struct spool_place place;
	const uint8_t *data;

	io->length = 0;
	if (fault.kind == FAULT_RC) {
		ends_with_check(io, (uint8_t)fault.value);
		return;
	}
	file = spool_select(cp, unit);
	if (!file) {
		ends_with_check(io, CP_SENSE_INTERVENTION);
		return;
	}
	place = (struct spool_place){ device->page, device->at, device->seen };
	/* A dump has no cards. */
	data = file->device == SPOOL_DUMP ? NULL :
	       spool_next_record(cp->system->spool, &place, &io->length);
	if (!data) {
		io->length = 0;
		io->status = CP_UNIT_ENDED | CP_UNIT_EXCEPTION;
		spool_close(cp, unit, &(struct spool_close){ 0 }, &sent);
		return;
	}
	device->page = place.page;
	device->at = place.at;
	device->seen = place.seen;
	memset(io->data, BLANK, file->record_length);
	memcpy(io->data, data, io->length);
	io->length = file->record_length;
	if (fault.kind == FAULT_CORRUPT)
		io->data[fault.offset % io->length] ^= (uint8_t)fault.value;
}

void spool_unit_io(struct cp *cp, unsigned int unit, struct cp_unit_io *io)
{
	const enum cp_unit_way way = spool_unit_way(cp, unit, io->command);

	if (io->length > SPOOL_MAX_RECORD || (way == CP_UNIT_TAKES && io->length == 0))
		ends_with_check(io, CP_SENSE_REJECT);
	else if (way == CP_UNIT_GIVES)
		read_record(cp, unit, io);
	else
		write_record(cp, unit, io);
}

static enum spool_closed close_input(struct cp *cp, unsigned int unit,
				     const struct spool_close *how, struct spool_file *file)
{
	const struct spool_device *device = &cp->unit[unit];
	const bool hold = how->hold || (device->hold && !how->nohold);
	const bool keep = how->keep || (device->keep && !how->nokeep) || file->keep;

	if (how->purge || (!hold && !keep)) {
		spool_purge(cp, file);
		return SPOOL_PURGED;
	}
	file->user_hold = hold;
	return SPOOL_CLOSED;
}

static void describe(const struct spool_device *device, const struct spool_close *how,
		     struct spool_file *file)
{
	file->label = device->label;
	if (how->named) {
		strcpy(file->label.name, how->name);
		strcpy(file->label.type, how->type);
	}
	file->spool_class = device->spool_class;
	file->copies = device->copies;
	file->user_hold = how->hold || (device->hold && !how->nohold);
	file->keep = how->keep || (device->keep && !how->nokeep);
}

/* The same again, if there is room for it. */
static void copy(struct cp *cp, const struct spool_file *of)
{
	struct spool_file *file = spool_new(cp, of->owner, (enum spool_queue)of->device), made;
	struct spool_place place = { .page = of->first };
	const uint8_t *data;
	uint32_t len;
	bool done = file != NULL;

	if (!file)
		return;
	while (done && (data = spool_next_record(cp->system->spool, &place, &len)))
		done = spool_append(cp->system->spool, file, COMMAND_WRITE, data, len);
	if (!done) {
		spool_purge(cp, file);
		return;
	}
	made = *file;
	*file = *of;
	file->id = made.id;
	file->first = made.first;
	file->last = made.last;
	file->pages = made.pages;
	file->fill = made.fill;
	spool_enqueue(cp, file, of->owner, (enum spool_queue)of->queue);
}

/* The receiver of a file that somebody else sends sees a line on the console. */
static void tell(struct cp *cp, const struct spool_file *file, uint16_t was)
{
	char line[120];

	snprintf(line, sizeof(line), "%s FILE %04u SENT FROM %-8s %s WAS %04u RECS %04u CPY  %03u "
		 "%c %s %s", spool_queue_name[file->queue], file->id, file->origin,
		 spool_queue_name[file->device], was, file->records, file->copies,
		 file->spool_class, file->user_hold ? "HOLD" : "NOHOLD",
		 file->keep ? "KEEP" : "NOKEEP");
	if (parts_logged_on(cp, file->owner) && strcmp(file->owner, file->origin) != 0)
		cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_CONSOLE, .name = file->owner,
						  .text = line });
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_SPOOL, .name = file->owner,
					  .text = spool_queue_name[file->queue],
					  .value = file->id });
}

static enum spool_closed close_output(struct cp *cp, unsigned int unit,
				      const struct spool_close *how, struct spool_file *file)
{
	const struct spool_device *device = &cp->unit[unit];
	const struct fault_action fault = fault_of_guest(cp, FAULT_SPOOL_FILE,
						      spool_queue_name[file->device]);
	const char *to = how->to ? how->to : device->to;
	enum spool_queue queue = (enum spool_queue)(how->to ? how->to_queue : device->to_queue);
	const uint16_t was = file->id;
	bool refused;

	if (how->purge || fault.kind == FAULT_DROP) {
		spool_purge(cp, file);
		return SPOOL_PURGED;
	}
	to = to[0] ? to : cp->config.userid;
	describe(device, how, file);
	refused = fault.kind == FAULT_LIMIT ||
		  (strcmp(to, file->owner) != 0 && !spool_has_room(cp, to));
	if (refused) {
		to = file->owner;
		queue = (enum spool_queue)file->device;
	}
	spool_enqueue(cp, file, to, queue);
	tell(cp, file, was);
	if (fault.kind == FAULT_DUPLICATE)
		copy(cp, file);
	return refused ? SPOOL_REFUSED : SPOOL_CLOSED;
}

enum spool_closed spool_close(struct cp *cp, unsigned int unit, const struct spool_close *how,
			      struct spool_file **sent)
{
	struct spool_device *device = &cp->unit[unit];
	const bool input = spool_unit_queue(cp, unit) == SPOOL_RDR;
	struct spool_file *file = active(cp, unit);
	enum spool_closed closed;

	*sent = NULL;
	if (!file || (!input && device->cont && !how->purge && !how->even_cont))
		return SPOOL_NOTHING;
	file->open = false;
	device->file = device->page = device->at = 0;
	device->seen = 0;
	closed = input ? close_input(cp, unit, how, file) : close_output(cp, unit, how, file);
	if (closed != SPOOL_PURGED)
		*sent = file;
	return closed;
}
