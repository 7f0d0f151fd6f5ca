/* SPDX-License-Identifier: MIT */
/* The text of values, as OpenMetrics 1.0 and Prometheus' text format 0.0.4 have it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "storage_fails.h"
#include "unit_test.h"

enum { READS, TEMPERATURE, LATENCY, TIME, FAMILIES };

static const struct metric_family families[FAMILIES] = {
	[READS] = { "disk_reads", METRIC_COUNTER, NULL, "Reads", { "disk", "kind" } },
	[TEMPERATURE] = { "temperature_celsius", METRIC_GAUGE, "celsius", "How warm it is",
			  { NULL } },
	[LATENCY] = { "latency_seconds", METRIC_HISTOGRAM, "seconds", "Durations", { "disk" } },
	[TIME] = { "busy_seconds", METRIC_COUNTER, "seconds", "Time", { NULL } },
};

static struct metrics metrics;
static struct text out;

static void start(void)
{
	storage_left = -1;
	ck_assert(metrics_open(&metrics, families, FAMILIES));
}

static void stop(void)
{
	storage_left = -1;
	metrics_close(&metrics);
	text_free(&out);
}

CASE("export_metrics", start, stop);

static const char *written(enum metrics_format format)
{
	text_clear(&out);
	metrics_write(&metrics, format, &out);
	metrics_end(format, &out);
	text_append(&out, "", 1);
	ck_assert(!out.failed);
	return out.bytes;
}

TEST(nothing)
{
	ck_assert_str_eq(written(METRICS_OPENMETRICS), "# EOF\n");
	ck_assert_str_eq(written(METRICS_TEXT), "");
}

/* Families in their order, whatever came first; values in the order in which they came. */
TEST(both_formats)
{
	metrics_decimal(&metrics, TIME, NULL, 1500000000, 9);
	metrics_unsigned(&metrics, READS, (const char *const[]){ "sda", "fast" }, UINT64_MAX);
	metrics_signed(&metrics, TEMPERATURE, NULL, -40);
	metrics_signed(&metrics, TEMPERATURE, NULL, 0);
	metrics_unsigned(&metrics, READS, (const char *const[]){ "sdb", "" }, 0);
	ck_assert_str_eq(written(METRICS_OPENMETRICS),
			 "# TYPE disk_reads counter\n"
			 "# HELP disk_reads Reads\n"
			 "disk_reads_total{disk=\"sda\",kind=\"fast\"} 18446744073709551615\n"
			 "disk_reads_total{disk=\"sdb\",kind=\"\"} 0\n"
			 "# TYPE temperature_celsius gauge\n"
			 "# UNIT temperature_celsius celsius\n"
			 "# HELP temperature_celsius How warm it is\n"
			 "temperature_celsius -40\n"
			 "temperature_celsius 0\n"
			 "# TYPE busy_seconds counter\n"
			 "# UNIT busy_seconds seconds\n"
			 "# HELP busy_seconds Time\n"
			 "busy_seconds_total 1.5\n"
			 "# EOF\n");
	ck_assert_str_eq(written(METRICS_TEXT),
			 "# TYPE disk_reads_total counter\n"
			 "# HELP disk_reads_total Reads\n"
			 "disk_reads_total{disk=\"sda\",kind=\"fast\"} 18446744073709551615\n"
			 "disk_reads_total{disk=\"sdb\",kind=\"\"} 0\n"
			 "# TYPE temperature_celsius gauge\n"
			 "# HELP temperature_celsius How warm it is\n"
			 "temperature_celsius -40\n"
			 "temperature_celsius 0\n"
			 "# TYPE busy_seconds_total counter\n"
			 "# HELP busy_seconds_total Time\n"
			 "busy_seconds_total 1.5\n");
}

/* The value's text alone. */
static const char *value_of(const char *text)
{
	static char value[64];
	const char *line = strstr(text, "\nbusy_seconds_total ");

	ck_assert_ptr_nonnull(line);
	snprintf(value, sizeof(value), "%s", line + strlen("\nbusy_seconds_total "));
	value[strcspn(value, "\n")] = '\0';
	metrics_close(&metrics);
	ck_assert(metrics_open(&metrics, families, FAMILIES));
	return value;
}

TEST(decimals)
{
	static const struct {
		uint64_t value;
		unsigned int decimals;
		const char *text;
	} cases[] = {
		{ 0, 0, "0" }, { 0, 9, "0" }, { 1, 9, "0.000000001" }, { 1, 0, "1" },
		{ 1000000000, 9, "1" }, { 999999999, 9, "0.999999999" }, { 10, 1, "1" },
		{ 123456, 3, "123.456" }, { 100100, 3, "100.1" }, { 105, 1, "10.5" },
		{ UINT64_MAX, 18, "18.446744073709551615" }, { UINT64_MAX, 6,
		"18446744073709.551615" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		metrics_decimal(&metrics, TIME, NULL, cases[i].value, cases[i].decimals);
		ck_assert_str_eq(value_of(written(METRICS_TEXT)), cases[i].text);
	}
	metrics_signed(&metrics, TIME, NULL, INT64_MIN);
	ck_assert_str_eq(value_of(written(METRICS_TEXT)), "-9223372036854775808");
	metrics_signed(&metrics, TIME, NULL, 0);
	ck_assert_str_eq(value_of(written(METRICS_TEXT)), "0");
	metrics_signed(&metrics, TIME, NULL, INT64_MAX);
	ck_assert_str_eq(value_of(written(METRICS_TEXT)), "9223372036854775807");
}

/* Names can be anything: bytes that are no UTF-8 are shown, and a backslash stays one. */
TEST(labels)
{
	static const struct {
		const char *value, *text;
	} cases[] = {
		{ "a\"b", "a\\\"b" }, { "a\\b", "a\\\\b" }, { "a\nb", "a\\nb" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" }, { "a\tb", "a\tb" },
		{ "x\xff", "x\\\\xff" }, { "\xc3", "\\\\xc3" }, { "\\", "\\\\" },
	};
	char wanted[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		metrics_unsigned(&metrics, READS, (const char *const[]){ cases[i].value, "k" }, 1);
		snprintf(wanted, sizeof(wanted), "\ndisk_reads_total{disk=\"%s\",kind=\"k\"} 1\n",
			 cases[i].text);
		ck_assert_msg(strstr(written(METRICS_TEXT), wanted), "%s in %s", wanted,
			      out.bytes);
	}
}

TEST(histogram)
{
	static const uint64_t bounds[] = { 100000, 2000000, 3000000000 }, counts[] = { 1, 0, 5, 2 };

	metrics_histogram(&metrics, LATENCY, (const char *const[]){ "sda" }, bounds, 3, counts,
			  12345678900);
	ck_assert_str_eq(written(METRICS_OPENMETRICS),
			 "# TYPE latency_seconds histogram\n"
			 "# UNIT latency_seconds seconds\n"
			 "# HELP latency_seconds Durations\n"
			 "latency_seconds_bucket{disk=\"sda\",le=\"0.0001\"} 1\n"
			 "latency_seconds_bucket{disk=\"sda\",le=\"0.002\"} 1\n"
			 "latency_seconds_bucket{disk=\"sda\",le=\"3\"} 6\n"
			 "latency_seconds_bucket{disk=\"sda\",le=\"+Inf\"} 8\n"
			 "latency_seconds_count{disk=\"sda\"} 8\n"
			 "latency_seconds_sum{disk=\"sda\"} 12.3456789\n"
			 "# EOF\n");
}

/* As many labels as there may be; a histogram without any. */
TEST(most_labels)
{
	static const struct metric_family full[] = {
		{ "full", METRIC_GAUGE, NULL, "Full", { "a", "b", "c", "d" } },
		{ "bare_seconds", METRIC_HISTOGRAM, "seconds", "Bare", { NULL } },
	};
	static const uint64_t bounds[] = { 1 }, counts[] = { 2, 1 };

	metrics_close(&metrics);
	/* Once more does no harm. */
	metrics_close(&metrics);
	ck_assert(metrics_open(&metrics, full, 2));
	metrics_histogram(&metrics, 1, NULL, bounds, 1, counts, 5);
	metrics_signed(&metrics, 0, (const char *const[]){ "1", "2", "3", "4" }, -5);
	ck_assert_str_eq(written(METRICS_TEXT),
			 "# TYPE full gauge\n"
			 "# HELP full Full\n"
			 "full{a=\"1\",b=\"2\",c=\"3\",d=\"4\"} -5\n"
			 "# TYPE bare_seconds histogram\n"
			 "# HELP bare_seconds Bare\n"
			 "bare_seconds_bucket{le=\"0.000000001\"} 2\n"
			 "bare_seconds_bucket{le=\"+Inf\"} 3\n"
			 "bare_seconds_count 3\n"
			 "bare_seconds_sum 0.000000005\n");
}

/* After any failed allocation the text is marked as incomplete. */
TEST(without_storage)
{
	static const uint64_t bounds[] = { 1 }, counts[] = { 1, 2 };
	struct metrics other;
	bool made;

	storage_left = 0;
	made = metrics_open(&other, families, FAMILIES);
	metrics_close(&other);
	ck_assert(!made);
	for (long place = 0;; place++) {
		bool failed;

		text_free(&out);
		metrics_close(&metrics);
		ck_assert(metrics_open(&metrics, families, FAMILIES));
		storage_left = place;
		metrics_unsigned(&metrics, READS, (const char *const[]){ "\xff", "k" }, 1);
		metrics_histogram(&metrics, LATENCY, (const char *const[]){ "a" }, bounds, 1,
				  counts, 3);
		metrics_write(&metrics, METRICS_OPENMETRICS, &out);
		failed = storage_left < 0;
		storage_left = -1;
		if (!failed) {
			ck_assert(!out.failed);
			ck_assert_int_ge(place, 4);
			break;
		}
		ck_assert_msg(out.failed, "allocation %ld", place);
	}
}
