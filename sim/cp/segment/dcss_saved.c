/* SPDX-License-Identifier: MIT */
/*
 * Saved contents.  A segment's pages lie at its address.  While machines have
 * pages that they may store into, what was saved is kept aside; it takes their
 * place when the last of them gives the segment back.
 */
#include <string.h>
#include <sys/mman.h>

#include "dcss_private.h"

static bool data_saved(const struct cp_segment_range *range)
{
	return range->type != DCSS_SN && range->type != DCSS_EN;
}

/* A private copy is the guest's own, whatever its type. */
bool dcss_stored_into(const struct dcss *segment, bool exclusive)
{
	if (exclusive)
		return true;
	for (unsigned int i = 0; i < segment->config.ranges; i++)
		if (dcss_type_access(segment->config.range[i].type) == CP_ACCESS_WRITE)
			return true;
	return false;
}

bool dcss_saved_open(struct dcss_table *table, const struct dcss *segment)
{
	uint8_t **saved = &table->saved[segment - table->slot];
	void *at = mmap(NULL, dcss_content_size(segment), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert(!*saved);
	*saved = at == MAP_FAILED ? NULL : at;
	return *saved != NULL;
}

void dcss_saved_close(struct dcss_table *table, const struct dcss *segment)
{
	uint8_t **saved = &table->saved[segment - table->slot];

	assert(segment >= table->slot && segment < table->slot + CP_MAX_SEGMENTS && *saved);
	munmap(*saved, dcss_content_size(segment));
	*saved = NULL;
}

void dcss_saved_close_all(struct dcss_table *table, unsigned int slots)
{
	for (unsigned int i = 0; i < slots; i++)
		if (table->slot[i].defined)
			dcss_saved_close(table, &table->slot[i]);
}

uint8_t *dcss_saved(const struct cp *cp, const struct dcss *segment, uint64_t offset)
{
	uint8_t *at = cp->system->dcss->saved[segment - cp->system->dcss->slot];
	uint64_t addr = dcss_start(segment) + offset;

	assert(at);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		if (addr - dcss_range_start(range) < dcss_range_size(range))
			return at + (addr - dcss_range_start(range));
		at += dcss_range_size(range);
	}
	assert(false);
	return NULL;
}

/* SAVESEG has been given while the guest has other pages at its address. */
static bool elsewhere(const struct dcss *segment)
{
	return segment->kept && segment->loaders == 0;
}

void *dcss_map(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	void *at = dcss_frames(cp, segment, offset, len);

	return at && elsewhere(segment) ? dcss_saved(cp, segment, offset) : at;
}

static void tell_dirty(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	if (!dcss_in_storage(cp, segment))
		cp->host.dirty(cp->host.opaque, CP_ABSOLUTE, dcss_start(segment) + offset, len);
}

void dcss_dirty(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	assert(len > 0 && offset + len - 1 <= dcss_end(segment) - dcss_start(segment));
	if (elsewhere(segment))
		return;
	/* It may be logging on, and not be in the table yet. */
	tell_dirty(cp, segment, offset, len);
	for (unsigned int i = 0; i < cp->system->machines; i++)
		if (cp->system->machine[i] != cp)
			tell_dirty(cp->system->machine[i], segment, offset, len);
}

bool dcss_page_is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, CP_PAGE_SIZE - 1) == 0;
}

/* Pages that are the same are not touched: most are empty and take no storage. */
static void copy_pages(uint8_t *to, const uint8_t *from, uint64_t size)
{
	assert(size % CP_PAGE_SIZE == 0);
	for (uint64_t done = 0; done < size; done += CP_PAGE_SIZE)
		if (memcmp(to + done, from + done, CP_PAGE_SIZE) != 0)
			memcpy(to + done, from + done, CP_PAGE_SIZE);
}

static void clear_pages(uint8_t *at, uint64_t size)
{
	assert(size % CP_PAGE_SIZE == 0);
	for (uint64_t done = 0; done < size; done += CP_PAGE_SIZE)
		if (!dcss_page_is_zero(at + done))
			memset(at + done, 0, CP_PAGE_SIZE);
}

static void keep(struct cp *cp, struct dcss *segment)
{
	assert(segment->defined && !segment->kept);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];
		uint64_t offset = dcss_range_start(range) - dcss_start(segment);
		uint8_t *at = dcss_frames(cp, segment, offset, dcss_range_size(range));

		if (at && data_saved(range))
			copy_pages(dcss_saved(cp, segment, offset), at, dcss_range_size(range));
	}
	segment->kept = true;
}

static void give_back(struct cp *cp, struct dcss *segment)
{
	uint8_t *saved = dcss_saved(cp, segment, 0);

	assert(segment->defined && segment->kept);
	segment->kept = false;
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];
		uint64_t offset = dcss_range_start(range) - dcss_start(segment);
		uint8_t *at = dcss_frames(cp, segment, offset, dcss_range_size(range));

		if (!at)
			continue;
		copy_pages(at, dcss_saved(cp, segment, offset), dcss_range_size(range));
		dcss_dirty(cp, segment, offset, dcss_range_size(range));
	}
	madvise(saved, dcss_content_size(segment), MADV_DONTNEED);
}

void dcss_saved_loaded(struct cp *cp, struct dcss *segment)
{
	assert(!segment->kept);
	if (!dcss_stored_into(segment, segment->exclusive))
		return;
	keep(cp, segment);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];
		uint64_t offset = dcss_range_start(range) - dcss_start(segment);
		uint8_t *at = dcss_frames(cp, segment, offset, dcss_range_size(range));

		if (!at || data_saved(range))
			continue;
		clear_pages(at, dcss_range_size(range));
		dcss_dirty(cp, segment, offset, dcss_range_size(range));
	}
}

/* Its frames hold what the guest has of another segment. */
static bool frames_taken(const struct dcss_table *table, const struct dcss *segment)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		const struct dcss *other = &table->slot[i];

		if (other != segment && other->loaders > 0 && other->kept &&
		    dcss_overlap(other, segment))
			return true;
	}
	return false;
}

bool dcss_saved_valid(const struct dcss_table *table, const struct dcss *segment)
{
	if (segment->loaders > 0)
		return segment->kept == dcss_stored_into(segment, segment->exclusive);
	return !segment->kept || frames_taken(table, segment);
}

void dcss_saved_purged(struct cp *cp, struct dcss *segment)
{
	assert(segment->loaders == 0);
	if (segment->kept)
		give_back(cp, segment);
	/* What was saved while the guest had other pages there can come to its place. */
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *other = &cp->system->dcss->slot[i];

		if (other->defined && other->kept && other->loaders == 0 &&
		    !frames_taken(cp->system->dcss, other))
			give_back(cp, other);
	}
}

void dcss_saved_taken(struct cp *cp, struct dcss *segment)
{
	assert(!segment->kept && segment->loaders == 0);
	if (frames_taken(cp->system->dcss, segment))
		keep(cp, segment);
}
