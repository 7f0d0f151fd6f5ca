/* SPDX-License-Identifier: MIT */
/*
 * What tasks used that have exited, added up by command or by user, as families of values.
 *
 * There is room for SUMS_MAX of them; all further ones are one more, "(other)".  Pure.
 */
#ifndef TASKMON_SUMS_H
#define TASKMON_SUMS_H

#include "collector.h"
#include "metrics.h"
#include "stats.h"

#define SUMS_MAX 500u

enum sums_by { SUMS_BY_COMMAND, SUMS_BY_USER };

struct sums {
	enum sums_by by;
	size_t count;
	struct sum {
		char name[STATS_COMM_MAX + 1];
		uint64_t exits, uncounted;
		struct stats stats;
	} sum[SUMS_MAX + 1];	/* the last one is "(other)" */
};

/*
 * All zero but for @by: none yet.  The record of a task; of other kinds nothing is taken.  What is
 * absent from it is not in the sum; a sum that no task had is absent.
 */
void sums_take(struct sums *sums, const struct stats_record *record);

enum sums_family {
	SUMS_EXITS, SUMS_UNCOUNTED, SUMS_CPU, SUMS_MODES, SUMS_DELAY, SUMS_DELAYS, SUMS_FAULTS, SUMS_IO,
	SUMS_SWITCHES, SUMS_RESIDENT, SUMS_RECEIVED, SUMS_LOST, SUMS_MISSING, SUMS_STRANGERS,
	SUMS_OVERFLOWS, SUMS_MALFORMED, SUMS_UNKNOWN, SUMS_FAMILIES
};

/* The families; those of sums have the label "command" or "user". */
void sums_families(enum sums_by by, struct metric_family *families);

/* Adds all values: the sums, and what of messages came and was lost. */
void sums_values(const struct sums *sums, const struct collector *collector,
		 struct metrics *metrics);

#endif
