/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'64': its subcodes, and where the lists of SEGEXT have their fields, as Linux's extmem
 * has them, so that the tests do not take them from the code under test.
 */
#ifndef SEGEXT_FIELDS_H
#define SEGEXT_FIELDS_H

#include "fixture.h"

enum {
	LOADSHR_31 = 0x00, LOADNSR_31 = 0x04, FINDSEG_31 = 0x0c, SEGEXT_31 = 0x18,
	LOADSHR = 0x20, LOADNSR = 0x24, FINDSEG = 0x2c, SEGEXT = 0x38,
	PURGESEG = 0x08,
};

/* The list that asks. */
enum {
	QIN_FUNCTION = 0,	/* SEGEXT_QUERY */
	QIN_CODE = 4,		/* of the answer */
	QIN_NAME = 8,		/* 8 */
	QIN_OUTPUT = 16,	/* 4: address of the answer */
	QIN_ROOM = 20,		/* 2: its length */
	QIN_SIZE = 24,
};

#define SEGEXT_QUERY 0x0c

/* The answer; with subcode SEGEXT_31 all of it are fullwords. */
enum {
	QOUT_START = 0,		/* 8 */
	QOUT_END = 8,		/* 8: the last byte */
	QOUT_RANGES = 16,	/* 4: that the segment has */
	QOUT_LISTED = 20,	/* 4: of these in the answer */
	QOUT_RANGE = 24,	/* the first: start with its type in the last byte, last page */
	QOUT_RANGE_SIZE = 16,
};

/* The answer with subcode SEGEXT_31. */
enum { QOUT31_LISTED = 12 };	/* 4 */

/* Fill in the list at @at for Rx = 2, Ry = 4; what Linux leaves as it is, is @rest. */
static inline uint8_t *segext_list(uint64_t at, uint8_t rest, const char *name, uint32_t out,
				   uint16_t room)
{
	uint8_t *qin = memset(fx_at(at, QIN_SIZE), rest, QIN_SIZE);

	qin[QIN_FUNCTION] = SEGEXT_QUERY;
	fx_put_name(at + QIN_NAME, name);
	put_be32(qin + QIN_OUTPUT, out);
	put_be16(qin + QIN_ROOM, room);
	fx.gr[2] = at;
	fx.gr[4] = SEGEXT;
	return qin;
}

#endif
