/* SPDX-License-Identifier: MIT */
/*
 * libmonrec: what a file of MONWRITE has beside elements and records.
 *
 * Records of 4096 bytes.  For each message of *MONITOR a control record: the
 * interruption, then up to 338 control elements (CP's block HCPMWTBK); behind it,
 * for each element, the frames that hold its records, whole.  A control record of
 * zeros ends the file; how CP marks its end is not public.
 */
#include "monrec_private.h"

#include <string.h>

/* Offsets in the interruption of a pending message. */
enum { IPFLAGS1 = 2, IPTYPE = 3, IPRMMSG1 = 12, IPRMMSG2 = 16 };
#define IPRMDATA 0x80
#define PRIORITY_PENDING 8
#define MESSAGE_PENDING 9

static bool end_of_data(const uint8_t *control)
{
	static const uint8_t zeros[MONREC_FRAME_SIZE];

	return memcmp(control, zeros, sizeof(zeros)) == 0;
}

/* Is the interruption that of a message whose control area can be one? */
static bool area_fits(const uint8_t *control)
{
	const uint32_t first = get_be32(control + IPRMMSG1), last = get_be32(control + IPRMMSG2);
	const uint64_t len = (uint64_t)last - first + 1;

	return first <= last && len % MONREC_ELEMENT_SIZE == 0 &&
	       len <= MONREC_MAX_ELEMENTS * MONREC_ELEMENT_SIZE;
}

static bool announces(const uint8_t *control)
{
	return (control[IPTYPE] == PRIORITY_PENDING || control[IPTYPE] == MESSAGE_PENDING) &&
	       control[IPFLAGS1] & IPRMDATA;
}

bool monrec_is_monwrite(const uint8_t beginning[MONREC_LOOK_AHEAD])
{
	static const uint8_t zeros[MONREC_LOOK_AHEAD];

	/* The fourth byte of a control element is reserved and zero, its first is not. */
	return memcmp(beginning, zeros, sizeof(zeros)) == 0 ||
	       (announces(beginning) && area_fits(beginning));
}

static void tail(struct monrec_reader *r)
{
	uint8_t byte;
	const uint64_t offset = r->offset;
	const enum monrec_gathered result = monrec_gather(r, &byte, 1);

	if (result == MONREC_WAIT) {
		monrec_push(r, MONREC_AGAIN, offset);
		return;
	}
	if (result == MONREC_ALL)
		monrec_violation(r, MONREC_RULE_BEHIND_DATA, offset, 0, 0);
	else if (result == MONREC_FAILED)
		monrec_push(r, MONREC_ERROR, offset)->error = r->error;
	r->state = MONREC_DONE;
}

static void begin(struct monrec_reader *r)
{
	const uint8_t *control = r->control;
	const uint32_t first = get_be32(control + IPRMMSG1), last = get_be32(control + IPRMMSG2);

	monrec_begin_set(r, r->control_offset);
	r->queue[r->queued - 1].interrupt = control;
	if (!announces(control))
		monrec_violation(r, MONREC_RULE_INTERRUPT, r->control_offset, control[IPTYPE],
				 control[IPFLAGS1]);
	if (!area_fits(control)) {
		monrec_violation(r, MONREC_RULE_CONTROL_AREA, r->control_offset + IPRMMSG1, first,
				 last);
		monrec_lose(r, 0, MONREC_DONE);
		return;
	}
	r->elements = (last - first + 1) / MONREC_ELEMENT_SIZE;
	r->next_element = 0;
}

void monrec_control(struct monrec_reader *r)
{
	enum monrec_gathered result;

	if (r->at_tail) {
		tail(r);
		return;
	}
	result = monrec_gather(r, r->control, MONREC_FRAME_SIZE);
	switch (result) {
	case MONREC_ALL:
		r->control_offset = r->offset - MONREC_FRAME_SIZE;
		r->at_tail = end_of_data(r->control);
		if (!r->at_tail)
			begin(r);
		break;
	case MONREC_WAIT:
		monrec_push(r, MONREC_AGAIN, r->offset + r->have);
		break;
	case MONREC_ENDED:
		monrec_violation(r, MONREC_RULE_FILE_CUT, r->offset, r->have, 0);
		r->state = MONREC_DONE;
		break;
	case MONREC_FAILED:
		monrec_push(r, MONREC_ERROR, r->offset)->error = r->error;
		r->state = MONREC_DONE;
		break;
	}
}
