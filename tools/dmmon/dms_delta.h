/* SPDX-License-Identifier: MIT */
/*
 * What happened in an area between two looks at its counters, and whether the counters can be
 * believed.
 *
 * Nothing is cleared for that, so nothing is lost, and other readers of the region see what
 * they would have seen.  What can be wrong shows in flags:
 *
 * - Counts went back: somebody cleared the region (two such looks cannot tell how much was
 *   counted before).  A region that was cleared and has counted more than before since looks
 *   like one that was not.
 * - Times went back, or are more than can be: request-based devices on kernels to 7.2 add the
 *   clock itself to fields 4 and 8 instead of a duration, and wrap; 6.1 to 6.1.180 prints times
 *   in milliseconds wrongly from 2^22 ticks on (4.66 hours at 250 Hz).
 */
#ifndef DMS_DELTA_H
#define DMS_DELTA_H

#include "dms_counts.h"

enum dms_doubt {
	DMS_CLEARED = 1,	/**< counts went back */
	DMS_TIME_WRAPPED = 2,	/**< a time went back, though no count did */
	DMS_TIME_IMPOSSIBLE = 4,	/**< a time is more than has passed */
};

/** When the two looks were taken; all in nanoseconds. */
struct dms_span {
	uint64_t elapsed;	/**< at most, between the two */
	uint64_t oldest;	/**< that an I/O can have taken: since the region was created,
				     or since the machine was started */
};

/**
 * What was counted between @before and @after, rows of @stride numbers of region @r; in @delta
 * as in a row, the I/Os in flight those of @after.  If the counts went back, @delta is what
 * has been counted since they were cleared.
 * Return: flags of enum dms_doubt.
 */
unsigned int dms_delta(uint64_t *delta, const uint64_t *before, const uint64_t *after,
		       size_t stride, const struct dms_region *r, const struct dms_span *span);

/** Derived from a delta; NaN where that makes no sense, or the counters cannot be believed. */
struct dms_rates {
	double reads, writes;			/**< I/Os a second */
	double read_bytes, write_bytes;		/**< a second */
	double read_size, write_size;		/**< mean of those completed, bytes */
	double read_latency, write_latency;	/**< mean of those completed, nanoseconds */
	double busy;				/**< part of the time with I/O under way, 0 to 1 */
	double queue;				/**< mean number of I/Os under way */
	double service;				/**< time with I/O under way for each, nanoseconds */
};

/** Rates of a delta over @elapsed nanoseconds, at least 1; @doubt as dms_delta() returned it. */
struct dms_rates dms_rates(const uint64_t *delta, const struct dms_region *r, uint64_t elapsed,
			   unsigned int doubt);

/** Did anything happen: is any number of the delta, or of I/Os in flight, other than 0? */
bool dms_active(const uint64_t *delta, size_t stride);

#endif
