/* SPDX-License-Identifier: MIT */
/*
 * Regions of a device: listed, made, removed.
 *
 * All functions return an exit code; if it is not EXIT_PASS they have complained.
 */
#ifndef DMMON_REGIONS_H
#define DMMON_REGIONS_H

#include "device.h"
#include "dms_region.h"
#include "machine.h"

/* Program id of regions that dmmon makes, and the only one whose regions it changes unasked. */
#define OWN_PROGRAM "dmmon"
/* The tag of regions that end with their process: commands that change others leave them out. */
#define WATCH_PROGRAM "dmmon-watch"

/*
 * The device's regions of this program (NULL: of all); dms_regions_free() is due on success.
 * Of one program they are exact; in the list of all, somebody's names with blanks and line breaks
 * may be shown wrongly.
 */
int regions_list(const struct device *device, const char *program, struct dms_regions *list);

/* Like the above, but a device that is gone has no regions, and that is success. */
int regions_left(const struct device *device, const char *program, struct dms_regions *list);

/*
 * Says on standard error what memory @regions would take together, and the limit; complains if
 * that is too much, or if their names, the same for all, would not come back from the kernel.
 */
int regions_check(const struct device *device, const struct dms_region *regions, size_t count);

/* Makes the region; its id is set. */
int regions_create(const struct device *device, struct dms_region *region);

int regions_delete(const struct device *device, int id);
int regions_clear(const struct device *device, int id);
int regions_set_aux(const struct device *device, int id, const char *aux);

/*
 * Removes a region that this process has made, by the id that it got, unless it has gone: an id
 * is used again when a region is deleted.
 */
int regions_remove_own(const struct device *device, const struct dms_region *own);

#endif
