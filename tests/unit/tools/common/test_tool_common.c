/* SPDX-License-Identifier: MIT */
/* Columns and their selection, scaled values, text. */
#define _GNU_SOURCE /* fopencookie() */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "column.h"
#include "exit_code.h"
#include "interval.h"
#include "said.h"
#include "scale.h"
#include "tool_text.h"
#include "unit_test.h"

static const struct column columns[] = {
	{ "pid", COLUMN_UNSIGNED, UNIT_NONE, 5, true, "a task" },
	{ "comm", COLUMN_TEXT, UNIT_NONE, 6, false, "its program" },
	{ "delay_ns", COLUMN_UNSIGNED, UNIT_NS, 0, true, "time it waited" },
	{ "bins", COLUMN_LIST, UNIT_NONE, 0, false, "a histogram" },
};
enum { COUNT = sizeof(columns) / sizeof(columns[0]) };

static char error[160];

static bool selects(const char *fields, const char *expected)
{
	struct selection selection;
	char shown[64] = "";

	selection_standard(&selection, columns, COUNT);
	error[0] = '\0';
	if (!selection_parse(&selection, fields, error, sizeof(error))) {
		ck_assert_uint_eq(selection.shown_count, 2);
		return false;
	}
	for (size_t i = 0; i < selection.shown_count; i++)
		snprintf(shown + i, sizeof(shown) - i, "%zu", selection.shown[i]);
	ck_assert_str_eq(shown, expected);
	return true;
}

TEST(selections)
{
	ck_assert(selects("comm", "1"));
	ck_assert(selects("delay_ns,pid", "20"));
	ck_assert(selects("all", "0123"));
	ck_assert(selects("+bins,comm", "0231"));
	ck_assert(!selects("", NULL));
	ck_assert_str_eq(error, "there is no field ''; --fields help lists them");
	ck_assert(!selects("pid,", NULL));
	ck_assert(!selects("delay", NULL));
	ck_assert_str_eq(error, "there is no field 'delay'; --fields help lists them");
	ck_assert(!selects("+pid", NULL));
	ck_assert_str_eq(error, "the field pid is selected twice; name it once");
}

TEST(selections_with_one_more)
{
	struct selection selection;

	/* 0 and 2 are standard. */
	selection_standard(&selection, columns, COUNT);
	selection_show(&selection, 2);
	ck_assert_uint_eq(selection.shown_count, 2);
	selection_show(&selection, 1);
	selection_show(&selection, 3);
	ck_assert_uint_eq(selection.shown_count, 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(selection.shown[i], i);
	ck_assert(selection_parse(&selection, "bins,comm", error, sizeof(error)));
	selection_show(&selection, 0);
	selection_show(&selection, 2);
	ck_assert_uint_eq(selection.shown[0], 0);
	ck_assert_uint_eq(selection.shown[1], 2);
	ck_assert_uint_eq(selection.shown[2], 3);
	ck_assert_uint_eq(selection.shown[3], 1);
}

/* As many as there can be, the first of which comes last: nothing but the rest is moved. */
TEST(selections_of_many)
{
	static struct column many[COLUMNS_MAX];
	static char names[COLUMNS_MAX][8];
	struct selection *selection = malloc(sizeof(*selection));

	for (size_t i = 0; i < COLUMNS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		many[i] = (struct column){ .name = names[i], .standard = i != 0, .meaning = "" };
	}
	selection_standard(selection, many, COLUMNS_MAX);
	ck_assert_uint_eq(selection->shown_count, COLUMNS_MAX - 1);
	selection_show(selection, 0);
	ck_assert_uint_eq(selection->shown_count, COLUMNS_MAX);
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		ck_assert_uint_eq(selection->shown[i], i);
	/* Behind what is shown stays what was there. */
	selection_standard(selection, columns, COUNT);
	selection->shown[3] = 77;
	selection_show(selection, 1);
	ck_assert(selection->shown_count == 3 && selection->shown[2] == 2);
	ck_assert_uint_eq(selection->shown[3], 77);
	free(selection);
}

TEST(units)
{
	static const char *const names[] = {
		[UNIT_NONE] = "", [UNIT_TIME] = "s since 1970", [UNIT_S] = "s", [UNIT_MS] = "ms",
		[UNIT_US] = "us", [UNIT_NS] = "ns", [UNIT_BYTES] = "bytes", [UNIT_KIB] = "KiB",
		[UNIT_SECTORS] = "sectors of 512 bytes", [UNIT_PER_S] = "1/s",
		[UNIT_BYTES_PER_S] = "bytes/s", [UNIT_PERCENT] = "%",
	};

	for (enum column_unit unit = UNIT_NONE; unit < UNIT_COUNT; unit++)
		ck_assert_str_eq(column_unit_name(unit), names[unit]);
}

TEST(long_names_are_cut)
{
	static const char name[] = "0123456789012345678901234567890123456789012345678901234567890123";
	char fields[80], expected[160];

	/* 63 to 66 characters. */
	for (int more = -1; more <= 2; more++) {
		snprintf(fields, sizeof(fields), "%.*s%.*s", 63, name, more + 1, "xyz");
		ck_assert(!selects(fields, NULL));
		snprintf(expected, sizeof(expected),
			 "there is no field '%.64s'; --fields help lists them", fields);
		ck_assert_str_eq(error, expected);
	}
}

TEST(list_of_columns)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	columns_list(out, columns, COUNT);
	fclose(out);
	ck_assert_str_eq(text, "* pid       a task\n"
			       "  comm      its program\n"
			       "* delay_ns  time it waited (ns)\n"
			       "  bins      a histogram\n"
			       "* shown unless --fields says otherwise\n");
	free(text);
}

/* A column of each type, and all that the schema says of it. */
TEST(schema_of_each_type)
{
	static const struct column each[] = {
		{ "n", COLUMN_UNSIGNED, UNIT_NONE, 0, true, "N" },
		{ "i", COLUMN_SIGNED, UNIT_MS, 0, false, "I" },
		{ "r", COLUMN_REAL, UNIT_PERCENT, 0, false, "R" },
		{ "f", COLUMN_FLAG, UNIT_NONE, 0, false, "F" },
		{ "t", COLUMN_TEXT, UNIT_NONE, 0, false, "T" },
		{ "l", COLUMN_LIST, UNIT_NONE, 0, false, "L" },
	};
	static const char expected[] =
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"a row\","
		"\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
		"\"n\":{\"type\":[\"integer\",\"null\"],\"description\":\"N\",\"minimum\":0},"
		"\"i\":{\"type\":[\"integer\",\"null\"],\"description\":\"I\",\"unit\":\"ms\"},"
		"\"r\":{\"type\":[\"number\",\"null\"],\"description\":\"R\",\"unit\":\"%\"},"
		"\"f\":{\"type\":[\"boolean\",\"null\"],\"description\":\"F\"},"
		"\"t\":{\"type\":[\"string\",\"null\"],\"description\":\"T\"},"
		"\"l\":{\"type\":[\"array\",\"null\"],\"description\":\"L\","
		"\"items\":{\"type\":\"integer\",\"minimum\":0}}}}";
	json_t *wanted = json_loads(expected, 0, NULL), *parsed, *escaped;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(columns_schema(out, "a row", each, sizeof(each) / sizeof(each[0])), 0);
	fclose(out);
	/* Two blanks for each level, in the columns' order, and a line break at the end. */
	ck_assert_int_eq(strncmp(text, "{\n  \"$schema\": ", 15), 0);
	ck_assert_int_eq(text[len - 1], '\n');
	ck_assert_ptr_nonnull(wanted);
	parsed = json_loads(text, 0, NULL);
	escaped = json_object_get(json_object_get(parsed, "properties"), "escaped");
	ck_assert_str_eq(json_string_value(json_object_get(escaped, "type")), "array");
	json_object_del(json_object_get(parsed, "properties"), "escaped");
	ck_assert(json_equal(parsed, wanted));
	json_decref(parsed);
	json_decref(wanted);
	free(text);
}

TEST(schema)
{
	char *text = NULL;
	const char *unit, *type, *null;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *parsed;
	int least;

	ck_assert_int_eq(columns_schema(out, "a row", columns, COUNT), 0);
	fclose(out);
	parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_ptr_nonnull(parsed);
	ck_assert_int_eq(json_unpack(parsed, "{s:{s:{s:[ss], s:s, s:i}}}", "properties",
				     "delay_ns", "type", &type, &null, "unit", &unit, "minimum",
				     &least), 0);
	ck_assert_str_eq(type, "integer");
	ck_assert_str_eq(null, "null");
	ck_assert_str_eq(unit, "ns");
	ck_assert_int_eq(least, 0);
	ck_assert_uint_eq(json_object_size(json_object_get(parsed, "properties")), COUNT + 1);
	ck_assert(json_is_false(json_object_get(parsed, "additionalProperties")));
	json_decref(parsed);
	free(text);
	out = fopen("/dev/full", "w");
	setvbuf(out, NULL, _IONBF, 0);
	ck_assert_int_eq(columns_schema(out, "a row", columns, COUNT), -ENOSPC);
	fclose(out);
}

/* Writes that succeed before all others fail, with @write_error; below 0: none fails. */
static long writes_most = -1, writes;
static int write_error;

static ssize_t count_writes(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	(void)bytes;
	if (writes++ < writes_most || writes_most < 0)
		return (ssize_t)size;
	errno = write_error;
	return 0;
}

static int schema_to_writes(void)
{
	FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = count_writes });
	int ret;

	writes = 0;
	setvbuf(out, NULL, _IONBF, 0);
	ret = columns_schema(out, "a row", columns, COUNT);
	fclose(out);
	return ret;
}

/* Also the line's end, which comes last; where no reason is known, it is an error of output. */
TEST(schema_that_cannot_be_written)
{
	long all;

	ck_assert_int_eq(schema_to_writes(), 0);
	all = writes;
	ck_assert_int_ge(all, 10);
	for (long place = 0; place < all; place++) {
		writes_most = place;
		write_error = ENOSPC;
		ck_assert_msg(schema_to_writes() == -ENOSPC, "%ld", place);
		writes_most = place;
		write_error = 0;
		ck_assert_msg(schema_to_writes() == -EIO, "%ld", place);
	}
	writes_most = -1;
	ck_assert_int_eq(schema_to_writes(), 0);
}

static const char *scaled(enum column_unit unit, uint64_t value)
{
	static char out[32];
	struct column column = { "x", COLUMN_UNSIGNED, unit, 0, true, "" };
	struct cell cell = cell_unsigned(value);

	return scale_value(&column, &cell, out, sizeof(out)) ? out : NULL;
}

/* The heading above scaled values has no unit: they have their own. */
TEST(scaled_headings)
{
	static const struct { enum column_unit unit; const char *name, *heading; } c[] = {
		{ UNIT_NS, "read_latency_ns", "read_latency" }, { UNIT_US, "etime_us", "etime" },
		{ UNIT_MS, "x_ms", "x" }, { UNIT_S, "age_s", "age" }, { UNIT_KIB, "rss_kib", "rss" },
		{ UNIT_BYTES, "memory_bytes", "memory" }, { UNIT_BYTES, "bytes", "size" },
		{ UNIT_BYTES_PER_S, "read_bytes_per_s", "read" },
		{ UNIT_SECTORS, "read_sectors", "read" }, { UNIT_SECTORS, "sectors", "size" },
		{ UNIT_SECTORS, "start_sector", "start" }, { UNIT_SECTORS, "sector", "sector" },
		{ UNIT_SECTORS, "_sector", "_sector" }, { UNIT_SECTORS, "read_other", "read_other" },
		{ UNIT_SECTORS, "start_sectorx", "start_sectorx" }, { UNIT_NS, "time_n", "time_n" },
		{ UNIT_BYTES, "memory_byte", "memory_byte" },
		{ UNIT_SECTORS, "se", "se" }, { UNIT_NS, "n", "n" }, { UNIT_NS, "_ns", "_ns" },
		{ UNIT_NS, "ns", "time" }, { UNIT_PERCENT, "busy_percent", "busy" },
		{ UNIT_PERCENT, "percent", "percent" },
		/* Not scaled, or not named so. */
		{ UNIT_PER_S, "reads_per_s", "reads_per_s" }, { UNIT_NONE, "x_ns", "x_ns" },
		{ UNIT_TIME, "time_s", "time_s" }, { UNIT_US, "x_ns", "x_ns" },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const struct column column = { .name = c[i].name, .unit = c[i].unit };
		const char *heading;
		size_t len = scale_heading(&column, &heading);

		ck_assert_msg(len == strlen(c[i].heading) && !memcmp(heading, c[i].heading, len),
			      "%s", c[i].name);
	}
}

TEST(scaled_values)
{
	ck_assert_str_eq(scaled(UNIT_NS, 0), "0 ns");
	ck_assert_str_eq(scaled(UNIT_NS, 999), "999 ns");
	ck_assert_str_eq(scaled(UNIT_NS, 1000), "1.00 us");
	ck_assert_str_eq(scaled(UNIT_US, 45600), "45.6 ms");
	ck_assert_str_eq(scaled(UNIT_MS, 90000), "1.50 min");
	ck_assert_str_eq(scaled(UNIT_S, 86400 * 400), "400 d");
	ck_assert_str_eq(scaled(UNIT_BYTES, 1023), "1023 B");
	ck_assert_str_eq(scaled(UNIT_BYTES, UINT64_MAX), "16.0 EiB");
	ck_assert_str_eq(scaled(UNIT_SECTORS, 3), "1.50 KiB");
	ck_assert_str_eq(scaled(UNIT_BYTES_PER_S, 2048), "2.00 KiB/s");
	ck_assert_ptr_null(scaled(UNIT_NONE, 1));
	ck_assert_str_eq(scaled(UNIT_PERCENT, 1), "1 %");
}

/* Each unit where it begins and just below, by what a day has hours and so on. */
TEST(scaled_steps)
{
	static const struct { enum column_unit unit; uint64_t value; const char *shown; } c[] = {
		{ UNIT_NS, 1, "1 ns" }, { UNIT_US, 1, "1.00 us" }, { UNIT_MS, 1, "1.00 ms" },
		{ UNIT_S, 1, "1.00 s" }, { UNIT_US, 999, "999 us" }, { UNIT_US, 1000, "1.00 ms" },
		{ UNIT_MS, 999, "999 ms" }, { UNIT_MS, 1000, "1.00 s" }, { UNIT_S, 59, "59.0 s" },
		{ UNIT_S, 60, "1.00 min" }, { UNIT_S, 3599, "60.0 min" }, { UNIT_S, 3600, "1.00 h" },
		{ UNIT_S, 86399, "24.0 h" }, { UNIT_S, 86400, "1.00 d" },
		{ UNIT_S, 86400000, "1000 d" },
		{ UNIT_BYTES, 0, "0 B" }, { UNIT_BYTES, 1024, "1.00 KiB" },
		{ UNIT_BYTES, 1048575, "1024 KiB" }, { UNIT_BYTES, 1048576, "1.00 MiB" },
		{ UNIT_KIB, 1048576, "1.00 GiB" }, { UNIT_KIB, 1u << 30, "1.00 TiB" },
		{ UNIT_KIB, UINT64_C(1) << 40, "1.00 PiB" }, { UNIT_KIB, UINT64_C(1) << 50, "1.00 EiB" },
		{ UNIT_KIB, UINT64_C(1) << 60, "1024 EiB" }, { UNIT_SECTORS, 1, "512 B" },
		{ UNIT_SECTORS, 2, "1.00 KiB" }, { UNIT_BYTES_PER_S, 1, "1 B/s" },
		/* Three digits, rounded: the third of 9.994, 9.995, 99.94 and 99.95. */
		{ UNIT_NS, 9994, "9.99 us" }, { UNIT_NS, 9996, "10.0 us" },
		{ UNIT_NS, 99940, "99.9 us" }, { UNIT_NS, 99960, "100 us" },
	};
	static const struct { double value; const char *shown; } reals[] = {
		{ 1.5, "1.50 ns" }, { -1500, "-1.50 us" }, { 0, "0.00 ns" }, { -999.4, "-999 ns" },
		{ 9.995, "10.0 ns" }, { 99.95, "100 ns" },
	};
	struct column column = { "x", COLUMN_REAL, UNIT_NS, 0, true, "" };
	struct cell cell;
	char out[32];

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_str_eq(scaled(c[i].unit, c[i].value), c[i].shown);
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		cell = cell_real(reals[i].value);
		ck_assert(scale_value(&column, &cell, out, sizeof(out)));
		ck_assert_str_eq(out, reals[i].shown);
	}
	column.type = COLUMN_SIGNED;
	cell = cell_signed(-45600);
	ck_assert(scale_value(&column, &cell, out, sizeof(out)));
	ck_assert_str_eq(out, "-45.6 us");
	cell = cell_signed(-7);
	ck_assert(scale_value(&column, &cell, out, sizeof(out)));
	ck_assert_str_eq(out, "-7 ns");
	column.type = COLUMN_FLAG;
	ck_assert(!scale_value(&column, &cell, out, sizeof(out)));
	ck_assert_str_eq(out, "-7 ns");
}

TEST(times)
{
	char out[32];

	scale_time(0, out, sizeof(out));
	ck_assert_str_eq(out, "1970-01-01T00:00:00Z");
	scale_time(253402300799u, out, sizeof(out));
	ck_assert_str_eq(out, "9999-12-31T23:59:59Z");
	scale_time(253402300800u, out, sizeof(out));
	ck_assert_str_eq(out, "253402300800");
	scale_time(UINT64_MAX, out, sizeof(out));
	ck_assert_str_eq(out, "18446744073709551615");
}

TEST(utf8)
{
	static const char *const good[] = {
		"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
		"\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
	};
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2" "a", "\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xe1\x80", "\xe1\x80" "a", "\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "a\xf1\x80\x80",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(text_is_utf8(good[i], strlen(good[i])), "%zu", i);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!text_is_utf8(bad[i], strlen(bad[i])), "%zu", i);
}

/* With descriptors for nothing, and for signals only, which is closed again. */
TEST(interval_without_descriptors)
{
	static const char *const wanted[] = { "signals cannot be read", "a timer cannot be created" };
	struct said said;
	struct rlimit limit;
	int next = 0;

	/* Those below are all in use. */
	while (next < 32)
		next = dup(2);
	ck_assert_int_eq(next, 32);
	close(next);
	for (unsigned int more = 0; more < 2; more++) {
		struct interval interval;
		const char *text;
		int ret, opened;

		said = said_begin(2);
		ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
		/* said_begin() has two of them. */
		limit.rlim_cur = (rlim_t)next + 2 + more;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ret = interval_open(&interval);
		opened = fcntl(next + 2, F_GETFD);
		limit.rlim_cur = limit.rlim_max;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		text = said_end(&said);
		ck_assert_int_eq(ret, EXIT_FAILED);
		ck_assert_int_eq(opened, -1);
		ck_assert_msg(strstr(text, wanted[more]) && strstr(text, "Too many open files"), "%s",
			      text);
	}
}
