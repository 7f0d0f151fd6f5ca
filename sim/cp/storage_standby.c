/* SPDX-License-Identifier: MIT */
/*
 * Standby and reserved storage: all storage in increments, of which the guest has some.  Standby
 * ones can be assigned to it, reserved ones not before DEFINE STORAGE makes them standby; which
 * these are does not matter, only how many.
 */
#include <string.h>

#include "config_parse.h"
#include "cp_private.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"

void storage_standby_reset(struct cp *cp)
{
	struct cp_standby *standby = &cp->standby;

	for (uint32_t i = standby->initial; i < standby->count; i++)
		if (standby->has[i])
			storage_unassign(cp, i);
	memset(standby->has, true, standby->initial * sizeof(standby->has[0]));
	standby->attached = false;
	if (standby->assigned == standby->initial)
		return;
	standby->assigned = standby->initial;
	cp->host.storage_changed(cp->host.opaque);
}

void storage_standby_define(struct cp *cp)
{
	const uint64_t increment = cp_config_increment(&cp->config);
	const uint64_t initial = cp->config.extent[0].size;
	struct cp_standby *standby = &cp->standby;

	memset(standby->has, 0, sizeof(standby->has));
	standby->increment = increment;
	standby->initial = standby->count = standby->reserved = 0;
	if (increment == 0)
		return;
	assert(initial + cp->config.standby + cp->config.reserved <= increment * CP_MAX_INCREMENTS);
	standby->initial = (uint32_t)(initial / increment);
	standby->assigned = standby->initial;
	standby->reserved = (uint32_t)(cp->config.reserved / increment);
	standby->count = (uint32_t)((initial + cp->config.standby + cp->config.reserved) / increment);
	storage_standby_reset(cp);
}

uint32_t storage_standby_left(const struct cp *cp)
{
	const struct cp_standby *standby = &cp->standby;

	assert(standby->assigned + standby->reserved <= standby->count);
	return standby->count - standby->reserved - standby->assigned;
}

void storage_assign(struct cp *cp, uint32_t number)
{
	struct cp_standby *standby = &cp->standby;

	assert(number < standby->count && !standby->has[number] && storage_standby_left(cp) > 0);
	standby->has[number] = true;
	standby->assigned++;
	cp->host.storage_changed(cp->host.opaque);
}

/* Whoever gets them next finds zeros; most that the guest has never used are. */
static void clear(struct cp *cp, uint64_t first, uint64_t size)
{
	static const uint8_t zeros[CP_PAGE_SIZE];

	for (uint64_t addr = first; addr < first + size; addr += CP_PAGE_SIZE) {
		void *host = storage_map(cp, CP_ABSOLUTE, addr, CP_PAGE_SIZE);

		if (host && memcmp(host, zeros, CP_PAGE_SIZE) != 0)
			storage_clear_page(cp, CP_ABSOLUTE, addr, host);
	}
}

void storage_unassign(struct cp *cp, uint32_t number)
{
	struct cp_standby *standby = &cp->standby;
	const uint64_t first = number * standby->increment;

	assert(number < standby->count && standby->has[number]);
	parts_purged(cp, first, first + standby->increment - 1);
	standby->has[number] = false;
	standby->assigned--;
	clear(cp, first, standby->increment);
	cp->host.storage_changed(cp->host.opaque);
}

/* The configuration first, which says how many increments there are. */
void storage_standby_state(struct cp *cp, struct state *s)
{
	struct cp_standby *standby = &cp->standby;
	struct cp_config config = cp->config;

	state_u64(s, &config.standby);
	state_u64(s, &config.reserved);
	state_require(s, config_later_valid(&config));
	state_require(s, cp->host.sclp || cp_config_increment(&config) == 0);
	if (s->failed)
		return;
	if (s->loading) {
		cp->config = config;
		storage_standby_define(cp);
		storage_state_require(cp, s, 0, storage_most(cp));
	}
	state_u32(s, &standby->reserved);
	state_bool(s, &standby->attached);
	standby->assigned = 0;
	for (uint32_t i = 0; i < standby->count; i++) {
		state_bool(s, &standby->has[i]);
		standby->assigned += standby->has[i];
	}
	state_require(s, standby->count == 0 || standby->has[0]);
	state_require(s, standby->reserved <= standby->count &&
			 standby->assigned <= standby->count - standby->reserved);
}
