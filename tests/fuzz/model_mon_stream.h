/* SPDX-License-Identifier: MIT */
/*
 * A reference model of the read machine (driver/mon_stream.h), written from the contract in that
 * header and from nothing else: another person's reading of the same words.
 *
 * It has no states.  A set is a list of parts, one for each control element: 12 bytes of the copy
 * of the element, and the bytes of its records.  The reader is at byte OFFSET of part PART.  The
 * messages lie in an array that is never used again; nothing wraps.
 */
#ifndef MODEL_MON_STREAM_H
#define MODEL_MON_STREAM_H

#include "mon_stream.h"
#include "read.h"

/* Messages accepted between two opens; the caller sees to it that there are not more. */
#define MODEL_MESSAGES 4096

/**
 * struct model - what a stream should be
 * @image:    contents of the segment
 * @start:    guest real address of its first byte
 * @end:      and of its last
 * @message:  all that were accepted since the open
 * @read:     how many of them have been replied to: index of the current or next one
 * @arrived:  how many there are
 * @limit:    what CP may have outstanding
 * @overflow: EOVERFLOW is due
 * @severed:  there will be no more messages
 * @counts:   as the stream's
 * @begun:    message @read is being read
 * @element:  copy of the current element
 * @part:     its number
 * @parts:    how many the set has
 * @offset:   of the next byte, counted from the begin of the element
 * @length:   of element and records together
 * @bytes:    of this set so far
 * @defect:   of this set; of the one before between two sets
 */
struct model {
	const u8 *image;
	u64 start;
	u64 end;
	struct mon_note message[MODEL_MESSAGES];
	unsigned int read;
	unsigned int arrived;
	unsigned int limit;
	bool overflow;
	bool severed;
	struct mon_counts counts;

	bool begun;
	u8 element[MON_ELEMENT_SIZE];
	u64 part;
	u64 parts;
	u64 offset;
	u64 length;
	u64 bytes;
	enum mon_defect defect;
};

/* Each is what the function of the same name in mon_stream.h should be. */
bool model_init(struct model *m, const u8 *image, u64 start, u64 end);
void model_open(struct model *m);
void model_limit(struct model *m, unsigned int granted);
bool model_notify(struct model *m, const struct mon_note *note);
void model_sever(struct model *m);
enum mon_poll model_poll(const struct model *m);

/* What the header's example of a read should return. */
int model_read(struct model *m, const struct read_request *request);

#endif /* MODEL_MON_STREAM_H */
