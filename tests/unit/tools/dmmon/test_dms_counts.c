/* SPDX-License-Identifier: MIT */
/* Counters of areas as the kernel prints them; messages to it. */
#include <stdlib.h>

#include "dms_check.h"
#include "dms_counts.h"
#include "unit_test.h"

static struct dms_region region;
static struct dms_counts counts;

/* A region of 1000 sectors in steps of 300, so that the last area has 100. */
static void make(size_t room, size_t bounds)
{
	static uint64_t ms[] = { 10, 20, 30 };

	region = (struct dms_region){ .length = 1000, .step = 300, .bound_count = bounds,
				      .bounds = ms };
	ck_assert_int_eq(dms_counts_init(&counts, &region, room), 0);
}

static int read_counts(uint64_t first, const char *text)
{
	counts.first = first;
	counts.count = 0;
	return dms_counts_read(&counts, &region, text, strlen(text));
}

TEST(all_counters_in_their_places)
{
	make(4, 0);
	ck_assert_int_eq(read_counts(0, "0+300 1 2 3 4 5 6 7 8 9 10 11 12 13\n"
					"300+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"),
			 0);
	ck_assert_uint_eq(counts.count, 2);
	ck_assert_uint_eq(counts.stride, DMS_COUNTERS);
	for (unsigned int i = 0; i < DMS_COUNTERS; i++) {
		ck_assert_uint_eq(dms_row(&counts, 0)[i], i + 1);
		ck_assert_uint_eq(dms_row(&counts, 1)[i], 0);
	}
	ck_assert_int_eq(read_counts(4, ""), 0);
	ck_assert_uint_eq(counts.count, 0);
	dms_counts_free(&counts);
}

/* A region that is printed in parts. */
TEST(answers_are_appended)
{
	static const char next[] = "300+300 0 0 0 0 7 0 0 0 0 0 0 0 0\n";

	make(2, 0);
	ck_assert_int_eq(read_counts(0, "0+300 1 0 0 0 0 0 0 0 0 0 0 0 0\n"), 0);
	ck_assert_int_eq(dms_counts_read(&counts, &region, next, strlen(next)), 0);
	ck_assert_uint_eq(counts.count, 2);
	ck_assert_uint_eq(dms_row(&counts, 0)[DMS_READS], 1);
	ck_assert_uint_eq(dms_row(&counts, 1)[DMS_WRITES], 7);
	dms_counts_free(&counts);
}

/* The kernel prints the step where the region's end cuts the area short. */
TEST(last_area)
{
	make(1, 0);
	ck_assert_int_eq(read_counts(3, "900+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), 0);
	ck_assert_int_eq(read_counts(3, "900+100 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), 0);
	ck_assert_int_eq(read_counts(3, "900+200 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), DMS_BAD_AREA);
	ck_assert_int_eq(read_counts(2, "600+100 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), DMS_BAD_AREA);
	dms_counts_free(&counts);
}

TEST(histogram)
{
	make(1, 3);
	ck_assert_uint_eq(counts.stride, DMS_COUNTERS + 4);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 0 5:0:18446744073709551615:2\n"),
			 0);
	ck_assert_uint_eq(dms_row(&counts, 0)[DMS_COUNTERS], 5);
	ck_assert_uint_eq(dms_row(&counts, 0)[DMS_COUNTERS + 2], UINT64_MAX);
	ck_assert_uint_eq(dms_row(&counts, 0)[DMS_COUNTERS + 3], 2);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 0 5:0:1\n"), DMS_BAD_LINE);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 0 5:0:1:2:3\n"),
			 DMS_BAD_LINE);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), DMS_BAD_LINE);
	dms_counts_free(&counts);
}

TEST(in_flight_has_a_sign)
{
	make(1, 0);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 -3 0 0 0 0\n"), 0);
	ck_assert_int_eq(dms_in_flight(dms_row(&counts, 0)), -3);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 -2147483648 0 0 0 0\n"), 0);
	ck_assert_int_eq(dms_in_flight(dms_row(&counts, 0)), INT32_MIN);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 0 2147483648 0 0 0 0\n"),
			 DMS_BAD_LINE);
	ck_assert_int_eq(read_counts(0, "0+300 0 0 0 0 0 0 0 -1 0 0 0 0 0\n"), DMS_BAD_LINE);
	dms_counts_free(&counts);
}

TEST(what_is_no_line)
{
	static const struct { int error; const char *text; } wrong[] = {
		{ DMS_BAD_LINE, "\n" },
		{ DMS_BAD_LINE, "0+300\n" },
		{ DMS_BAD_LINE, "0+300 0 0 0 0 0 0 0 0 0 0 0 0\n" },
		{ DMS_BAD_LINE, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" },
		{ DMS_BAD_LINE, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 0" },
		{ DMS_BAD_LINE, "0+300 0  0 0 0 0 0 0 0 0 0 0 0 0\n" },
		{ DMS_BAD_LINE, "0+300 0 0 0 0 0 0 0 0 0 0 0 0 18446744073709551616\n" },
		{ DMS_BAD_LINE, "0-300 0 0 0 0 0 0 0 0 0 0 0 0 0\n" },
		{ DMS_BAD_AREA, "300+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n" },
		{ DMS_BAD_AREA, "0+100 0 0 0 0 0 0 0 0 0 0 0 0 0\n" },
	};

	make(2, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_msg(read_counts(0, wrong[i].text) == wrong[i].error, "%s", wrong[i].text);
		ck_assert_uint_eq(counts.count, 0);
	}
	/* More than there is room for, and more than the region has. */
	ck_assert_int_eq(read_counts(0, "0+300 1 0 0 0 0 0 0 0 0 0 0 0 0\n"
					"300+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
					"600+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"),
			 DMS_TOO_MANY);
	ck_assert_uint_eq(counts.count, 2);
	ck_assert_uint_eq(dms_row(&counts, 0)[DMS_READS], 1);
	ck_assert_int_eq(read_counts(3, "900+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
					"1200+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"),
			 DMS_TOO_MANY);
	ck_assert_int_eq(read_counts(UINT64_MAX, "0+300\n"), DMS_TOO_MANY);
	/* A line that is cut is none, however many there are. */
	ck_assert_int_eq(read_counts(0, "0+300 1 0 0 0 0 0 0 0 0 0 0 0 0\n"
					"300+300 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
					"600+300 0 0"),
			 DMS_BAD_LINE);
	ck_assert_uint_eq(counts.count, 2);
	dms_counts_free(&counts);
}

TEST(more_areas_than_memory)
{
	region = (struct dms_region){ .length = UINT64_MAX, .step = 1 };
	ck_assert_int_eq(dms_counts_init(&counts, &region, SIZE_MAX), DMS_NO_MEMORY);
	ck_assert_ptr_null(counts.value);
}

TEST(times)
{
	struct dms_region ms = { .precise = false }, ns = { .precise = true };

	ck_assert_uint_eq(dms_time_ns(&ms, 148), 148000000);
	ck_assert_uint_eq(dms_time_ns(&ns, 106510565), 106510565);
	ck_assert_uint_eq(dms_time_ns(&ms, UINT64_MAX / 1000000), UINT64_MAX / 1000000 * 1000000);
	ck_assert_uint_eq(dms_time_ns(&ms, UINT64_MAX / 1000000 + 1), UINT64_MAX);
}

static const char *message(struct text *text)
{
	text_append(text, "", 1);
	ck_assert(!text->failed);
	return text->bytes;
}

TEST(messages)
{
	static uint64_t bounds[] = { 5, 1000000 };
	static char program[] = "123", aux[] = "foo bar\\";
	struct dms_region r = { .start = 8, .length = 100, .step = 3, .program = program,
				.aux = aux };
	struct text text = { 0 };

	dms_message_create(&text, &r);
	ck_assert_str_eq(message(&text), "@stats_create 8+100 3 0 123 foo\\ bar\\\\");
	text_clear(&text);
	r.precise = true;
	r.bound_count = 2;
	r.bounds = bounds;
	dms_message_create(&text, &r);
	ck_assert_str_eq(message(&text), "@stats_create 8+100 3 2 precise_timestamps"
					 " histogram:5,1000000 123 foo\\ bar\\\\");
	text_clear(&text);
	r.precise = false;
	r.bound_count = 1;
	dms_message_create(&text, &r);
	ck_assert_str_eq(message(&text), "@stats_create 8+100 3 1 histogram:5 123 foo\\ bar\\\\");
	text_clear(&text);
	dms_message_list(&text, NULL);
	ck_assert_str_eq(message(&text), "@stats_list");
	text_clear(&text);
	dms_message_list(&text, "a b");
	ck_assert_str_eq(message(&text), "@stats_list a\\ b");
	text_clear(&text);
	dms_message_print(&text, 7, 4096, UINT64_MAX, false);
	ck_assert_str_eq(message(&text), "@stats_print 7 4096 18446744073709551615");
	text_clear(&text);
	dms_message_print(&text, 7, 0, 1, true);
	ck_assert_str_eq(message(&text), "@stats_print_clear 7 0 1");
	text_clear(&text);
	dms_message_clear(&text, 0);
	ck_assert_str_eq(message(&text), "@stats_clear 0");
	text_clear(&text);
	dms_message_delete(&text, 3);
	ck_assert_str_eq(message(&text), "@stats_delete 3");
	text_clear(&text);
	dms_message_set_aux(&text, 3, "\t\n\xc3\xa0");
	ck_assert_str_eq(message(&text), "@stats_set_aux 3 \\\t\\\n\xc3\\\xa0");
	text_free(&text);
}

/* Every byte but NUL arrives, at every place of a word of two. */
TEST(words_of_any_bytes)
{
	for (unsigned int first = 1; first < 256; first++) {
		for (unsigned int second = 1; second < 256; second++) {
			const char word[] = { (char)first, (char)second, '\0' };
			struct text text = { 0 };
			char *words[4];

			dms_message_set_aux(&text, 3, word);
			text_append(&text, "", 1);
			ck_assert_uint_eq(dms_split(text.bytes, words, 4), 3);
			ck_assert_str_eq(words[2], word);
			text_free(&text);
		}
	}
}
