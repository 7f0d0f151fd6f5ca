/* SPDX-License-Identifier: MIT */
/* Images that are refused, for the tests of saving and loading. */
#ifndef STATE_CHECK_H
#define STATE_CHECK_H

#include "fixture.h"

#include <stdlib.h>

#include "hash.h"
#include "zvmlab/state.h"

#define STATE_CHECKSUM 8u

/* The beginning of an image. */
enum {
	IMAGE_MAGIC = 0,	/* 8 */
	IMAGE_VERSION = 8,	/* 4 */
	IMAGE_LENGTH = 12,	/* 8 */
	IMAGE_CONFIG = 20,	/* 8: fingerprint of the configuration */
};

static inline uint64_t state_checksum(const uint8_t *p, size_t len)
{
	return hash_more(HASH_START, p, len);
}

/* After a change of its contents, so that these are looked at. */
static inline void state_sign(uint8_t *image, size_t len)
{
	put_be64(image + len - STATE_CHECKSUM, state_checksum(image, len - STATE_CHECKSUM));
}

static inline size_t state_find(const uint8_t *image, size_t len, const char *tag)
{
	for (size_t i = 0; i + 4 <= len; i++)
		if (memcmp(image + i, tag, 4) == 0)
			return i;
	ck_abort_msg("no %s in the image", tag);
}

/* All of the CP but the number of trace records. */
static inline uint8_t *state_now(size_t *len)
{
	uint8_t *image = fx_save(len);

	memset(image + state_find(image, *len, "TRAC") + 4, 0, 8);
	*len -= STATE_CHECKSUM;
	return image;
}

/* The image is refused, and the CP is what it was. */
static inline void ck_refused(const uint8_t *image, size_t len, char *text, size_t size)
{
	const unsigned int resets = fx.events[CP_EVENT_RESET], changes = fx.storage_changes;
	const uint64_t timer = fx.timer;
	size_t before_len, after_len;
	uint8_t *before = state_now(&before_len), *after;

	ck_assert_int_eq(cp_load(fx.cp, image, len, text, size), -1);
	after = state_now(&after_len);
	ck_assert_uint_eq(after_len, before_len);
	ck_assert_mem_eq(after, before, before_len);
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], resets);
	ck_assert_uint_eq(fx.storage_changes, changes);
	ck_assert_uint_eq(fx.timer, timer);
	free(before);
	free(after);
}

#endif
