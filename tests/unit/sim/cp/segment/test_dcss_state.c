/* SPDX-License-Identifier: MIT */
/* Saving and loading segments. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>

#include "fixture.h"
#include "segment/dcss_private.h"
#include "zvmlab/state.h"

static struct state image;
static char err[256];

static void setup(void)
{
	fx_setup_with((const char *const[]){
		"segment", "MULTI 500-500 EW 510-511 EN;MON 800-801 SC RSTD;FAR 1000-1000 SR", NULL });
}

static void teardown(void)
{
	free(image.data);
	image = (struct state){ .loading = false };
	fx_teardown();
}

CASE("state", setup, teardown);

static void save(void)
{
	dcss_part.state_system(fx.cp, &image);
	ck_assert(!image.failed);
	image.loading = true;
}

static bool load(void)
{
	image.pos = 0;
	image.failed = false;
	dcss_part.state_system(fx.cp, &image);
	return !image.failed;
}

TEST(everything_comes_back)
{
	struct cp_segment_config c = { .name = "NEW", .ranges = 1, .restricted = true,
				       .range = { { 0x600, 0x600, DCSS_SN } } };
	struct dcss *mon = dcss_find(fx.cp, "MON"), *multi = dcss_find(fx.cp, "MULTI");
	struct dcss_table before;

	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	*fx_at(0x500007, 1) = 0x10;
	ck_assert_uint_eq(dcss_load(fx.cp, multi, true), 0);
	ck_assert_int_eq(dcss_purge(fx.cp, "MULTI", err, sizeof(err)), 0);
	dcss_use(fx.cp, mon, 1);
	*fx_at(0x500007, 1) = 0x11;
	*fx_at(0x511fff, 1) = 0x22;
	*fx_at(0x600000, 1) = 0x33;
	before = *fx.cp->system->dcss;
	save();
	dcss_use(fx.cp, mon, -1);
	cp_reset(fx.cp);
	ck_assert_int_eq(dcss_purge(fx.cp, "NEW", err, sizeof(err)), 0);
	fx.storage_changes = 0;
	ck_assert(load());
	ck_assert_uint_eq(image.pos, image.len);
	ck_assert_mem_eq(fx.cp->system->dcss, &before, offsetof(struct dcss_table, saved));
	ck_assert_uint_eq(fx.storage_changes, 1);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x511000), CP_ACCESS_WRITE);
	ck_assert_uint_eq(*fx_at(0x500007, 1), 0x11);
	ck_assert_uint_eq(*fx_at(0x500008, 1), 0);
	ck_assert_uint_eq(*fx_at(0x510000, 1), 0);
	ck_assert_uint_eq(*fx_at(0x511fff, 1), 0x22);
	ck_assert_uint_eq(*fx_at(0x600000, 1), 0x33);
	/* What was saved is another thing. */
	ck_assert_uint_eq(fx.cp->system->dcss->saved[0].at[7], 0x10);
}

/* What a guest has stored into pages that it shares, and what was saved. */
TEST(shared)
{
	struct cp_segment_config c = { .name = "NEW", .ranges = 2,
				       .range = { { 0x600, 0x600, DCSS_SW }, { 0x601, 0x601, DCSS_SR } } };

	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	*fx_at(0x600001, 1) = 1;
	*fx_at(0x601001, 1) = 2;
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert_uint_eq(dcss_load(fx.cp, dcss_find(fx.cp, "NEW"), false), 0);
	*fx_at(0x600001, 1) = 3;
	save();
	*fx_at(0x600001, 1) = 4;
	ck_assert(load());
	ck_assert_uint_eq(*fx_at(0x600001, 1), 3);
	ck_assert_uint_eq(*fx_at(0x601001, 1), 2);
	dcss_unload(fx.cp, dcss_find(fx.cp, "NEW"));
	ck_assert_uint_eq(*fx_at(0x600001, 1), 1);
}

TEST(empty_pages_cost_a_byte)
{
	size_t empty;

	save();
	empty = image.len;
	*fx_at(0x800000, 1) = 1;
	image.loading = false;
	image.len = 0;
	save();
	ck_assert_uint_eq(image.len, empty + CP_PAGE_SIZE);
}

TEST_LOOP(image_cut_anywhere, 0, 2)
{
	size_t len;

	*fx_at(0x800000, 1) = 1;
	save();
	image.trial = _i;
	len = image.len;
	for (image.len = 0; image.len < len; image.len++) {
		ck_assert(!load());
		ck_assert_int_eq(cp_page_access(fx.cp, 0x500000), CP_ACCESS_NONE);
	}
	ck_assert(load());
}

/* Segments defined and loaded since then are gone, and can be defined again. */
TEST(segment_that_the_image_lacks)
{
	struct cp_segment_config c = { .name = "NEW", .ranges = 1,
				       .range = { { 0x600, 0x600, DCSS_SN } } };

	save();
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
		ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
		dcss_load(fx.cp, dcss_find(fx.cp, "NEW"), false);
		ck_assert_int_eq(cp_page_access(fx.cp, 0x5fffff), CP_ACCESS_NONE);
		ck_assert_int_eq(cp_page_access(fx.cp, 0x600000), CP_ACCESS_WRITE);
		ck_assert_int_eq(cp_page_access(fx.cp, 0x600fff), CP_ACCESS_WRITE);
		ck_assert_int_eq(cp_page_access(fx.cp, 0x601000), CP_ACCESS_NONE);
		ck_assert(load());
		ck_assert_ptr_null(dcss_find(fx.cp, "NEW"));
		ck_assert_int_eq(cp_page_access(fx.cp, 0x600000), CP_ACCESS_NONE);
	}
}

/* Offsets in an image of the segments. */
enum {
	TAG = 0,		/* 4 */
	FILE_NUMBER = 4,	/* 2: the last */
	DEFINED = 6,		/* the first slot */
	NAME = 7,		/* 9 */
	RANGES = 16,
	RANGE_FIRST = 17,	/* 4 */
	RANGE_LAST = 21,	/* 4 */
	RANGE_TYPE = 25,
	RANGE_2_FIRST = 26,	/* 4 */
	RESTRICTED = 35,
	FILE_OF_IT = 36,	/* 2 */
	LOADED = 38,
	EXCLUSIVE = 39,
	USERS = 40,		/* 4 */
	CLASS = 44,
};

static const struct { unsigned int offset; uint8_t value; } damage[] = {
	{ TAG, 'X' }, { DEFINED, 2 }, { NAME, 'm' }, { NAME, 0 }, { NAME + 1, 1 },
	{ NAME + 8, 'X' }, { RANGES, 0 }, { RANGES, 7 }, { RANGE_FIRST, 0xff },
	{ RANGE_LAST, 0xff }, { RANGE_LAST + 3, 0xff }, { RANGE_TYPE, 7 },
	{ RANGE_2_FIRST + 3, 0 }, { RESTRICTED, 2 }, { RESTRICTED, 1 }, { LOADED, 2 },
	{ LOADED, 1 }, { EXCLUSIVE, 1 }, { EXCLUSIVE, 2 }, { CLASS, 'R' }, { CLASS, 'P' },
	{ CLASS, 0 },
};

TEST_EACH(damaged_image, damage)
{
	struct dcss_table before = *fx.cp->system->dcss;

	save();
	ck_assert_uint_eq(image.data[CLASS], 'A');
	ck_assert_uint_ne(image.data[damage[_i].offset], damage[_i].value);
	image.data[damage[_i].offset] = damage[_i].value;
	ck_assert(!load());
	ck_assert_mem_eq(fx.cp->system->dcss, &before, offsetof(struct dcss_table, saved));
}

TEST(skeleton_in_use)
{
	save();
	image.data[USERS + 3] = 1;
	image.data[CLASS] = 'S';
	ck_assert(!load());
	image.data[USERS + 3] = 0;
	ck_assert(load());
	ck_assert_int_eq(dcss_find(fx.cp, "MULTI")->cls, DCSS_SKELETON);
}

/* The guest has stored into a segment; SAVESEG has been given; it stores again. */
TEST(saved_while_loaded)
{
	struct cp_segment_config c = { .name = "MULTI", .ranges = 1,
				       .range = { { 0x500, 0x511, DCSS_EW } } };
	struct dcss *old = dcss_find(fx.cp, "MULTI");

	*fx_at(0x500007, 1) = 1;
	ck_assert_uint_eq(dcss_load(fx.cp, old, true), 0);
	*fx_at(0x500007, 1) = 2;
	ck_assert_int_eq(dcss_define(fx.cp, &c, err, sizeof(err)), 0);
	ck_assert_int_eq(dcss_save(fx.cp, "MULTI", err, sizeof(err)), 0);
	*fx_at(0x500007, 1) = 3;
	save();
	cp_reset(fx.cp);
	ck_assert_uint_eq(*fx_at(0x500007, 1), 2);
	*fx_at(0x500007, 1) = 0xff;
	ck_assert(load());
	ck_assert_uint_eq(*fx_at(0x500007, 1), 3);
	ck_assert_uint_eq(*(uint8_t *)dcss_map(fx.cp, dcss_find(fx.cp, "MULTI"), 7, 1), 2);
	cp_reset(fx.cp);
	ck_assert_uint_eq(*fx_at(0x500007, 1), 2);
}

/* The emulator cannot show what the image has loaded. */
TEST(no_room_in_the_emulator)
{
	ck_assert_uint_eq(dcss_load(fx.cp, dcss_find(fx.cp, "MULTI"), true), 0);
	save();
	fx.no_windows = true;
	ck_assert(!load());
	cp_reset(fx.cp);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x500000), CP_ACCESS_NONE);
	ck_assert_uint_eq(dcss_find(fx.cp, "MULTI")->users, 0);
}

/* The guest has no segment loaded where the emulator has no storage. */
TEST(loaded_without_frames)
{
	/* From its name on, of a segment of one range. */
	enum { FAR_LOADED = 22, FAR_USERS = 24 /* 4 */ };
	uint8_t *far;

	save();
	far = memmem(image.data, image.len, "FAR\0", 4);
	ck_assert_ptr_nonnull(far);
	far[FAR_USERS + 3] = 1;
	ck_assert(load());
	far[FAR_LOADED] = 1;
	ck_assert(!load());
}
