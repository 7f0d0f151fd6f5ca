/* SPDX-License-Identifier: MIT */
/* What main() of a unit test does: one suite of one case. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include <check.h>

/* @start, @stop: before and after each test, NULL for none.  Return value for main. */
static inline int check_run(const char *name, SFun start, SFun stop, const TTest *const *tests,
			    size_t count)
{
	Suite *suite = suite_create(name);
	TCase *cases = tcase_create(name);
	SRunner *runner;
	int failed;

	/* They take milliseconds; a busy machine may not give them any for seconds. */
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, start, stop);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(cases, tests[i]);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
