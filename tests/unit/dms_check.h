/* SPDX-License-Identifier: MIT */
/* What the tests of device-mapper statistics (tools/dmmon/dms_*) share. */
#ifndef DMS_CHECK_H
#define DMS_CHECK_H

#include <check.h>
#include <string.h>

#include "dms_message.h"

/* Words of a message by the kernel's rule, a second time: a backslash quotes a byte, white
 * space of Latin 1 parts words.  @message is overwritten. */
static inline size_t dms_split(char *message, char **words, size_t most)
{
	char *in = message, *out = message;
	size_t count = 0;

	for (;;) {
		while (*in && dms_parts_words((unsigned char)*in))
			in++;
		if (!*in || count == most)
			return count;
		words[count++] = out;
		while (*in && !dms_parts_words((unsigned char)*in)) {
			if (*in == '\\' && in[1])
				in++;
			*out++ = *in++;
		}
		/* The word's NUL may stand where the blank is. */
		in += *in != '\0';
		*out++ = '\0';
	}
}

static inline int dms_run(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *cases = tcase_create(name);
	SRunner *runner;
	int failed;

	/* They take milliseconds; a busy machine may not give them any for seconds. */
	tcase_set_timeout(cases, 60);
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
