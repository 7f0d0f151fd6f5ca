/* SPDX-License-Identifier: MIT */
/* Counters of areas as families of values for monitoring systems; without a kernel. */
#ifndef DMS_VALUES_H
#define DMS_VALUES_H

#include "dms_delta.h"
#include "metrics.h"

enum dms_family {
	DMS_VALUE_IOS, DMS_VALUE_MERGED, DMS_VALUE_BYTES, DMS_VALUE_DURATION, DMS_VALUE_IN_FLIGHT,
	DMS_VALUE_BUSY, DMS_VALUE_WEIGHTED, DMS_VALUE_DIRECTION_BUSY, DMS_VALUE_LATENCY,
	DMS_VALUE_DOUBT, DMS_VALUE_LEFT_OUT, DMS_VALUE_ERRORS, DMS_VALUE_FAMILIES
};
extern const struct metric_family dms_families[DMS_VALUE_FAMILIES];

/**
 * Adds the counters of area @index of @r, a row as dms_row() gives it.  @doubt: of enum dms_doubt;
 * times that cannot be believed are left out.
 */
void dms_values_add(struct metrics *metrics, const char *device, const struct dms_region *r,
		    uint64_t index, const uint64_t *row, unsigned int doubt);

#endif
