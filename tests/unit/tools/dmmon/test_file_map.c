// SPDX-License-Identifier: MIT
/* The map of a file: what its file system tells becomes parts of the device. */
#include "file_map.h"
#include "unit_test.h"

#define KIB 1024u

static struct file_map map;

static void stop(void)
{
	file_map_free(&map);
}

CASE("file_map", NULL, stop);

static void add(uint64_t physical, uint64_t length, uint32_t flags)
{
	const struct fiemap_extent extent = {
		.fe_physical = physical, .fe_length = length, .fe_flags = flags,
	};

	ck_assert(file_map_add(&map, &extent));
}

TEST(neighbours_are_one)
{
	add(64 * KIB, 8 * KIB, 0);
	add(72 * KIB, 4 * KIB, FIEMAP_EXTENT_UNWRITTEN);
	add(16 * KIB, 4 * KIB, 0);
	add(12 * KIB, 4 * KIB, FIEMAP_EXTENT_LAST);
	ck_assert_uint_eq(map.count, 3);
	ck_assert(map.segment[0].start == 128 && map.segment[0].length == 24);
	ck_assert(map.segment[1].start == 32 && map.segment[1].length == 8);
	ck_assert(map.segment[2].start == 24 && map.segment[2].length == 8);
	ck_assert_uint_eq(map.left_out, 0);
}

TEST(what_has_no_place)
{
	static const uint32_t flags[] = {
		FIEMAP_EXTENT_UNKNOWN, FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN,
		FIEMAP_EXTENT_ENCODED, FIEMAP_EXTENT_NOT_ALIGNED | FIEMAP_EXTENT_DATA_INLINE,
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		add(64 * KIB, 8 * KIB, flags[i]);
	add(64 * KIB, 511, 0);
	ck_assert_uint_eq(map.count, 0);
	ck_assert_uint_eq(map.left_out, 5);
}

TEST(many)
{
	for (uint64_t i = 0; i < 1000; i++)
		add(2 * i * KIB, KIB, 0);
	ck_assert_uint_eq(map.count, 1000);
	ck_assert(map.segment[999].start == 3996 && map.segment[999].length == 2);
}
