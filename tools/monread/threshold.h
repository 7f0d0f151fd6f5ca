/* SPDX-License-Identifier: MIT */
/* monread: values above which something is marked. */
#ifndef THRESHOLD_H
#define THRESHOLD_H

#include <stdbool.h>

enum threshold {
	THRESHOLD_BUSY, THRESHOLD_CPU_WAIT, THRESHOLD_IO_WAIT, THRESHOLD_PAGE_WAIT,
	THRESHOLD_RESPONSE, THRESHOLD_SLOTS, THRESHOLD_PAGING, THRESHOLDS
};

/* Below 0: there is none. */
struct thresholds {
	double of[THRESHOLDS];
};

/* busy 90 %, cpu-wait and io-wait 25 %, page-wait 10 %, response 20 ms, slots 70 %, paging 1000. */
extern const struct thresholds thresholds_default;
/* "%", "ms", "pages/s" */
extern const char *const threshold_units[THRESHOLDS];

/* "busy=80", "paging=off".  False: it is none of these, or the value is no number of 0 and more. */
bool thresholds_set(struct thresholds *thresholds, const char *word);
/* Is the value above? */
bool threshold_above(const struct thresholds *thresholds, enum threshold threshold, double value);

#endif
