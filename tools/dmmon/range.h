/* SPDX-License-Identifier: MIT */
/* Options that describe a region to be made: --start, --length, --area-size, --areas, --bounds … */
#ifndef DMMON_RANGE_H
#define DMMON_RANGE_H

#include <argp.h>

#include "device.h"
#include "dms_region.h"

struct range {
	uint64_t start, length, step;	/* sectors; 0: not given */
	uint32_t areas;			/* 0: not given */
	bool precise;
	uint64_t *bounds;		/* nanoseconds, rising; owned */
	size_t bound_count;
	bool given;			/* any of the options was */
};

/* About a struct range, all zero but for defaults. */
extern const struct option_table range_options;

void range_free(struct range *range);

/*
 * The region that is meant on this device: id 0, names as given here, not copied.  Bounds that
 * are no whole milliseconds make it precise.  @region's bounds are its own and to be freed.
 * Return: EXIT_PASS, or another exit code, having complained.
 */
int range_region(const struct range *range, const struct device *device, char *program, char *aux,
		 struct dms_region *region);

/*
 * Times between commas, each with its unit, rising from above 0, in nanoseconds.
 * Return: NULL, with @bounds (owned by the caller) and @count set; or what is wrong, static.
 */
const char *range_parse_bounds(const char *word, uint64_t **bounds, size_t *count);

/* Sectors: "8" or "8s", or a size of whole sectors such as "64K".  False, @sectors untouched. */
bool range_parse_sectors(const char *word, uint64_t *sectors);

#endif
