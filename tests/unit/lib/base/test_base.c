/* SPDX-License-Identifier: MIT */
/* Numbers in texts, random numbers, the hash. */
#define _GNU_SOURCE /* mincore */
#include "unit_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hash.h"
#include "number.h"
#include "random.h"
#include "table.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The first numbers that SplitMix64's author and others publish for this state. */
TEST(random_as_published)
{
	static const uint64_t published[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	uint64_t state = 1234567;

	for (unsigned int i = 0; i < COUNT(published); i++)
		ck_assert_uint_eq(random_next(&state), published[i]);
}

/* Values that the authors of FNV publish for these texts. */
TEST(hash_as_published)
{
	static const struct { const char *text; uint64_t hash; } published[] = {
		{ "", UINT64_C(0xcbf29ce484222325) },
		{ "a", UINT64_C(0xaf63dc4c8601ec8c) },
		{ "foobar", UINT64_C(0x85944171f73967e8) },
	};

	for (unsigned int i = 0; i < COUNT(published); i++) {
		const char *text = published[i].text;

		ck_assert_uint_eq(hash_more(HASH_START, text, strlen(text)), published[i].hash);
	}
	ck_assert_uint_eq(hash_more(hash_more(HASH_START, "foo", 3), "bar", 3),
			  published[2].hash);
}

/* Returns the number and the characters taken from the text; -1: none. */
static int taken(const char *text, unsigned int base, uint64_t most, uint64_t *number)
{
	const char *at = text;

	*number = 7;
	if (number_take(&at, text + strlen(text), base, most, number))
		return (int)(at - text);
	ck_assert_ptr_eq(at, text);
	ck_assert_uint_eq(*number, 7);
	return -1;
}

TEST(digits)
{
	static const struct {
		const char *text;
		unsigned int base;
		uint64_t most;
		int length;
		uint64_t number;
	} cases[] = {
		{ "0", 10, 0, 1, 0 },
		{ "12ab", 10, 99, 2, 12 },
		{ "12ab", 16, UINT64_MAX, 4, 0x12ab },
		{ "1F,2", 16, UINT64_MAX, 2, 0x1f },
		{ "0777", 8, 0777, 4, 0777 },
		{ "78", 8, 7, 1, 7 },
		{ "000000000000000000000001", 10, 1, 24, 1 },
		{ "18446744073709551615", 10, UINT64_MAX, 20, UINT64_MAX },
		{ "ffffffffffffffff", 16, UINT64_MAX, 16, UINT64_MAX },
		{ "99", 10, 99, 2, 99 },
		{ "100", 10, 99, -1, 0 },
		{ "1", 10, 0, -1, 0 },
		{ "18446744073709551616", 10, UINT64_MAX, -1, 0 },
		{ "28446744073709551615", 10, UINT64_MAX, -1, 0 },
		{ "10000000000000000", 16, UINT64_MAX, -1, 0 },
		{ "", 10, 9, -1, 0 },
		{ "-1", 10, 9, -1, 0 },
		{ "+1", 10, 9, -1, 0 },
		{ " 1", 10, 9, -1, 0 },
		{ "g", 16, 99, -1, 0 },
		{ "a", 10, 99, -1, 0 },
	};
	uint64_t number;

	for (unsigned int i = 0; i < COUNT(cases); i++) {
		ck_assert_msg(taken(cases[i].text, cases[i].base, cases[i].most, &number) ==
			      cases[i].length, "%s", cases[i].text);
		if (cases[i].length >= 0)
			ck_assert_uint_eq(number, cases[i].number);
	}
}

/* Characters around those of digits, in each base. */
TEST(every_character)
{
	static const char values[] = "0123456789abcdef";
	uint64_t number;

	for (unsigned int base = 2; base <= 16; base++) {
		for (unsigned int c = 1; c < 256; c++) {
			const char text[] = { (char)c, '\0' };
			const char *found = strchr(values, c >= 'A' && c <= 'Z' ? (int)c + 32 : (int)c);
			const bool is = found && found - values < (int)base;

			ck_assert_int_eq(taken(text, base, UINT64_MAX, &number), is ? 1 : -1);
			if (is)
				ck_assert_uint_eq(number, (uint64_t)(found - values));
		}
	}
}

TEST(the_end_is_kept)
{
	const char text[] = "12345";
	const char *at = text;
	uint64_t number;

	ck_assert(number_take(&at, text + 3, 10, UINT64_MAX, &number));
	ck_assert_uint_eq(number, 123);
	ck_assert_ptr_eq(at, text + 3);
	ck_assert(!number_take(&at, text + 3, 10, UINT64_MAX, &number));
}

TEST(pairs_of_digits)
{
	static const char *const bad[] = { "0", "0g", "g0", "0A", "A0", "0 ", " 0", "-1", "000x" };
	uint8_t to[4] = { 1, 1, 1, 1 };

	ck_assert(number_bytes("00ff7a", 6, to));
	ck_assert_mem_eq(to, "\0\xff\x7a\1", 4);
	ck_assert(number_bytes("", 0, to) && to[0] == 0);
	/* Half a byte is none, whatever comes after it. */
	ck_assert(!number_bytes("00ff7a", 1, to) && !number_bytes("00ff7a", 5, to));
	for (unsigned int i = 0; i < COUNT(bad); i++)
		ck_assert_msg(!number_bytes(bad[i], strlen(bad[i]), to), "%s", bad[i]);
}

TEST(numbers)
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

TEST(durations)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} good[] = {
		{ "0", 0 }, { "1", 1000000000 }, { "1.5", 1500000000 }, { "2s", 2000000000 },
		{ "0.000000001", 1 }, { "20ms", 20000000 }, { "1.5us", 1500 }, { "3ns", 3 },
		{ "1.500ms", 1500000 }, { "1m", 60000000000 }, { "0.1m", 6000000000 },
		{ "2h", 7200000000000 }, { "1.0ns", 1 }, { "9223372036854775807ns", INT64_MAX },
		{ "9223372036.854775807s", INT64_MAX }, { "1.0000000000s", 1000000000 },
		{ "0.000001ms", 1 }, { "0.001us", 1 }, { "0.0000000001m", 6 }, { "1.25h", 4500000000000 }, { "007ns", 7 },
		{ "0.123456789", 123456789 }, { "9.908070605s", 9908070605 }, { "0.9us", 900 },
	};
	static const char *const bad[] = {
		"", "s", ".5", "1.", "1.5ns", "0.0000000001", "1,5", "-1", "1 s", "1sec", "1.5.5",
		"9223372036854775808ns", "99999999999999999999", "2562048h", "5124096h",
		"9223372036.854775808", "18446744073.709551616", "18446744074", "1ns1", "1.x",
		"18446744073709551616ns", "0.00000000001m", "1d",
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

TEST(sizes)
{
	uint64_t bytes = 7;

	ck_assert(!number_parse_size("1k", &bytes) && !number_parse_size("K", &bytes));
	ck_assert(!number_parse_size("1KB", &bytes) && !number_parse_size("17179869184G", &bytes));
	ck_assert_uint_eq(bytes, 7);
	ck_assert(number_parse_size("4095", &bytes) && bytes == 4095);
	ck_assert(number_parse_size("64K", &bytes) && bytes == 65536);
	ck_assert(number_parse_size("8M", &bytes) && bytes == 8388608);
	ck_assert(number_parse_size("17179869183G", &bytes) && bytes == 17179869183u << 30);
	bytes = 7;
	for (const char *const *word = (const char *const[]){ "", "-1", "1T", "1KK", "1K ", "1 K",
	     "18446744073709551616", "18014398509481984K", NULL }; *word; word++)
		ck_assert_msg(!number_parse_size(*word, &bytes) && bytes == 7, "%s", *word);
	ck_assert(number_parse_size("18446744073709551615", &bytes) && bytes == UINT64_MAX);
}

/* Pages of @table, of @size bytes, that are in memory. */
static size_t resident(void *table, size_t size)
{
	const size_t pages = size / (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *in = calloc(pages, 1);
	size_t count = 0;

	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(mincore(table, size, in), 0);
	for (size_t i = 0; i < pages; i++)
		count += in[i] & 1;
	free(in);
	return count;
}

/* Also one that comes after another of that size, whose memory it may get. */
TEST(table_takes_memory_where_it_is_used)
{
	const size_t count = 4096, size = (size_t)sysconf(_SC_PAGESIZE);

	for (int round = 0; round < 3; round++) {
		uint8_t *table = table_new(count, size);

		ck_assert_ptr_nonnull(table);
		ck_assert_uint_eq(resident(table, count * size), 0);
		for (size_t i = 0; i < 10; i++) {
			ck_assert_uint_eq(table[i * size], 0);
			table[i * size] = 0xff;
		}
		ck_assert_uint_eq(resident(table, count * size), 10);
		table_free(table, count, size);
	}
	table_free(NULL, count, size);
}

TEST(table_that_is_too_large)
{
	ck_assert_ptr_null(table_new(SIZE_MAX / 4096, 4096));
}
