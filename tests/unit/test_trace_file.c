/* SPDX-License-Identifier: MIT */
/* The trace in a file. */
#define _GNU_SOURCE /* memfd_create */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_file.h"

static char path[64], err[256];

static void start(void)
{
	strcpy(path, "/tmp/zvmlab-trace-XXXXXX");
	close(mkstemp(path));
}

static void stop(void)
{
	unlink(path);
}

static const char *contents(void)
{
	static char text[4096];
	FILE *file = fopen(path, "r");
	size_t len;

	ck_assert_ptr_nonnull(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	return text;
}

START_TEST(lines_are_there_at_once)
{
	struct trace_file *file = trace_file_open(path, err, sizeof(err));

	ck_assert_ptr_nonnull(file);
	trace_file_line(file, "{\"seq\":1}", 9);
	ck_assert_str_eq(contents(), "{\"seq\":1}\n");
	trace_file_line(file, "{\"seq\":2}", 9);
	ck_assert_str_eq(contents(), "{\"seq\":1}\n{\"seq\":2}\n");
	trace_file_close(file);
	file = trace_file_open(path, err, sizeof(err));
	ck_assert_str_eq(contents(), "");
	trace_file_close(file);
	trace_file_close(NULL);
}
END_TEST

START_TEST(path_that_cannot_be_written)
{
	ck_assert_ptr_null(trace_file_open("/nowhere/trace", err, sizeof(err)));
	ck_assert_str_eq(err,
			 "trace file /nowhere/trace cannot be written: No such file or directory");
}
END_TEST

START_TEST(full_disk_ends_the_trace_with_one_message)
{
	struct trace_file *file = trace_file_open("/dev/full", err, sizeof(err));
	int messages = memfd_create("stderr", 0), saved = dup(STDERR_FILENO);
	char text[256];
	ssize_t len;

	ck_assert_ptr_nonnull(file);
	dup2(messages, STDERR_FILENO);
	trace_file_line(file, "x", 1);
	trace_file_line(file, "x", 1);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	len = pread(messages, text, sizeof(text) - 1, 0);
	ck_assert_int_gt(len, 0);
	text[len] = '\0';
	ck_assert_str_eq(text, "zvmlab: trace file /dev/full ends here: No space left on device\n");
	trace_file_close(file);
}
END_TEST

/* Half of a line fits: write(2) returns short, and then fails. */
START_TEST(line_that_fits_in_part)
{
	struct trace_file *file = trace_file_open(path, err, sizeof(err));
	struct rlimit limit = { .rlim_cur = 14, .rlim_max = RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	trace_file_line(file, "first", 5);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 14;
	setrlimit(RLIMIT_FSIZE, &limit);
	trace_file_line(file, "0123456789", 10);
	trace_file_line(file, "never", 5);
	trace_file_close(file);
	ck_assert_str_eq(contents(), "first\n01234567");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, lines_are_there_at_once);
	tcase_add_test(tc, path_that_cannot_be_written);
	tcase_add_test(tc, full_disk_ends_the_trace_with_one_message);
	tcase_add_test(tc, line_that_fits_in_part);
	suite_add_tcase(suite, tc);
	return fx_run(suite);
}
