/* SPDX-License-Identifier: MIT */
/*
 * Guest storage: extents, access rights, and the only way to guest data.
 *
 * Prefixing is the host's business, so rights are looked up by the real
 * address.  That differs from the absolute one only inside the two 8 KiB areas
 * that prefixing exchanges; the one at 0 always lies in the first extent, and
 * the host maps nothing of the other if the guest may not store there.
 */
#include <string.h>

#include "cp_private.h"
#include "kasan.h"
#include "smaller.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

void storage_overlay_clear(struct cp *cp)
{
	cp->overlays = 0;
	cp->overlay_first = UINT64_MAX;
	cp->overlay_last = 0;
}

void storage_overlay_add(struct cp *cp, uint64_t first, uint64_t last, enum cp_access access)
{
	assert(first <= last && access != CP_ACCESS_NONE);
	assert(cp->overlays < sizeof(cp->overlay) / sizeof(cp->overlay[0]));
	cp->overlay[cp->overlays++] = (struct cp_overlay){ first, last, access };
	cp->overlay_first = smaller(cp->overlay_first, first);
	cp->overlay_last = larger(cp->overlay_last, last);
}

enum cp_access storage_overlay(const struct cp *cp, uint64_t addr)
{
	const uint64_t page = addr / CP_PAGE_SIZE;

	if (page < cp->overlay_first || page > cp->overlay_last)
		return CP_ACCESS_NONE;
	for (uint32_t i = 0; i < cp->overlays; i++)
		if (page >= cp->overlay[i].first && page <= cp->overlay[i].last)
			return cp->overlay[i].access;
	return CP_ACCESS_NONE;
}

uint64_t storage_overlay_last(const struct cp *cp)
{
	return cp->overlays ? (cp->overlay_last + 1) * CP_PAGE_SIZE - 1 : 0;
}

/* The guest's own, whatever lies over it? */
static bool in_storage(const struct cp *cp, uint64_t addr)
{
	const struct cp_standby *standby = &cp->standby;

	if (standby->increment)
		return addr / standby->increment < standby->count &&
		       standby->has[addr / standby->increment];
	for (unsigned int i = 0; i < cp->config.extents; i++)
		if (addr - cp->config.extent[i].start < cp->config.extent[i].size)
			return true;
	return false;
}

enum cp_access cp_page_access(const struct cp *cp, uint64_t addr)
{
	enum cp_access access = storage_overlay(cp, addr);

	/* A segment loaded inside storage takes the place of the guest's own pages. */
	if (access != CP_ACCESS_NONE)
		return access;
	return in_storage(cp, addr) ? CP_ACCESS_WRITE : CP_ACCESS_NONE;
}

void *storage_map(struct cp *cp, int cpu, uint64_t addr, uint64_t len)
{
	void *host;

	assert(len > 0);
	/* A real range of a CPU lies within a page: prefixing moves pages. */
	assert(cpu == CP_ABSOLUTE || cp_in_page(addr, len) == len);
	host = cp->host.map(cp->host.opaque, cpu, addr, len);
	if (!host)
		trace_unmapped(cp, addr);
	return host;
}

/* Host pointer to @len bytes within one page, or NULL with the exception in @pgm. */
static uint8_t *map_page(struct cp *cp, int cpu, uint64_t addr, size_t len, bool store,
			 uint16_t *pgm)
{
	enum cp_access access = cp_page_access(cp, addr);
	uint8_t *host = NULL;

	assert(len > 0 && (addr & (CP_PAGE_SIZE - 1)) + len <= CP_PAGE_SIZE);
	if (store && access == CP_ACCESS_READ) {
		*pgm = PGM_PROTECTION;
		return NULL;
	}
	if (access != CP_ACCESS_NONE)
		host = storage_map(cp, cpu, addr, len);
	if (!host)
		*pgm = PGM_ADDRESSING;
	return host;
}

/* Whatever @len is, the walk ends at the first page that is not the guest's. */
uint16_t storage_check(struct cp *cp, int cpu, uint64_t addr, size_t len, bool store)
{
	uint16_t pgm = 0;

	assert(cpu == CP_ABSOLUTE || (unsigned int)cpu < cp->config.cpus);
	if (len > 0 && len - 1 > UINT64_MAX - addr)
		return PGM_ADDRESSING;
	while (len > 0) {
		size_t part = cp_in_page(addr, len);

		if (!map_page(cp, cpu, addr, part, store, &pgm))
			return pgm;
		addr += part;
		len -= part;
	}
	return 0;
}

/* Only an access to several pages has to look ahead: it is done as a whole or not at all. */
static uint16_t look_ahead(struct cp *cp, int cpu, uint64_t addr, size_t len, bool store)
{
	return cp_in_page(addr, len) == len ? 0 : storage_check(cp, cpu, addr, len, store);
}

static uint16_t fetch(struct cp *cp, int cpu, uint64_t addr, void *to, size_t len)
{
	uint16_t pgm = look_ahead(cp, cpu, addr, len, false);

	assert(to || len == 0);
	for (size_t done = 0; done < len && pgm == 0;) {
		size_t part = cp_in_page(addr + done, len - done);
		const uint8_t *host = map_page(cp, cpu, addr + done, part, false, &pgm);

		if (!host)
			return pgm;
		memcpy((uint8_t *)to + done, host, part);
		done += part;
	}
	if (pgm == 0 && cp->host.fetch && len > 0)
		cp->host.fetch(cp->host.opaque, cpu, addr, to, len);
	return pgm;
}

uint16_t storage_read(struct cp *cp, int cpu, uint64_t addr, void *to, size_t len)
{
	uint16_t pgm = fetch(cp, cpu, addr, to, len);

	if (pgm != 0)
		return pgm;
	kasan_check(cp, "reads", addr, len);
	trace_access(cp, false, addr, to, len);
	return 0;
}

uint16_t storage_read_entry(struct cp *cp, int cpu, uint64_t addr, void *to, size_t len)
{
	uint16_t pgm = fetch(cp, cpu, addr, to, len);

	if (pgm == 0 && trace_full(cp))
		trace_access(cp, false, addr, to, len);
	return pgm;
}

uint16_t storage_write(struct cp *cp, int cpu, uint64_t addr, const void *from, size_t len)
{
	uint16_t pgm = look_ahead(cp, cpu, addr, len, true);

	assert(from || len == 0);
	for (size_t done = 0; done < len && pgm == 0;) {
		size_t part = cp_in_page(addr + done, len - done);
		uint8_t *host = map_page(cp, cpu, addr + done, part, true, &pgm);

		if (!host)
			return pgm;
		memcpy(host, (const uint8_t *)from + done, part);
		cp->host.dirty(cp->host.opaque, cpu, addr + done, part);
		done += part;
	}
	if (pgm != 0)
		return pgm;
	kasan_check(cp, "writes", addr, len);
	trace_access(cp, true, addr, from, len);
	return 0;
}

void storage_clear_page(struct cp *cp, int cpu, uint64_t addr, void *host)
{
	const struct cp_host *to = &cp->host;

	if (!to->release || !to->release(to->opaque, cpu, addr))
		memset(host, 0, CP_PAGE_SIZE);
	to->dirty(to->opaque, cpu, addr, CP_PAGE_SIZE);
}

uint64_t storage_size(const struct cp *cp)
{
	uint64_t size = 0;

	assert(cp->config.extents > 0 && cp->config.extents <= CP_MAX_EXTENTS);
	if (cp->standby.increment)
		return cp->standby.assigned * cp->standby.increment;
	for (unsigned int i = 0; i < cp->config.extents; i++)
		size += cp->config.extent[i].size;
	return size;
}

uint64_t storage_last(const struct cp *cp)
{
	const struct cp_extent *last = &cp->config.extent[cp->config.extents - 1];
	uint32_t count = cp->standby.count;

	assert(cp->config.extents > 0 && cp->config.extents <= CP_MAX_EXTENTS);
	assert(last->size > 0);
	if (!cp->standby.increment)
		return last->start + last->size - 1;
	while (count > 1 && !cp->standby.has[count - 1])
		count--;
	return count * cp->standby.increment - 1;
}

uint64_t storage_most(const struct cp *cp)
{
	return cp->standby.increment ? cp->standby.count * cp->standby.increment
				     : storage_last(cp) + 1;
}

bool storage_overlaps(const struct cp *cp, uint64_t first, uint64_t last)
{
	assert(first <= last);
	if (cp->standby.increment)
		return first < storage_most(cp);
	for (unsigned int i = 0; i < cp->config.extents; i++) {
		const struct cp_extent *extent = &cp->config.extent[i];

		if (first <= extent->start + extent->size - 1 && last >= extent->start)
			return true;
	}
	return false;
}

bool storage_own(const struct cp *cp, uint64_t addr)
{
	return storage_overlay(cp, addr) == CP_ACCESS_NONE && in_storage(cp, addr);
}

uint64_t cp_highest_address(const struct cp *cp)
{
	return larger(storage_most(cp) - 1, parts_highest(cp));
}

/* Whoever saves has it; nothing of an image may lead beyond what the emulator has. */
void storage_state_require(struct cp *cp, struct state *state, uint64_t addr, uint64_t len)
{
	if (state->loading && !state->failed)
		state_require(state, storage_map(cp, CP_ABSOLUTE, addr, len) != NULL);
}
