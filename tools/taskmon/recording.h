/* SPDX-License-Identifier: MIT */
/*
 * Files of "taskmon listen --record": every message as the kernel sent it, and the counters that
 * tell what was lost, so that a replay reports the same.  Numbers are in the byte order of the
 * machine that recorded; either is read.
 *
 * Header, 96 bytes:
 *	 0  "taskmon", NUL
 *	 8  format, 1
 *	 9  byte order, 'L' or 'B'
 *	10  zero, 6 bytes
 *	16  time of the beginning, ns since 1970 (8)
 *	24  delay accounting, enum delayacct_state (1), what the kernel lacks, enum accounting_lack
 *	    (1), zero (6)
 *	32  release of the kernel, ended by a NUL (64)
 * Frame, 32 bytes and the payload, padded with zeros to a multiple of 8:
 *	 0  type (4): message, counters, own, end, delay accounting
 *	 4  CPU (4)
 *	 8  number of the message; of counters: times that the queue ran over; of delay
 *	    accounting: its new state (4)
 *	12  bytes of the payload (4)
 *	16  time, ns since 1970 (8)
 *	24  messages that the kernel has dropped for this CPU so far, all ones if it does not
 *	    tell (8)
 * A message's payload is its attributes.  Counters come for every CPU once before the end.  "Own"
 * is in place of a message about the recorder's own task.  A file without an end was cut off.
 */
#ifndef TASKMON_RECORDING_H
#define TASKMON_RECORDING_H

#include <stdint.h>
#include <stdio.h>

#include "stats.h"

#define RECORDING_PAYLOAD_MAX 65536u
#define RECORDING_RELEASE_MAX 64u
#define RECORDING_NOT_TOLD UINT64_MAX

struct recording_header {
	enum stats_order order;
	uint64_t time_ns;
	uint8_t delayacct, lacks;
	char release[RECORDING_RELEASE_MAX];
};

enum recording_type {
	RECORDING_MESSAGE = 1,
	RECORDING_COUNTERS,
	RECORDING_OWN,
	RECORDING_END,
	RECORDING_DELAYACCT,
};

struct recording_frame {
	enum recording_type type;
	uint32_t cpu;		/* below CPUS_MAX */
	uint32_t number;
	uint64_t time_ns;
	uint64_t dropped;	/* RECORDING_NOT_TOLD: not known */
	uint32_t size;		/* of the payload */
	const uint8_t *payload;
};

enum recording_result {
	RECORDING_FRAME,	/* there is one */
	RECORDING_OVER,		/* the file ended as it should */
	RECORDING_CUT,		/* it ended within a frame, or without an end */
	RECORDING_BAD,		/* what is there is no frame */
	RECORDING_UNREADABLE,	/* errno says why */
};

/* Writers, in our byte order.  Return: 0 or -errno. */
int recording_write_header(FILE *file, const struct recording_header *header);
int recording_write_frame(FILE *file, const struct recording_frame *frame);

/* Return: RECORDING_FRAME if it is a header; CUT, BAD, UNREADABLE if not. */
enum recording_result recording_read_header(FILE *file, struct recording_header *header);

/*
 * The next frame of a file whose header has been read; RECORDING_OVER for the end.  @buffer:
 * RECORDING_PAYLOAD_MAX bytes for the payload, which lives until the next call.
 */
enum recording_result recording_read_frame(FILE *file, const struct recording_header *header,
					   struct recording_frame *frame, uint8_t *buffer);

#endif
