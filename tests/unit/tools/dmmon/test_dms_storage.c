/* SPDX-License-Identifier: MIT */
/* Lists, counters and bounds when storage runs out at any place: said so, and nothing leaks. */
#include <stdio.h>
#include <stdlib.h>

#include "dms_check.h"
#include "dms_counts.h"
#include "dms_top.h"
#include "dms_values.h"
#include "exit_code.h"
#include "range.h"
#include "said.h"
#include "storage_fails.h"
#include "unit_test.h"

static struct dms_regions list;

/* More than the first room for regions; the last has all that a region can have. */
static char *many_regions(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (int id = 0; id < 20; id++)
		fprintf(out, "%d: %d+8 8 p a precise_timestamps histogram:1,2\n", id, id);
	fclose(out);
	return text;
}

TEST(list_without_storage)
{
	char *text = many_regions();
	bool done = false;

	for (long place = 0; !done; place++) {
		int error;

		ck_assert_int_lt(place, 200);
		storage_left = place;
		error = dms_regions_read(&list, NULL, text, strlen(text));
		done = storage_left >= 0;
		storage_left = -1;
		ck_assert_int_eq(error, done ? 0 : DMS_NO_MEMORY);
		ck_assert_uint_eq(list.count, done ? 20 : 0);
		ck_assert_int_eq(list.region != NULL, done);
	}
	for (int id = 0; id < 20; id++)
		ck_assert_uint_eq(dms_regions_find(&list, id)->start, (uint64_t)id);
	dms_regions_free(&list);
	ck_assert(!list.region && !list.count);
	free(text);
}

TEST(names_without_storage)
{
	char program[] = "p", aux[] = "a";
	const struct dms_region r = { .length = 1, .step = 1, .program = program, .aux = aux };
	bool done = false;

	for (long place = 0; !done; place++) {
		int readable;

		ck_assert_int_lt(place, 50);
		storage_left = place;
		readable = dms_region_readable(&r);
		done = storage_left >= 0;
		storage_left = -1;
		ck_assert_int_eq(readable, done ? 1 : DMS_NO_MEMORY);
	}
}

TEST(counters_without_storage)
{
	const struct dms_region r = { .length = 8, .step = 1 };
	struct dms_counts counts;
	int error;

	storage_left = 0;
	error = dms_counts_init(&counts, &r, 8);
	ck_assert(error == DMS_NO_MEMORY && !counts.value && !counts.room);
	ck_assert_int_eq(dms_counts_init(&counts, &r, 8), 0);
	ck_assert(counts.value && counts.room == 8 && counts.stride == DMS_COUNTERS);
	dms_counts_free(&counts);
	ck_assert(!counts.value && !counts.room);
	/* One more than any address reaches. */
	ck_assert_int_eq(dms_counts_init(&counts, &r, SIZE_MAX / 8 / DMS_COUNTERS + 1),
			 DMS_NO_MEMORY);
	ck_assert_ptr_null(counts.value);
}

TEST(highest_areas_without_storage)
{
	struct dms_top top;
	int error;

	storage_left = 0;
	error = dms_top_init(&top, 5);
	ck_assert(error == DMS_NO_MEMORY && !top.of);
	ck_assert_int_eq(dms_top_init(&top, 5), 0);
	dms_top_free(&top);
}

TEST(bounds_without_storage)
{
	static uint64_t two[] = { 1000000, 2000000 };
	const struct range range = { .bounds = two, .bound_count = 2 };
	const struct device device = { .sectors = 8 };
	char program[] = "p", aux[] = "a";
	struct dms_region region;
	uint64_t *bounds = NULL;
	struct said said;
	size_t count = 0;
	int code;

	for (long place = 0; place < 2; place++) {
		const char *wrong;

		storage_left = place;
		wrong = range_parse_bounds("1ms", &bounds, &count);
		ck_assert_str_eq(wrong, "not enough memory");
		ck_assert(!bounds && !count);
	}
	said = said_begin(2);
	storage_left = 0;
	code = range_region(&range, &device, program, aux, &region);
	ck_assert_str_eq(said_end(&said), "tool: not enough memory\n");
	ck_assert_int_eq(code, EXIT_FAILED);
	ck_assert(!region.bounds && !region.bound_count);
}

/* A number of sectors with its unit is copied to be read. */
TEST(sectors_without_storage)
{
	uint64_t sectors = 7;
	bool right;

	storage_left = 0;
	right = range_parse_sectors("8s", &sectors);
	storage_left = -1;
	ck_assert(!right && sectors == 7);
}

/* If anything is missing, the values are marked as incomplete. */
TEST(latency_without_storage)
{
	static const uint64_t row[DMS_COUNTERS + 3] = { [DMS_COUNTERS] = 1 };
	uint64_t bounds[] = { 100000, 2000000 };
	const struct dms_region r = { .length = 1, .step = 1, .precise = true, .bound_count = 2,
				      .bounds = bounds };
	struct text out = { 0 };
	bool done = false;

	for (long place = 0; !done; place++) {
		struct metrics metrics;

		ck_assert_int_lt(place, 200);
		ck_assert(metrics_open(&metrics, dms_families, DMS_VALUE_FAMILIES));
		storage_left = place;
		dms_values_add(&metrics, "vol", &r, 0, row, 0);
		done = storage_left >= 0;
		storage_left = -1;
		metrics_write(&metrics, METRICS_OPENMETRICS, &out);
		ck_assert_int_eq(out.failed, !done);
		metrics_close(&metrics);
		text_free(&out);
	}
}
