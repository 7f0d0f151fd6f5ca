/* SPDX-License-Identifier: MIT */
/* The trace in a file. */
#define _GNU_SOURCE /* memfd_create */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "longest_file.h"
#include "scratch.h"
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

CASE("file", start, stop);

static const char *contents(void)
{
	return file_text(path);
}

TEST(lines_are_there_at_once)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

	ck_assert_ptr_nonnull(file);
	trace_file_line(file, "{\"seq\":1}", 9);
	ck_assert_str_eq(contents(), "{\"seq\":1}\n");
	trace_file_line(file, "{\"seq\":2}", 9);
	ck_assert_str_eq(contents(), "{\"seq\":1}\n{\"seq\":2}\n");
	trace_file_close(file);
	file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));
	ck_assert_str_eq(contents(), "");
	trace_file_close(file);
	trace_file_close(NULL);
}

TEST(path_that_cannot_be_written)
{
	ck_assert_ptr_null(trace_file_open("/nowhere/trace", TRACE_LIMIT_DEFAULT, err, sizeof(err)));
	ck_assert_str_eq(err,
			 "trace file /nowhere/trace cannot be written: No such file or directory");
}

TEST(fifo_is_refused)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "trace file %s cannot be written: it is not a regular file",
		 path);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_ptr_null(trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err)));
	ck_assert_str_eq(err, expected);
}

TEST(full_disk_ends_the_trace_with_one_message)
{
	struct trace_file *file = trace_file_open("/dev/full", TRACE_LIMIT_DEFAULT, err, sizeof(err));
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

/* Half of a line fits: write(2) returns short, and then fails. */
TEST(line_that_fits_in_part)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

	trace_file_line(file, "first", 5);
	longest_file(14);
	trace_file_line(file, "0123456789", 10);
	trace_file_line(file, "never", 5);
	trace_file_close(file);
	longest_file(RLIM_INFINITY);
	ck_assert_str_eq(contents(), "first\n01234567");
}

/* The most bytes a writev() takes (0: all), and the number of calls that a signal interrupts. */
static size_t taken_at_once;
static unsigned int signals;
static bool full;	/* the next one finds no room */
static bool nothing;	/* the next one writes nothing, and does not say why */

ssize_t __real_writev(int fd, const struct iovec *part, int count);
ssize_t __wrap_writev(int fd, const struct iovec *part, int count);

ssize_t __wrap_writev(int fd, const struct iovec *part, int count)
{
	struct iovec less[2];
	size_t left = taken_at_once;

	if (signals > 0) {
		signals--;
		errno = EINTR;
		return -1;
	}
	if (full) {
		full = false;
		errno = ENOSPC;
		return -1;
	}
	if (nothing) {
		nothing = false;
		errno = 0;
		return 0;
	}
	if (taken_at_once == 0)
		return __real_writev(fd, part, count);
	ck_assert_int_eq(count, 2);
	for (int i = 0; i < count; i++) {
		less[i] = part[i];
		less[i].iov_len = part[i].iov_len < left ? part[i].iov_len : left;
		left -= less[i].iov_len;
	}
	return __real_writev(fd, less, count);
}

/* However few bytes are taken at once, and whatever comes between, the lines are whole. */
TEST(lines_written_in_parts)
{
	for (taken_at_once = 1; taken_at_once < 14; taken_at_once++) {
		struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

		signals = 2;
		trace_file_line(file, "0123456789", 10);
		trace_file_line(file, "next", 4);
		ck_assert_str_eq(contents(), "0123456789\nnext\n");
		ck_assert_ptr_null(trace_file_ended(file));
		trace_file_close(file);
	}
	taken_at_once = 0;
}

/* Not tried forever: it is an error. */
TEST(line_of_which_nothing_is_written)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

	trace_file_line(file, "first", 5);
	nothing = true;
	trace_file_line(file, "never", 5);
	trace_file_line(file, "never", 5);
	ck_assert_str_eq(trace_file_ended(file), "Input/output error");
	trace_file_close(file);
	ck_assert_str_eq(contents(), "first\n");
}

static void same(struct trace_file *file, unsigned int seq, uint64_t tod, unsigned int cpu)
{
	char line[128];
	const int len = snprintf(line, sizeof(line), "{\"seq\":%u,\"tod\":\"%016" PRIx64
				 "\",\"cpu\":%u,\"call\":\"diag.44\"}", seq, tod, cpu);

	trace_file_line(file, line, (size_t)len);
}

#define SAME(seq, cpu) \
	"{\"seq\":" #seq ",\"tod\":\"000000000000000" #seq "\",\"cpu\":" #cpu ",\"call\":\"diag.44\"}\n"

/* Four of the same are written out, the others counted, until another comes or the file ends. */
TEST(repeats_are_counted)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

	for (unsigned int i = 1; i < 8; i++)
		same(file, i, i, 0);
	ck_assert_str_eq(contents(), SAME(1, 0) SAME(2, 0) SAME(3, 0) SAME(4, 0));
	same(file, 8, 8, 1);
	for (unsigned int i = 9; i < 0xf; i++)
		same(file, i, i, 1);
	trace_file_close(file);
	ck_assert_str_eq(contents(), SAME(1, 0) SAME(2, 0) SAME(3, 0) SAME(4, 0)
			 "{\"seq\":7,\"tod\":\"0000000000000007\",\"cpu\":0,\"call\":\"repeat\",\"times\":3}\n"
			 SAME(8, 1) SAME(9, 1)
			 "{\"seq\":10,\"tod\":\"000000000000000a\",\"cpu\":1,\"call\":\"diag.44\"}\n"
			 "{\"seq\":11,\"tod\":\"000000000000000b\",\"cpu\":1,\"call\":\"diag.44\"}\n"
			 "{\"seq\":14,\"tod\":\"000000000000000e\",\"cpu\":1,\"call\":\"repeat\",\"times\":3}\n");
}

/* The count before a line does not fit, the line would: nothing comes behind what is missing. */
TEST(count_that_does_not_fit)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

	for (unsigned int i = 1; i < 7; i++)
		same(file, i, i, 0);
	full = true;
	same(file, 7, 7, 1);
	ck_assert(!full);
	ck_assert_str_eq(trace_file_ended(file), "No space left on device");
	trace_file_close(file);
	ck_assert_str_eq(contents(), SAME(1, 0) SAME(2, 0) SAME(3, 0) SAME(4, 0));
}

/*
 * A loop has its counter in a register, which who gives his time slice away does not look at.
 * What comes behind the registers counts for all.
 */
TEST(registers_that_count)
{
	static const struct { const char *call; unsigned int ends, lines; } calls[] = {
		{ "diag.44", 1, TRACE_SAME_LINES + 1 }, { "diag.9c", 1, TRACE_SAME_LINES + 1 },
		{ "diag.08", 1, 20 }, { "diag.44", 2, 20 }, { "diag.9c", 2, 20 },
	};
	char line[200];

	for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
		struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));
		unsigned int lines = 0;

		for (unsigned int i = 0; i < 20; i++) {
			const int len = snprintf(line, sizeof(line), "{\"seq\":%u,\"tod\":\"1\","
						 "\"cpu\":0,\"call\":\"%s\",\"gr\":[\"0\",\"%x\"],"
						 "\"how\":%u}", i, calls[c].call, i, i % calls[c].ends);

			trace_file_line(file, line, (size_t)len);
		}
		trace_file_close(file);
		for (const char *at = contents(); *at; at++)
			lines += *at == '\n';
		ck_assert_uint_eq(lines, calls[c].lines);
	}
}

/* A kill loses a second of them at most, and no count is above TRACE_SAME_TIMES. */
TEST(counts_are_written_now_and_then)
{
	const uint64_t second = UINT64_C(4096000000);
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));

	for (unsigned int i = 1; i <= 5; i++)
		same(file, i, second, 0);
	same(file, 6, 2 * second - 1, 0);
	ck_assert_ptr_null(strstr(contents(), "repeat"));
	same(file, 7, 2 * second, 0);
	ck_assert_ptr_nonnull(strstr(contents(), "\"call\":\"repeat\",\"times\":3}\n"));
	for (unsigned int i = 0; i < TRACE_SAME_TIMES; i++)
		same(file, 8 + i, 3 * second, 0);
	ck_assert_ptr_nonnull(strstr(contents(), "\"times\":65536}\n"));
	trace_file_close(file);
}

/* Longer ones, and lines that are no records, are written as they come. */
TEST(what_is_not_counted)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));
	char line[TRACE_SAME_MAX + 200];
	int len = sprintf(line, "{\"seq\":1,\"tod\":\"0\",\"cpu\":0,\"call\":\"");

	memset(line + len, 'x', TRACE_SAME_MAX);
	for (unsigned int i = 0; i < 3; i++)
		trace_file_line(file, line, (size_t)len + TRACE_SAME_MAX);
	for (unsigned int i = 0; i < 9; i++)
		trace_file_line(file, "other", 5);
	trace_file_close(file);
	ck_assert_uint_eq(strlen(contents()), 3 * ((size_t)len + TRACE_SAME_MAX + 1) + 9 * 6);
}

/* So many times the same line; how many lines the file has then. */
static unsigned int lines_of(const char *line, unsigned int times)
{
	struct trace_file *file = trace_file_open(path, TRACE_LIMIT_DEFAULT, err, sizeof(err));
	unsigned int lines = 0;

	for (unsigned int i = 0; i < times; i++)
		trace_file_line(file, line, strlen(line));
	trace_file_close(file);
	for (const char *at = contents(); *at; at++)
		lines += *at == '\n';
	return lines;
}

/* A record is counted if the CPU comes early enough in it, and what follows is short enough. */
TEST(longest_that_are_counted)
{
	static const char cpu[] = ",\"cpu\":0,\"call\":\"x\"}";
	char line[TRACE_SAME_MAX + 200];

	for (size_t head = 85; head < 93; head++) {
		memset(line, ' ', head);
		strcpy(line + head, cpu);
		/* Up to the 96th byte. */
		ck_assert_uint_eq(lines_of(line, 9), head + strlen(",\"cpu\":") <= 96 ?
						     TRACE_SAME_LINES + 1 : 9);
	}
	for (size_t body = TRACE_SAME_MAX - 2; body < TRACE_SAME_MAX + 3; body++) {
		snprintf(line, sizeof(line), "{\"seq\":1,\"cpu\":0,\"call\":\"");
		memset(line + strlen(line), 'x', sizeof(line) - strlen(line));
		line[strlen("{\"seq\":1") + body] = '\0';
		ck_assert_uint_eq(lines_of(line, 9), body <= TRACE_SAME_MAX ? TRACE_SAME_LINES + 1 : 9);
	}
}

/* The count's own record has the CPU, if its number is no longer than one can be. */
TEST(cpu_of_a_count)
{
	static const char *const cpus[] = { "0", "63", "123456789", "1234567890", "" };
	char line[200], expected[200];

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		snprintf(line, sizeof(line), "{\"seq\":1,\"cpu\":%s,\"call\":\"x\"}", cpus[i]);
		lines_of(line, TRACE_SAME_LINES + 3);
		snprintf(expected, sizeof(expected), "\n{\"seq\":1%s%s,\"call\":\"repeat\",\"times\":3}\n",
			 strlen(cpus[i]) < 10 ? ",\"cpu\":" : "", strlen(cpus[i]) < 10 ? cpus[i] : "");
		ck_assert_msg(strstr(contents(), expected) != NULL, "%s", contents());
	}
}

/* The limit's own record has 512 bytes; a line may take all but these. */
TEST(limit_to_the_byte)
{
	char line[2048];

	memset(line, 'x', sizeof(line));
	for (size_t len = 1533; len < 1539; len++) {
		struct trace_file *file = trace_file_open(path, 2048, err, sizeof(err));

		trace_file_line(file, line, len);
		ck_assert_int_eq(trace_file_ended(file) != NULL, len + 1 > 2048 - 512);
		trace_file_close(file);
		/* The same of two lines. */
		file = trace_file_open(path, 2048, err, sizeof(err));
		trace_file_line(file, line, 1000);
		trace_file_line(file, line, len - 1001);
		ck_assert_int_eq(trace_file_ended(file) != NULL, len + 1 > 2048 - 512);
		trace_file_close(file);
	}
}

TEST(limit_in_mib)
{
	static char line[1 << 20];
	struct trace_file *file = trace_file_open(path, 2u << 20, err, sizeof(err));

	memset(line, 'x', sizeof(line));
	trace_file_line(file, line, sizeof(line));
	ck_assert_ptr_null(trace_file_ended(file));
	trace_file_line(file, line, sizeof(line));
	ck_assert_str_eq(trace_file_ended(file), "its limit of 2 MiB is reached (trace-limit)");
	trace_file_close(file);
}

TEST(limit_is_said)
{
	struct trace_file *file = trace_file_open(path, 2048, err, sizeof(err));
	unsigned int seq = 1;
	const char *last;

	while (!trace_file_ended(file)) {
		ck_assert_uint_lt(seq, 100);
		same(file, seq, seq, seq % 2);
		seq++;
	}
	same(file, seq, seq, 0);
	trace_file_close(file);
	ck_assert_uint_lt(strlen(contents()), 2048);
	ck_assert_uint_gt(strlen(contents()), 1536);
	last = strstr(contents(), "\"cpu\":null");
	ck_assert_str_eq(last, "\"cpu\":null,\"call\":\"trace.limit\",\"limit\":2048,\"missing\":\"this "
			 "record and all after it\"}\n");
	ck_assert_uint_eq(strtoul(strrchr(contents(), '{') + 7, NULL, 10), seq - 1);
}

static const struct { const char *text; uint64_t mib; } limits[] = {
	{ "1", 1 }, { "1024", 1024 }, { "1048576", 1048576 }, { "0", 0 }, { "", 0 }, { "-1", 0 },
	{ "1048577", 0 }, { "1x", 0 }, { " 1", 0 }, { "99999999999999999999", 0 },
};

TEST_EACH(limit_in_words, limits)
{
	uint64_t limit = 7;

	ck_assert_int_eq(trace_file_limit(limits[_i].text, &limit, err, sizeof(err)),
			 limits[_i].mib ? 0 : -1);
	ck_assert_uint_eq(limit, limits[_i].mib ? limits[_i].mib << 20 : 7);
	if (limits[_i].mib == 0)
		ck_assert_ptr_nonnull(strstr(err, "is not valid: expected 1 to 1048576 (MiB)"));
}
