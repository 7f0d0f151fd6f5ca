/* SPDX-License-Identifier: MIT */
/* main() of a unit test: runs all tests that have registered themselves. */
#define _GNU_SOURCE
#include "leaks.h"
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* By their lines. */
static struct unit_entry *entries;

void unit_register(struct unit_entry *entry)
{
	struct unit_entry **at = &entries;

	while (*at && (*at)->line < entry->line)
		at = &(*at)->next;
	entry->next = *at;
	*at = entry;
}

/* A mistake in the program's source. */
static _Noreturn void wrong(int line, const char *what)
{
	fprintf(stderr, "%s.c:%d: %s\n", program_invocation_short_name, line, what);
	exit(EXIT_FAILURE);
}

void unit_add(TCase *tcase, const TTest *test, int from, int to)
{
	if (from >= to)
		wrong(test->line, "the test has nothing to run for");
	tcase_add_loop_test(tcase, test, from, to);
}

/* Adds the case that @first opens; return: the entry behind its tests. */
static const struct unit_entry *add_case(Suite *suite, const struct unit_entry *first)
{
	const struct unit_entry *entry = first->case_name ? first->next : first;
	TCase *tcase = tcase_create(first->case_name ? first->case_name :
						       program_invocation_short_name);

	/* A set-up of Check's runs in the test's process, where it has already made what it needs. */
	tcase_add_checked_fixture(tcase, leaks_begin, NULL);
	tcase_add_checked_fixture(tcase, first->setup, first->teardown);
	if (!entry || entry->case_name)
		wrong(first->line, "no test comes between this CASE and the next");
	for (; entry && !entry->case_name; entry = entry->next)
		entry->add(tcase);
	suite_add_tcase(suite, tcase);
	return entry;
}

/*
 * A CP has arrays of some MiB.  By default ASan fills what it notes about one, and then maps zeros over
 * it: each page of the notes is made twice.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "clear_shadow_mmap_threshold=1073741824";
}

void *unit_large(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Aligned for all types. */
	const size_t wanted = (size + 15) & ~(size_t)15;
	const size_t pages = (wanted + page - 1) / page * page;
	char *at = mmap(NULL, pages + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at, pages, PROT_READ | PROT_WRITE) != 0) {
		perror("memory of a test");
		exit(EXIT_FAILURE);
	}
	return at + pages - wanted;
}

int main(void)
{
	Suite *suite = suite_create(program_invocation_short_name);
	const struct unit_entry *entry = entries;
	SRunner *runner;
	int failed;

	/*
	 * Seconds that a test may take.  Most take milliseconds, but a busy machine may give them
	 * no processor for seconds.  Check reads this when a case is created.
	 */
	setenv("CK_DEFAULT_TIMEOUT", "300", 0);
	leaks_read_variables();
	if (!entry)
		wrong(1, "there is no TEST");
	while (entry)
		entry = add_case(suite, entry);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
