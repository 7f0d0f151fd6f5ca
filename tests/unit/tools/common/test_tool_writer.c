/* SPDX-License-Identifier: MIT */
/* Rows as table, JSON lines and CSV. */
#define _GNU_SOURCE /* fopencookie() */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"
#include "storage_fails.h"
#include "unit_test.h"

static const struct column columns[] = {
	{ "pid", COLUMN_UNSIGNED, UNIT_NONE, 5, true, "a task" },
	{ "comm", COLUMN_TEXT, UNIT_NONE, 6, true, "its program" },
	{ "delay_ns", COLUMN_UNSIGNED, UNIT_NS, 7, true, "time it waited" },
	{ "nice", COLUMN_SIGNED, UNIT_NONE, 0, false, "its nice value" },
	{ "rate", COLUMN_REAL, UNIT_PER_S, 6, false, "reads" },
	{ "on", COLUMN_FLAG, UNIT_NONE, 3, false, "whether" },
	{ "bins", COLUMN_LIST, UNIT_NONE, 8, false, "a histogram" },
	{ "start", COLUMN_UNSIGNED, UNIT_TIME, 20, false, "when it began" },
	{ "size", COLUMN_REAL, UNIT_KIB, 8, false, "how large" },
	{ "path", COLUMN_TEXT, UNIT_NONE, 0, false, "where it is" },
	{ "age", COLUMN_REAL, UNIT_TIME, 0, false, "a time that is no whole number" },
};
enum { COUNT = sizeof(columns) / sizeof(columns[0]) };

static struct cell cells[COUNT];
static char *text;
static size_t len;

static void fill(const char *comm, size_t comm_len)
{
	static const uint64_t bins[] = { 0, 18446744073709551615u, 3 };

	cells[0] = cell_unsigned(42);
	cells[1] = cell_text(comm, comm_len);
	cells[2] = cell_unsigned(1234567);
	cells[3] = cell_signed(-20);
	cells[4] = cell_real(2.5);
	cells[5] = cell_flag(true);
	cells[6] = cell_list(bins, 3);
	cells[7] = cell_unsigned(86399);
	cells[8] = cell_real(1536);
	cells[9] = cell_text("/", 1);
	cells[10] = cell_real(2);
}

/* The output of @count equal rows; the next call frees it, which the last test does not make. */
static const char *written(enum writer_format format, bool scaled, const char *fields, int count)
{
	struct selection selection;
	struct writer *writer;
	char error[128];
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	selection_standard(&selection, columns, COUNT);
	if (fields)
		ck_assert_msg(selection_parse(&selection, fields, error, sizeof(error)), "%s",
			      error);
	writer = writer_open(out, format, scaled, &selection);
	for (int i = 0; i < count; i++)
		ck_assert_int_eq(writer_put(writer, cells), 0);
	ck_assert_int_eq(writer_flush(writer), 0);
	writer_close(writer);
	fclose(out);
	return text;
}

static void release(void)
{
	free(text);
	text = NULL;
}

CASE("tool writer", NULL, release);

TEST(table)
{
	fill("init", 4);
	ck_assert_str_eq(written(WRITER_TABLE, false, NULL, 2),
			 "  pid  comm    delay_ns\n"
			 "   42  init     1234567\n"
			 "   42  init     1234567\n");
	ck_assert_str_eq(written(WRITER_TABLE, false, "nice,rate,on,bins,start,comm", 1),
			 "nice    rate   on  bins                     start  comm\n"
			 " -20   2.500  yes  0:18446744073709551615:3  1970-01-01T23:59:59Z  init\n");
	ck_assert_str_eq(written(WRITER_TABLE, true, "delay_ns,size,nice", 1),
			 "  delay      size  nice\n"
			 "1.23 ms  1.50 MiB   -20\n");
	ck_assert_str_eq(written(WRITER_TABLE, false, "pid", 0), "  pid\n");
}

TEST(table_obeys_nothing)
{
	static const char hostile[] = "\033[2J\\\n\xff\xc2\x9b" "3\xc3\xa4";

	fill(hostile, sizeof(hostile) - 1);
	ck_assert_str_eq(written(WRITER_TABLE, false, "comm,pid", 1),
			 "comm      pid\n"
			 "\\x1b[2J\\\\\\x0a\\xff\\xc2\\x9b3\xc3\xa4     42\n");
}

TEST(json)
{
	fill("a\"b\\\xc3\xa4\n", 7);
	ck_assert_str_eq(written(WRITER_JSON, true, "pid,comm,bins,on,nice,rate", 2),
			 "{\"pid\":42,\"comm\":\"a\\\"b\\\\\xc3\xa4\\n\",\"bins\":"
			 "[0,18446744073709551615,3],\"on\":true,\"nice\":-20,\"rate\":2.5}\n"
			 "{\"pid\":42,\"comm\":\"a\\\"b\\\\\xc3\xa4\\n\",\"bins\":"
			 "[0,18446744073709551615,3],\"on\":true,\"nice\":-20,\"rate\":2.5}\n");
	ck_assert_str_eq(written(WRITER_JSON, false, "pid", 0), "");
}

TEST(json_of_any_bytes)
{
	json_t *line, *escaped;

	fill("\xff\\\x80", 3);
	line = json_loads(written(WRITER_JSON, false, NULL, 1), 0, NULL);
	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(json_string_value(json_object_get(line, "comm")), "\\xff\\\\\\x80");
	escaped = json_object_get(line, "escaped");
	ck_assert_uint_eq(json_array_size(escaped), 1);
	ck_assert_str_eq(json_string_value(json_array_get(escaped, 0)), "comm");
	json_decref(line);
	/* Not shown, and so not named: the text would be the second one of all. */
	ck_assert_str_eq(written(WRITER_JSON, false, "pid", 1), "{\"pid\":42}\n");
	fill("\0x", 2);
	line = json_loads(written(WRITER_JSON, false, NULL, 1), JSON_ALLOW_NUL, NULL);
	ck_assert_uint_eq(json_string_length(json_object_get(line, "comm")), 2);
	ck_assert_ptr_null(json_object_get(line, "escaped"));
	json_decref(line);
}

TEST(csv)
{
	fill("a,\"b\"\n\xff", 7);
	ck_assert_str_eq(written(WRITER_CSV, true, "comm,bins,on,delay_ns", 1),
			 "comm,bins,on,delay_ns\n"
			 "\"a,\"\"b\"\"\n\xff\",0:18446744073709551615:3,true,1234567\n");
	fill("", 0);
	ck_assert_str_eq(written(WRITER_CSV, false, "pid,comm", 1), "pid,comm\n42,\n");
	ck_assert_str_eq(written(WRITER_CSV, false, "pid,comm", 0), "pid,comm\n");
}

TEST(what_is_not_known)
{
	fill("init", 4);
	cells[0] = cell_absent();
	cells[1] = cell_absent();
	cells[4] = cell_real(NAN);
	cells[8] = cell_real(INFINITY);
	ck_assert_str_eq(written(WRITER_TABLE, true, "pid,rate,size,comm", 1),
			 "  pid    rate      size  comm\n    -       -         -  -\n");
	ck_assert_str_eq(written(WRITER_JSON, false, "pid,rate,size,comm", 1),
			 "{\"pid\":null,\"rate\":null,\"size\":null,\"comm\":null}\n");
	ck_assert_str_eq(written(WRITER_CSV, false, "pid,rate,size,comm", 1),
			 "pid,rate,size,comm\n,,,\n");
}

TEST(real_numbers)
{
	static const struct {
		double value;
		const char *exact, *readable;
	} cases[] = {
		{ 0, "0", "0.000" },
		{ -0.5, "-0.5", "-0.500" },
		{ 1e14, "100000000000000", "100000000000000.000" },
		{ 1e15, "1e+15", "1e+15" },
		{ -1.5e300, "-1.5e+300", "-1.5e+300" },
		{ 0.1, "0.1", "0.100" },
	};
	char expected[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cells[4] = cell_real(cases[i].value);
		snprintf(expected, sizeof(expected), "{\"rate\":%s}\n", cases[i].exact);
		ck_assert_str_eq(written(WRITER_JSON, false, "rate", 1), expected);
		snprintf(expected, sizeof(expected), "  rate\n%*s\n", 6, cases[i].readable);
		ck_assert_str_eq(written(WRITER_TABLE, false, "rate", 1), expected);
	}
}

TEST(numbers_with_signs_and_flags)
{
	static const uint64_t one[] = { 7 };

	fill("init", 4);
	cells[3] = cell_signed(INT64_MIN);
	cells[5] = cell_flag(false);
	cells[6] = cell_list(one, 1);
	ck_assert_str_eq(written(WRITER_CSV, false, "nice,on,bins,start", 1),
			 "nice,on,bins,start\n-9223372036854775808,false,7,86399\n");
	cells[3] = cell_signed(INT64_MAX);
	cells[6] = cell_list(one, 0);
	ck_assert_str_eq(written(WRITER_JSON, false, "nice,on,bins", 1),
			 "{\"nice\":9223372036854775807,\"on\":false,\"bins\":[]}\n");
	cells[3] = cell_signed(0);
	ck_assert_str_eq(written(WRITER_CSV, false, "nice,bins", 1), "nice,bins\n0,\n");
}

/* A heading, or a declared width, or a value decides how wide a place is. */
TEST(places_of_a_table)
{
	static const uint64_t one[] = { 7 };

	fill("init", 4);
	cells[3] = cell_signed(5);
	cells[5] = cell_flag(false);
	cells[6] = cell_list(one, 1);
	ck_assert_str_eq(written(WRITER_TABLE, false, "on,bins,nice,comm,path", 1),
			 " on  bins      nice  comm    path\n no  7            5  init    /\n");
	fill("longer-than-its-place", 21);
	ck_assert_str_eq(written(WRITER_TABLE, false, "comm,pid,age", 1),
			 "comm      pid  age\nlonger-than-its-place     42  2.000\n");
	fill("six678", 6);
	ck_assert_str_eq(written(WRITER_TABLE, false, "comm,path", 1), "comm    path\nsix678  /\n");
}

TEST(each_text_that_is_none)
{
	fill("\xff", 1);
	cells[9] = cell_text("\xfe", 1);
	ck_assert_str_eq(written(WRITER_JSON, false, "path,pid,comm", 1),
			 "{\"path\":\"\\\\xfe\",\"pid\":42,\"comm\":\"\\\\xff\",\"escaped\":"
			 "[\"path\",\"comm\"]}\n");
	cells[9] = cell_absent();
	ck_assert_str_eq(written(WRITER_JSON, false, "path,comm", 1),
			 "{\"path\":null,\"comm\":\"\\\\xff\",\"escaped\":[\"comm\"]}\n");
}

/* Only in a table, and only where it is asked for, are values and headings scaled. */
TEST(headings)
{
	fill("init", 4);
	ck_assert_str_eq(written(WRITER_CSV, true, "delay_ns,size", 1),
			 "delay_ns,size\n1234567,1536\n");
	ck_assert_str_eq(written(WRITER_TABLE, false, "delay_ns,size", 1),
			 "delay_ns      size\n 1234567  1536.000\n");
	ck_assert_str_eq(written(WRITER_TABLE, true, "pid,rate", 1), "  pid    rate\n   42   2.500\n");
}

/* As many columns as there may be. */
TEST(all_places_of_a_row)
{
	static struct column many[COLUMNS_MAX];
	struct selection *selection = malloc(sizeof(*selection));
	struct cell *values = calloc(COLUMNS_MAX, sizeof(*values));
	size_t fields = 1;
	struct writer *writer;
	FILE *out;

	for (size_t i = 0; i < COLUMNS_MAX; i++)
		many[i] = (struct column){ .name = "x", .standard = true, .meaning = "" };
	selection_standard(selection, many, COLUMNS_MAX);
	out = open_memstream(&text, &len);
	writer = writer_open(out, WRITER_CSV, false, selection);
	ck_assert_int_eq(writer_put(writer, values), 0);
	writer_close(writer);
	fclose(out);
	for (const char *at = text; *at != '\n'; at++)
		fields += *at == ',';
	ck_assert_uint_eq(fields, COLUMNS_MAX);
	free(selection);
	free(values);
}

TEST(flush_that_fails)
{
	struct selection selection;
	struct writer *writer;

	fill("init", 4);
	selection_standard(&selection, columns, COUNT);
	for (enum writer_format format = WRITER_TABLE; format <= WRITER_CSV; format++) {
		for (int count = 0; count < 2; count++) {
			FILE *full = fopen("/dev/full", "w");
			bool empty = format == WRITER_JSON && count == 0;

			writer = writer_open(full, format, false, &selection);
			if (count)
				ck_assert_int_eq(writer_put(writer, cells), 0);
			ck_assert_int_eq(writer_flush(writer), empty ? 0 : -ENOSPC);
			writer_close(writer);
			fclose(full);
		}
		/* The heading does not fit already. */
		FILE *full = fopen("/dev/full", "w");

		setvbuf(full, NULL, _IONBF, 0);
		writer = writer_open(full, format, false, &selection);
		ck_assert_int_eq(writer_flush(writer), format == WRITER_JSON ? 0 : -ENOSPC);
		writer_close(writer);
		fclose(full);
	}
	ck_assert_ptr_eq(selection.columns, columns);
}

TEST(output_that_fails)
{
	struct selection selection;
	struct writer *writer;
	FILE *full = fopen("/dev/full", "w");
	int ret = 0;

	fill("init", 4);
	selection_standard(&selection, columns, COUNT);
	writer = writer_open(full, WRITER_JSON, false, &selection);
	for (int i = 0; i < 1000 && !ret; i++)
		ret = writer_put(writer, cells);
	ck_assert_int_eq(ret, -ENOSPC);
	writer_close(writer);
	writer_close(NULL);
	fclose(full);
}

/* Writes that succeed before all others fail, and their errors: those of all but the first are -1. */
static unsigned int writes, writes_most;
static int write_errors[2];

static ssize_t count_writes(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	(void)bytes;
	if (writes++ < writes_most)
		return (ssize_t)size;
	errno = write_errors[writes > writes_most + 1];
	return 0;
}

/* A file that is full, with a buffer of @size bytes, 0: none. */
static FILE *full_file(size_t size)
{
	static char buffer[4096];
	FILE *out = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = count_writes });

	writes = 0;
	ck_assert_int_eq(setvbuf(out, size ? buffer : NULL, size ? _IOFBF : _IONBF, size), 0);
	return out;
}

/* The first error counts; one without a reason is an error of output. */
TEST(reasons_of_errors)
{
	static const struct {
		size_t buffer;
		int errors[2];
		int put, flush;
	} cases[] = {
		{ 0, { ENOSPC, EIO }, -ENOSPC, -ENOSPC }, { 0, { 0, 0 }, -EIO, -EIO },
		{ 4096, { EDQUOT, EDQUOT }, 0, -EDQUOT }, { 4096, { 0, 0 }, 0, -EIO },
		{ 16, { ENOSPC, EDQUOT }, -ENOSPC, -ENOSPC },
	};
	struct selection selection;

	fill("init", 4);
	selection_standard(&selection, columns, COUNT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *out = full_file(cases[i].buffer);
		struct writer *writer = writer_open(out, WRITER_TABLE, false, &selection);

		memcpy(write_errors, cases[i].errors, sizeof(write_errors));
		ck_assert_msg(writer_flush(writer) == cases[i].flush, "%zu", i);
		writer_close(writer);
		fclose(out);
		out = full_file(cases[i].buffer);
		writer = writer_open(out, WRITER_TABLE, false, &selection);
		ck_assert_msg(writer_put(writer, cells) == cases[i].put, "%zu", i);
		writer_close(writer);
		fclose(out);
	}
}

/* After any failed allocation no part of a row is written. */
TEST(rows_without_storage)
{
	static char long_name[2000];
	struct selection selection;
	struct writer *writer;
	char error[128];

	memset(long_name, 'x', sizeof(long_name));
	fill(long_name, sizeof(long_name));
	cells[0].tone = TONE_BAD;
	selection_standard(&selection, columns, COUNT);
	ck_assert(selection_parse(&selection, "pid,comm,bins,nice", error, sizeof(error)));
	storage_left = 0;
	writer = writer_open(stdout, WRITER_TABLE, false, &selection);
	ck_assert_ptr_null(writer);
	for (enum writer_format format = WRITER_TABLE; format <= WRITER_CSV; format++) {
		for (long place = 0;; place++) {
			FILE *out;
			int ret;
			bool failed;

			free(text);
			out = open_memstream(&text, &len);
			writer = writer_open(out, format, false, &selection);
			writer_set_colors(writer, true);
			storage_left = place;
			ret = writer_put(writer, cells);
			failed = storage_left < 0;
			storage_left = -1;
			fflush(out);
			ck_assert_int_eq(ret, failed ? -ENOMEM : 0);
			ck_assert_int_eq(len == 0, failed);
			/* The next one is whole. */
			ck_assert_int_eq(writer_put(writer, cells), 0);
			writer_close(writer);
			fclose(out);
			ck_assert_uint_gt(len, sizeof(long_name));
			if (!failed) {
				ck_assert_int_ge(place, 1);
				break;
			}
		}
	}
}

/* Colors of terminals, as ECMA-48 has them. */
TEST(each_tone)
{
	static const char *const wanted[TONE_COUNT] = {
		[TONE_PLAIN] = "   42", [TONE_GOOD] = "\033[32m   42\033[m",
		[TONE_HIGH] = "\033[33m   42\033[m", [TONE_BAD] = "\033[31m   42\033[m",
	};
	struct selection selection;
	char error[128], line[64];

	fill("init", 4);
	selection_standard(&selection, columns, COUNT);
	ck_assert(selection_parse(&selection, "pid", error, sizeof(error)));
	for (enum cell_tone tone = 0; tone < TONE_COUNT; tone++) {
		struct writer *writer;
		FILE *out;

		free(text);
		out = open_memstream(&text, &len);
		cells[0] = cell_toned(cell_unsigned(42), tone);
		writer = writer_open(out, WRITER_TABLE, false, &selection);
		writer_set_colors(writer, true);
		ck_assert_int_eq(writer_put(writer, cells), 0);
		writer_close(writer);
		fclose(out);
		snprintf(line, sizeof(line), "\033[1m  pid\033[m\n%s\n", wanted[tone]);
		ck_assert_str_eq(text, line);
	}
}

/* A bold heading, and each tone around its value with its blanks; nothing of that elsewhere. */
TEST(tones_of_cells)
{
	static const struct column toned[] = {
		{ "pid", COLUMN_UNSIGNED, UNIT_NONE, 5, true, "a number" },
		{ "state", COLUMN_TEXT, UNIT_NONE, 0, true, "a text" },
	};
	const char *wanted[] = {
		[WRITER_TABLE] = "\033[1m  pid  state\033[m\n"
				 "\033[31m   42\033[m  \033[33mok\033[m\n",
		[WRITER_JSON] = "{\"pid\":42,\"state\":\"ok\"}\n",
		[WRITER_CSV] = "pid,state\n42,ok\n",
	};
	struct cell row[] = {
		cell_toned(cell_unsigned(42), TONE_BAD), cell_toned(cell_text("ok", 2), TONE_HIGH),
	};
	struct selection selection;

	selection_standard(&selection, toned, 2);
	for (int format = WRITER_TABLE; format <= WRITER_CSV; format++) {
		for (int colors = 0; colors < 2; colors++) {
			FILE *out;
			struct writer *writer;

			free(text);
			out = open_memstream(&text, &len);
			writer = writer_open(out, (enum writer_format)format, false, &selection);
			writer_set_colors(writer, colors);
			ck_assert_int_eq(writer_put(writer, row), 0);
			writer_close(writer);
			fclose(out);
			ck_assert_str_eq(text, format == WRITER_TABLE && !colors ?
					 "  pid  state\n   42  ok\n" : wanted[format]);
		}
	}
}
