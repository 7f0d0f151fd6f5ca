/* SPDX-License-Identifier: MIT */
/* monread's command line: what each option sets, and that it sets nothing else (docs/monread.1). */
#include "unit_test.h"

#include <string.h>

#include "options.h"
#include "threshold.h"

static struct options found, wanted;

static void start(void)
{
	wanted = (struct options){
		.files = { { "/dev/monreader" }, 1 }, .timeout_ms = -1, .reopen = 5, .reopen_wait_ms = 1000,
		.rotation = { .keep = 10 },
		.thresholds = { { 90, 25, 25, 10, 20, 70, 1000 } },
	};
}

CASE("monread options", start, NULL);

static void ck_word(const char *is, const char *was)
{
	ck_assert((is == NULL) == (was == NULL));
	if (is)
		ck_assert_str_eq(is, was);
}

/* These two words, of which the second may be NULL, give what is wanted. */
static void gives(const char *first, const char *second)
{
	char name[] = "monread", one[40] = "", two[40] = "";
	char *argv[] = { name, one, two, NULL };

	strcpy(one, first);
	strcpy(two, second ? second : "");
	if (!second)
		argv[2] = NULL;
	memset(&found, 0xff, sizeof(found));
	options_parse(&found, *first ? second ? 3 : 2 : 1, argv);
	ck_assert_uint_eq(found.files.count, wanted.files.count);
	for (unsigned int i = 0; i < wanted.files.count; i++)
		ck_word(found.files.word[i], wanted.files.word[i]);
	ck_assert_uint_eq(found.span.from, wanted.span.from);
	ck_assert_uint_eq(found.span.to, wanted.span.to);
	ck_word(found.write_stream, wanted.write_stream);
	ck_word(found.write_monwrite, wanted.write_monwrite);
	ck_word(found.csv, wanted.csv);
	ck_word(found.html, wanted.html);
	ck_word(found.anonymise, wanted.anonymise);
	ck_assert_int_eq(found.monwrite, wanted.monwrite);
	ck_assert_int_eq(found.check, wanted.check);
	ck_assert_int_eq(found.json, wanted.json);
	ck_assert_int_eq(found.values, wanted.values);
	ck_assert_int_eq(found.summary, wanted.summary);
	ck_assert_int_eq(found.activity, wanted.activity);
	ck_assert_int_eq(found.tables, wanted.tables);
	ck_assert_uint_eq(found.rotation.size, wanted.rotation.size);
	ck_assert_uint_eq(found.rotation.ns, wanted.rotation.ns);
	ck_assert_uint_eq(found.rotation.keep, wanted.rotation.keep);
	for (unsigned int i = 0; i < THRESHOLDS; i++)
		ck_assert_double_eq(found.thresholds.of[i], wanted.thresholds.of[i]);
	ck_assert_int_eq(found.blocking, wanted.blocking);
	ck_assert_uint_eq(found.sets, wanted.sets);
	ck_assert_uint_eq(found.release, wanted.release);
	ck_assert_int_eq(found.timeout_ms, wanted.timeout_ms);
	ck_assert_uint_eq(found.reopen, wanted.reopen);
	ck_assert_uint_eq(found.reopen_wait_ms, wanted.reopen_wait_ms);
	start();
}

TEST(defaults)
{
	gives("", NULL);
	wanted.files.word[0] = "a file";
	gives("a file", NULL);
	wanted.files.word[0] = "-";
	gives("-", NULL);
	wanted.files = (struct word_list){ { "one", "other" }, 2 };
	gives("one", "other");
}

TEST(flags)
{
	wanted.monwrite = true;
	gives("--monwrite", NULL);
	wanted.blocking = true;
	gives("--blocking", NULL);
	wanted.check = true;
	gives("--check", NULL);
	wanted.json = true;
	gives("--json", NULL);
	wanted.values = true;
	gives("--values", NULL);
	wanted.summary = true;
	gives("--summary", NULL);
	wanted.activity = true;
	gives("--activity", NULL);
	wanted.tables = true;
	gives("--tables", NULL);
}

TEST(words)
{
	wanted.write_stream = "OUT";
	gives("--write-stream", "OUT");
	wanted.write_monwrite = "OUT";
	gives("--write-monwrite", "OUT");
	wanted.csv = "FOLDER";
	gives("--csv", "FOLDER");
	wanted.html = "OUT";
	gives("--html", "OUT");
	wanted.anonymise = "KEY";
	gives("--anonymise", "KEY");
}

/* The least and the most of each. */
TEST(numbers)
{
	wanted.sets = 1;
	gives("--sets", "1");
	wanted.sets = UINT64_MAX;
	gives("--sets", "18446744073709551615");
	wanted.reopen = 0;
	gives("--reopen", "0");
	wanted.reopen = 1000000;
	gives("--reopen", "1000000");
	wanted.rotation.keep = 1;
	gives("--rotate-keep", "1");
	wanted.rotation.keep = 1000;
	gives("--rotate-keep", "1000");
	wanted.release = 410;
	gives("--release", "4.1");
	wanted.release = 530;
	gives("--release", "5.3");
	wanted.release = 750;
	gives("--release", "7.5");
}

TEST(times)
{
	static const struct { const char *word; unsigned int ms; } cases[] = {
		{ "0", 0 }, { "1", 1000 }, { "999999us", 999 }, { "1ms", 1 }, { "1.5s", 1500 },
		{ "2m", 120000 }, { "3h", 10800000 }, { "86399999ms", 86399999 },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wanted.timeout_ms = (int)cases[i].ms;
		gives("--timeout", cases[i].word);
		wanted.reopen_wait_ms = cases[i].ms;
		gives("--reopen-wait", cases[i].word);
	}
}

/* 3,981,312,000 seconds from 1900 to 2026-03-01, each of 4,096,000,000 units of the TOD clock. */
TEST(spans)
{
	wanted.span.from = UINT64_C(3981312000) * 4096000000;
	gives("--from", "2026-03-01");
	wanted.span.to = (UINT64_C(3981312000) + 36915) * 4096000000;
	gives("--to", "2026-03-01T10:15:15Z");
}

TEST(thresholds)
{
	static const struct { const char *word; enum threshold of; double value; } cases[] = {
		{ "busy=80", THRESHOLD_BUSY, 80 }, { "cpu-wait=0", THRESHOLD_CPU_WAIT, 0 },
		{ "io-wait=12.5", THRESHOLD_IO_WAIT, 12.5 }, { "page-wait=off", THRESHOLD_PAGE_WAIT, -1 },
		{ "response=0.001", THRESHOLD_RESPONSE, 0.001 }, { "slots=100", THRESHOLD_SLOTS, 100 },
		{ "paging=999999999", THRESHOLD_PAGING, 999999999 },
	};
	static const char *const wrong[] = {
		"", "=", "busy", "busy=", "busy=-1", "busy=+1", "busy= 1", "busy=1e3", "busy=0x1", "busy=.5",
		"busy=5.", "busy=1.2.3", "busy=nan", "busy=1000000000", "busy=1.1234567890", "Busy=1",
		"bus=1", "busyy=1", "=1", "busy=OFF", "busy=1 ",
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wanted.thresholds.of[cases[i].of] = cases[i].value;
		gives("--threshold", cases[i].word);
	}
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!thresholds_set(&wanted.thresholds, wrong[i]), "%s", wrong[i]);
	for (unsigned int i = 0; i < THRESHOLDS; i++)
		ck_assert_double_eq(wanted.thresholds.of[i], thresholds_default.of[i]);
	ck_assert(!threshold_above(&wanted.thresholds, THRESHOLD_BUSY, 90));
	ck_assert(threshold_above(&wanted.thresholds, THRESHOLD_BUSY, 90.01));
	wanted.thresholds.of[THRESHOLD_BUSY] = -1;
	ck_assert(!threshold_above(&wanted.thresholds, THRESHOLD_BUSY, 90.01));
}

/* Items are printed if that is asked for, or if nothing else is. */
TEST(printing)
{
	ck_assert(options_print(&wanted));
	wanted.summary = true;
	ck_assert(!options_print(&wanted));
	start();
	wanted.activity = true;
	ck_assert(!options_print(&wanted));
	start();
	wanted.tables = true;
	ck_assert(!options_print(&wanted));
	start();
	wanted.write_stream = "OUT";
	ck_assert(!options_print(&wanted));
	start();
	wanted.write_monwrite = "OUT";
	ck_assert(!options_print(&wanted));
	start();
	wanted.html = "OUT";
	ck_assert(!options_print(&wanted));
	start();
	wanted.csv = "FOLDER";
	ck_assert(!options_print(&wanted));
	wanted.check = true;
	ck_assert(options_print(&wanted));
	wanted.check = false;
	wanted.json = true;
	ck_assert(options_print(&wanted));
	wanted.json = false;
	wanted.values = true;
	ck_assert(options_print(&wanted));
}
