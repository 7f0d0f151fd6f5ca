/* SPDX-License-Identifier: MIT */
/*
 * Groups of dmstats: regions that it reports as one.
 *
 * The kernel knows nothing of groups.  dmstats keeps one in the auxiliary data of its first
 * member, "DMS_GROUP=ALIAS:MEMBERS#TEXT", MEMBERS being numbers and ranges between commas.  Who
 * replaces these data dissolves the group; who deletes a member leaves its number in the group,
 * for whatever region gets that number next.
 */
#ifndef DMS_GROUP_H
#define DMS_GROUP_H

#include "dms_counts.h"
#include "dms_region.h"

/** Do the auxiliary data of @leader describe a group, with the region @id among its members? */
bool dms_group_has(const struct dms_region *leader, int id);

/** The region in @all that describes the group which the region @id is in; NULL: it is in none. */
const struct dms_region *dms_group_of(const struct dms_regions *all, int id);

/** The alias of the group that @leader describes, @len bytes; 0: it has none. */
const char *dms_group_alias(const struct dms_region *leader, size_t *len);

/**
 * Appends the auxiliary data that make the regions @ids a group, for the first of them, whose own
 * are @aux; ended by a NUL.  Bytes of @alias that would end it are '_' there.
 */
void dms_group_write(struct text *text, const char *alias, const int *ids, size_t count,
		     const char *aux);

/** The counters of a group, all in nanoseconds, sectors and numbers. */
struct dms_group_sum {
	const struct dms_region *leader;
	uint64_t sectors;		/**< of its areas */
	uint64_t row[DMS_COUNTERS];
	unsigned int doubt;		/**< flags of enum dms_doubt, of any of its areas */
	uint64_t elapsed;		/**< in which that was counted, the longest of its regions */
};

/** Sums of the groups of a device; @sum has room for as many as there are regions. */
struct dms_group_sums {
	struct dms_group_sum *sum;	/**< owned by whoever makes them */
	size_t count;
};

/** The sum of the group that @leader describes: a new one if it is the first time. */
struct dms_group_sum *dms_group_sum_of(struct dms_group_sums *sums,
				       const struct dms_region *leader);

/** The group as if it were one region of one area, whose times are those of the sum. */
struct dms_region dms_group_as_region(const struct dms_group_sum *sum);

/** Adds an area of @sectors in a region of the group. */
void dms_group_add(struct dms_group_sum *sum, const struct dms_region *r, uint64_t sectors,
		   const uint64_t *row, unsigned int doubt);

/**
 * The region in @all that describes a group which would lose its description or a member, but
 * not all members, if the regions in @deleted were deleted; NULL if there is none.
 */
const struct dms_region *dms_group_broken(const struct dms_regions *all,
					  const struct dms_regions *deleted);

/** Would the group that the auxiliary data of @r describe, if they do, be another one with @aux? */
bool dms_group_replaced(const struct dms_region *r, const char *aux);

#endif
