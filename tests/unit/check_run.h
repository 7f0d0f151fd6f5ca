/* SPDX-License-Identifier: MIT */
/* What main() of a unit test does. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include <check.h>
#include <stdlib.h>

/*
 * Seconds that a test may take, if its case says nothing else.  It takes milliseconds, but a busy
 * machine may give it no processor for seconds.  Check reads this when a case is created.
 */
__attribute__((constructor)) static void check_time_limit(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
}

/* Runs a suite and frees it.  Return value for main. */
static inline int check_run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The same for a case, which is the suite's only one. */
static inline int check_run_case(const char *name, TCase *cases)
{
	Suite *suite = suite_create(name);

	suite_add_tcase(suite, cases);
	return check_run_suite(suite);
}

/* The same for @tests.  @start, @stop: before and after each test, NULL for none. */
static inline int check_run(const char *name, SFun start, SFun stop, const TTest *const *tests,
			    size_t count)
{
	TCase *cases = tcase_create(name);

	tcase_add_checked_fixture(cases, start, stop);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(cases, tests[i]);
	return check_run_case(name, cases);
}

#endif
