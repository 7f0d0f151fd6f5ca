/* SPDX-License-Identifier: MIT */
/* libmonrec: the reader, from set to set and from element to element. */
#include "monrec_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct monrec_reader *monrec_open(enum monrec_format format, monrec_read_fn read, void *context)
{
	struct monrec_reader *r = calloc(1, sizeof(*r));

	assert(read && format <= MONREC_MONWRITE);
	if (!r)
		return NULL;
	r->format = format;
	r->read = read;
	r->context = context;
	return r;
}

void monrec_close(struct monrec_reader *reader)
{
	free(reader);
}

void monrec_set_release(struct monrec_reader *reader, unsigned int release)
{
	reader->release = release;
}

void monrec_give_frames(struct monrec_reader *reader, bool give)
{
	reader->give_frames = give;
}

void monrec_restart(struct monrec_reader *reader)
{
	reader->taken = 0;
	reader->queued = 0;
	reader->seen.suspended = false;
	reader->at_tail = false;
	reader->offset = 0;
	monrec_leave_set(reader, MONREC_AT_SET);
}

static void end_set(struct monrec_reader *r)
{
	monrec_check_set(r);
	monrec_push(r, MONREC_SET_END, r->offset);
	monrec_leave_set(r, r->format == MONREC_SAVED ? MONREC_DONE : MONREC_AT_SET);
}

/* The 12 bytes of an element have been read. */
static void begin_element(struct monrec_reader *r, const uint8_t *bytes, uint64_t offset)
{
	r->element = (struct monrec_element){
		.type = bytes[0],
		.domains = get_be16(bytes + 1),
		.byte3 = bytes[3],
		.start = get_be32(bytes + 4),
		.end = get_be32(bytes + 8),
	};
	r->element_number++;
	r->record_number = 0;
	r->seen.ended = false;
	r->seen.behind = false;
	if (!monrec_check_element(r, offset)) {
		monrec_lose(r, 0, r->format == MONREC_DEVICE ? MONREC_SKIPPING : MONREC_DONE);
		return;
	}
	monrec_push(r, MONREC_ELEMENT, offset);
	r->address = r->element.start;
	r->state = MONREC_AT_PIECE;
}

/* A stream has no sign for the begin of a set: the first bytes are. */
static void stream_set(struct monrec_reader *r)
{
	enum monrec_gathered result;

	if (r->format == MONREC_DEVICE)
		r->offset = 0;
	result = monrec_gather(r, r->buffer, MONREC_ELEMENT_SIZE);
	if (result == MONREC_ALL) {
		monrec_begin_set(r, r->offset - MONREC_ELEMENT_SIZE);
		begin_element(r, r->buffer, r->offset - MONREC_ELEMENT_SIZE);
	} else if (r->have > 0 && result != MONREC_WAIT) {
		monrec_begin_set(r, r->offset);
		monrec_interrupted(r, result, MONREC_RULE_ELEMENT_CUT);
	} else if (result == MONREC_WAIT) {
		monrec_push(r, MONREC_AGAIN, r->offset + r->have);
	} else if (result == MONREC_FAILED && r->error == EOVERFLOW && r->format == MONREC_DEVICE) {
		monrec_push(r, MONREC_OVERFLOW, 0);
		r->seen.suspended = false;
	} else if (result == MONREC_FAILED) {
		monrec_push(r, MONREC_ERROR, r->offset)->error = r->error;
		r->state = MONREC_DONE;
	} else if (r->format == MONREC_DEVICE) {
		monrec_begin_set(r, 0);
		monrec_violation(r, MONREC_RULE_SET_EMPTY, 0, 0, 0);
		end_set(r);
	} else {
		r->state = MONREC_DONE;
	}
}

static void stream_element(struct monrec_reader *r)
{
	const enum monrec_gathered result = monrec_gather(r, r->buffer, MONREC_ELEMENT_SIZE);

	if (result == MONREC_ALL)
		begin_element(r, r->buffer, r->offset - MONREC_ELEMENT_SIZE);
	else if (result == MONREC_ENDED && r->have == 0)
		end_set(r);
	else
		monrec_interrupted(r, result, MONREC_RULE_ELEMENT_CUT);
}

static void file_element(struct monrec_reader *r)
{
	const uint32_t at = MONREC_INTERRUPT_SIZE + r->next_element * MONREC_ELEMENT_SIZE;

	if (r->next_element == r->elements) {
		end_set(r);
		return;
	}
	r->next_element++;
	begin_element(r, r->control + at, r->control_offset + at);
}

static void step(struct monrec_reader *r)
{
	const bool file = r->format == MONREC_MONWRITE;

	switch (r->state) {
	case MONREC_AT_SET:
		file ? monrec_control(r) : stream_set(r);
		break;
	case MONREC_AT_ELEMENT:
		file ? file_element(r) : stream_element(r);
		break;
	case MONREC_AT_PIECE:
		monrec_piece(r);
		break;
	case MONREC_AT_RECORD:
		monrec_record_step(r);
		break;
	case MONREC_SKIPPING:
		monrec_skip(r);
		break;
	case MONREC_DONE:
		monrec_push(r, MONREC_END, r->offset);
		break;
	}
}

enum monrec_item_kind monrec_next(struct monrec_reader *reader, struct monrec_item *item)
{
	if (reader->taken == reader->queued) {
		reader->taken = 0;
		reader->queued = 0;
		while (reader->queued == 0)
			step(reader);
	}
	*item = reader->queue[reader->taken++];
	return item->kind;
}
