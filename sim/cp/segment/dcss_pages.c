/* SPDX-License-Identifier: MIT */
/*
 * Pages of segments are files that emulators map: what was saved, which nobody but CP can store
 * into; what machines share while one of them has the segment; what a machine has for itself.
 */
#define _GNU_SOURCE /* memfd_create, SEEK_DATA */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dcss_private.h"

/* Descriptors of it are other processes', too: none can change its size, or keep others out. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

bool dcss_pages_open(struct cp_pages *pages, const struct dcss *segment, bool read_only)
{
	const uint64_t size = dcss_content_size(segment);
	const int fd = memfd_create("zvmlab-segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint8_t *at = MAP_FAILED;

	assert(!pages->at);
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	/* This mapping may be stored into; no later one. */
	if (at != MAP_FAILED &&
	    fcntl(fd, F_ADD_SEALS, SEALS | (read_only ? F_SEAL_FUTURE_WRITE : 0)) == 0) {
		*pages = (struct cp_pages){ fd, at };
		return true;
	}
	if (at != MAP_FAILED)
		munmap(at, size);
	if (fd >= 0)
		close(fd);
	return false;
}

void dcss_pages_close(struct cp_pages *pages, const struct dcss *segment)
{
	if (!pages->at)
		return;
	munmap(pages->at, dcss_content_size(segment));
	close(pages->fd);
	*pages = (struct cp_pages){ .at = NULL };
}

uint64_t dcss_pages_next(const struct cp_pages *pages, uint64_t from, uint64_t end)
{
	const off_t data = lseek(pages->fd, (off_t)from, SEEK_DATA);

	assert(from % CP_PAGE_SIZE == 0 && end % CP_PAGE_SIZE == 0);
	return data < 0 ? end : smaller((uint64_t)data / CP_PAGE_SIZE * CP_PAGE_SIZE, end);
}

bool dcss_page_is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, CP_PAGE_SIZE - 1) == 0;
}

void dcss_pages_copy(const struct cp_pages *to, uint64_t to_at, const struct cp_pages *from,
		     uint64_t from_at, uint64_t size)
{
	const uint64_t to_end = to_at + size, from_end = from_at + size;

	for (uint64_t at = dcss_pages_next(to, to_at, to_end); at < to_end;
	     at = dcss_pages_next(to, at + CP_PAGE_SIZE, to_end))
		memset(to->at + at, 0, CP_PAGE_SIZE);
	for (uint64_t at = dcss_pages_next(from, from_at, from_end); at < from_end;
	     at = dcss_pages_next(from, at + CP_PAGE_SIZE, from_end))
		if (!dcss_page_is_zero(from->at + at))
			memcpy(to->at + to_at + (at - from_at), from->at + at, CP_PAGE_SIZE);
}

/* A machine's own, whatever others have. */
static bool is_own(const struct cp_segment_range *range, bool exclusive)
{
	return exclusive || range->type == DCSS_EW || range->type == DCSS_EN;
}

/* What one of those who share it stores, the others see. */
static bool is_live(const struct cp_segment_range *range, bool exclusive)
{
	return !is_own(range, exclusive) && dcss_type_access(range->type) == CP_ACCESS_WRITE;
}

static bool any(const struct dcss *segment, bool exclusive,
		bool (*is)(const struct cp_segment_range *range, bool exclusive))
{
	for (unsigned int i = 0; i < segment->config.ranges; i++)
		if (is(&segment->config.range[i], exclusive))
			return true;
	return false;
}

bool dcss_needs_own(const struct dcss *segment, bool exclusive)
{
	return any(segment, exclusive, is_own);
}

bool dcss_needs_live(const struct dcss *segment, bool exclusive)
{
	return any(segment, exclusive, is_live);
}

static bool data_saved(const struct cp_segment_range *range)
{
	return range->type != DCSS_SN && range->type != DCSS_EN;
}

/* A copy of what was saved; of other pages nothing is. */
static bool open_copy(struct cp_pages *pages, const struct cp_pages *saved,
		      const struct dcss *segment)
{
	uint64_t at = 0;

	if (!dcss_pages_open(pages, segment, false))
		return false;
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		if (data_saved(range))
			dcss_pages_copy(pages, at, saved, at, dcss_range_size(range));
		at += dcss_range_size(range);
	}
	return true;
}

bool dcss_pages_needed(struct cp *cp, const struct dcss *segment, bool exclusive)
{
	struct dcss_table *table = cp->system->dcss;
	const unsigned int slot = dcss_slot(cp, segment);

	if (dcss_needs_own(segment, exclusive) &&
	    !open_copy(&cp->own[slot], &table->saved[slot], segment))
		return false;
	return table->live[slot].at || !dcss_needs_live(segment, exclusive) ||
	       open_copy(&table->live[slot], &table->saved[slot], segment);
}

/* Does anybody have it who shares what is stored? */
static bool is_shared(const struct cp_system *system, uint32_t bit)
{
	for (unsigned int i = 0; i < system->machines; i++)
		if (system->machine[i]->loaded & ~system->machine[i]->exclusive & bit)
			return true;
	return false;
}

void dcss_pages_given_back(struct cp *cp, const struct dcss *segment)
{
	const unsigned int slot = dcss_slot(cp, segment);

	dcss_pages_close(&cp->own[slot], segment);
	if (!is_shared(cp->system, UINT32_C(1) << slot))
		dcss_pages_close(&cp->system->dcss->live[slot], segment);
}

/* Those that the machine has, or would have if nobody else stored into them. */
static const struct cp_pages *pages_of(const struct cp *cp, const struct dcss *segment,
				       unsigned int range)
{
	const struct dcss_table *table = cp->system->dcss;
	const unsigned int slot = dcss_slot(cp, segment);
	const bool exclusive = cp->exclusive & dcss_bit(cp, segment);

	if (dcss_loaded(cp, segment) && is_own(&segment->config.range[range], exclusive))
		return &cp->own[slot];
	if (table->live[slot].at && is_live(&segment->config.range[range], false))
		return &table->live[slot];
	return &table->saved[slot];
}

void *dcss_map(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	const uint64_t size = dcss_end(segment) - dcss_start(segment) + 1;
	uint64_t addr = dcss_start(segment) + offset, at = 0;
	uint8_t *first = NULL, *next = NULL;

	assert(segment->defined);
	if (len == 0 || offset >= size || len > size - offset || !dcss_has_place(cp, segment))
		return NULL;
	for (unsigned int i = 0; i < segment->config.ranges && len > 0; i++) {
		const uint64_t start = dcss_range_start(&segment->config.range[i]);
		const uint64_t room = dcss_range_size(&segment->config.range[i]);

		if (addr - start < room) {
			const uint64_t part = smaller(len, start + room - addr);
			uint8_t *host = pages_of(cp, segment, i)->at + at + (addr - start);

			if (first && host != next)
				return NULL;
			first = first ? first : host;
			next = host + part;
			addr += part;
			len -= part;
		}
		at += room;
	}
	return len == 0 ? first : NULL;
}

static bool set_shown(struct cp *cp, const struct dcss *segment, bool shown)
{
	uint64_t offset = 0;
	bool done = true;

	for (unsigned int i = 0; i < segment->config.ranges && done; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];
		const struct cp_pages *pages = pages_of(cp, segment, i);
		const struct cp_window window = {
			.addr = dcss_range_start(range), .len = dcss_range_size(range),
			.fd = shown ? pages->fd : -1, .offset = offset,
			.stored = pages != &cp->system->dcss->saved[dcss_slot(cp, segment)],
		};

		done = cp->host.window(cp->host.opaque, &window) || !shown;
		offset += dcss_range_size(range);
	}
	return done;
}

void dcss_hide(struct cp *cp, const struct dcss *segment)
{
	if (!dcss_in_storage(cp, segment))
		set_shown(cp, segment, false);
}

bool dcss_show(struct cp *cp, const struct dcss *segment)
{
	return dcss_in_storage(cp, segment) || set_shown(cp, segment, true);
}

/* Pages that two ranges have in common: copied from what the machine has of @from. */
static void take_range(struct cp *cp, const struct dcss *segment, uint64_t at,
		       const struct cp_segment_range *range, const struct dcss *from)
{
	uint64_t from_at = 0;

	for (unsigned int i = 0; i < from->config.ranges; i++) {
		const struct cp_segment_range *other = &from->config.range[i];
		const uint32_t first = larger(range->first, other->first);
		const uint32_t last = smaller(range->last, other->last);

		if (first <= last)
			dcss_pages_copy(&cp->system->dcss->saved[dcss_slot(cp, segment)],
					at + (uint64_t)(first - range->first) * CP_PAGE_SIZE,
					pages_of(cp, from, i),
					from_at + (uint64_t)(first - other->first) * CP_PAGE_SIZE,
					((uint64_t)last - first + 1) * CP_PAGE_SIZE);
		from_at += dcss_range_size(other);
	}
}

void dcss_pages_save(struct cp *cp, const struct dcss *segment)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		for (unsigned int slot = 0; slot < CP_MAX_SEGMENTS && data_saved(range); slot++) {
			const struct dcss *from = &cp->system->dcss->slot[slot];

			if (dcss_loaded(cp, from) && !dcss_in_storage(cp, from))
				take_range(cp, segment, at, range, from);
		}
		at += dcss_range_size(range);
	}
}
