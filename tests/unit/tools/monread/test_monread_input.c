/* SPDX-License-Identifier: MIT */
/* monread: signals, counted in order; lines of an index. */
#include "check_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "signals.h"

static void start(void)
{
	signals_catch();
}

/* None is delivered but within a wait, all are counted; the first one stays the first. */
START_TEST(signals_without_a_wait)
{
	ck_assert_uint_eq(signals_count(), 0);
	ck_assert_int_eq(signals_first(), 0);
	raise(SIGTERM);
	ck_assert_int_eq(signals_first(), 0);
	ck_assert_uint_eq(signals_count(), 1);
	ck_assert_int_eq(signals_first(), SIGTERM);
	raise(SIGINT);
	raise(SIGALRM);
	ck_assert_uint_eq(signals_count(), 2);
	ck_assert_int_eq(signals_first(), SIGTERM);
}
END_TEST

START_TEST(signals_within_a_wait)
{
	for (unsigned int i = 1; i <= 2; i++) {
		raise(i == 1 ? SIGTERM : SIGINT);
		signals_begin(-1);
		ck_assert(!signals_end());
		ck_assert_uint_eq(signals_count(), i);
		ck_assert_int_eq(signals_first(), SIGTERM);
	}
}
END_TEST

/* A time limit ends the wait, and is none of the signals that are counted. */
START_TEST(waits_with_a_limit)
{
	for (int limit = 30; limit >= 0; limit -= 30) {
		signals_begin(limit);
		ck_assert_int_eq(poll(NULL, 0, 60000), -1);
		ck_assert_int_eq(errno, EINTR);
		ck_assert(signals_end());
		ck_assert_uint_eq(signals_count(), 0);
	}
	/* The next wait begins anew. */
	signals_begin(50000);
	ck_assert(!signals_end());
	ck_assert_int_eq(poll(NULL, 0, 1), 0);
}
END_TEST

static int read_line(const char *line, struct index_entry *entry)
{
	FILE *file = fmemopen((void *)(uintptr_t)line, strlen(line), "r");
	int ret;

	ck_assert_ptr_nonnull(file);
	memset(entry, 0, sizeof(*entry));
	ret = index_next(file, entry);
	fclose(file);
	return ret;
}

#define HEX "00112233445566778899aabbccddeeff"
#define INTERRUPT HEX HEX "0123456789abcdef"

START_TEST(lines_of_an_index)
{
	static const struct { const char *line; int ret; uint64_t length; } cases[] = {
		{ "{\"length\":1}\n", 1, 1 }, { "{\"length\":0}\n", -1, 0 },
		{ "{\"length\":-1}\n", -1, 0 }, { "{\"length\":\"1\"}\n", -1, 0 },
		{ "{\"set\":3,\"offset\":4,\"length\":5}\n", 1, 5 }, { "{}\n", -1, 0 },
		{ "{\"length\":1,\"length\":2}\n", -1, 0 }, { "{\"length\":1}", 0, 0 },
		{ "\n", -1, 0 }, { "{\"length\":1,\"interrupt\":3}\n", -1, 0 },
		{ "{\"length\":1,\"interrupt\":\"" INTERRUPT "\"}\n", 1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" INTERRUPT "00\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcdeg\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcd/f\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcd:f\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcdEf\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcde`\"}\n", -1, 1 },
	};
	struct index_entry entry;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(read_line(cases[i].line, &entry) == cases[i].ret, "%s", cases[i].line);
		if (cases[i].ret == 1)
			ck_assert_uint_eq(entry.length, cases[i].length);
	}
}
END_TEST

START_TEST(interruptions)
{
	static const uint8_t wanted[40] = {
		0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd,
		0xee, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb,
		0xcc, 0xdd, 0xee, 0xff, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	};
	struct index_entry entry;

	ck_assert_int_eq(read_line("{\"length\":9,\"interrupt\":\"" INTERRUPT "\"}\n", &entry), 1);
	ck_assert(entry.has_interrupt);
	ck_assert_mem_eq(entry.interrupt, wanted, 40);
	ck_assert_int_eq(read_line("{\"length\":9}\n", &entry), 1);
	ck_assert(!entry.has_interrupt);
}
END_TEST

/* The last line may be cut: then it is not there yet.  One that is too long is none. */
START_TEST(long_lines)
{
	static char line[1100];
	struct index_entry entry;

	for (unsigned int len = 1021; len <= 1024; len++) {
		memset(line, ' ', len);
		memcpy(line, "{\"length\":1}", 12);
		strcpy(line + len, "\n");
		ck_assert_int_eq(read_line(line, &entry), len <= 1022 ? 1 : -1);
		line[len] = '\0';
		ck_assert_int_eq(read_line(line, &entry), len <= 1022 ? 0 : -1);
	}
}
END_TEST

/* The end is none, an error is one: a directory can be opened and not be read. */
START_TEST(ends_of_an_index)
{
	struct index_entry entry;
	FILE *file = fopen("/", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(index_next(file, &entry), -1);
	fclose(file);
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(index_next(file, &entry), 0);
	fclose(file);
}
END_TEST

START_TEST(names_and_elements)
{
	static const uint8_t wanted[12] = { 0xe2, 0xc8, 0x01, 0x5a, 9, 1, 2, 3, 9, 1, 15, 255 };
	const struct monrec_element element = {
		.type = 0xe2, .domains = 0xc801, .byte3 = 0x5a, .start = 0x09010203,
		.end = 0x09010fff,
	};
	uint8_t bytes[MONREC_ELEMENT_SIZE];
	char *name = index_name("folder/data");

	ck_assert_str_eq(name, "folder/data.idx");
	free(name);
	monrec_element_bytes(&element, bytes);
	ck_assert_mem_eq(bytes, wanted, sizeof(wanted));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		signals_without_a_wait, signals_within_a_wait, waits_with_a_limit,
		lines_of_an_index, interruptions, long_lines, ends_of_an_index,
		names_and_elements,
	};

	return check_run("monread input", start, NULL, tests, sizeof(tests) / sizeof(tests[0]));
}
