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

#include "dms_region.h"

/** Do the auxiliary data of @leader describe a group, with the region @id among its members? */
bool dms_group_has(const struct dms_region *leader, int id);

/**
 * The region in @all that describes a group which would lose its description or a member, but
 * not all members, if the regions in @deleted were deleted; NULL if there is none.
 */
const struct dms_region *dms_group_broken(const struct dms_regions *all,
					  const struct dms_regions *deleted);

/** Would the group that the auxiliary data of @r describe, if they do, be another one with @aux? */
bool dms_group_replaced(const struct dms_region *r, const char *aux);

#endif
