/* SPDX-License-Identifier: MIT */
/*
 * monread: items that wait until the release of their data is known.
 *
 * What the records of the first set tell together is known only at its end.
 */
#ifndef HOLD_H
#define HOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "monrec.h"

/* Bytes of items that wait at most: far more than tell the release. */
#define HOLD_MOST (4u << 20)

struct held {
	struct held *next;
	struct monrec_item item;
	uint8_t bytes[];	/* that the item points to */
};

struct hold {
	struct held *first, **end;	/* NULL: none */
	size_t size;
};

/* Keeps a copy; false: there is no room. */
bool hold_add(struct hold *hold, const struct monrec_item *item);
/* The item that has waited longest, for free(); NULL: none. */
struct held *hold_take(struct hold *hold);

#endif
