/* SPDX-License-Identifier: MIT */
/* What main() of a unit test does: one suite of one case. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include <check.h>

/* Runs a case, which is the suite's only one.  Return value for main. */
static inline int check_run_case(const char *name, TCase *cases)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	/* They take milliseconds; a busy machine may not give them any for seconds. */
	tcase_set_timeout(cases, 60);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
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
