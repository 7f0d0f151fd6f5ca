/* SPDX-License-Identifier: MIT */
/*
 * Regions of device-mapper statistics, as the kernel's @stats_list tells them.
 *
 * The kernel writes program id and auxiliary data into its list as they are: both may hold
 * blanks and line breaks, and nothing quotes them.  A record is read from both ends.  Its head
 * (id, range, step) and the words "precise_timestamps" and "histogram:…" at its end are known;
 * the program id is what stands behind the head up to a blank, what is left in the middle the
 * auxiliary data.  A line that has no head and both names, or whose id is not above the one
 * before, continues the record (the kernel lists regions by rising id).  Names that could not
 * be told apart this way are found by dms_region_readable() before they are given to the kernel;
 * those that somebody else gave are shown as they can be, and make no list unreadable.  In the
 * kernel's list of one program's regions that program is known, and read as it is.
 *
 * Formats: Documentation/admin-guide/device-mapper/statistics.rst, and what kernels 6.1 to 7.2
 * do.  Lengths and positions are sectors of 512 bytes throughout.
 */
#ifndef DMS_REGION_H
#define DMS_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool_text.h"

#define DMS_SECTOR_SIZE 512u

/** Return values of the functions in dms_*.h; 0 is success. */
enum dms_error {
	DMS_NO_MEMORY = -1,	/**< an allocation failed */
	DMS_BAD_HEAD = -2,	/**< the first line of a list is no region that can be */
	DMS_BAD_REGION = -3,	/**< a region without names, or of another program */
	DMS_BAD_LINE = -4,	/**< a line of counters is not numbers, or not as many */
	DMS_BAD_AREA = -5,	/**< a line of counters is about another area than expected */
	DMS_TOO_MANY = -6,	/**< more lines of counters than asked for */
};

/** The text of a dms_error, for a sentence; static. */
const char *dms_error_text(int error);

struct dms_region {
	int id;			/**< 0 and up */
	uint64_t start;		/**< first sector */
	uint64_t length;	/**< sectors, at least 1; @start + @length does not wrap */
	uint64_t step;		/**< sectors of an area, at least 1; the last one may be shorter */
	char *program;		/**< program id, not empty; owned */
	char *aux;		/**< auxiliary data, not empty; owned */
	bool precise;		/**< times are nanoseconds; else milliseconds in steps of ticks */
	size_t bound_count;	/**< 0: no histogram, else it has one bucket more */
	uint64_t *bounds;	/**< rising, the first above 0; same unit as times; owned */
};

struct dms_regions {
	size_t count;
	struct dms_region *region;	/**< by rising id; owned */
};

/** Numbers in one histogram; 0 without. */
static inline size_t dms_buckets(const struct dms_region *r)
{
	return r->bound_count ? r->bound_count + 1 : 0;
}

/** Areas of a region of @length sectors in steps of @step, both at least 1. */
static inline uint64_t dms_area_count(uint64_t length, uint64_t step)
{
	return length / step + (length % step != 0);
}

/** First sector of area @index, which exists. */
static inline uint64_t dms_area_start(const struct dms_region *r, uint64_t index)
{
	return r->start + index * r->step;
}

/**
 * Sectors of area @index, which exists.  The kernel prints the step for all of them, also for
 * a last one that the region's end cuts short.
 */
static inline uint64_t dms_area_length(const struct dms_region *r, uint64_t index)
{
	uint64_t left = r->length - index * r->step;

	return left < r->step ? left : r->step;
}

/** The step that the kernel makes of "/@areas", 1 to 2^32 - 1; it may give fewer areas. */
uint64_t dms_step_of_areas(uint64_t length, uint32_t areas);

/**
 * Read a decimal number: digits only, no sign, no blank, at most 2^64 - 1.
 * @text is moved behind it; on false neither it nor @value is touched.
 */
bool dms_number(const char **text, const char *end, uint64_t *value);

/**
 * Read the answer to @stats_list, @len bytes that need not end in NUL; without any, @text may be
 * NULL.
 * @program: that the kernel was asked for; NULL: the regions of all programs.
 * Return: 0 and @list, to be given to dms_regions_free(); or a dms_error, @list is empty then.
 */
int dms_regions_read(struct dms_regions *list, const char *program, const char *text, size_t len);
void dms_regions_free(struct dms_regions *list);

/** The region of this id, or NULL; owned by @list. */
const struct dms_region *dms_regions_find(const struct dms_regions *list, int id);

/** Free what the region owns, not the region. */
void dms_region_free(struct dms_region *r);

/** Is all the same that the kernel lists: id, range, step, options, names? */
bool dms_region_same(const struct dms_region *a, const struct dms_region *b);

/** Append a region as the kernel's list has it, with the line break.  @text->failed: see there. */
void dms_region_write(struct text *text, const struct dms_region *r);

/**
 * Would the kernel's list give this region back as it is?  Not if its names look like what
 * stands around them, or are empty, or the program has a blank.  @r->id counts: 0 if it is not
 * known.
 * Return: 1, 0 or DMS_NO_MEMORY.
 */
int dms_region_readable(const struct dms_region *r);

#endif
