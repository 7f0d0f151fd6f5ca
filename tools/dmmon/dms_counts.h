/* SPDX-License-Identifier: MIT */
/*
 * Counters of areas, as the kernel's @stats_print and @stats_print_clear tell them: a line an
 * area, "START+STEP" and 13 numbers, and the histogram's "a:b:c" where the region has one.
 *
 * Numbers are kept as the kernel wrote them.  What they count is in enum dms_counter; times
 * are milliseconds or nanoseconds as the region says, which dms_time_ns() makes equal.
 */
#ifndef DMS_COUNTS_H
#define DMS_COUNTS_H

#include "dms_region.h"

/** Index of a counter in a row: the document's number less one. */
enum dms_counter {
	DMS_READS,		/**< I/Os completed; one that touches several areas counts in each */
	DMS_READS_MERGED,	/**< of these, those right behind the one before */
	DMS_READ_SECTORS,
	DMS_READ_TIME,		/**< sum of the I/Os' durations */
	DMS_WRITES,
	DMS_WRITES_MERGED,
	DMS_WRITE_SECTORS,
	DMS_WRITE_TIME,
	DMS_IN_FLIGHT,		/**< I/Os under way; the only one that is not cleared; signed */
	DMS_IO_TIME,		/**< while any I/O was under way */
	DMS_QUEUE_TIME,		/**< the same, multiplied by how many were */
	DMS_READING_TIME,	/**< while a read was under way */
	DMS_WRITING_TIME,
	DMS_COUNTERS		/**< buckets of the histogram follow */
};

/** Areas @first to @first + @count - 1 of a region; @first may be set while @count is 0. */
struct dms_counts {
	uint64_t first;
	size_t count;
	size_t stride;		/**< numbers of a row: DMS_COUNTERS and the buckets */
	size_t room;		/**< rows that @value has room for */
	uint64_t *value;	/**< owned; see dms_row() */
};

/**
 * Make room for @room areas of @r; there are none yet.
 * Return: 0, and dms_counts_free() is due; or DMS_NO_MEMORY, @counts is empty then.
 */
int dms_counts_init(struct dms_counts *counts, const struct dms_region *r, size_t room);
void dms_counts_free(struct dms_counts *counts);

/** The numbers of the row @index below @count, by enum dms_counter; then the histogram. */
static inline uint64_t *dms_row(const struct dms_counts *counts, size_t index)
{
	return counts->value + index * counts->stride;
}

/** Counter 9 is printed with a sign; counting wrongly, a kernel can have it below 0. */
static inline int64_t dms_in_flight(const uint64_t *row)
{
	return (int64_t)row[DMS_IN_FLIGHT];
}

/**
 * Append an answer to @stats_print of @r, @len bytes, that begins with the area behind those
 * that are there.  As many areas may come as there is room for, or fewer.
 * Return: 0, or a dms_error; @counts has the whole lines in front of the wrong one then.
 */
int dms_counts_read(struct dms_counts *counts, const struct dms_region *r, const char *text,
		    size_t len);

/** Nanoseconds of a time in the unit of @r; 2^64 - 1 if it is more. */
uint64_t dms_time_ns(const struct dms_region *r, uint64_t time);

#endif
