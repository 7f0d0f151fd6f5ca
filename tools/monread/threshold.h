/* SPDX-License-Identifier: MIT */
/* monread: values above which something is marked. */
#ifndef THRESHOLD_H
#define THRESHOLD_H

#include <stdbool.h>

enum threshold {
#define THRESHOLD(id, name, value, unit, what) THRESHOLD_##id,
#include "quantities.def"
	THRESHOLDS,
	THRESHOLD_NONE = THRESHOLDS
};

/* Below 0: there is none. */
struct thresholds {
	double of[THRESHOLDS];
};

extern const struct thresholds thresholds_default;
/* "%", "ms", "pages/s"; what is above, for a sentence */
extern const char *const threshold_units[THRESHOLDS], *const threshold_whats[THRESHOLDS];

/* "busy=80", "paging=off".  False: it is none of these, or the value is no number of 0 and more. */
bool thresholds_set(struct thresholds *thresholds, const char *word);
/* Is the value above? */
bool threshold_above(const struct thresholds *thresholds, enum threshold threshold, double value);

#endif
