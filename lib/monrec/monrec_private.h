/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of libmonrec.
 *
 * A reader is a state machine.  A step does one thing, a control element or a
 * record for instance, and pushes the items that come of it; monrec_next() takes
 * them one by one and makes a step when none is left.  Bytes come in pieces: the
 * part of one 4 KiB frame that an element describes.  A record never reaches into
 * another frame, so that a piece is all that is ever kept, and a frame is where
 * reading can go on behind a record that makes no sense.
 */
#ifndef MONREC_PRIVATE_H
#define MONREC_PRIVATE_H

#include <assert.h>
#include <stdbool.h>

#include "bytes.h"
#include "monrec.h"
#include "record_header.h"

static_assert(MONREC_FRAME_SIZE == RECORD_FRAME_SIZE, "of one size");
static_assert(MONREC_HEADER_SIZE == RECORD_HEADER_SIZE, "of one size");

/* Records of the domain monitor, beside those that record_header.h has. */
enum { MTREPR = 1, MTRSUS = 3, MTRDDR = 14 };

/* All the items of a step: a record and what can be wrong with it. */
#define MONREC_QUEUE 12u

enum monrec_state {
	MONREC_AT_SET,		/* a set may begin */
	MONREC_AT_ELEMENT,	/* an element may begin, or the set end */
	MONREC_AT_PIECE,	/* records of the element are not all read */
	MONREC_AT_RECORD,	/* a piece is there, read up to reader->pos */
	MONREC_SKIPPING,	/* up to the end of a set that is lost */
	MONREC_DONE,
};

/* The state of the set and the element so far, for the rules. */
struct monrec_seen {
	bool ended;		/* the element's data, by D1R11 or D1R12 */
	bool behind;		/* a record behind that has been told */
	bool samples;		/* the set has sample data */
	bool interval_ended;	/* its last sample record is D1R11 */
	bool suspended;		/* the last event data ended in D1R12 */
};

struct monrec_reader {
	enum monrec_format format;
	monrec_read_fn read;
	void *context;
	unsigned int release;
	bool give_frames;
	enum monrec_state state;

	uint64_t set;			/* sets begun */
	uint64_t offset;		/* of the next byte to be read */
	size_t have;			/* bytes of what is being gathered */
	int error;			/* why it cannot be gathered */

	uint64_t control_offset;		/* of the control record */
	unsigned int elements, next_element;	/* of those in it */
	bool at_tail;				/* end of data has been read */
	uint32_t element_number;
	struct monrec_element element;
	uint64_t address;		/* of the next byte of records to be read */

	const uint8_t *piece;
	uint32_t piece_len, pos;
	uint64_t piece_offset;
	uint32_t piece_address;
	bool last_piece;
	bool frame_ended;		/* D1R13 was there, or the rest makes no sense */
	uint32_t record_number;
	struct monrec_seen seen;

	unsigned int queued, taken;
	struct monrec_item queue[MONREC_QUEUE];
	uint8_t buffer[MONREC_FRAME_SIZE];
	uint8_t control[MONREC_FRAME_SIZE];	/* of MONWRITE */
};

static_assert(sizeof(struct monrec_reader) < 16384, "as the header promises");

/* queue.c: items; a set is left, or given up, and where reading goes on then */
struct monrec_item *monrec_push(struct monrec_reader *r, enum monrec_item_kind kind,
				uint64_t offset);
void monrec_violation(struct monrec_reader *r, enum monrec_rule rule, uint64_t offset,
		      uint64_t value0, uint64_t value1);
void monrec_begin_set(struct monrec_reader *r, uint64_t offset);
void monrec_leave_set(struct monrec_reader *r, enum monrec_state next);
void monrec_lose(struct monrec_reader *r, int error, enum monrec_state next);

/* source.c */
enum monrec_gathered { MONREC_ALL, MONREC_WAIT, MONREC_ENDED, MONREC_FAILED };
/*
 * Goes on gathering @want bytes into @to.  ENDED: by a read of 0 bytes, with
 * reader->have bytes there; FAILED: reader->error is the reason, positive.
 */
enum monrec_gathered monrec_gather(struct monrec_reader *r, uint8_t *to, size_t want);
/* Reads once, away from the set that is lost. */
void monrec_skip(struct monrec_reader *r);
/* The meaning of a read without bytes within a set; ALL is no such meaning. */
void monrec_interrupted(struct monrec_reader *r, enum monrec_gathered result,
			enum monrec_rule cut);

/* monwrite.c: the control record that begins a set, or end of data */
void monrec_control(struct monrec_reader *r);

/* frame.c: the next piece; the next record of it */
void monrec_piece(struct monrec_reader *r);
void monrec_record_step(struct monrec_reader *r);

/* The highest number of a record that has a layout. */
#define MONREC_LAST_NUMBER 127u

/* catalogue.c: the layout in a table; NULL: none has it */
const struct monrec_layout *monrec_table_layout(unsigned int domain, unsigned int number);

/* page.c: the layout of a page that was added; NULL: none was */
const struct monrec_layout *monrec_page_layout(unsigned int domain, unsigned int number);

/* check.c: rules, each told by monrec_violation() */
bool monrec_check_element(struct monrec_reader *r, uint64_t offset);
void monrec_check_record(struct monrec_reader *r, const struct monrec_record *record,
			 uint64_t offset);
void monrec_check_set(struct monrec_reader *r);

#endif
