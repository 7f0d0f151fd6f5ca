/* SPDX-License-Identifier: MIT */
/* Columns and their selection, numbers on the command line, scaled values, text. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "number.h"
#include "scale.h"
#include "tool_text.h"

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

START_TEST(selections)
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
END_TEST

START_TEST(selections_with_one_more)
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
END_TEST

START_TEST(list_of_columns)
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
END_TEST

START_TEST(schema)
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
	ck_assert_int_lt(columns_schema(out, "a row", columns, COUNT), 0);
	fclose(out);
}
END_TEST

START_TEST(numbers)
{
	uint64_t n = 7;

	ck_assert(number_parse("0", 0, UINT64_MAX, &n) && n == 0);
	ck_assert(number_parse("18446744073709551615", 0, UINT64_MAX, &n) && n == UINT64_MAX);
	n = 7;
	for (const char *const *word = (const char *const[]){ "", " 1", "1 ", "+1", "-1", "0x1",
	     "1.0", "18446744073709551616", "18446744073709551620", "99999999999999999999", NULL };
	     *word; word++)
		ck_assert_msg(!number_parse(*word, 0, UINT64_MAX, &n) && n == 7, "%s", *word);
	ck_assert(!number_parse("4", 5, 9, &n) && !number_parse("10", 5, 9, &n));
	ck_assert(number_parse("5", 5, 9, &n) && n == 5);
	ck_assert(number_parse("9", 5, 9, &n) && n == 9);
}
END_TEST

START_TEST(durations)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} good[] = {
		{ "0", 0 }, { "1", 1000000000 }, { "1.5", 1500000000 }, { "2s", 2000000000 },
		{ "0.000000001", 1 }, { "20ms", 20000000 }, { "1.5us", 1500 }, { "3ns", 3 },
		{ "1.500ms", 1500000 }, { "1m", 60000000000 }, { "0.1m", 6000000000 },
		{ "2h", 7200000000000 }, { "1.0ns", 1 }, { "9223372036854775807ns", INT64_MAX },
	};
	static const char *const bad[] = {
		"", "s", ".5", "1.", "1.5ns", "0.0000000001", "1,5", "-1", "1 s", "1sec", "1.5.5",
		"9223372036854775808ns", "99999999999999999999", "2562048h",
	};
	uint64_t ns = 7;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_msg(number_parse_time(good[i].word, &ns), "%s", good[i].word);
		ck_assert_uint_eq(ns, good[i].ns);
	}
	ns = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!number_parse_time(bad[i], &ns) && ns == 7, "%s", bad[i]);
}
END_TEST

START_TEST(sizes)
{
	uint64_t bytes = 7;

	ck_assert(!number_parse_size("1k", &bytes) && !number_parse_size("K", &bytes));
	ck_assert(!number_parse_size("1KB", &bytes) && !number_parse_size("17179869184G", &bytes));
	ck_assert_uint_eq(bytes, 7);
	ck_assert(number_parse_size("4095", &bytes) && bytes == 4095);
	ck_assert(number_parse_size("64K", &bytes) && bytes == 65536);
	ck_assert(number_parse_size("8M", &bytes) && bytes == 8388608);
	ck_assert(number_parse_size("17179869183G", &bytes) && bytes == 17179869183u << 30);
}
END_TEST

static const char *scaled(enum column_unit unit, uint64_t value)
{
	static char out[32];
	struct column column = { "x", COLUMN_UNSIGNED, unit, 0, true, "" };
	struct cell cell = cell_unsigned(value);

	return scale_value(&column, &cell, out, sizeof(out)) ? out : NULL;
}

/* The heading above scaled values has no unit: they have their own. */
START_TEST(scaled_headings)
{
	static const struct { enum column_unit unit; const char *name, *heading; } c[] = {
		{ UNIT_NS, "read_latency_ns", "read_latency" }, { UNIT_US, "etime_us", "etime" },
		{ UNIT_MS, "x_ms", "x" }, { UNIT_S, "age_s", "age" }, { UNIT_KIB, "rss_kib", "rss" },
		{ UNIT_BYTES, "memory_bytes", "memory" }, { UNIT_BYTES, "bytes", "size" },
		{ UNIT_BYTES_PER_S, "read_bytes_per_s", "read" },
		{ UNIT_SECTORS, "read_sectors", "read" }, { UNIT_SECTORS, "sectors", "size" },
		{ UNIT_SECTORS, "start_sector", "start" }, { UNIT_SECTORS, "sector", "sector" },
		{ UNIT_SECTORS, "se", "se" }, { UNIT_NS, "n", "n" }, { UNIT_NS, "_ns", "_ns" },
		{ UNIT_NS, "ns", "time" },
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
END_TEST

START_TEST(scaled_values)
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
	ck_assert_ptr_null(scaled(UNIT_PERCENT, 1));
}
END_TEST

START_TEST(times)
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
END_TEST

START_TEST(utf8)
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
END_TEST

int main(void)
{
	Suite *suite = suite_create("tool common");
	TCase *tests = tcase_create("common");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, selections);
	tcase_add_test(tests, selections_with_one_more);
	tcase_add_test(tests, list_of_columns);
	tcase_add_test(tests, schema);
	tcase_add_test(tests, numbers);
	tcase_add_test(tests, durations);
	tcase_add_test(tests, sizes);
	tcase_add_test(tests, scaled_headings);
	tcase_add_test(tests, scaled_values);
	tcase_add_test(tests, times);
	tcase_add_test(tests, utf8);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
