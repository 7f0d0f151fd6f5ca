/* SPDX-License-Identifier: MIT */
/* monread's outputs when storage runs out: there is none, and no file of it; nothing leaks. */
#include "scratch.h"
#include "storage_fails.h"
#include "unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"
#include "export.h"
#include "options.h"
#include "pass.h"
#include "sink.h"

static char path[96], inner[128];
static uint8_t bytes[100];

/* Stands in for main.c. */
static char complaint[32];
static int complained;

void complain_about(const char *what, int error)
{
	snprintf(complaint, sizeof(complaint), "%s", what);
	complained = error;
}

static void start(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/out", folder);
}

static void stop(void)
{
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("monread storage", start, stop);

static const struct rotation never;

static struct sink *open_one(unsigned int which)
{
	switch (which) {
	case 0:
		return stream_sink(path);
	case 1:
		return monwrite_sink(path, &never);
	case 2:
		return csv_sink(path);
	case 3:
		return html_sink(path, "title", NULL, &thresholds_default);
	case 4:
		return activity_sink(stdout, NULL);
	case 5:
		return tables_sink(stdout, NULL, &thresholds_default);
	default:
		return summary_sink(stdout);
	}
}

TEST(outputs)
{
	for (unsigned int which = 0; which < 7; which++) {
		struct sink *sink;
		int error;

		storage_left = 0;
		errno = 0;
		sink = open_one(which);
		error = errno;
		ck_assert_msg(!sink, "%u", which);
		ck_assert_int_eq(error, ENOMEM);
		ck_assert_int_ne(access(path, F_OK), 0);
	}
}

TEST(folders_that_are_not_there)
{
	snprintf(path, sizeof(path), "%s/no/such", folder);
	for (unsigned int which = 0; which < 4; which++) {
		errno = 0;
		ck_assert_ptr_null(open_one(which));
		ck_assert_int_eq(errno, ENOENT);
	}
}

/* The row that there is no storage for is missing, with all of its set. */
TEST(rows)
{
	const struct monrec_item item = {
		.kind = MONREC_RECORD,
		.record = { .data = bytes, .len = 24, .domain = 1, .number = 3,
			    .release = MONREC_REFERENCE },
	};
	struct sink *sink = csv_sink(path);
	long place = 0, size;
	FILE *file;
	int ret;

	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(sink->ops->item(sink, &item), 0);
	ck_assert_int_eq(sink->ops->keep(sink), 0);
	snprintf(inner, sizeof(inner), "%s/D1R3-MTRSUS.csv", path);
	file = fopen(inner, "r");
	ck_assert_ptr_nonnull(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	fclose(file);
	sink->ops->close(sink);
	unlink(inner);
	for (bool failed = true; failed; place++) {
		sink = csv_sink(path);
		storage_left = place;
		ret = sink->ops->item(sink, &item);
		failed = storage_left < 0;
		storage_left = -1;
		ck_assert(ret == (failed ? -ENOMEM : 0));
		if (!failed)
			ck_assert_int_eq(sink->ops->keep(sink), 0);
		sink->ops->close(sink);
		file = fopen(inner, "r");
		if (file) {
			fseek(file, 0, SEEK_END);
			ck_assert_int_eq(ftell(file) == size, !failed);
			fclose(file);
			unlink(inner);
		}
	}
	ck_assert_int_gt(place, 1);
	ck_assert_int_eq(rmdir(path), 0);
}

TEST(a_reader)
{
	const struct options options = { .files = { { path }, 1 } };
	struct input input = { .name = path, .format = MONREC_SAVED };
	struct tally tally = { 0 };
	struct sinks sinks = { 0 };
	struct releases releases = { 0 };
	struct pass pass = {
		.options = &options, .input = &input, .releases = &releases, .sinks = &sinks,
		.tally = &tally,
	};

	input.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	storage_left = 0;
	ck_assert_int_eq(pass_all(&pass), EXIT_CANNOT_RUN);
	ck_assert_str_eq(complaint, "no storage");
	ck_assert_int_eq(complained, ENOMEM);
	storage_left = -1;
	ck_assert_int_eq(pass_all(&pass), EXIT_PASS);
	input_close(&input);
}

/* Not even the name of its index can be made: the file cannot be read, with or without one. */
TEST(a_file)
{
	struct input input = { .name = path };

	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	storage_left = 0;
	ck_assert_int_eq(input_open(&input, false), -ENOMEM);
	input_close(&input);
	storage_left = -1;
	ck_assert_int_eq(input_open(&input, false), 0);
	ck_assert_int_eq(input.format, MONREC_SAVED);
	input_close(&input);
	unlink(path);
}

/* An exporter is complete, or there is none and a sentence says so. */
TEST(an_exporter)
{
	struct options options = { .exports = EXPORT_OPTIONS_DEFAULT };
	struct tally tally = { 0 };
	unsigned int refused = 0;
	int code = EXIT_FAILED;

	options.exports.textfile = path;
	for (long place = 0; code != EXIT_PASS; place++) {
		struct export *export = NULL;
		struct sinks sinks = { .count = 0 };

		complained = 0;
		storage_left = place;
		code = export_begin(&export, &options, &tally, NULL, &sinks);
		storage_left = -1;
		/* Of a file that cannot be written for it, the path is said to be wrong. */
		ck_assert(code == EXIT_PASS || code == EXIT_FAILED || code == EXIT_USAGE);
		refused += code == EXIT_FAILED;
		sinks_close(&sinks);
		export_end(export, code);
	}
	ck_assert_uint_gt(refused, 2);
	unlink(path);
}
