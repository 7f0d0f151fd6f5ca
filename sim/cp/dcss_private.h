/* SPDX-License-Identifier: MIT */
/* What the files of the saved segments and DIAGNOSE X'64' share. */
#ifndef DCSS_PRIVATE_H
#define DCSS_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/dcss.h"

struct dcss_table {
	struct dcss slot[CP_MAX_SEGMENTS];
	uint16_t last_fileid;
	uint64_t low, high;	/* bytes that loaded segments lie between; none: low > high */
};

static inline uint64_t dcss_range_start(const struct cp_segment_range *range)
{
	return (uint64_t)range->first * CP_PAGE_SIZE;
}

static inline uint64_t dcss_range_size(const struct cp_segment_range *range)
{
	return ((uint64_t)range->last - range->first + 1) * CP_PAGE_SIZE;
}

/** The segment of that name that the guest has loaded, even if it is to be purged. */
struct dcss *dcss_find_loaded(struct cp *cp, const char *name);
/** Does any range lie in the guest's own storage? */
bool dcss_in_storage(const struct cp *cp, const struct dcss *segment);
/** Why the guest may not load the segment: a return code of DIAGNOSE X'64', or 0. */
uint16_t dcss_load_refused(struct cp *cp, const struct dcss *segment, bool exclusive);
void dcss_load(struct cp *cp, struct dcss *segment, bool exclusive);
void dcss_unload(struct cp *cp, struct dcss *segment);
/** Low and high from what is loaded; the host forgets its translations. */
void dcss_loaded_changed(struct cp *cp);
/** Free slot with the next file number, NULL if all are in use. */
struct dcss *dcss_new(struct cp *cp, const struct cp_segment_config *config, enum dcss_class cls);
/** Contents from a file; dcss_from_file() for a segment that has been found. */
int dcss_read_file(struct cp *cp, const struct dcss *segment, const char *path, char *err,
		   size_t errlen);

#endif
