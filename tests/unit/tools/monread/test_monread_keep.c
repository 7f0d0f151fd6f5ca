/* SPDX-License-Identifier: MIT */
/* A file that always ends where a set does: what stands in it after each step, and failures. */
#define _GNU_SOURCE /* memfd_create() */
#include "scratch.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "longest_file.h"
#include "keep.h"

static char path[96];
static struct keep keep;

static void start(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/out", folder);
}

static void stop(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("monread keep", start, stop);

/* The file has these bytes and no more. */
static void ck_file(const char *expected)
{
	ck_assert_str_eq(file_text(path), expected);
}

static void put(const char *text)
{
	ck_assert_int_eq(keep_write(&keep, text, strlen(text)), 0);
}

TEST(marks_and_ways_back)
{
	ck_assert_int_eq(keep_open(&keep, path, NULL, 0), 0);
	ck_file("");
	put("one");
	ck_assert_uint_eq(keep_at(&keep), 3);
	ck_assert_uint_eq(keep.kept, 0);
	ck_assert_int_eq(keep_mark(&keep), 0);
	ck_assert_uint_eq(keep.kept, 3);
	ck_file("one");
	put("two");
	ck_assert_int_eq(keep_flush(&keep), 0);
	ck_file("onetwo");
	ck_assert_int_eq(keep_back(&keep), 0);
	ck_file("one");
	ck_assert_uint_eq(keep_at(&keep), 3);
	/* What is still in memory goes, too. */
	put("three");
	ck_assert_int_eq(keep_back(&keep), 0);
	put("four");
	ck_assert_int_eq(keep_mark(&keep), 0);
	put("five");
	ck_assert_int_eq(keep_close(&keep), 0);
	ck_file("onefour");
	ck_assert_ptr_null(keep.file);
	ck_assert_int_eq(keep_close(&keep), 0);
}

/* The tail stands behind what is kept after every step, and is written over. */
TEST(tail)
{
	ck_assert_int_eq(keep_open(&keep, path, "END", 3), 0);
	ck_file("END");
	put("one");
	ck_assert_int_eq(keep_mark(&keep), 0);
	ck_file("oneEND");
	ck_assert_uint_eq(keep.kept, 3);
	put("much more");
	ck_assert_int_eq(keep_flush(&keep), 0);
	ck_file("onemuch more");
	ck_assert_int_eq(keep_back(&keep), 0);
	ck_file("oneEND");
	put("2");
	ck_assert_int_eq(keep_mark(&keep), 0);
	ck_file("one2END");
	ck_assert_int_eq(keep_close(&keep), 0);
	ck_file("one2END");
}

TEST(patches)
{
	ck_assert_int_eq(keep_open(&keep, path, NULL, 0), 0);
	put("kept");
	ck_assert_int_eq(keep_mark(&keep), 0);
	put("....more");
	/* From the mark on, and up to the last byte. */
	ck_assert_int_eq(keep_patch(&keep, 4, "head", 4), 0);
	ck_file("keptheadmore");
	ck_assert_int_eq(keep_patch(&keep, 11, "E", 1), 0);
	ck_file("keptheadmorE");
	ck_assert_uint_eq(keep_at(&keep), 12);
	put("!");
	ck_assert_int_eq(keep_mark(&keep), 0);
	ck_file("keptheadmorE!");
	ck_assert_int_eq(keep_close(&keep), 0);
}

/* The file's contents are replaced; its mode stays. */
TEST(file_that_is_there)
{
	struct stat status;

	file_write(path, "something long");
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(keep_open(&keep, path, NULL, 0), 0);
	ck_file("");
	put("x");
	ck_assert_int_eq(keep_mark(&keep), 0);
	ck_assert_int_eq(keep_close(&keep), 0);
	ck_file("x");
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0640);
}

TEST(not_a_regular_file)
{
	int ends[2];

	ck_assert_int_eq(keep_open(&keep, folder, NULL, 0), -EISDIR);
	ck_assert_int_eq(keep_open(&keep, "/nowhere/at/all", NULL, 0), -ENOENT);
	ck_assert_ptr_null(keep.file);
	/* A pipe, by its name here. */
	ck_assert_int_eq(pipe(ends), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	ck_assert_int_eq(keep_open(&keep, path, "tail", 4), -ESPIPE);
	ck_assert_ptr_null(keep.file);
	close(ends[0]);
	close(ends[1]);
}

/* A stream that is no file, although it may say that it stands at its begin. */
TEST(streams_that_are_not_kept)
{
	FILE *file = fopen("/dev/null", "w");
	int ends[2];

	ck_assert_ptr_nonnull(file);
	ck_assert(!keep_stream(&keep, file));
	ck_assert_ptr_null(keep.file);
	fclose(file);
	ck_assert_int_eq(pipe(ends), 0);
	file = fdopen(ends[1], "w");
	ck_assert(!keep_stream(&keep, file));
	ck_assert_ptr_null(keep.file);
	fclose(file);
	close(ends[0]);
}

/* From where the stream stands: at the end of what is appended to, else wherever it is. */
TEST(streams)
{
	static const struct { const char *mode; uint64_t at; const char *kept, *text; } cases[] = {
		{ "a", 6, "before", "beforenew" }, { "r+", 0, "", "new" }, { "w", 0, "", "new" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *file;

		file_write(path, "before");
		file = fopen(path, cases[i].mode);
		ck_assert_ptr_nonnull(file);
		ck_assert(keep_stream(&keep, file));
		ck_assert_uint_eq(keep.kept, cases[i].at);
		put("new");
		ck_assert_int_eq(keep_flush(&keep), 0);
		ck_assert_int_eq(keep_back(&keep), 0);
		ck_file(cases[i].kept);
		put("new");
		ck_assert_int_eq(keep_mark(&keep), 0);
		put("lost");
		ck_assert_int_eq(keep_close(&keep), 0);
		ck_file(cases[i].text);
	}
}

/* A disk that is full: what was kept stays, all else goes. */
TEST(no_room)
{
	ck_assert_int_eq(keep_open(&keep, path, "END", 3), 0);
	put("one");
	ck_assert_int_eq(keep_mark(&keep), 0);
	longest_file(8);
	put("23456");
	/* The bytes have room; the tail has for none, for some, and for all of its bytes. */
	ck_assert_int_eq(keep_mark(&keep), -EFBIG);
	ck_assert_uint_eq(keep.kept, 3);
	ck_assert_int_eq(keep_back(&keep), 0);
	ck_file("oneEND");
	put("234");
	ck_assert_int_eq(keep_mark(&keep), -EFBIG);
	ck_assert_int_eq(keep_back(&keep), 0);
	ck_file("oneEND");
	put("more than there is room for");
	ck_assert_int_eq(keep_flush(&keep), -EFBIG);
	ck_assert_int_eq(keep_back(&keep), 0);
	ck_file("oneEND");
	put("more than there is room for");
	ck_assert_int_eq(keep_patch(&keep, 3, "x", 1), -EFBIG);
	ck_assert_int_eq(keep_back(&keep), 0);
	put("23");
	ck_assert_int_eq(keep_mark(&keep), 0);
	ck_file("one23END");
	longest_file(RLIM_INFINITY);
	ck_assert_int_eq(keep_close(&keep), 0);
	ck_file("one23END");
}

/* A file that may not become shorter any more: what is behind the mark cannot be taken back. */
TEST(no_way_back)
{
	const int fd = memfd_create("kept", MFD_ALLOW_SEALING);
	char name[32];

	ck_assert_int_ge(fd, 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(keep_open(&keep, name, NULL, 0), 0);
	put("one");
	ck_assert_int_eq(keep_mark(&keep), 0);
	put("two");
	ck_assert_int_eq(keep_flush(&keep), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	ck_assert_int_eq(keep_back(&keep), -EPERM);
	ck_assert_int_eq(keep_close(&keep), -EPERM);
	ck_assert_ptr_null(keep.file);
	/* Without a descriptor the first error is told, too. */
	ck_assert_int_eq(keep_open(&keep, path, "END", 3), 0);
	close(fileno(keep.file));
	ck_assert_int_eq(keep_back(&keep), -EBADF);
	ck_assert_int_eq(keep_close(&keep), -EBADF);
	close(fd);
}

/* The file can be made, and its tail not be written. */
TEST(no_room_for_a_tail)
{
	longest_file(2);
	ck_assert_int_eq(keep_open(&keep, path, "END", 3), -EFBIG);
	ck_assert_int_eq(keep_close(&keep), -EFBIG);
	longest_file(RLIM_INFINITY);
	ck_assert_ptr_null(keep.file);
}
