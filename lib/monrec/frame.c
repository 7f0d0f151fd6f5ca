/* SPDX-License-Identifier: MIT */
/* libmonrec: the frames of an element and the records in them. */
#include "monrec_private.h"

void monrec_piece(struct monrec_reader *r)
{
	const uint32_t phase = (uint32_t)(r->address % MONREC_FRAME_SIZE);
	const uint64_t rest = (uint64_t)r->element.end + 1 - r->address;
	const uint32_t in_frame = MONREC_FRAME_SIZE - phase;
	const uint32_t len = rest < in_frame ? (uint32_t)rest : in_frame;
	/* MONWRITE writes frames as they are, whatever part of them the element describes. */
	const bool whole = r->format == MONREC_MONWRITE;
	const uint64_t offset = r->offset;
	enum monrec_gathered result;

	assert(r->address >= r->element.start && r->address <= r->element.end);
	result = monrec_gather(r, r->buffer, whole ? MONREC_FRAME_SIZE : len);
	if (result != MONREC_ALL) {
		monrec_interrupted(r, result,
				   whole ? MONREC_RULE_FILE_CUT : MONREC_RULE_RECORDS_CUT);
		return;
	}
	r->piece = r->buffer + (whole ? phase : 0);
	r->piece_offset = offset + (whole ? phase : 0);
	r->piece_address = (uint32_t)r->address;
	r->piece_len = len;
	r->pos = 0;
	r->last_piece = len == rest;
	r->frame_ended = false;
	r->address += len;
	r->state = MONREC_AT_RECORD;
}

/* The rest of the piece is none of the records. */
static void leave_frame(struct monrec_reader *r)
{
	r->pos = r->piece_len;
	r->frame_ended = true;
}

static void end_piece(struct monrec_reader *r)
{
	if (!r->last_piece && !r->frame_ended && !r->seen.ended)
		monrec_violation(r, MONREC_RULE_FRAME_OPEN, r->piece_offset + r->pos, 0, 0);
	if (r->give_frames) {
		struct monrec_item *item = monrec_push(r, MONREC_FRAME, r->piece_offset);

		item->at.record = 0;
		item->record = (struct monrec_record){
			.data = r->piece, .len = r->piece_len, .address = r->piece_address,
		};
	}
	r->state = r->last_piece ? MONREC_AT_ELEMENT : MONREC_AT_PIECE;
}

/* Does a whole record begin here?  If not, what is wrong has been told. */
static bool whole_record(struct monrec_reader *r, uint32_t left)
{
	const uint8_t *at = r->piece + r->pos;
	const uint64_t offset = r->piece_offset + r->pos;
	const uint32_t address = r->piece_address + r->pos;
	const uint32_t in_frame = MONREC_FRAME_SIZE - address % MONREC_FRAME_SIZE;
	uint32_t len;

	if (left < MONREC_HEADER_SIZE) {
		monrec_violation(r, r->last_piece ? MONREC_RULE_HEADER_CUT : MONREC_RULE_FRAME_OPEN,
				 offset, left, 0);
		return false;
	}
	len = get_be16(at + MRHDRLEN);
	if (len < MONREC_HEADER_SIZE)
		monrec_violation(r, MONREC_RULE_RECORD_SHORT, offset, len, 0);
	else if (len > in_frame)
		monrec_violation(r, MONREC_RULE_RECORD_FRAME, offset, len, in_frame);
	else if (len > left)
		monrec_violation(r, MONREC_RULE_RECORD_ELEMENT, offset, len, left);
	else
		return true;
	return false;
}

void monrec_record_step(struct monrec_reader *r)
{
	const uint64_t offset = r->piece_offset + r->pos;
	const uint8_t *at = r->piece + r->pos;
	struct monrec_record record;

	assert(r->pos <= r->piece_len);
	if (r->pos == r->piece_len) {
		end_piece(r);
		return;
	}
	r->record_number++;
	if (!whole_record(r, r->piece_len - r->pos)) {
		leave_frame(r);
		return;
	}
	record = (struct monrec_record){
		.data = at,
		.len = get_be16(at + MRHDRLEN),
		.address = r->piece_address + r->pos,
		.domain = at[MRHDRDM],
		.number = get_be16(at + MRHDRRC),
		.tod = get_be64(at + MRHDRTOD),
	};
	monrec_check_record(r, &record, offset);
	monrec_push(r, MONREC_RECORD, offset);
	/* What the checks have told is about this record, too. */
	for (unsigned int i = 0; i < r->queued; i++)
		r->queue[i].record = record;
	r->pos += record.len;
	if (record.domain == RECORD_DOMAIN_MONITOR && record.number == MTREOF)
		leave_frame(r);
}
