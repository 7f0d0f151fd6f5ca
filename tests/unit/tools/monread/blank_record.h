/* SPDX-License-Identifier: MIT */
/* A monitor record of zeros, as an item; a test fills its fields in. */
#ifndef BLANK_RECORD_H
#define BLANK_RECORD_H

#include <string.h>

#include "monrec.h"

/* @bytes: of @size, which the record's @len is not above; the item points to them. */
static inline void blank_record(struct monrec_item *item, uint8_t *bytes, size_t size,
				unsigned int domain, unsigned int number, uint32_t len, uint64_t tod)
{
	memset(bytes, 0, size);
	memset(item, 0, sizeof(*item));
	item->kind = MONREC_RECORD;
	item->record = (struct monrec_record){
		.data = bytes, .len = len, .domain = (uint8_t)domain, .number = (uint16_t)number,
		.tod = tod, .release = MONREC_REFERENCE,
	};
}

#endif
