/* SPDX-License-Identifier: MIT */
/* Holding CP's accesses against the shadow of the guest's kernel: zvmlab/kasan.h. */
#include <inttypes.h>
#include <stdio.h>

#include "cp_private.h"
#include "kasan.h"
#include "zvmlab/event.h"
#include "zvmlab/state.h"

/* Bytes of storage for each byte of shadow. */
#define GRANULE 8u
#define ALL_USABLE 0u
#define NONE_USABLE 0x80u
/* How many granules are shown before and after one that may not be used. */
#define AROUND 4u
/* Shadow that is read at a time. */
#define PART 256u
/* One mistake may be made again and again. */
#define MOST_REPORTS 16u

static bool read_shadow(const struct cp *cp, uint64_t at, uint8_t *to, size_t len)
{
	assert(cp_in_page(at, len) == len);
	return cp->host.home_read(cp->host.opaque, at, to, len);
}

/* May the bytes of a granule be used up to number @last? */
static bool usable(uint8_t shadow, unsigned int last)
{
	return shadow == ALL_USABLE || (shadow < NONE_USABLE && last < shadow);
}

static void report(struct cp *cp, const char *how, uint64_t addr, size_t len, uint64_t bad)
{
	char text[128] = "";
	size_t used = (size_t)snprintf(text, sizeof(text), "%s %zu bytes, shadow", how, len);

	for (unsigned int i = 0; i <= 2 * AROUND; i++) {
		uint8_t byte;

		if (read_shadow(cp, bad - AROUND + i, &byte, 1))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 i == AROUND ? " [%02x]" : " %02x", byte);
		assert(used < sizeof(text));
	}
	cp->kasan.reports++;
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_KASAN, .name = cp->system->call,
					  .text = text, .value = addr });
}

/* The first of @len granules that may not be used, the last one up to byte @last; @len: none. */
static size_t first_bad(const uint8_t *shadow, size_t len, unsigned int last)
{
	for (size_t i = 0; i < len; i++)
		if (!usable(shadow[i], i == len - 1 ? last : GRANULE - 1))
			return i;
	return len;
}

void kasan_look(struct cp *cp, const char *how, uint64_t addr, size_t len)
{
	const uint64_t virtual = addr + cp->kasan.shadow.identity;
	uint64_t at = virtual / GRANULE + cp->kasan.shadow.offset;
	uint64_t left = (virtual % GRANULE + len - 1) / GRANULE + 1;
	uint8_t shadow[PART];
	size_t part, bad;

	assert(len > 0 && cp->system->calls > 0);
	if (cp->kasan.reports >= MOST_REPORTS)
		return;
	/* Granules are counted: where a saved state says that the shadow is, addresses may wrap. */
	for (; left > 0; at += part, left -= part) {
		part = cp_in_page(at, smaller(left, sizeof(shadow)));
		/* Storage that no shadow is kept of is nobody's mistake. */
		if (!read_shadow(cp, at, shadow, part))
			continue;
		bad = first_bad(shadow, part,
				part == left ? (virtual + len - 1) % GRANULE : GRANULE - 1);
		if (bad < part) {
			report(cp, how, addr, len, at + bad);
			return;
		}
	}
}

bool kasan_watch(struct cp *cp, const struct kasan_shadow *shadow)
{
	if (shadow && !cp->host.home_read)
		return false;
	cp->kasan = (struct kasan){ .on = shadow != NULL };
	if (shadow)
		cp->kasan.shadow = *shadow;
	return true;
}

static void kasan_reset(struct cp *cp)
{
	cp->kasan = (struct kasan){ .on = false };
}

static void kasan_state(struct cp *cp, struct state *s)
{
	state_tag(s, "KASA");
	state_bool(s, &cp->kasan.on);
	state_u64(s, &cp->kasan.shadow.offset);
	state_u64(s, &cp->kasan.shadow.identity);
	state_u32(s, &cp->kasan.reports);
}

const struct cp_part kasan_part = {
	.reset = kasan_reset,
	.state = kasan_state,
};
