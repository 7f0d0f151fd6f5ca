/* SPDX-License-Identifier: MIT */
/* Regions of device-mapper statistics: the kernel's list, read from both ends. */
#include <inttypes.h>
#include <stdlib.h>

#include "dms_check.h"
#include "unit_test.h"

static struct dms_regions list;

/* From memory that ends where the text ends. */
static int read_list(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	int error;

	memcpy(copy, text, len);
	error = dms_regions_read(&list, NULL, copy, len);
	free(copy);
	return error;
}

TEST(nothing)
{
	ck_assert_int_eq(read_list(""), 0);
	ck_assert_uint_eq(list.count, 0);
	ck_assert_ptr_null(dms_regions_find(&list, 0));
	ck_assert_int_eq(dms_regions_read(&list, NULL, NULL, 0), 0);
	ck_assert_uint_eq(list.count, 0);
}

TEST(region_up_to_the_last_sector)
{
	ck_assert_int_eq(read_list("0: 1+18446744073709551614 1 p a\n"), 0);
	ck_assert_uint_eq(list.region[0].length, UINT64_MAX - 1);
	dms_regions_free(&list);
	ck_assert_int_eq(read_list("0: 2+18446744073709551614 1 p a\n"), DMS_BAD_HEAD);
}

TEST(regions_as_kernels_list_them)
{
	const struct dms_region *r;

	ck_assert_int_eq(read_list("0: 0+20000 5000 - -\n"
				   "3: 18+1000 300 dmstats a:b precise_timestamps\n"
				   "2147483647: 0+1 1 x y precise_timestamps histogram:10,20,30\n"),
			 0);
	ck_assert_uint_eq(list.count, 3);
	r = dms_regions_find(&list, 0);
	ck_assert_uint_eq(r->length, 20000);
	ck_assert_uint_eq(r->step, 5000);
	ck_assert_str_eq(r->program, "-");
	ck_assert_str_eq(r->aux, "-");
	ck_assert(!r->precise && !r->bound_count && dms_buckets(r) == 0);
	r = dms_regions_find(&list, 3);
	ck_assert_uint_eq(r->start, 18);
	ck_assert_str_eq(r->aux, "a:b");
	ck_assert(r->precise && !r->bound_count);
	r = dms_regions_find(&list, INT32_MAX);
	ck_assert(r->precise);
	ck_assert_uint_eq(r->bound_count, 3);
	ck_assert_uint_eq(r->bounds[0], 10);
	ck_assert_uint_eq(r->bounds[2], 30);
	ck_assert_uint_eq(dms_buckets(r), 4);
	ck_assert_ptr_null(dms_regions_find(&list, 1));
	dms_regions_free(&list);
}

/* Text right behind a region is none of its options. */
TEST(program_with_the_name_of_an_option)
{
	ck_assert_int_eq(read_list("0: 0+1 1 p a histogram:7\n1: 0+1 1 histogram:9 a\n"), 0);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_uint_eq(list.region[0].bound_count, 1);
	ck_assert_str_eq(list.region[0].aux, "a");
	ck_assert_uint_eq(list.region[1].bound_count, 0);
	ck_assert_str_eq(list.region[1].program, "histogram:9");
	dms_regions_free(&list);
}

TEST(names_that_nothing_quotes)
{
	static const struct { const char *line, *program, *aux; bool precise; size_t bounds; } c[] = {
		{ "0: 0+1 1 p foo bar baz\n", "p", "foo bar baz", false, 0 },
		{ "0: 0+1 1 p  \n", "p", " ", false, 0 },
		{ "0: 0+1 1 p  precise_timestamps\n", "p", " precise_timestamps", false, 0 },
		{ "0: 0+1 1 p x precise_timestamps\n", "p", "x", true, 0 },
		{ "0: 0+1 1 p a\n\nb\n\n", "p", "a\n\nb\n", false, 0 },
		{ "0: 0+1 1 p\nq a\n", "p\nq", "a", false, 0 },
		{ "0: 0+1 1 p a histogram:7\n", "p", "a", false, 1 },
		{ "0: 0+1 1 p a histogram:1\n", "p", "a", false, 1 },
		{ "0: 0+1 1 p a histogram:1;2\n", "p", "a histogram:1;2", false, 0 },
		{ "0: 0+1 1 p histogram:7\n", "p", "histogram:7", false, 0 },
		/* The auxiliary data have at least one byte: that one begins no option. */
		{ "0: 0+1 1 p histogram:70,80\n", "p", "histogram:70,80", false, 0 },
		{ "0: 0+1 1 p  histogram:70,80\n", "p", " histogram:70,80", false, 0 },
		{ "0: 0+1 1 p   histogram:70,80\n", "p", " ", false, 2 },
		{ "0: 0+1 1 p precise_timestamps\n", "p", "precise_timestamps", false, 0 },
		{ "0: 0+1 1 p precise_timestamps histogram:7\n", "p", "precise_timestamps", false, 1 },
		{ "0: 0+1 1 p a histogram:7 precise_timestamps\n", "p", "a histogram:7", true, 0 },
		{ "0: 0+1 1 p a histogram:7,7\n", "p", "a histogram:7,7", false, 0 },
		{ "0: 0+1 1 p a histogram:\n", "p", "a histogram:", false, 0 },
		{ "0: 0+1 1 p a histogram:0\n", "p", "a histogram:0", false, 0 },
		{ "0: 0+1 1 p a histogram:1 histogram:2\n", "p", "a histogram:1", false, 1 },
		{ "5: 0+1 1 p a\n5: 0+2 2 p b\n", "p", "a\n5: 0+2 2 p b", false, 0 },
		{ "0: 0+1 1 p a\n1: 0+x 2 p b\n", "p", "a\n1: 0+x 2 p b", false, 0 },
		{ "0: 0+1 1 p \xc3\xa0\xff\n", "p", "\xc3\xa0\xff", false, 0 },
		/* Programs that begin with a blank, or with what looks like a region. */
		{ "0: 0+1 1   x\n", " ", "x", false, 0 },
		{ "0: 0+1 1    \n", " ", " ", false, 0 },
		{ "0: 0+1 1  p x\n", " p", "x", false, 0 },
		{ "0: 0+1 1 a\n5: 0+1 1 p x\n", "a\n5:", "0+1 1 p x", false, 0 },
		/* Auxiliary data that look like a region, but for one thing. */
		{ "0: 0+1 1 p a\n5: 0+1 1 p\n", "p", "a\n5: 0+1 1 p", false, 0 },
		{ "0: 0+1 1 p a\n5: 0+1 1 p \n", "p", "a\n5: 0+1 1 p ", false, 0 },
		/* They begin with a line break: no region ends without any. */
		{ "0: 0+1 1 p \n5: 0+1 1 q b\n", "p", "\n5: 0+1 1 q b", false, 0 },
		{ "0: 0+1 1 p a\n5: 0+0 1 p b\n", "p", "a\n5: 0+0 1 p b", false, 0 },
		{ "0: 0+1 1 p a\n5: 0+1 0 p b\n", "p", "a\n5: 0+1 0 p b", false, 0 },
		{ "0: 0+1 1 p a\n5: 0-1 1 p b\n", "p", "a\n5: 0-1 1 p b", false, 0 },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		ck_assert_msg(read_list(c[i].line) == 0, "%s", c[i].line);
		ck_assert_uint_eq(list.count, 1);
		ck_assert_str_eq(list.region[0].program, c[i].program);
		ck_assert_str_eq(list.region[0].aux, c[i].aux);
		ck_assert_int_eq(list.region[0].precise, c[i].precise);
		ck_assert_uint_eq(list.region[0].bound_count, c[i].bounds);
		dms_regions_free(&list);
	}
}

TEST(what_is_no_list)
{
	static const char *const heads[] = {
		"x", "\n", " 0: 0+1 1 p a\n", "-1: 0+1 1 p a\n", "0 0+1 1 p a\n", "0: 0 1 p a\n",
		"0: 0+1\n", "2147483648: 0+1 1 p a\n", "0: 18446744073709551616+1 1 p a\n",
		"0::0+1 1 p a\n", "0;;0+1 1 p a\n", "0: 0-1 1 p a\n", "0: 0+1x1 p a\n",
		"0: 0+1 1xp a\n", "0: 0+0 1 p a\n", "0: 0+1 0 p a\n",
		"0: 18446744073709551615+1 1 p a\n",
	};
	static const char *const regions[] = {
		"0: 0+1 1 \n", "0: 0+1 1 p\n", "0: 0+1 1 p \n", "0: 0+1 1  a\n",
	};
	/* What users read, word by word. */
	static const struct { int error; const char *text; } errors[] = {
		{ 0, "no error" },
		{ DMS_NO_MEMORY, "not enough memory" },
		{ DMS_BAD_HEAD, "the list of regions does not begin with a region" },
		{ DMS_BAD_REGION,
		  "a region in the list has no program or auxiliary data" },
		{ DMS_BAD_LINE, "a line of counters does not have the expected numbers" },
		{ DMS_BAD_AREA, "a line of counters is not about the next area" },
		{ DMS_TOO_MANY, "there are more lines of counters than areas" },
		{ DMS_TOO_MANY - 1, "an unknown error" }, { 1, "an unknown error" },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		ck_assert_msg(read_list(heads[i]) == DMS_BAD_HEAD, "%s", heads[i]);
	for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
		ck_assert_msg(read_list(regions[i]) == DMS_BAD_REGION, "%s", regions[i]);
		ck_assert_uint_eq(list.count, 0);
	}
	ck_assert_int_eq(dms_regions_read(&list, NULL, "0: 0+1 1 p a\0b\n", 15), DMS_BAD_REGION);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		ck_assert_str_eq(dms_error_text(errors[i].error), errors[i].text);
}

/* The list of one program, whose name is known: blanks and line breaks in it part nothing. */
TEST(list_of_one_program)
{
	static const struct { const char *program, *text; size_t count; const char *aux; } c[] = {
		{ "p", "0: 0+1 1 p a b\n3: 0+1 1 p c\n", 2, "a b" },
		{ "p q", "0: 0+1 1 p q a b\n3: 0+1 1 p q c\n", 2, "a b" },
		{ " ", "0: 0+1 1   x\n3: 0+1 1   y\n", 2, "x" },
		{ "p\nq", "0: 0+1 1 p\nq x\n3: 0+1 1 p\nq y\n", 2, "x" },
		{ "p", "0: 0+1 1 p a\n3: 0+1 1 q b\n", 1, "a\n3: 0+1 1 q b" },
		{ "p", "0: 0+1 1 p a\n3: 0+1 1 pq b\n", 1, "a\n3: 0+1 1 pq b" },
	};
	static const char *const others[] = {
		"0: 0+1 1 q a\n", "0: 0+1 1 p q\n", "0: 0+1 1 p\n", "0: 0+1 1 p p\n",
		"0: 0+1 1 p p \n",
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		ck_assert_int_eq(dms_regions_read(&list, c[i].program, c[i].text, strlen(c[i].text)), 0);
		ck_assert_uint_eq(list.count, c[i].count);
		ck_assert_str_eq(list.region[0].program, c[i].program);
		ck_assert_str_eq(list.region[0].aux, c[i].aux);
		dms_regions_free(&list);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_int_eq(dms_regions_read(&list, "p p", others[i], strlen(others[i])),
				 DMS_BAD_REGION);
}

/* Each single thing that the kernel lists makes another region of it. */
TEST(regions_that_are_the_same)
{
	static const char line[] = "4: 8+100 3 prog aux precise_timestamps histogram:5,7\n";
	static const char *const others[] = {
		"5: 8+100 3 prog aux precise_timestamps histogram:5,7\n",
		"4: 9+100 3 prog aux precise_timestamps histogram:5,7\n",
		"4: 8+101 3 prog aux precise_timestamps histogram:5,7\n",
		"4: 8+100 4 prog aux precise_timestamps histogram:5,7\n",
		"4: 8+100 3 Prog aux precise_timestamps histogram:5,7\n",
		"4: 8+100 3 prog auy precise_timestamps histogram:5,7\n",
		"4: 8+100 3 prog aux histogram:5,7\n",
		"4: 8+100 3 prog aux precise_timestamps histogram:5,8\n",
		"4: 8+100 3 prog aux precise_timestamps histogram:5\n",
		"4: 8+100 3 prog aux precise_timestamps\n",
	};
	struct dms_regions other;

	ck_assert_int_eq(read_list(line), 0);
	ck_assert_int_eq(dms_regions_read(&other, "prog", line, strlen(line)), 0);
	ck_assert(dms_region_same(&list.region[0], &other.region[0]));
	dms_regions_free(&other);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ck_assert_int_eq(dms_regions_read(&other, NULL, others[i], strlen(others[i])), 0);
		ck_assert_msg(!dms_region_same(&list.region[0], &other.region[0]), "%s", others[i]);
		ck_assert(!dms_region_same(&other.region[0], &list.region[0]));
		dms_regions_free(&other);
	}
	dms_regions_free(&list);
}

/* A list that lost its last line break, and every shorter beginning of one. */
TEST(lists_cut_off)
{
	static const char text[] = "0: 0+10 3 prog aux precise_timestamps histogram:1,2\n1: 0+1 1 p a\n";

	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = malloc(len ? len : 1);
		int error;

		memcpy(copy, text, len);
		error = dms_regions_read(&list, NULL, copy, len);
		ck_assert(error == 0 || error == DMS_BAD_HEAD || error == DMS_BAD_REGION);
		dms_regions_free(&list);
		free(copy);
	}
}

TEST(areas)
{
	struct dms_region r = { .start = 0, .length = 1000, .step = 300 };

	ck_assert_uint_eq(dms_area_count(1000, 300), 4);
	ck_assert_uint_eq(dms_area_count(900, 300), 3);
	ck_assert_uint_eq(dms_area_count(1, UINT64_MAX), 1);
	ck_assert_uint_eq(dms_area_count(UINT64_MAX, 1), UINT64_MAX);
	ck_assert_uint_eq(dms_area_start(&r, 3), 900);
	ck_assert_uint_eq(dms_area_length(&r, 2), 300);
	ck_assert_uint_eq(dms_area_length(&r, 3), 100);
	ck_assert_uint_eq(dms_step_of_areas(20000, 7), 2858);
	ck_assert_uint_eq(dms_step_of_areas(20000, 50000), 1);
	ck_assert_uint_eq(dms_step_of_areas(20000, 4), 5000);
}

TEST(numbers)
{
	static const char most[] = "18446744073709551615 ", more[] = "18446744073709551616";
	const char *at = most;
	uint64_t value = 7;

	ck_assert(dms_number(&at, most + strlen(most), &value));
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_ptr_eq(at, most + 20);
	ck_assert(!dms_number(&at, most + strlen(most), &value));
	at = more;
	ck_assert(!dms_number(&at, more + strlen(more), &value));
	ck_assert_ptr_eq(at, more);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert(dms_number(&at, more + 1, &value));
	ck_assert_uint_eq(value, 1);
}

/* Names that the list would not give back are found before the kernel gets them. */
TEST(names_that_would_not_come_back)
{
	static struct { char program[4], aux[40]; bool precise; int readable; } c[] = {
		{ "p", "any thing, with \\ and\nline breaks", false, 1 },
		{ "p", "precise_timestamps", false, 1 },
		{ "p", "a precise_timestamps", false, 0 },
		{ "p", "a precise_timestamps", true, 1 },
		{ "p", "a histogram:5", false, 0 },
		{ "p", "a histogram:5", true, 1 },
		{ "p", "a\n1: 0+1 1 q b", false, 0 },
		{ "p", "a\n1: 0+1 x", false, 1 },
		{ "p q", "a", false, 0 },
		{ " ", "a", false, 0 },
		{ "", "a", false, 0 },
		{ "p", "", false, 0 },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct dms_region r = { .id = 0, .length = 1, .step = 1, .program = c[i].program,
					.aux = c[i].aux, .precise = c[i].precise };

		ck_assert_msg(dms_region_readable(&r) == c[i].readable, "'%s' '%s'", c[i].program,
			      c[i].aux);
	}
}

TEST(written_as_listed)
{
	static const char line[] = "4: 8+100 3 prog a b precise_timestamps histogram:5,1000000\n";
	struct dms_region taken;
	struct text text = { 0 };

	ck_assert_int_eq(read_list(line), 0);
	dms_region_write(&text, &list.region[0]);
	ck_assert_uint_eq(text.len, strlen(line));
	ck_assert_mem_eq(text.bytes, line, text.len);
	text_free(&text);
	taken = list.region[0];
	memset(&list.region[0], 0, sizeof(taken));
	dms_region_free(&taken);
	ck_assert(!taken.program && !taken.aux && !taken.bounds && !taken.bound_count);
	dms_regions_free(&list);
}
