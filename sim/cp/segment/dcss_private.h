/* SPDX-License-Identifier: MIT */
/* Shared by the files of the saved segments and DIAGNOSE X'64'. */
#ifndef DCSS_PRIVATE_H
#define DCSS_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/dcss.h"

static_assert(CP_MAX_SEGMENTS <= 32, "a bit of struct cp.loaded for each");

struct dcss_table {
	struct dcss slot[CP_MAX_SEGMENTS];
	uint16_t last_fileid;
	bool filled;		/* the files of the configuration have been read */
	uint8_t *saved[CP_MAX_SEGMENTS];	/* room for what a slot's segment keeps aside */
};

static inline uint64_t dcss_range_start(const struct cp_segment_range *range)
{
	return (uint64_t)range->first * CP_PAGE_SIZE;
}

static inline uint64_t dcss_range_size(const struct cp_segment_range *range)
{
	return ((uint64_t)range->last - range->first + 1) * CP_PAGE_SIZE;
}

static inline uint64_t dcss_content_size(const struct dcss *segment)
{
	uint64_t size = 0;

	for (unsigned int i = 0; i < segment->config.ranges; i++)
		size += dcss_range_size(&segment->config.range[i]);
	return size;
}

/** The bit of the segment in struct cp.loaded. */
static inline uint32_t dcss_bit(const struct cp *cp, const struct dcss *segment)
{
	return UINT32_C(1) << (segment - cp->system->dcss->slot);
}

/** The access to a page of that type for the guest that has loaded it shared. */
enum cp_access dcss_type_access(enum dcss_type type);
/** Do two segments claim addresses of each other? */
bool dcss_overlap(const struct dcss *a, const struct dcss *b);
/** The segment of that name that the guest has loaded, even if it is to be purged. */
struct dcss *dcss_find_loaded(struct cp *cp, const char *name);
/** Does any range lie in the guest's own storage? */
bool dcss_in_storage(const struct cp *cp, const struct dcss *segment);
/** Why the guest may not load the segment: a return code of DIAGNOSE X'64', or 0. */
uint16_t dcss_load_refused(struct cp *cp, const struct dcss *segment, bool exclusive);
void dcss_load(struct cp *cp, struct dcss *segment, bool exclusive);
void dcss_unload(struct cp *cp, struct dcss *segment);
/** Enters what is loaded into the overlay of storage; the host forgets its translations. */
void dcss_loaded_changed(struct cp *cp);
/** Free slot with the next file number, NULL if all are in use. */
struct dcss *dcss_new(struct dcss_table *table, const struct cp_segment_config *config, enum dcss_class cls);
/** The slot is free again. */
void dcss_undefine(struct cp *cp, struct dcss *segment);
/** dcss_map() of the emulator's frames, whosever pages they hold. */
void *dcss_frames(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len);
bool dcss_page_is_zero(const uint8_t *page);

/* dcss_saved.c */
/** Room for the contents of a segment in its slot of @table; false without memory. */
bool dcss_saved_open(struct dcss_table *table, const struct dcss *segment);
/** Gives back the room that dcss_saved_open() found. */
void dcss_saved_close(struct dcss_table *table, const struct dcss *segment);
/** The same for each of the first @slots slots that is defined. */
void dcss_saved_close_all(struct dcss_table *table, unsigned int slots);
/** The byte at @offset from the segment's start, which a range must have. */
uint8_t *dcss_saved(const struct cp *cp, const struct dcss *segment, uint64_t offset);
/** The first machine gets the segment, and the last has given it back. */
void dcss_saved_loaded(struct cp *cp, struct dcss *segment);
void dcss_saved_purged(struct cp *cp, struct dcss *segment);
/** May a segment of an image keep its contents aside, or not, as it says? */
bool dcss_saved_valid(const struct dcss_table *table, const struct dcss *segment);
/** Can a machine that has loaded it, or will, store into it?  @exclusive: a copy of its own. */
bool dcss_stored_into(const struct dcss *segment, bool exclusive);
/** SAVESEG: what lies there now is what the segment holds. */
void dcss_saved_taken(struct cp *cp, struct dcss *segment);

/** All that the guest has loaded is purged. */
void dcss_reset(struct cp *cp);

/** Contents from a file; dcss_from_file() for a segment that has been found. */
int dcss_read_file(struct cp *cp, const struct dcss *segment, const char *path, char *err,
		   size_t errlen);

#endif
