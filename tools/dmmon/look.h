/* SPDX-License-Identifier: MIT */
/*
 * Looks at the counters of a region, in parts of so many areas that neither kernel nor dmmon
 * needs much memory at once.
 */
#ifndef DMMON_LOOK_H
#define DMMON_LOOK_H

#include "device.h"
#include "dms_counts.h"

/* Areas that the kernel prints in one message. */
#define LOOK_AREAS 4096u

/* All areas of a region, and when the kernel was asked for them (machine_now()). */
struct look {
	struct dms_counts counts;
	uint64_t begin, end;
};

/*
 * Appends the next areas, as many as there is room for, but LOOK_AREAS at most.  @clear: they
 * begin at 0 again; what the kernel printed is what it takes away, so that nothing gets lost.
 * Return: EXIT_PASS, or another exit code, having complained.
 */
int look_part(struct dms_counts *counts, const struct device *device, const struct dms_region *r,
	      bool clear);

/* Room for all areas; look_free() is due on EXIT_PASS.  Else it has complained. */
int look_init(struct look *look, const struct dms_region *r);
void look_free(struct look *look);

/* Replaces what is in @look.  Return: as look_part(). */
int look_take(struct look *look, const struct device *device, const struct dms_region *r);

#endif
