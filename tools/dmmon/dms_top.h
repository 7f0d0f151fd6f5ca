/* SPDX-License-Identifier: MIT */
/* The areas with the highest values, of all that were offered. */
#ifndef DMS_TOP_H
#define DMS_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "dms_delta.h"

/** The keys to sort areas by. */
enum dms_top_key {
	DMS_TOP_IOS,		/**< I/Os a second */
	DMS_TOP_BYTES,		/**< bytes a second */
	DMS_TOP_LATENCY,	/**< the longer one of the mean latencies */
	DMS_TOP_BUSY,		/**< part of the time with I/O */
	DMS_TOP_QUEUE,		/**< mean number of I/Os under way */
	DMS_TOP_KEYS
};

/** Words for them, static; by enum dms_top_key. */
extern const char *const dms_top_names[DMS_TOP_KEYS];

/** The value of an area; -1 where it is not known, or cannot be believed. */
double dms_top_value(enum dms_top_key key, const struct dms_rates *rates);

/** Keys in the order in which they count: a further one where those before are equal. */
struct dms_top_keys {
	enum dms_top_key key[DMS_TOP_KEYS];
	size_t count;		/**< 0: by the first enumerator alone */
};

/** An area: indices into what the caller has. */
struct dms_candidate {
	double value[DMS_TOP_KEYS];	/**< by the keys, then zeros */
	size_t device, region, area;
};

/** All zero: nothing yet. */
struct dms_top {
	struct dms_candidate *of;	/**< owned; the lowest one is first until dms_top_sort() */
	size_t count, most;
};

/** The values by these keys. */
void dms_top_values(double value[DMS_TOP_KEYS], const struct dms_top_keys *keys,
		    const struct dms_rates *rates);

/** Room for @most, at least 1.  Return: 0 and dms_top_free() is due, or DMS_NO_MEMORY. */
int dms_top_init(struct dms_top *top, size_t most);
void dms_top_free(struct dms_top *top);

/** Takes it if it is one of the highest so far; of equal ones the first stays. */
void dms_top_offer(struct dms_top *top, const struct dms_candidate *candidate);

/** The highest one first, equal ones in the order of their indices. */
void dms_top_sort(struct dms_top *top);

#endif
