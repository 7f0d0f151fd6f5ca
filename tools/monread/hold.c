/* SPDX-License-Identifier: MIT */
#include "hold.h"

#include <stdlib.h>
#include <string.h>

bool hold_add(struct hold *hold, const struct monrec_item *item)
{
	const size_t record = item->record.data ? item->record.len : 0;
	const size_t interrupt = item->interrupt ? MONREC_INTERRUPT_SIZE : 0;
	const size_t size = sizeof(struct held) + record + interrupt;
	struct held *held = hold->size + size <= HOLD_MOST ? malloc(size) : NULL;

	if (!held)
		return false;
	held->next = NULL;
	held->item = *item;
	if (record) {
		memcpy(held->bytes, item->record.data, record);
		held->item.record.data = held->bytes;
	}
	if (interrupt) {
		memcpy(held->bytes + record, item->interrupt, interrupt);
		held->item.interrupt = held->bytes + record;
	}
	if (!hold->first)
		hold->end = &hold->first;
	*hold->end = held;
	hold->end = &held->next;
	hold->size += size;
	return true;
}

struct held *hold_take(struct hold *hold)
{
	struct held *held = hold->first;

	if (held)
		hold->first = held->next;
	return held;
}
