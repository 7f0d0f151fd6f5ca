/* SPDX-License-Identifier: MIT */
/* Text that grows, what of it is UTF-8 and visible, rows and schemas when storage runs out. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "writer.h"
#include "said.h"
#include "storage_fails.h"
#include "tool_text.h"
#include "unit_test.h"

static struct text text;

static void stop(void)
{
	storage_left = -1;
	text_free(&text);
}

CASE("tool text", NULL, stop);

/* Returns the text and empties it. */
static const char *taken(void)
{
	static char bytes[256];

	ck_assert(!text.failed);
	ck_assert_uint_lt(text.len, sizeof(bytes));
	if (text.len)
		memcpy(bytes, text.bytes, text.len);
	bytes[text.len] = '\0';
	text_clear(&text);
	return bytes;
}

/* In pieces of every size, over the sizes that storage is taken in. */
TEST(text_that_grows)
{
	char piece[600];

	for (size_t size = 1; size <= sizeof(piece); size += size < 250 || size > 260 ? 83 : 1) {
		size_t pieces = 3000 / size;

		for (size_t i = 0; i < pieces; i++) {
			memset(piece, (int)('a' + i % 26), size);
			text_append(&text, piece, size);
		}
		ck_assert(!text.failed);
		ck_assert_uint_eq(text.len, pieces * size);
		for (size_t i = 0; i < pieces * size; i++)
			if (text.bytes[i] != (char)('a' + i / size % 26))
				ck_abort_msg("byte %zu of pieces of %zu", i, size);
		text_free(&text);
		ck_assert(!text.bytes && !text.len && !text.size && !text.failed);
	}
}

/* More than twice the room that there is. */
TEST(text_that_grows_by_much)
{
	static const char piece[3000];

	text_append(&text, piece, 200);
	for (size_t len = 200, more = 400; more < sizeof(piece); len += more, more *= 2) {
		text_append(&text, piece, more);
		ck_assert(!text.failed);
		ck_assert_uint_eq(text.len, len + more);
	}
}

TEST(text_is_kept_when_nothing_is_added)
{
	text_append(&text, "x", 0);
	text_insert_blanks(&text, 0, 0);
	ck_assert(!text.bytes && !text.failed);
	text_append(&text, "abc", 3);
	text_append(&text, "x", 0);
	text_insert_blanks(&text, 1, 0);
	ck_assert_str_eq(taken(), "abc");
}

TEST(blanks)
{
	text_append(&text, "abc", 3);
	text_insert_blanks(&text, 0, 2);
	text_insert_blanks(&text, 5, 1);
	text_insert_blanks(&text, 3, 1);
	ck_assert_str_eq(taken(), "  a bc ");
	for (size_t count = 250; count < 260; count++) {
		text_free(&text);
		text_append(&text, "abc", 3);
		text_insert_blanks(&text, 1, count);
		ck_assert_uint_eq(text.len, 3 + count);
		ck_assert(text.bytes[0] == 'a' && text.bytes[count + 1] == 'b' &&
			  text.bytes[count + 2] == 'c');
		for (size_t i = 1; i <= count; i++)
			if (text.bytes[i] != ' ')
				ck_abort_msg("byte %zu of %zu blanks", i, count);
	}
}

TEST(numbers_in_decimal)
{
	static const uint64_t numbers[] = { 0, 1, 9, 10, 99, 100, 12345678901234567890u, UINT64_MAX };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)numbers[i]);
		text_append_number(&text, numbers[i]);
		ck_assert_str_eq(taken(), expected);
	}
}

TEST(text_without_storage)
{
	text_append(&text, "abc", 3);
	storage_left = 0;
	for (unsigned int i = 0; i < 30 && !text.failed; i++)
		text_append(&text, "0123456789", 10);
	/* Nothing is added any more, though storage is there again. */
	ck_assert(text.failed && text.len == 253 && storage_left < 0);
	text_append(&text, "x", 1);
	text_insert_blanks(&text, 0, 1);
	ck_assert(text.failed && text.len == 253 && text.bytes[0] == 'a');
	text_clear(&text);
	ck_assert_str_eq(taken(), "");
	text_append(&text, "x", 1);
	ck_assert_str_eq(taken(), "x");
	/* More than there can be. */
	text_append(&text, "x", 1);
	text_insert_blanks(&text, 0, SIZE_MAX - 1);
	ck_assert(text.failed && text.len == 1);
	text_clear(&text);
	text_insert_blanks(&text, 0, SIZE_MAX / 2 + 2);
	ck_assert(text.failed && text.len == 0);
}

/* By what a code point is, RFC 3629 section 3, not by which bytes may follow which. */
static bool is_character(const unsigned char *bytes, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t point;

	if (len == 1)
		return bytes[0] < 0x80;
	if ((unsigned int)bytes[0] >> (7 - len) != (1u << (len + 1)) - 2)
		return false;
	point = bytes[0] & ((1u << (7 - len)) - 1);
	for (size_t i = 1; i < len; i++) {
		if (bytes[i] >> 6 != 2)
			return false;
		point = point << 6 | (bytes[i] & 0x3f);
	}
	return point >= least[len] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
}

static bool all_characters(const unsigned char *bytes, size_t len)
{
	if (len == 0)
		return true;
	for (size_t first = 1; first <= 4 && first <= len; first++)
		if (is_character(bytes, first))
			return all_characters(bytes + first, len - first);
	return false;
}

/* One to four bytes that begin with these two; the others lie on both sides of each limit. */
static void expect_like_code_points(unsigned char first, unsigned char second)
{
	static const unsigned char rest[] = { 0x00, 0x7f, 0x80, 0xa5, 0xbf, 0xc0 };
	const size_t rests = sizeof(rest);

	for (size_t i = 0; i < rests * rests; i++) {
		const unsigned char bytes[] = { first, second, rest[i / rests], rest[i % rests] };

		for (size_t len = 1; len <= sizeof(bytes); len++)
			if (text_is_utf8((const char *)bytes, len) != all_characters(bytes, len))
				ck_abort_msg("%02x %02x %02x %02x, %zu bytes", bytes[0], bytes[1],
					     bytes[2], bytes[3], len);
	}
}

/* All first bytes, with all second ones where these differ by the first. */
TEST(utf8_by_code_points)
{
	for (unsigned int first = 0; first < 256; first++)
		for (unsigned int second = 0; second < 256; second += first < 0xe0 ? 15 : 1)
			expect_like_code_points((unsigned char)first, (unsigned char)second);
}

static const char *visible(const char *bytes, size_t len)
{
	text_append_visible(&text, bytes, len);
	return taken();
}

TEST(what_a_terminal_shows)
{
	ck_assert_str_eq(visible("a\x1f \x7e\x7f", 5), "a\\x1f ~\\x7f");
	ck_assert_str_eq(visible("\0b", 2), "\\x00b");
	ck_assert_str_eq(visible("\\x", 2), "\\\\x");
	ck_assert_str_eq(visible("\xc2\x80\xc2\x9f", 4), "\\xc2\\x80\\xc2\\x9f");
	ck_assert_str_eq(visible("\xc2\xa0\xc3\x80", 4), "\xc2\xa0\xc3\x80");
	ck_assert_str_eq(visible("\xe2\x80\x93\xf0\x90\x80\x80", 7), "\xe2\x80\x93\xf0\x90\x80\x80");
	ck_assert_str_eq(visible("\xe2\x80z", 3), "\\xe2\\x80z");
	ck_assert_str_eq(visible("\xff", 1), "\\xff");
}

/* Nothing is read behind a character that is cut off. */
TEST(text_ends_where_it_ends)
{
	static const char whole[] = "ab\xe2\x82\xac";

	for (size_t len = 1; len < sizeof(whole); len++) {
		char *bytes = malloc(len);
		bool cut = len == 3 || len == 4;

		memcpy(bytes, whole, len);
		ck_assert_int_eq(text_is_utf8(bytes, len), !cut);
		text_append_visible(&text, bytes, len);
		ck_assert_int_eq(strstr(taken(), "\\xe2") != NULL, cut);
		text_append_csv(&text, bytes, len);
		text_append_json(&text, bytes, len);
		text_clear(&text);
		free(bytes);
	}
}

TEST(fields_of_csv)
{
	static const struct { const char *plain, *field; size_t len; } c[] = {
		{ "ab", "ab", 2 }, { "", "", 0 }, { "a,b", "\"a,b\"", 3 }, { "a\nb", "\"a\nb\"", 3 },
		{ "a\rb", "\"a\rb\"", 3 }, { "\"", "\"\"\"\"", 1 }, { "a'b;c", "a'b;c", 5 },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		text_append_csv(&text, c[i].plain, c[i].len);
		ck_assert_str_eq(taken(), c[i].field);
	}
	text_append_csv(&text, "a\0b", 3);
	ck_assert_uint_eq(text.len, 3);
	ck_assert_mem_eq(text.bytes, "a\0b", 3);
}

/* Pairs in order: as bytes, unsigned, and a beginning before what it begins. */
TEST(orders_of_texts)
{
	static const struct {
		const char *bytes;
		size_t len;
	} texts[] = {
		{ "", 0 }, { "\0", 1 }, { "\0\0", 2 }, { "\0b", 2 }, { "a", 1 }, { "ab", 2 }, { "abc", 3 },
		{ "b", 1 }, { "\xc3", 1 }, { "\xc3\xa4", 2 },
	};
	const size_t count = sizeof(texts) / sizeof(texts[0]);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			int order = text_compare(texts[i].bytes, texts[i].len, texts[j].bytes, texts[j].len);

			ck_assert_msg((order > 0) - (order < 0) == (i > j) - (i < j), "%zu, %zu", i, j);
		}
	}
}

TEST(characters)
{
	text_append(&text, "a\xc3\xa4\xe2\x82\xac\xf0\x90\x80\x80z", 11);
	ck_assert_uint_eq(text_characters(&text, 0), 5);
	ck_assert_uint_eq(text_characters(&text, 1), 4);
	ck_assert_uint_eq(text_characters(&text, 10), 1);
	ck_assert_uint_eq(text_characters(&text, 11), 0);
}

TEST(strings_of_json)
{
	text_append_json(&text, "a\"\n", 3);
	ck_assert_str_eq(taken(), "\"a\\\"\\n\"");
	text_append_json(&text, NULL, 0);
	ck_assert_str_eq(taken(), "\"\"");
	text_append_json(&text, "\xff\\", 2);
	ck_assert_str_eq(taken(), "\"\\\\xff\\\\\\\\\"");
}

/* jansson takes its storage in its own way. */
static void *json_storage(size_t size)
{
	return storage_fails() ? NULL : malloc(size);
}

static const struct column columns[] = {
	{ "comm", COLUMN_TEXT, UNIT_NONE, 0, true, "its program" },
	{ "ns", COLUMN_UNSIGNED, UNIT_NS, 0, true, "time it waited" },
	{ "bins", COLUMN_LIST, UNIT_NONE, 0, true, "a histogram" },
};
enum { COUNT = sizeof(columns) / sizeof(columns[0]) };

/* The n-th allocation fails, for each n: no row is written but a whole one. */
TEST(rows_without_storage)
{
	static const uint64_t bins[300] = { 1 };
	const struct cell cells[COUNT] = { cell_text("a\xff", 2), cell_unsigned(5),
					   cell_list(bins, 300) };
	struct selection selection;
	bool done = false;

	selection_standard(&selection, columns, COUNT);
	json_set_alloc_funcs(json_storage, free);
	for (long place = 0; !done; place++) {
		char *written = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&written, &len);
		struct writer *writer;
		int ret = -ENOMEM;

		ck_assert_int_lt(place, 100);
		storage_left = place;
		writer = writer_open(out, WRITER_JSON, false, &selection);
		if (writer)
			ret = writer_put(writer, cells);
		done = storage_left >= 0;
		storage_left = -1;
		ck_assert_int_eq(writer == NULL, place == 0);
		ck_assert_msg(ret == (done ? 0 : -ENOMEM), "allocation %ld: %d", place, ret);
		writer_close(writer);
		fclose(out);
		ck_assert_int_eq(len > 0, done);
		free(written);
	}
	json_set_alloc_funcs(malloc, free);
}

TEST(output_without_storage)
{
	struct output output;
	struct writer *writer;
	struct said said;

	output_init(&output, "a row", columns, COUNT);
	said = said_begin(2);
	storage_left = 0;
	writer = output_open(&output);
	ck_assert_str_eq(said_end(&said), "tool: not enough memory to write rows\n");
	ck_assert_ptr_null(writer);
	said = said_begin(2);
	writer = output_open(&output);
	ck_assert_str_eq(said_end(&said), "");
	writer_close(writer);
}

/* The schema is all there, or an error. */
TEST(schema_without_storage)
{
	bool done = false;

	json_set_alloc_funcs(json_storage, free);
	for (long place = 0; !done; place++) {
		char *written = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&written, &len);
		int ret;

		ck_assert_int_lt(place, 2000);
		storage_left = place;
		ret = columns_schema(out, "a row", columns, COUNT);
		done = storage_left >= 0;
		storage_left = -1;
		fclose(out);
		ck_assert_msg(done ? ret == 0 : ret < 0, "allocation %ld: %d", place, ret);
		free(written);
	}
	json_set_alloc_funcs(malloc, free);
}
