/* SPDX-License-Identifier: MIT */
/* The areas with the highest values, against a sort of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dms_top.h"
#include "unit_test.h"

static struct dms_top top;

static void stop(void)
{
	dms_top_free(&top);
}

CASE("highest areas", NULL, stop);

TEST(values_of_areas)
{
	struct dms_rates rates = {
		.reads = 1, .writes = 2, .read_bytes = 10, .write_bytes = 20, .read_latency = 7,
		.write_latency = 5, .busy = 0.5, .queue = 3,
	};

	ck_assert_double_eq(dms_top_value(DMS_TOP_IOS, &rates), 3);
	ck_assert_double_eq(dms_top_value(DMS_TOP_BYTES, &rates), 30);
	ck_assert_double_eq(dms_top_value(DMS_TOP_LATENCY, &rates), 7);
	ck_assert_double_eq(dms_top_value(DMS_TOP_BUSY, &rates), 0.5);
	ck_assert_double_eq(dms_top_value(DMS_TOP_QUEUE, &rates), 3);
	/* Without reads the writes' latency counts; without any there is none. */
	rates.read_latency = NAN;
	ck_assert_double_eq(dms_top_value(DMS_TOP_LATENCY, &rates), 5);
	rates.write_latency = NAN;
	ck_assert_double_eq(dms_top_value(DMS_TOP_LATENCY, &rates), -1);
	rates.reads = NAN;
	ck_assert_double_eq(dms_top_value(DMS_TOP_IOS, &rates), -1);
	ck_assert_str_eq(dms_top_names[DMS_TOP_IOS], "ios");
	ck_assert_str_eq(dms_top_names[DMS_TOP_QUEUE], "queue");
}

/* Those that were asked for, in their order; without any, I/Os. */
TEST(values_by_several_keys)
{
	const struct dms_rates rates = { .reads = 1, .writes = 2, .busy = 0.5, .queue = 3 };
	const struct dms_top_keys none = { .count = 0 }, two = {
		.key = { DMS_TOP_QUEUE, DMS_TOP_BUSY }, .count = 2,
	};
	double value[DMS_TOP_KEYS];

	dms_top_values(value, &none, &rates);
	ck_assert_double_eq(value[0], 3);
	ck_assert_double_eq(value[1], 0);
	dms_top_values(value, &two, &rates);
	ck_assert_double_eq(value[0], 3);
	ck_assert_double_eq(value[1], 0.5);
	for (size_t i = 2; i < DMS_TOP_KEYS; i++)
		ck_assert_double_eq(value[i], 0);
}

static int by_value(const void *a, const void *b)
{
	const struct dms_candidate *first = a, *second = b;

	for (size_t i = 0; i < DMS_TOP_KEYS; i++)
		if (first->value[i] != second->value[i])
			return first->value[i] > second->value[i] ? -1 : 1;
	/* The test numbers them in the order of device, region, area. */
	if (first->device != second->device)
		return first->device < second->device ? -1 : 1;
	if (first->region != second->region)
		return first->region < second->region ? -1 : 1;
	return first->area < second->area ? -1 : 1;
}

TEST(highest_of_many)
{
	enum { ALL = 200 };
	struct dms_candidate all[ALL];

	srand(5);
	for (size_t most = 1; most < ALL + 20; most += 7) {
		for (size_t i = 0; i < ALL; i++)
			all[i] = (struct dms_candidate){
				.value = { rand() % 4, rand() % 9 }, .device = i / 100, .region = i / 10 % 10,
				.area = i % 10,
			};
		ck_assert_int_eq(dms_top_init(&top, most), 0);
		for (size_t i = 0; i < ALL; i++)
			dms_top_offer(&top, &all[i]);
		dms_top_sort(&top);
		qsort(all, ALL, sizeof(all[0]), by_value);
		ck_assert_uint_eq(top.count, most < ALL ? most : ALL);
		for (size_t i = 0; i < top.count; i++)
			ck_assert_msg(memcmp(&top.of[i], &all[i], sizeof(all[i])) == 0,
				      "%zu of %zu", i, most);
		dms_top_free(&top);
	}
	/* Of none the highest are none, and where none are wanted there is no room for any. */
	ck_assert_int_eq(dms_top_init(&top, 3), 0);
	dms_top_sort(&top);
	ck_assert_uint_eq(top.count, 0);
	dms_top_free(&top);
	dms_top_sort(&top);
	ck_assert(top.count == 0 && !top.of && !top.most);
}
