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
	struct cp_pages saved[CP_MAX_SEGMENTS];	/* contents of a slot's segment */
	/* What is stored into pages that machines share, from the first load to the last purge. */
	struct cp_pages live[CP_MAX_SEGMENTS];
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

static inline unsigned int dcss_slot(const struct cp *cp, const struct dcss *segment)
{
	assert(segment >= cp->system->dcss->slot && segment < cp->system->dcss->slot + CP_MAX_SEGMENTS);
	return (unsigned int)(segment - cp->system->dcss->slot);
}

/** The bit of the segment in struct cp.loaded and exclusive. */
static inline uint32_t dcss_bit(const struct cp *cp, const struct dcss *segment)
{
	return UINT32_C(1) << dcss_slot(cp, segment);
}

/** The access to a page of that type for the guest that has loaded it shared. */
enum cp_access dcss_type_access(enum dcss_type type);
/** Do two segments claim addresses of each other? */
bool dcss_overlap(const struct dcss *a, const struct dcss *b);
/** The segment of that name that the guest has loaded, even if it is to be purged. */
struct dcss *dcss_find_loaded(struct cp *cp, const char *name);
/** Does any range lie in the guest's own storage?  The pages there stay the guest's. */
bool dcss_in_storage(const struct cp *cp, const struct dcss *segment);
/** Is there a machine, this one or another, in whose storage it does not lie? */
bool dcss_has_place(const struct cp *cp, const struct dcss *segment);
/** Why the guest may not load the segment: a return code of DIAGNOSE X'64', or 0. */
uint16_t dcss_load_refused(struct cp *cp, const struct dcss *segment, bool exclusive);
/** Return: 0, or DCSS_RC_PAGING if the system has no room for its pages. */
uint16_t dcss_load(struct cp *cp, struct dcss *segment, bool exclusive);
void dcss_unload(struct cp *cp, struct dcss *segment);
/** Enters what is loaded into the overlay of storage; the host forgets its translations. */
void dcss_loaded_changed(struct cp *cp);
/** Free slot with the next file number, NULL if all are in use. */
struct dcss *dcss_new(struct dcss_table *table, const struct cp_segment_config *config, enum dcss_class cls);
/** The slot is free again. */
void dcss_undefine(struct cp *cp, struct dcss *segment);

/* dcss_pages.c */
/** A file for the contents of a segment, zeros; @read_only: for all but CP.  False: no memory. */
bool dcss_pages_open(struct cp_pages *pages, const struct dcss *segment, bool read_only);
/** Close it; nothing if it is not open. */
void dcss_pages_close(struct cp_pages *pages, const struct dcss *segment);
/** The first page of the file from @from on that has memory; @end if none before it has. */
uint64_t dcss_pages_next(const struct cp_pages *pages, uint64_t from, uint64_t end);
/** @size bytes of @to become those of @from; pages of zeros take no memory. */
void dcss_pages_copy(const struct cp_pages *to, uint64_t to_at, const struct cp_pages *from,
		     uint64_t from_at, uint64_t size);
bool dcss_page_is_zero(const uint8_t *page);
/** Has a machine that has loaded it pages of its own; pages that others share and store into? */
bool dcss_needs_own(const struct dcss *segment, bool exclusive);
bool dcss_needs_live(const struct dcss *segment, bool exclusive);
/** The machine is about to load it: have the files for that.  False: there is no room for them. */
bool dcss_pages_needed(struct cp *cp, const struct dcss *segment, bool exclusive);
/** The machine has it no more: close what nobody needs now. */
void dcss_pages_given_back(struct cp *cp, const struct dcss *segment);
/** What the machine has of it is at its place in guest storage (cp_host.window), or no more. */
bool dcss_show(struct cp *cp, const struct dcss *segment);
void dcss_hide(struct cp *cp, const struct dcss *segment);
/** SAVESEG: what the machine has at the segment's addresses becomes its contents. */
void dcss_pages_save(struct cp *cp, const struct dcss *segment);

/** All that the guest has loaded is purged. */
void dcss_reset(struct cp *cp);

/** Contents from a file; dcss_from_file() for a segment that has been found. */
int dcss_read_file(struct cp *cp, const struct dcss *segment, const char *path, char *err,
		   size_t errlen);

#endif
