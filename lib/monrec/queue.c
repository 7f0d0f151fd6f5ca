/* SPDX-License-Identifier: MIT */
/* libmonrec: the items of a step, and where a set begins and ends. */
#include "monrec_private.h"

#include <string.h>

struct monrec_item *monrec_push(struct monrec_reader *r, enum monrec_item_kind kind,
				uint64_t offset)
{
	struct monrec_item *item;

	assert(r->queued < MONREC_QUEUE);
	item = &r->queue[r->queued++];
	memset(item, 0, sizeof(*item));
	item->kind = kind;
	item->at.set = r->set;
	item->at.offset = offset;
	item->at.element = r->element_number;
	item->at.record = r->record_number;
	item->element = r->element;
	return item;
}

void monrec_violation(struct monrec_reader *r, enum monrec_rule rule, uint64_t offset,
		      uint64_t value0, uint64_t value1)
{
	struct monrec_item *item = monrec_push(r, MONREC_VIOLATION, offset);

	item->rule = rule;
	item->value[0] = value0;
	item->value[1] = value1;
}

void monrec_begin_set(struct monrec_reader *r, uint64_t offset)
{
	const bool suspended = r->seen.suspended;

	/* monrec_leave_set() has seen to that. */
	assert(r->element_number == 0 && r->record_number == 0);
	r->set++;
	r->seen = (struct monrec_seen){ .suspended = suspended };
	monrec_push(r, MONREC_SET, offset);
	r->state = MONREC_AT_ELEMENT;
}

/* Between sets there is no element. */
void monrec_leave_set(struct monrec_reader *r, enum monrec_state next)
{
	r->element_number = 0;
	r->record_number = 0;
	memset(&r->element, 0, sizeof(r->element));
	r->have = 0;
	r->state = next;
}

void monrec_lose(struct monrec_reader *r, int error, enum monrec_state next)
{
	monrec_push(r, MONREC_SET_LOST, r->offset + r->have)->error = error;
	/* What event data would have followed is not known any more. */
	r->seen.suspended = false;
	monrec_leave_set(r, next);
}
