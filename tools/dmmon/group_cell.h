/* SPDX-License-Identifier: MIT */
/* The name of a group of dmstats in a row. */
#ifndef DMMON_GROUP_CELL_H
#define DMMON_GROUP_CELL_H

#include "column.h"
#include "dms_group.h"

#define GROUP_NAME_SIZE sizeof("2147483647")

/*
 * The alias of the group that @leader describes; without one the number of that region, in @name.
 * @leader NULL: absent.  It is as good as @leader and @name are.
 */
struct cell group_cell(const struct dms_region *leader, char name[GROUP_NAME_SIZE]);

#endif
