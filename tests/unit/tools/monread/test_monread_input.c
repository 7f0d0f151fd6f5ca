/* SPDX-License-Identifier: MIT */
/* monread: signals, counted in order; lines of an index; bytes of files and pipes. */
#include "scratch.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "index.h"
#include "input.h"
#include "signals.h"

static void start(void)
{
	signals_catch();
}

CASE("monread input", start, NULL);

/* None is delivered but within a wait, all are counted; the first one stays the first. */
TEST(signals_without_a_wait)
{
	ck_assert_uint_eq(signals_count(), 0);
	ck_assert_int_eq(signals_first(), 0);
	raise(SIGTERM);
	ck_assert_int_eq(signals_first(), 0);
	ck_assert_uint_eq(signals_count(), 1);
	ck_assert_int_eq(signals_first(), SIGTERM);
	raise(SIGINT);
	raise(SIGALRM);
	ck_assert_uint_eq(signals_count(), 2);
	ck_assert_int_eq(signals_first(), SIGTERM);
}

TEST(signals_within_a_wait)
{
	for (unsigned int i = 1; i <= 2; i++) {
		raise(i == 1 ? SIGTERM : SIGINT);
		signals_begin(-1);
		ck_assert(!signals_end());
		ck_assert_uint_eq(signals_count(), i);
		ck_assert_int_eq(signals_first(), SIGTERM);
	}
}

/* They come within a wait and at no other time. */
static void ck_blocked(bool wanted)
{
	static const int ours[] = { SIGINT, SIGTERM, SIGALRM };
	sigset_t blocked;

	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_int_eq(sigismember(&blocked, ours[i]), wanted);
	ck_assert_int_eq(sigismember(&blocked, SIGHUP), 0);
}

TEST(signals_are_blocked_outside_a_wait)
{
	for (unsigned int i = 0; i < 2; i++) {
		ck_blocked(true);
		signals_begin(-1);
		ck_blocked(false);
		ck_assert(!signals_end());
	}
	ck_blocked(true);
	ck_assert_uint_eq(signals_count(), 0);
	/* One that is too large a file is an error of who writes it, and no end. */
	ck_assert_int_eq(raise(SIGXFSZ), 0);
}

static int64_t microseconds(const struct timeval *time)
{
	return time->tv_sec * INT64_C(1000000) + time->tv_usec;
}

static int64_t clock_us(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The remaining time is the limit minus the time that has passed; then it is 0. */
TEST(limits_of_a_wait)
{
	static const int limits[] = { -1000000, -1, 999999, 5000, 60001, 86399999 };
	struct itimerval left;

	for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const int64_t all = limits[i] * INT64_C(1000), begin = clock_us();

		signals_begin(limits[i]);
		ck_assert_int_eq(getitimer(ITIMER_REAL, &left), 0);
		if (all < 0) {
			ck_assert_int_eq(microseconds(&left.it_value), 0);
		} else {
			ck_assert_int_le(microseconds(&left.it_value), all + 1);
			/* The timer's time is rounded. */
			ck_assert_int_ge(microseconds(&left.it_value) + clock_us() - begin, all - 1000);
		}
		signals_end();
		ck_assert_int_eq(getitimer(ITIMER_REAL, &left), 0);
		ck_assert_int_eq(microseconds(&left.it_value), 0);
	}
}

/* The handler may run before the wait has begun, whose end it is to be: an alarm follows it. */
TEST(signals_before_the_wait)
{
	struct itimerval left;

	signals_begin(-1);
	raise(SIGTERM);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(getitimer(ITIMER_REAL, &left), 0);
		ck_assert_int_le(microseconds(&left.it_value), 1000000);
		ck_assert_int_eq(poll(NULL, 0, 60000), -1);
		ck_assert_int_eq(errno, EINTR);
	}
	ck_assert(signals_end());
	ck_assert_uint_eq(signals_count(), 1);
	/* So it is with the limit. */
	signals_begin(50000);
	raise(SIGALRM);
	ck_assert_int_eq(poll(NULL, 0, 30000), -1);
	ck_assert_int_eq(errno, EINTR);
	ck_assert(signals_end());
}

/* A time limit ends the wait, and is none of the signals that are counted. */
TEST(waits_with_a_limit)
{
	for (int limit = 30; limit >= 0; limit -= 30) {
		signals_begin(limit);
		ck_assert_int_eq(poll(NULL, 0, 60000), -1);
		ck_assert_int_eq(errno, EINTR);
		ck_assert(signals_end());
		ck_assert_uint_eq(signals_count(), 0);
	}
	/* The next wait begins anew. */
	signals_begin(50000);
	ck_assert(!signals_end());
	ck_assert_int_eq(poll(NULL, 0, 1), 0);
}

static int read_line(const char *line, struct index_entry *entry)
{
	FILE *file = fmemopen((void *)(uintptr_t)line, strlen(line), "r");
	int ret;

	ck_assert_ptr_nonnull(file);
	memset(entry, 0, sizeof(*entry));
	ret = index_next(file, entry);
	fclose(file);
	return ret;
}

#define HEX "00112233445566778899aabbccddeeff"
#define INTERRUPT HEX HEX "0123456789abcdef"

TEST(lines_of_an_index)
{
	static const struct { const char *line; int ret; uint64_t length; } cases[] = {
		{ "{\"length\":1}\n", 1, 1 }, { "{\"length\":0}\n", -1, 0 },
		{ "{\"length\":-1}\n", -1, 0 }, { "{\"length\":\"1\"}\n", -1, 0 },
		{ "{\"set\":3,\"offset\":4,\"length\":5}\n", 1, 5 }, { "{}\n", -1, 0 },
		{ "{\"length\":1,\"length\":2}\n", -1, 0 }, { "{\"length\":1}", 0, 0 },
		{ "\n", -1, 0 }, { "{\"length\":1,\"interrupt\":3}\n", -1, 0 },
		{ "{\"length\":1,\"interrupt\":\"" INTERRUPT "\"}\n", 1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" INTERRUPT "00\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcdeg\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcd/f\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcd:f\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcdEf\"}\n", -1, 1 },
		{ "{\"length\":1,\"interrupt\":\"" HEX HEX "0123456789abcde`\"}\n", -1, 1 },
	};
	struct index_entry entry;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(read_line(cases[i].line, &entry) == cases[i].ret, "%s", cases[i].line);
		if (cases[i].ret == 1)
			ck_assert_uint_eq(entry.length, cases[i].length);
	}
}

TEST(interruptions)
{
	static const uint8_t wanted[40] = {
		0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd,
		0xee, 0xff, 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb,
		0xcc, 0xdd, 0xee, 0xff, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
	};
	struct index_entry entry;

	ck_assert_int_eq(read_line("{\"length\":9,\"interrupt\":\"" INTERRUPT "\"}\n", &entry), 1);
	ck_assert(entry.has_interrupt);
	ck_assert_mem_eq(entry.interrupt, wanted, 40);
	ck_assert_int_eq(read_line("{\"length\":9}\n", &entry), 1);
	ck_assert(!entry.has_interrupt);
}

/* The last line may be cut: then it is not there yet.  One that is too long is none. */
TEST(long_lines)
{
	static char line[1100];
	struct index_entry entry;

	for (unsigned int len = 1021; len <= 1024; len++) {
		memset(line, ' ', len);
		memcpy(line, "{\"length\":1}", 12);
		strcpy(line + len, "\n");
		ck_assert_int_eq(read_line(line, &entry), len <= 1022 ? 1 : -1);
		line[len] = '\0';
		ck_assert_int_eq(read_line(line, &entry), len <= 1022 ? 0 : -1);
	}
}

/* The end is none, an error is one: a directory can be opened and not be read. */
TEST(ends_of_an_index)
{
	struct index_entry entry;
	FILE *file = fopen("/", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(index_next(file, &entry), -1);
	fclose(file);
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(index_next(file, &entry), 0);
	fclose(file);
}

TEST(names_and_elements)
{
	static const uint8_t wanted[12] = { 0xe2, 0xc8, 0x01, 0x5a, 9, 1, 2, 3, 9, 1, 15, 255 };
	const struct monrec_element element = {
		.type = 0xe2, .domains = 0xc801, .byte3 = 0x5a, .start = 0x09010203,
		.end = 0x09010fff,
	};
	uint8_t bytes[MONREC_ELEMENT_SIZE];
	char *name = index_name("folder/data");

	ck_assert_str_eq(name, "folder/data.idx");
	free(name);
	monrec_element_bytes(&element, bytes);
	ck_assert_mem_eq(bytes, wanted, sizeof(wanted));
}

static char path[96], index_path[112];
static int ends[2];
static struct input input;

/* A file with these bytes and, if it is not NULL, that index. */
static void make_file(const char *bytes, const char *index)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/data", folder);
	snprintf(index_path, sizeof(index_path), "%s.idx", path);
	file_write(path, bytes);
	if (index)
		file_write(index_path, index);
}

static void remove_file(void)
{
	unlink(path);
	unlink(index_path);
	ck_assert_int_eq(rmdir(folder), 0);
}

static int open_named(const char *name, bool monwrite)
{
	input = (struct input){ .name = name, .timeout_ms = -1, .format = (enum monrec_format)99 };
	return input_open(&input, monwrite);
}

static void ck_closed(int fd)
{
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_int_eq(errno, EBADF);
}

TEST(formats_of_files)
{
	make_file("bytes", NULL);
	ck_assert_int_eq(open_named(path, false), 0);
	ck_assert_int_eq(input.format, MONREC_SAVED);
	ck_assert_ptr_null(input.index);
	ck_assert_int_eq(fcntl(input.fd, F_GETFD), FD_CLOEXEC);
	input_close(&input);
	ck_closed(input.fd);
	ck_assert_int_eq(open_named(path, true), 0);
	ck_assert_int_eq(input.format, MONREC_MONWRITE);
	input_close(&input);
	remove_file();
	make_file("bytes", "{\"length\":5}\n");
	ck_assert_int_eq(open_named(path, false), 0);
	ck_assert_int_eq(input.format, MONREC_DEVICE);
	ck_assert_ptr_nonnull(input.index);
	{
		const int fd = fileno(input.index);

		input_close(&input);
		ck_closed(input.fd);
		ck_closed(fd);
	}
	/* Who says that it is one of MONWRITE needs no index. */
	ck_assert_int_eq(open_named(path, true), 0);
	ck_assert_int_eq(input.format, MONREC_MONWRITE);
	ck_assert_ptr_null(input.index);
	input_close(&input);
	/* An index that is there and cannot be opened: a link to itself. */
	ck_assert_int_eq(unlink(index_path), 0);
	ck_assert_int_eq(symlink(index_path, index_path), 0);
	ck_assert_int_eq(open_named(path, false), -ELOOP);
	close(input.fd);
	remove_file();
}

TEST(formats_of_others)
{
	char name[32];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[0], 0), 0);
	for (unsigned int monwrite = 0; monwrite < 2; monwrite++) {
		ck_assert_int_eq(open_named("-", monwrite), 0);
		ck_assert_int_eq(input.fd, 0);
		ck_assert_int_eq(input.format, monwrite ? MONREC_MONWRITE : MONREC_SAVED);
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	ck_assert_int_eq(open_named(name, false), 0);
	ck_assert_int_eq(input.format, MONREC_SAVED);
	close(input.fd);
	ck_assert_int_eq(open_named("/dev/null", false), -ENODEV);
	ck_assert_int_eq(open_named("/dev/zero", false), -ENODEV);
	ck_assert_int_eq(open_named("/nowhere/at/all", false), -ENOENT);
}

/* What the next reads give: bytes as text, 0 as "|", an error in brackets. */
static const char *reads(size_t len)
{
	static char said[200], bytes[100];
	size_t at = 0;
	ssize_t got;

	do {
		got = input_read(&input, bytes, len);
		ck_assert_int_le(got, (ssize_t)len);
		if (got > 0)
			at += (size_t)snprintf(said + at, sizeof(said) - at, "%.*s ", (int)got, bytes);
		else if (got == 0)
			at += (size_t)snprintf(said + at, sizeof(said) - at, "| ");
	} while (got >= 0 && at < 60 && !(got == 0 && !input.index));
	snprintf(said + at, sizeof(said) - at, "%s%s", got < 0 ? strerror((int)-got) : "", "");
	return said;
}

/* The end of a set is a read of nothing; then there are no data any more. */
TEST(files_with_an_index)
{
	static const struct { const char *bytes, *index; size_t len; const char *reads; bool bad; } cases[] = {
		{ "abcdefgh", "{\"length\":5}\n{\"length\":3}\n", 3,
		  "abc de | fgh | No data available", false },
		{ "abcdefgh", "{\"length\":5}\n{\"length\":3}\n", 5,
		  "abcde | fgh | No data available", false },
		{ "abcdefgh", "{\"length\":5}\n{\"length\":3}\n", 99,
		  "abcde | fgh | No data available", false },
		/* The file goes on, ends before, or there is no such index. */
		{ "abcdefgh", "{\"length\":5}\n", 99, "abcde | No data available", true },
		{ "abcdefgh", "{\"length\":5}\n{\"length\":4}\n", 99,
		  "abcde | fgh | No data available", true },
		{ "abcdefgh", "{\"length\":5}\n{\"length\":0}\n", 99, "abcde | No data available", true },
		{ "abcde", "{\"length\":5}\n{\"length\":0}\n", 99, "abcde | No data available", true },
		{ "", "", 99, "No data available", false },
		{ "x", "", 99, "No data available", true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_file(cases[i].bytes, cases[i].index);
		ck_assert_int_eq(open_named(path, false), 0);
		ck_assert_str_eq(reads(cases[i].len), cases[i].reads);
		ck_assert(input.ended);
		ck_assert_int_eq(input.bad_index, cases[i].bad);
		/* It stays so. */
		ck_assert_str_eq(reads(9), "No data available");
		ck_assert_int_eq(input.bad_index, cases[i].bad);
		input_close(&input);
		remove_file();
	}
}

/* A pipe with these bytes at hand, which is read with that limit. */
static void open_pipe(const char *bytes, int timeout_ms)
{
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], bytes, strlen(bytes)), (ssize_t)strlen(bytes));
	input = (struct input){ .name = "pipe", .fd = ends[0], .timeout_ms = timeout_ms,
				.format = MONREC_SAVED };
}

/* No bytes within the limit, in both ways to wait. */
TEST(limits_of_reading)
{
	char bytes[8];

	for (unsigned int blocking = 0; blocking < 2; blocking++)
		for (int limit = 0; limit <= 20; limit += 20) {
			open_pipe("abc", limit);
			input.blocking = blocking;
			ck_assert_int_eq(input_read(&input, bytes, 2), 2);
			ck_assert_int_eq(input_read(&input, bytes, 2), 1);
			ck_assert(!input.timed_out);
			ck_assert_int_eq(input_read(&input, bytes, 2), -ETIMEDOUT);
			ck_assert(input.timed_out);
			close(ends[1]);
			ck_assert_int_eq(input_read(&input, bytes, 2), 0);
			close(ends[0]);
			ck_assert_int_eq(input_read(&input, bytes, 2), -EBADF);
		}
}

/* An alarm again and again: one that came before a wait would not end it. */
static void ring_from_now_on(void)
{
	const struct itimerval often = { .it_interval = { 0, 20000 }, .it_value = { 0, 20000 } };

	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

/* Without a limit only a signal ends the wait; here it is an alarm, which is not counted. */
TEST(reading_without_a_limit)
{
	char bytes[8];

	open_pipe("", -1);
	ring_from_now_on();
	ck_assert_int_eq(input_read(&input, bytes, 2), -EINTR);
	ck_assert(!input.timed_out);
	alarm(0);
	ck_assert_uint_eq(signals_count(), 0);
}

/* A first signal lets a set come to its end as long as its bytes are there; a second does not. */
TEST(signals_and_sets)
{
	char bytes[8];

	for (unsigned int blocking = 0; blocking < 2; blocking++) {
		open_pipe("abcdef", -1);
		input.blocking = blocking;
		input.in_set = true;
		if (!blocking)
			raise(SIGINT);
		ck_assert_int_eq(input_read(&input, bytes, 3), 3);
		input.in_set = false;
		ck_assert_int_eq(input_read(&input, bytes, 3), -EINTR);
		input.in_set = true;
		ck_assert_int_eq(input_read(&input, bytes, 3), 3);
		/* It does not wait for bytes. */
		ck_assert_int_eq(input_read(&input, bytes, 3), -EINTR);
		ck_assert(!input.timed_out);
	}
	ck_assert_int_eq(input_signal(), SIGINT);
	open_pipe("abc", -1);
	input.in_set = true;
	raise(SIGTERM);
	ck_assert_int_eq(input_read(&input, bytes, 3), -EINTR);
	ck_assert_int_eq(input_signal(), SIGINT);
}

/* The first 20 saved bytes are inspected, and are still given out with those behind them.  "\xe2" is a sample. */
TEST(looking_ahead)
{
	static const char *const texts[] = {
		"", "\342", "\342bcdefghijklmnopqrs", "\342bcdefghijklmnopqrst",
		"\342bcdefghijklmnopqrstuvwxyz",
	};
	static const char *const given[] = {
		"| ", "\342 | ", "\342bcdefg hijklmn opqrs | ", "\342bcdefg hijklmn opqrst | ",
		"\342bcdefg hijklmn opqrst uvwxyz | ",
	};

	for (unsigned int i = 0; i < 5; i++) {
		open_pipe(texts[i], 0);
		/* Those of a set of MONWRITE are not waited for. */
		input.format = MONREC_MONWRITE;
		ck_assert(input_recognise(&input));
		ck_assert_uint_eq(input.has_ahead, 0);
		input.format = MONREC_SAVED;
		close(ends[1]);
		ck_assert(input_recognise(&input));
		ck_assert_int_eq(input.format, MONREC_SAVED);
		ck_assert_uint_eq(input.has_ahead, strlen(texts[i]) < 20 ? strlen(texts[i]) : 20);
		ck_assert_str_eq(reads(7), given[i]);
		close(ends[0]);
	}
}

/* An error comes once, where it was; with enough bytes nothing is waited for. */
TEST(looking_ahead_in_vain)
{
	char bytes[32];

	open_pipe("abc", 0);
	ck_assert(input_recognise(&input));
	ck_assert(input.timed_out);
	ck_assert_int_eq(write(ends[1], "def", 3), 3);
	ck_assert_int_eq(input_read(&input, bytes, sizeof(bytes)), 3);
	ck_assert_int_eq(input_read(&input, bytes, sizeof(bytes)), -ETIMEDOUT);
	ck_assert_int_eq(input_read(&input, bytes, sizeof(bytes)), 3);
	ck_assert_mem_eq(bytes, "def", 3);
	open_pipe("\342bcdefghijklmnopqrst", 0);
	ck_assert(input_recognise(&input));
	ck_assert(!input.timed_out);
	ck_assert_uint_eq(input.has_ahead, 20);
	ck_assert_int_eq(input.ahead_ended, 0);
}

/* A control record's interruption: parameter-list data, pending message, 12 bytes of control area. */
TEST(recognising_monwrite)
{
	static const uint8_t beginning[24] = { [2] = 0x80, [3] = 9, [19] = 11 };

	for (size_t len = 19; len <= 20; len++) {
		open_pipe("", 0);
		ck_assert_int_eq(write(ends[1], beginning, len), (ssize_t)len);
		close(ends[1]);
		ck_assert(input_recognise(&input));
		ck_assert_int_eq(input.format, len == 20 ? MONREC_MONWRITE : MONREC_SAVED);
		close(ends[0]);
	}
}

TEST(opening_anew)
{
	int old;

	make_file("bytes", NULL);
	ck_assert_int_eq(open_named(path, false), 0);
	input.reopen = 2;
	input.reopen_wait_ms = 1;
	old = input.fd;
	ck_assert_int_eq(input_reopen(&input), 0);
	ck_assert_uint_eq(input.tried, 1);
	ck_assert_int_eq(input.fd, old);
	ck_assert_int_eq(fcntl(input.fd, F_GETFD), FD_CLOEXEC);
	unlink(path);
	ck_assert_int_eq(input_reopen(&input), -ENOENT);
	ck_assert_uint_eq(input.tried, 2);
	ck_assert_int_eq(input.fd, -1);
	ck_closed(old);
	/* No try is left. */
	ck_assert_int_eq(input_reopen(&input), -EIO);
	ck_assert_uint_eq(input.tried, 2);
	/* A signal ends the wait; here it is an alarm. */
	input.tried = 0;
	input.reopen_wait_ms = 60000;
	ring_from_now_on();
	ck_assert_int_eq(input_reopen(&input), -EINTR);
	ck_assert_uint_eq(input.tried, 0);
	alarm(0);
	/* Behind one nothing is waited for. */
	raise(SIGTERM);
	ck_assert_int_eq(input_reopen(&input), -EINTR);
	remove_file();
}
