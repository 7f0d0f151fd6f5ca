/* SPDX-License-Identifier: MIT */
/*
 * An exporter from its options to its end: what is opened in which order, what is said, when the
 * file is written.  HTTP, lines, file, clock and thread are the test's, which calls what the thread
 * would run.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exit_code.h"
#include "exporter.h"
#include "http.h"
#include "json_lines.h"
#include "said.h"
#include "storage_fails.h"
#include "textfile.h"
#include "unit_test.h"

#define MS 1000000LL
#define S (1000 * MS)
#define USAGE 9		/* no exit code of anybody else */

/* The events so far, a word each. */
static char events[512];

static void event(const char *word)
{
	const size_t len = strlen(events);

	/* Not by libcheck: some come where no storage may be taken. */
	if ((size_t)snprintf(events + len, sizeof(events) - len, "%s ", word) >= sizeof(events) - len)
		abort();
}

/* The words since the last time. */
static void ck_events(const char *wanted)
{
	char now[sizeof(events)];

	strcpy(now, events);
	*events = '\0';
	ck_assert_str_eq(now, wanted);
}

static int lines_place, http_place, lines_code, http_code, file_error;
static FILE *lines_stream;
static bool without_stream;
static struct json_lines_counts lines_counts;
static int http_wants;
static char written[2048];
static size_t written_len;
static struct http_options http_asked;
static http_values *values;
static void *values_context;

int __wrap_json_lines_open(struct json_lines **lines, const char *listen);
int __wrap_json_lines_open(struct json_lines **lines, const char *listen)
{
	event("open-lines");
	event(listen);
	*lines = lines_code ? NULL : (struct json_lines *)&lines_place;
	return lines_code;
}

static void ck_lines(const void *lines)
{
	if (lines != &lines_place)
		abort();
}

void __wrap_json_lines_close(struct json_lines *lines);
void __wrap_json_lines_close(struct json_lines *lines)
{
	event(lines ? "close-lines" : "no-lines");
}

FILE *__wrap_json_lines_file(struct json_lines *lines);
FILE *__wrap_json_lines_file(struct json_lines *lines)
{
	ck_lines(lines);
	return without_stream ? NULL : (lines_stream = fopen("/dev/null", "w"));
}

void __wrap_json_lines_poll(struct json_lines *lines, struct pollfd *fds);
void __wrap_json_lines_poll(struct json_lines *lines, struct pollfd *fds)
{
	ck_lines(lines);
	for (size_t i = 0; i < JSON_LINES_FDS; i++) {
		if (fds[i].fd != -1 || fds[i].events || fds[i].revents)
			abort();
		fds[i].fd = 1000 + (int)i;
	}
}

void __wrap_json_lines_run(struct json_lines *lines, const struct pollfd *fds);
void __wrap_json_lines_run(struct json_lines *lines, const struct pollfd *fds)
{
	ck_lines(lines);
	event(fds[0].fd == 1000 ? "run-lines" : "run-others");
}

void __wrap_json_lines_count(struct json_lines *lines, struct json_lines_counts *counts);
void __wrap_json_lines_count(struct json_lines *lines, struct json_lines_counts *counts)
{
	ck_lines(lines);
	*counts = lines_counts;
}

int __wrap_http_open(struct http **http, const struct http_options *options, http_values *give,
		     void *context);
int __wrap_http_open(struct http **http, const struct http_options *options, http_values *give,
		     void *context)
{
	event("open-http");
	http_asked = *options;
	values = give;
	values_context = context;
	*http = (struct http *)&http_place;
	return http_code;
}

static void ck_http(const void *http)
{
	if (http != &http_place)
		abort();
}

void __wrap_http_close(struct http *http);
void __wrap_http_close(struct http *http)
{
	event(http ? "close-http" : "no-http");
}

int __wrap_http_fd(const struct http *http);
int __wrap_http_fd(const struct http *http)
{
	ck_http(http);
	return 999;
}

int __wrap_http_timeout_ms(const struct http *http);
int __wrap_http_timeout_ms(const struct http *http)
{
	ck_http(http);
	return http_wants;
}

void __wrap_http_run(struct http *http);
void __wrap_http_run(struct http *http)
{
	ck_http(http);
	event("run-http");
}

uint64_t __wrap_http_answered(const struct http *http, enum http_answer answer);
uint64_t __wrap_http_answered(const struct http *http, enum http_answer answer)
{
	ck_http(http);
	return 10 + answer;
}

int __wrap_textfile_write(const char *name, const struct text *text);
int __wrap_textfile_write(const char *name, const struct text *text)
{
	if (strcmp(name, "FILE") != 0 || text->len >= sizeof(written))
		abort();
	event("write");
	memcpy(written, text->bytes, text->len);
	written_len = text->len;
	written[written_len] = '\0';
	return file_error;
}

/* libcheck asks it, too: between beginning and end of a test there must not be an hour. */
static int64_t now_is;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock != CLOCK_MONOTONIC)
		abort();
	*time = (struct timespec){ .tv_sec = now_is / S, .tv_nsec = now_is % S };
	return 0;
}

static int event_error, thread_error;
static int stop_fd, event_flags;

int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags)
{
	event("eventfd");
	if (count)
		abort();
	event_flags = flags;
	if (event_error) {
		errno = event_error;
		return -1;
	}
	stop_fd = __real_eventfd(count, flags);
	return stop_fd;
}

static void *(*thread)(void *);
static void *thread_context;
static sigset_t thread_blocks;

int __wrap_pthread_create(pthread_t *made, const pthread_attr_t *how, void *(*run)(void *),
			  void *context);
int __wrap_pthread_create(pthread_t *made, const pthread_attr_t *how, void *(*run)(void *),
			  void *context)
{
	event("thread");
	if (how)
		abort();
	pthread_sigmask(SIG_BLOCK, NULL, &thread_blocks);
	if (thread_error)
		return thread_error;
	*made = pthread_self();
	thread = run;
	thread_context = context;
	return 0;
}

int __real_poll(struct pollfd *fds, nfds_t count, int ms);

/* It has been told to stop. */
int __wrap_pthread_join(pthread_t which, void **result);
int __wrap_pthread_join(pthread_t which, void **result)
{
	eventfd_t count = 0;
	struct pollfd fd = { .fd = stop_fd, .events = POLLIN };

	if (!pthread_equal(which, pthread_self()) || result)
		abort();
	if (__real_poll(&fd, 1, 0) != 1 || eventfd_read(stop_fd, &count) || count != 1)
		abort();
	event("join");
	return 0;
}

/* The thread waits that long each time; then it is told to stop. */
static const int64_t *waits;
static size_t wait_count, waits_done;
static int waited_ms[16];
static struct pollfd polled[2 + JSON_LINES_FDS];

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	if (count != 2 + JSON_LINES_FDS || waits_done >= wait_count)
		abort();
	memcpy(polled, fds, sizeof(polled));
	waited_ms[waits_done] = ms;
	now_is += waits[waits_done++];
	if (waits_done < wait_count)
		return 0;
	fds[0].revents = POLLIN;
	return 1;
}

enum { READS, WARMTH, FAMILIES };

static const struct metric_family families[FAMILIES] = {
	[READS] = { "disk_reads", METRIC_COUNTER, NULL, "Reads", { "disk" } },
	[WARMTH] = { "warmth_celsius", METRIC_GAUGE, "celsius", "How warm it is", { NULL } },
};
static int source_context;
static uint64_t reads;

static void collect(void *context, struct metrics *metrics)
{
	if (context != &source_context)
		abort();
	metrics_unsigned(metrics, READS, (const char *const[]){ "sda" }, reads);
}

static void open_lines(void *context, FILE *stream)
{
	event(context == &source_context && stream == lines_stream ? "lines" : "others");
}

static void tick(void *context)
{
	event(context == &source_context ? "tick" : "others");
}

static const struct export_source source = {
	.tool = "tool", .families = families, .count = FAMILIES, .collect = collect,
	.open_lines = open_lines, .tick = tick, .context = &source_context,
};
static const struct export_source silent = {
	.tool = "tool", .families = families, .count = FAMILIES, .collect = collect,
	.context = &source_context,
};
static struct exporter *exporter;

static void start(void)
{
	now_is = 1000 * S;
	reads = 5;
	http_wants = -1;
	lines_counts = (struct json_lines_counts){ .lines = 7, .lost = 3, .refused = 2, .clients = 1 };
}

static void stop(void)
{
	storage_left = -1;
	if (exporter)
		exporter_close(exporter);
}

CASE("export_life", start, stop);

/* The messages while it opens, without the program's name. */
static const char *opened(const struct export_options *options, const struct export_source *of,
			  int code)
{
	struct said said = said_begin(2);
	const char *text, *colon;
	int got;

	exporter = (struct exporter *)&http_place;
	got = exporter_open(&exporter, options, of);
	text = said_end(&said);
	colon = strstr(text, ": ");
	ck_assert_msg(got == code, "%d: %s", got, text);
	ck_assert(!exporter == (code != EXIT_PASS));
	ck_assert_ptr_ne(exporter, &http_place);
	return colon ? colon + 2 : text;
}

/* Closes; what is said. */
static const char *closed(int code)
{
	struct said said = said_begin(2);
	const int got = exporter_close(exporter);
	const char *text = said_end(&said), *colon = strstr(text, ": ");

	exporter = NULL;
	ck_assert_msg(got == code, "%d: %s", got, text);
	return colon ? colon + 2 : text;
}

/* The thread, which waits so often and so long; what is said. */
static const char *served(const int64_t *how_long, size_t count)
{
	struct said said = said_begin(2);
	const char *text, *colon;

	waits = how_long;
	wait_count = count;
	waits_done = 0;
	thread(thread_context);
	text = said_end(&said);
	colon = strstr(text, ": ");
	ck_assert_uint_eq(waits_done, count);
	return colon ? colon + 2 : text;
}

#define SERVED(...) \
	served((const int64_t[]){ __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static const struct export_options to_file = { .textfile = "FILE", .interval_ns = 15 * S };
static const struct export_options to_all = {
	.textfile = "FILE", .listen = "LISTEN", .json_lines = "LINES", .certificate = "CERTIFICATE",
	.key = "KEY", .passwords = "PASSWORDS", .interval_ns = 15 * S,
};
static const struct export_options to_http = { .listen = "LISTEN", .interval_ns = 15 * S };
static const struct export_options to_lines = { .json_lines = "LINES", .interval_ns = 15 * S };

#define FILE_TEXT(reads, errors) \
	"# TYPE disk_reads_total counter\n" \
	"# HELP disk_reads_total Reads\n" \
	"disk_reads_total{disk=\"sda\"} " reads "\n" \
	"# TYPE tool_export_textfile_errors_total counter\n" \
	"# HELP tool_export_textfile_errors_total times that the file of --textfile could not be " \
	"written\n" \
	"tool_export_textfile_errors_total " errors "\n"

/* Everything, in this order; and back. */
TEST(all_at_once)
{
	char taken[64];

	ck_assert_str_eq(opened(&to_all, &source, EXIT_PASS), "");
	ck_events("open-lines LINES lines open-http write eventfd thread ");
	ck_assert_ptr_eq(exporter_lines(exporter), lines_stream);
	ck_assert_str_eq(http_asked.tool, "tool");
	ck_assert_str_eq(http_asked.listen, "LISTEN");
	ck_assert_str_eq(http_asked.certificate, "CERTIFICATE");
	ck_assert_str_eq(http_asked.key, "KEY");
	ck_assert_str_eq(http_asked.passwords, "PASSWORDS");
	ck_assert_int_eq(event_flags, EFD_CLOEXEC);
	snprintf(taken, sizeof(taken), "/proc/self/fd/%d", stop_fd);
	ck_assert_int_eq(access(taken, F_OK), 0);
	reads = 6;
	ck_assert_str_eq(closed(EXIT_PASS), "");
	ck_events("join write close-lines close-http ");
	ck_assert_int_eq(access(taken, F_OK), -1);
	ck_assert_ptr_nonnull(strstr(written, "disk_reads_total{disk=\"sda\"} 6\n"));
}

/* No signal of the program comes to the thread, and its own mask stays. */
TEST(signals)
{
	sigset_t after;

	signal(SIGPIPE, SIG_DFL);
	opened(&to_http, &source, EXIT_PASS);
	for (int i = 1; i < 32; i++)
		ck_assert_int_eq(sigismember(&thread_blocks, i), i != SIGKILL && i != SIGSTOP);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	for (int i = 1; i < 32; i++)
		ck_assert_int_eq(sigismember(&after, i), 0);
	ck_assert_ptr_eq(signal(SIGPIPE, SIG_DFL), SIG_IGN);
}

/* Outputs that were not asked for are not opened, and have no values. */
TEST(each_alone)
{
	ck_assert_str_eq(opened(&to_file, &source, EXIT_PASS), "");
	ck_events("write eventfd thread ");
	ck_assert_str_eq(written, FILE_TEXT("5", "0"));
	ck_assert_ptr_null(exporter_lines(exporter));
	ck_assert_str_eq(SERVED(1), "");
	for (size_t i = 1; i < 2 + JSON_LINES_FDS; i++)
		ck_assert_int_eq(polled[i].fd, -1);
	ck_events("");
	ck_assert_str_eq(closed(EXIT_PASS), "");
	ck_events("join write no-lines no-http ");
	ck_assert_str_eq(opened(&to_http, &source, EXIT_PASS), "");
	ck_events("open-http eventfd thread ");
	SERVED(1);
	ck_events("run-http ");
	ck_assert_str_eq(closed(EXIT_PASS), "");
	ck_events("join no-lines close-http ");
	ck_assert_str_eq(opened(&to_lines, &source, EXIT_PASS), "");
	ck_events("open-lines LINES lines eventfd thread ");
	SERVED(1);
	ck_events("run-lines ");
	ck_assert_str_eq(closed(EXIT_PASS), "");
	ck_events("join close-lines no-http ");
}

/* Only HTTP was asked for. */
TEST(values_of_http)
{
	struct text out = { 0 };

	opened(&to_http, &source, EXIT_PASS);
	ck_assert(values(values_context, METRICS_TEXT, &out));
	text_append(&out, "", 1);
	ck_assert_str_eq(out.bytes,
			 "# TYPE disk_reads_total counter\n"
			 "# HELP disk_reads_total Reads\n"
			 "disk_reads_total{disk=\"sda\"} 5\n"
			 "# TYPE tool_export_requests_total counter\n"
			 "# HELP tool_export_requests_total HTTP requests that were answered\n"
			 "tool_export_requests_total{code=\"200\"} 10\n"
			 "tool_export_requests_total{code=\"401\"} 11\n"
			 "tool_export_requests_total{code=\"404\"} 12\n"
			 "tool_export_requests_total{code=\"405\"} 13\n"
			 "tool_export_requests_total{code=\"500\"} 14\n"
			 "tool_export_requests_total{code=\"503\"} 15\n");
	text_free(&out);
}

/* Zero is a descriptor as any other. */
TEST(descriptor_zero)
{
	close(0);
	ck_assert_int_eq(exporter_open(&exporter, &to_file, &source), EXIT_PASS);
	ck_assert_int_eq(stop_fd, 0);
	ck_assert_int_eq(exporter_close(exporter), EXIT_PASS);
	exporter = NULL;
	ck_events("write eventfd thread join write no-lines no-http ");
	ck_assert_int_eq(access("/proc/self/fd/0", F_OK), -1);
}

/* For a client of HTTP. */
TEST(values_of_all)
{
	struct text out = { 0 };

	opened(&to_all, &source, EXIT_PASS);
	ck_assert(values(values_context, METRICS_OPENMETRICS, &out));
	text_append(&out, "", 1);
	ck_assert_str_eq(out.bytes,
			 "# TYPE disk_reads counter\n"
			 "# HELP disk_reads Reads\n"
			 "disk_reads_total{disk=\"sda\"} 5\n"
			 "# TYPE tool_export_requests counter\n"
			 "# HELP tool_export_requests HTTP requests that were answered\n"
			 "tool_export_requests_total{code=\"200\"} 10\n"
			 "tool_export_requests_total{code=\"401\"} 11\n"
			 "tool_export_requests_total{code=\"404\"} 12\n"
			 "tool_export_requests_total{code=\"405\"} 13\n"
			 "tool_export_requests_total{code=\"500\"} 14\n"
			 "tool_export_requests_total{code=\"503\"} 15\n"
			 "# TYPE tool_export_lines counter\n"
			 "# HELP tool_export_lines JSON lines for clients of --json-lines\n"
			 "tool_export_lines_total 7\n"
			 "# TYPE tool_export_lines_lost counter\n"
			 "# HELP tool_export_lines_lost JSON lines that a client was too slow for, of "
			 "all clients\n"
			 "tool_export_lines_lost_total 3\n"
			 "# TYPE tool_export_textfile_errors counter\n"
			 "# HELP tool_export_textfile_errors times that the file of --textfile could "
			 "not be written\n"
			 "tool_export_textfile_errors_total 0\n"
			 "# EOF\n");
	text_free(&out);
}

/* Each place at which storage can run out: no values, rather than some. */
TEST(values_without_storage)
{
	struct text out = { 0 };
	bool made, failed;
	long place = 0;

	opened(&to_all, &source, EXIT_PASS);
	for (;; place++) {
		text_free(&out);
		storage_left = place;
		made = values(values_context, METRICS_TEXT, &out);
		failed = storage_left < 0;
		storage_left = -1;
		ck_assert_msg(made != failed, "allocation %ld", place);
		if (!failed)
			break;
	}
	ck_assert_int_ge(place, 5);
	text_free(&out);
}

/* The file is written when the interval ends, not before; the thread waits for as long, rounded up. */
TEST(intervals)
{
	opened(&to_file, &source, EXIT_PASS);
	*events = '\0';
	reads = 8;
	ck_assert_str_eq(SERVED(15 * S - 1, 0), "");
	ck_assert_int_eq(waited_ms[0], 15000);
	ck_assert_int_eq(waited_ms[1], 1);
	ck_events("");
	SERVED(1, 0);
	ck_events("tick write ");
	ck_assert_str_eq(written, FILE_TEXT("8", "0"));
	ck_assert_int_eq(waited_ms[1], 15000);
	/* Two and a half later there is one file, and half an interval is left. */
	SERVED(37500 * MS, 0);
	ck_assert_int_eq(waited_ms[0], 15000);
	ck_assert_int_eq(waited_ms[1], 7500);
	ck_events("tick write ");
	SERVED(7499 * MS + 1, MS - 1, 15 * S - MS, MS, 0);
	ck_assert_int_eq(waited_ms[0], 7500);
	ck_assert_int_eq(waited_ms[1], 1);
	ck_assert_int_eq(waited_ms[2], 15000);
	ck_assert_int_eq(waited_ms[3], 1);
	ck_assert_int_eq(waited_ms[4], 15000);
	ck_events("tick write tick write ");
}

/* The earlier of HTTP's time-out and 15 s. */
TEST(timeouts)
{
	static const struct {
		int http, wanted;
	} cases[] = {
		{ -1, 15000 }, { 0, 0 }, { 1, 1 }, { 14999, 14999 }, { 15000, 15000 }, { 15001, 15000 },
	};

	opened(&to_http, &silent, EXIT_PASS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		http_wants = cases[i].http;
		SERVED(0);
		ck_assert_int_eq(waited_ms[0], cases[i].wanted);
	}
	/* One that has ended is not waited for; a source need not know of intervals. */
	now_is += 16 * S;
	*events = '\0';
	http_wants = -1;
	SERVED(0, 0);
	ck_assert_int_eq(waited_ms[0], 0);
	ck_assert_int_eq(waited_ms[1], 14000);
	ck_events("run-http run-http ");
}

/* Its own event, HTTP, and the lines' entries. */
TEST(what_the_thread_waits_for)
{
	opened(&to_all, &source, EXIT_PASS);
	*events = '\0';
	SERVED(0, 0);
	ck_events("run-http run-lines run-http run-lines ");
	ck_assert_int_eq(polled[0].fd, stop_fd);
	ck_assert_int_eq(polled[0].events, POLLIN);
	ck_assert_int_eq(polled[1].fd, 999);
	ck_assert_int_eq(polled[1].events, POLLIN);
	for (size_t i = 0; i < JSON_LINES_FDS; i++)
		ck_assert_int_eq(polled[2 + i].fd, 1000 + (int)i);
}

/* Said once for as long as it is so, counted each time. */
TEST(file_that_cannot_be_written)
{
	opened(&to_file, &silent, EXIT_PASS);
	file_error = -ENOSPC;
	ck_assert_str_eq(SERVED(15 * S, 15 * S, 15 * S),
			 "FILE cannot be written: No space left on device\n");
	ck_assert_str_eq(written, FILE_TEXT("5", "2"));
	file_error = -EROFS;
	ck_assert_str_eq(SERVED(15 * S), "FILE cannot be written: Read-only file system\n");
	file_error = 0;
	ck_assert_str_eq(SERVED(15 * S), "");
	ck_assert_str_eq(written, FILE_TEXT("5", "4"));
	file_error = -EROFS;
	ck_assert_str_eq(SERVED(15 * S), "FILE cannot be written: Read-only file system\n");
	ck_assert_str_eq(closed(EXIT_FAILED), "");
	ck_assert_str_eq(written, FILE_TEXT("5", "5"));
}

/* The last time fails, which is said then. */
TEST(last_file_that_cannot_be_written)
{
	opened(&to_file, &source, EXIT_PASS);
	file_error = -EIO;
	ck_assert_str_eq(closed(EXIT_FAILED), "FILE cannot be written: Input/output error\n");
}

TEST(file_without_storage)
{
	opened(&to_file, &silent, EXIT_PASS);
	*events = '\0';
	storage_left = 0;
	ck_assert_str_eq(SERVED(15 * S), "FILE cannot be written: Cannot allocate memory\n");
	ck_events("");
}

/* If an output does not open: its exit code, everything else is closed, no thread starts. */
TEST(what_cannot_be_opened)
{
	lines_code = EXIT_USAGE;
	ck_assert_str_eq(opened(&to_all, &source, EXIT_USAGE), "");
	ck_events("open-lines LINES no-lines no-http ");
	lines_code = EXIT_PASS;
	without_stream = true;
	ck_assert_str_eq(opened(&to_all, &source, EXIT_FAILED), "not enough memory for lines\n");
	ck_events("open-lines LINES close-lines no-http ");
	without_stream = false;
	http_code = EXIT_CANNOT_RUN;
	ck_assert_str_eq(opened(&to_all, &silent, EXIT_CANNOT_RUN), "");
	ck_events("open-lines LINES open-http close-lines close-http ");
	http_code = EXIT_PASS;
	file_error = -ENOENT;
	ck_assert_str_eq(opened(&to_all, &source, EXIT_USAGE),
			 "FILE cannot be written: No such file or directory\n");
	ck_events("open-lines LINES lines open-http write close-lines close-http ");
	file_error = 0;
	/* Nothing else was closed. */
	ck_assert_int_eq(access("/proc/self/fd/0", F_OK), 0);
}

TEST(no_thread)
{
	event_error = EMFILE;
	ck_assert_str_eq(opened(&to_all, &source, EXIT_FAILED),
			 "cannot export: Too many open files\n");
	ck_events("open-lines LINES lines open-http write eventfd close-lines close-http ");
	event_error = 0;
	thread_error = EAGAIN;
	ck_assert_str_eq(opened(&to_all, &source, EXIT_FAILED),
			 "cannot export: Resource temporarily unavailable\n");
	ck_events("open-lines LINES lines open-http write eventfd thread close-lines close-http ");
	thread_error = 0;
	storage_left = 0;
	ck_assert_str_eq(opened(&to_all, &source, EXIT_FAILED), "not enough memory to export\n");
	ck_events("");
}

static struct export_options parsed;

static error_t parse(const char *words)
{
	static const struct command_line line = { .options = &export_option_table };
	static char text[256], name[] = "tool";
	char *argv[16] = { name };
	int argc = 1;

	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok(text, " "); word && argc < 15; word = strtok(NULL, " "))
		argv[argc++] = word;
	argp_err_exit_status = USAGE;
	parsed = (struct export_options)EXPORT_OPTIONS_DEFAULT;
	return command_line_parse(&line, 0, argc, argv, &parsed);
}

TEST(options)
{
	const struct export_options *exports = &parsed;

	ck_assert_int_eq(parse("-l 9811"), 0);
	ck_assert_str_eq(exports->listen, "9811");
	ck_assert(!exports->textfile && !exports->json_lines && !exports->certificate &&
		  !exports->key && !exports->passwords);
	/* The default that --help states. */
	ck_assert_uint_eq(exports->interval_ns, 15 * S);
	ck_assert_int_eq(parse("--json-lines :9821"), 0);
	ck_assert_str_eq(exports->json_lines, ":9821");
	ck_assert(!exports->listen);
	ck_assert_int_eq(parse("--textfile F --interval 100ms"), 0);
	ck_assert_str_eq(exports->textfile, "F");
	ck_assert_uint_eq(exports->interval_ns, 100 * MS);
	ck_assert_int_eq(parse("--textfile F --interval 24h"), 0);
	ck_assert_uint_eq(exports->interval_ns, 86400 * S);
	ck_assert_int_eq(parse("--listen [::1]:1 --certificate C --key K --passwords P"), 0);
	ck_assert_str_eq(exports->listen, "[::1]:1");
	ck_assert_str_eq(exports->certificate, "C");
	ck_assert_str_eq(exports->key, "K");
	ck_assert_str_eq(exports->passwords, "P");
}

/* The output of a program that exits because of these words. */
static const char *refused(const char *words)
{
	struct said said = said_begin(2);
	pid_t child = fork();
	int status;

	if (child == 0) {
		parse(words);
		exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), USAGE);
	return said_end(&said);
}

TEST(wrong_options)
{
	static const char with_listen[] =
		"tool: --certificate and --passwords can only be used with --listen\n";
	static const char together[] =
		"tool: --certificate and --key can only be used together\n";
	static const struct {
		const char *words, *said;
	} cases[] = {
		{ "", "tool: nowhere to export to; use --listen, --textfile or --json-lines\n" },
		{ "--interval 1s",
		  "tool: nowhere to export to; use --listen, --textfile or --json-lines\n" },
		{ "--listen x", "tool: invalid --listen: 'x' (PORT for this machine alone, :PORT for "
		  "all, or ADDRESS:PORT, for example 9811, :9811, 10.0.0.1:9811 or [::1]:9811)\n" },
		{ "--json-lines 65536", "tool: invalid --json-lines: '65536' (PORT for" },
		{ "--textfile F --interval 99999999ns",
		  "tool: invalid --interval: '99999999ns' (100ms to 24h, for example 15s)\n" },
		{ "--textfile F --interval 86400000000001ns",
		  "tool: invalid --interval: '86400000000001ns' (100ms to 24h" },
		{ "--listen 0 --key K", together },
		{ "--listen 0 --certificate C", together },
		{ "--textfile F --certificate C --key K", with_listen },
		{ "--textfile F --passwords P", with_listen },
		{ "--json-lines 0 --passwords P", with_listen },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = refused(cases[i].words);

		ck_assert_msg(strncmp(text, cases[i].said, strlen(cases[i].said)) == 0, "%s: %s",
			      cases[i].words, text);
	}
}

/* In two groups, and what argp adds. */
TEST(help_of_options)
{
	struct said said = said_begin(1);
	pid_t child = fork();
	int status;
	const char *text;

	if (child == 0) {
		/* It ends the program. */
		parse("--help");
		exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	text = said_end(&said);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(text, "\n\n"
			     " Destinations:\n"
			     "      --interval=TIME        interval between writes (default: 15s)\n"
			     "      --json-lines=ADDRESS   send JSON lines to every client that connects to\n"
			     "                             this address by TCP\n"
			     "  -l, --listen=ADDRESS       serve the values by HTTP at this PORT, :PORT or\n"
			     "                             ADDRESS:PORT, under /metrics\n"
			     "      --textfile=FILE        write the values to this file, for node_exporter\n"
			     "\n"
			     " Access to --listen:\n"
			     "      --certificate=FILE     use TLS with the certificate of this PEM file\n"
			     "      --key=FILE             the certificate's private key, a PEM file\n"
			     "      --passwords=FILE       require a user and password from this file, in the\n"
			     "                             format of 'htpasswd -B'\n"
			     "\n"), "%s", text);
}
