/* SPDX-License-Identifier: MIT */
/* Counters of areas as values for monitoring systems: units, directions, histograms, doubt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dms_values.h"
#include "unit_test.h"

static struct text out;

static void stop(void)
{
	text_free(&out);
}

CASE("dms_values", NULL, stop);

/* As in the kernel's document, each counter another number. */
static const uint64_t row[] = { 11, 12, 13, 14000, 21, 22, 23, 24000, 3, 31000, 32000, 33000, 34000,
				/* of the histogram */ 7, 0, 25 };

static const char *written(const struct dms_region *r, const uint64_t *counters, unsigned int doubt)
{
	struct metrics metrics;

	ck_assert(metrics_open(&metrics, dms_families, DMS_VALUE_FAMILIES));
	dms_values_add(&metrics, "vol", r, 17, counters, doubt);
	text_clear(&out);
	metrics_write(&metrics, METRICS_OPENMETRICS, &out);
	text_append(&out, "", 1);
	ck_assert(!out.failed);
	metrics_close(&metrics);
	return out.bytes;
}

#define AREA "device=\"vol\",region=\"5\",area=\"17\""

/* Numbers of the line, which must be there; "" if it is not. */
static const char *value(const char *name)
{
	static char found[64];
	char begin[160];
	const char *at;

	snprintf(begin, sizeof(begin), "\n%s} ", name);
	at = strstr(out.bytes, begin);
	if (!at)
		return "";
	snprintf(found, sizeof(found), "%s", at + strlen(begin));
	found[strcspn(found, "\n")] = '\0';
	return found;
}

TEST(counters)
{
	struct dms_region r = { .id = 5, .length = 100, .step = 1, .precise = true };

	written(&r, row, 0);
	ck_assert_str_eq(value("dmmon_ios_total{" AREA ",direction=\"read\""), "11");
	ck_assert_str_eq(value("dmmon_ios_total{" AREA ",direction=\"write\""), "21");
	ck_assert_str_eq(value("dmmon_ios_merged_total{" AREA ",direction=\"read\""), "12");
	ck_assert_str_eq(value("dmmon_ios_merged_total{" AREA ",direction=\"write\""), "22");
	ck_assert_str_eq(value("dmmon_io_bytes_total{" AREA ",direction=\"read\""), "6656");
	ck_assert_str_eq(value("dmmon_io_bytes_total{" AREA ",direction=\"write\""), "11776");
	ck_assert_str_eq(value("dmmon_io_duration_seconds_total{" AREA ",direction=\"read\""),
			 "0.000014");
	ck_assert_str_eq(value("dmmon_io_duration_seconds_total{" AREA ",direction=\"write\""),
			 "0.000024");
	ck_assert_str_eq(value("dmmon_ios_in_flight{" AREA), "3");
	ck_assert_str_eq(value("dmmon_busy_seconds_total{" AREA), "0.000031");
	ck_assert_str_eq(value("dmmon_queue_seconds_total{" AREA), "0.000032");
	ck_assert_str_eq(value("dmmon_direction_busy_seconds_total{" AREA ",direction=\"read\""),
			 "0.000033");
	ck_assert_str_eq(value("dmmon_direction_busy_seconds_total{" AREA ",direction=\"write\""),
			 "0.000034");
	ck_assert_ptr_null(strstr(out.bytes, "latency"));
}

/* Times by ticks are milliseconds. */
TEST(milliseconds)
{
	struct dms_region r = { .id = 5, .length = 100, .step = 1 };

	written(&r, row, 0);
	ck_assert_str_eq(value("dmmon_io_duration_seconds_total{" AREA ",direction=\"read\""), "14");
	ck_assert_str_eq(value("dmmon_busy_seconds_total{" AREA), "31");
	ck_assert_str_eq(value("dmmon_ios_total{" AREA ",direction=\"read\""), "11");
}

TEST(histogram)
{
	uint64_t bounds[] = { 100000, 2000000 };
	struct dms_region r = { .id = 5, .length = 100, .step = 1, .precise = true,
				.bound_count = 2, .bounds = bounds };

	ck_assert_ptr_nonnull(strstr(written(&r, row, 0),
		"# TYPE dmmon_io_latency_seconds histogram\n"
		"# UNIT dmmon_io_latency_seconds seconds\n"
		"# HELP dmmon_io_latency_seconds Durations of I/Os, where the region has a histogram\n"
		"dmmon_io_latency_seconds_bucket{" AREA ",le=\"0.0001\"} 7\n"
		"dmmon_io_latency_seconds_bucket{" AREA ",le=\"0.002\"} 7\n"
		"dmmon_io_latency_seconds_bucket{" AREA ",le=\"+Inf\"} 32\n"
		"dmmon_io_latency_seconds_count{" AREA "} 32\n"
		"dmmon_io_latency_seconds_sum{" AREA "} 0.000038\n"));
}

/* Times that cannot be are left out; counts that somebody cleared are as good as ever. */
TEST(doubt)
{
	static const unsigned int impossible[] = {
		DMS_TIME_WRAPPED, DMS_TIME_IMPOSSIBLE, DMS_TIME_IMPOSSIBLE | DMS_CLEARED,
	};
	struct dms_region r = { .id = 5, .length = 100, .step = 1, .precise = true };

	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		ck_assert_ptr_null(strstr(written(&r, row, impossible[i]), "seconds"));
		ck_assert_str_eq(value("dmmon_ios_total{" AREA ",direction=\"write\""), "21");
		ck_assert_str_eq(value("dmmon_ios_in_flight{" AREA), "3");
	}
	written(&r, row, DMS_CLEARED);
	ck_assert_str_eq(value("dmmon_busy_seconds_total{" AREA), "0.000031");
}

/* Values too large for 64 bits; a negative number of I/Os in flight, as some kernels report. */
TEST(extremes)
{
	struct dms_region r = { .id = 5, .length = 100, .step = 1 };
	uint64_t large[DMS_COUNTERS];

	memset(large, 0xff, sizeof(large));
	written(&r, large, 0);
	ck_assert_str_eq(value("dmmon_io_bytes_total{" AREA ",direction=\"read\""),
			 "18446744073709551615");
	ck_assert_str_eq(value("dmmon_ios_in_flight{" AREA), "-1");
	ck_assert_str_eq(value("dmmon_busy_seconds_total{" AREA), "18446744073.709551615");
	large[DMS_READ_SECTORS] = UINT64_MAX / 512;
	large[DMS_WRITE_SECTORS] = UINT64_MAX / 512 + 1;
	written(&r, large, 0);
	ck_assert_str_eq(value("dmmon_io_bytes_total{" AREA ",direction=\"read\""),
			 "18446744073709551104");
	ck_assert_str_eq(value("dmmon_io_bytes_total{" AREA ",direction=\"write\""),
			 "18446744073709551615");
}
