/* SPDX-License-Identifier: MIT */
/*
 * How unit tests are written.  A file of tests is a program; main() is in main.c.
 *
 *	CASE("files", open_files, close_files);
 *
 *	TEST(empty_file)
 *	{
 *		ck_assert_int_eq(...);
 *	}
 *
 * A test registers itself, so each test that is written runs.  They run in the order of the file,
 * each in a process of its own.
 */
#ifndef UNIT_TEST_H
#define UNIT_TEST_H

#include <check.h>
#include <stdlib.h>

struct unit_entry {
	int line;
	const char *case_name;		/* NULL: a test */
	SFun setup, teardown;		/* of a case */
	void (*add)(TCase *tcase);	/* of a test */
	struct unit_entry *next;
};

void unit_register(struct unit_entry *entry);
/* Adds @test for each index from @from up to, not including, @to; there must be one. */
void unit_add(TCase *tcase, const TTest *test, int from, int to);

#define UNIT_ENTRY(id, ...) \
	static struct unit_entry id##_entry; \
	__attribute__((constructor)) static void id##_register(void) \
	{ \
		unit_register(&id##_entry); \
	} \
	static struct unit_entry id##_entry = { .line = __LINE__, __VA_ARGS__ }
#define UNIT_CASE_(line, ...) UNIT_ENTRY(unit_case_##line, __VA_ARGS__)
#define UNIT_CASE(line, ...) UNIT_CASE_(line, __VA_ARGS__)

/*
 * The tests below, up to the next CASE, run between these two functions, or NULL.  Tests above the
 * first CASE have neither.
 */
#define CASE(name, start, stop) \
	UNIT_CASE(__LINE__, .case_name = (name), .setup = (start), .teardown = (stop))

/* A test that runs for each _i from @from up to, not including, @to. */
#define TEST_LOOP(name, from, to) \
	static void unit_run_##name(int _i); \
	static const TTest unit_test_##name = { #name, unit_run_##name, __FILE__, __LINE__ }; \
	static void unit_add_##name(TCase *tcase) \
	{ \
		unit_add(tcase, &unit_test_##name, (from), (to)); \
	} \
	UNIT_ENTRY(unit_test_##name, .add = unit_add_##name); \
	static void unit_run_##name(int _i CK_ATTRIBUTE_UNUSED)
/* A test that runs for the index of each row of an array: _i. */
#define TEST_EACH(name, array) TEST_LOOP(name, 0, (int)(sizeof(array) / sizeof((array)[0])))
#define TEST(name) TEST_LOOP(name, 0, 1)

/*
 * An array of zeros for a test, with a page behind it that nobody may touch.  It lasts as long as the
 * process.  LeakSanitizer looks through all static arrays at the end of each test, which takes more
 * time than most tests if they are large; it does not look here.
 */
void *unit_large(size_t size);

/* Check's own macro would give a test that runs only if a list names it. */
#undef START_TEST
#pragma GCC poison START_TEST

#endif
