/* SPDX-License-Identifier: MIT */
/* JSON lines by TCP: who gets which, what a slow client loses and is told. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "check_run.h"
#include "json_lines.h"
#include "said.h"

static struct json_lines *lines;
static struct sockaddr_in to;

static void start(void)
{
	struct said said = said_begin(2);
	const char *text;
	unsigned int port;

	ck_assert_int_eq(json_lines_open(&lines, "0"), 0);
	text = said_end(&said);
	ck_assert_int_eq(sscanf(strchr(text, ':'), ": JSON lines at 127.0.0.1:%u\n", &port), 1);
	to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static void stop(void)
{
	json_lines_close(lines);
}

/* What there is to do now; if nothing, waits for something. */
static void run(void)
{
	struct pollfd fds[JSON_LINES_FDS];

	json_lines_poll(lines, fds);
	ck_assert_int_gt(poll(fds, JSON_LINES_FDS, 60000), 0);
	json_lines_run(lines, fds);
}

static struct json_lines_counts counts(void)
{
	struct json_lines_counts now;

	json_lines_count(lines, &now);
	return now;
}

static int client(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	run();
	return fd;
}

static void give(const char *line)
{
	json_lines_give(lines, line, strlen(line));
}

static void ck_gets(int fd, const char *wanted)
{
	char bytes[256] = "";
	size_t len = strlen(wanted);

	ck_assert_uint_lt(len, sizeof(bytes));
	ck_assert_int_eq(recv(fd, bytes, len, MSG_WAITALL), (ssize_t)len);
	ck_assert_str_eq(bytes, wanted);
	ck_assert_int_eq(recv(fd, bytes, 1, MSG_DONTWAIT), -1);
}

/* From when they are connected on. */
START_TEST(each_client)
{
	int one, two;

	give("zero\n");
	one = client();
	ck_assert_uint_eq(counts().clients, 1);
	give("first\n");
	give("second\n");
	run();
	ck_gets(one, "first\nsecond\n");
	two = client();
	give("third\n");
	run();
	ck_gets(one, "third\n");
	ck_gets(two, "third\n");
	ck_assert_uint_eq(counts().lines, 4);
	ck_assert_uint_eq(counts().lost, 0);
	ck_assert_uint_eq(counts().clients, 2);
	/* What a client says is of no interest. */
	ck_assert_int_eq(send(one, "hello", 5, 0), 5);
	run();
	ck_assert_uint_eq(counts().clients, 2);
	close(one);
	run();
	ck_assert_uint_eq(counts().clients, 1);
	give("fourth\n");
	run();
	ck_gets(two, "fourth\n");
	close(two);
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	int fds[JSON_LINES_CLIENTS], one_more;
	char byte;

	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++)
		fds[i] = client();
	one_more = client();
	ck_assert_int_eq(recv(one_more, &byte, 1, 0), 0);
	ck_assert_uint_eq(counts().refused, 1);
	ck_assert_uint_eq(counts().clients, JSON_LINES_CLIENTS);
	close(one_more);
	close(fds[3]);
	run();
	fds[3] = client();
	ck_assert_uint_eq(counts().clients, JSON_LINES_CLIENTS);
	give("line\n");
	run();
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++) {
		ck_gets(fds[i], "line\n");
		close(fds[i]);
	}
}
END_TEST

/* It is found out by sending, and is no reason to end: no signal comes. */
START_TEST(client_that_is_gone)
{
	const int fd = client();
	struct pollfd fds[JSON_LINES_FDS];

	/* As if the others had been ready before it went. */
	json_lines_poll(lines, fds);
	for (size_t i = 0; i < JSON_LINES_FDS; i++)
		fds[i].revents = 0;
	close(fd);
	/* The first line is refused by the client's side, the second one by this one. */
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(counts().clients, 1);
		give("line\n");
		json_lines_run(lines, fds);
	}
	ck_assert_uint_eq(counts().clients, 0);
}
END_TEST

/* Lines are whole, and those that are missing are counted where they would be. */
START_TEST(slow_client)
{
	static char line[1 << 16], got[1 << 16];
	int fd = client();
	uint64_t lost = 0, told = 0, lines_got = 0, given = 0;
	struct timeval limit = { .tv_sec = 60 };
	FILE *in = fdopen(fd, "r");

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	memset(line, 'x', sizeof(line));
	line[0] = '"';
	line[sizeof(line) - 2] = '"';
	line[sizeof(line) - 1] = '\n';
	/* Until the kernel's buffers and ours are full. */
	while (counts().lost < 3) {
		struct pollfd fds[JSON_LINES_FDS];

		json_lines_give(lines, line, sizeof(line));
		given++;
		json_lines_poll(lines, fds);
		poll(fds, JSON_LINES_FDS, 0);
		json_lines_run(lines, fds);
		ck_assert_uint_lt(given, 10000);
	}
	lost = counts().lost;
	ck_assert_uint_eq(lost, 3);
	/* All that waits, and then one line more, which comes behind what is told. */
	while (lines_got < given - lost) {
		struct pollfd fds[JSON_LINES_FDS], readable = { .fd = fd, .events = POLLIN };

		json_lines_poll(lines, fds);
		poll(fds, JSON_LINES_FDS, 0);
		json_lines_run(lines, fds);
		ck_assert_int_ge(poll(&readable, 1, 60000), 0);
		ck_assert_ptr_nonnull(fgets(got, 2, in));
		ck_assert_int_eq(got[0], '"');
		for (size_t left = sizeof(line) - 1; left > 0;) {
			json_lines_poll(lines, fds);
			poll(fds, JSON_LINES_FDS, 0);
			json_lines_run(lines, fds);
			ck_assert_int_eq(fread(got, 1, left < 4096 ? left : 4096, in),
					 left < 4096 ? left : 4096);
			left -= left < 4096 ? left : 4096;
		}
		ck_assert_int_eq(got[(sizeof(line) - 2) % 4096], '\n');
		lines_got++;
	}
	give("\"last\"\n");
	run();
	ck_assert_ptr_nonnull(fgets(got, sizeof(got), in));
	ck_assert_int_eq(sscanf(got, "{\"lost\": %lu}\n", &told), 1);
	ck_assert_uint_eq(told, lost);
	ck_assert_ptr_nonnull(fgets(got, sizeof(got), in));
	ck_assert_str_eq(got, "\"last\"\n");
	ck_assert_uint_eq(counts().lost, lost);
	fclose(in);
}
END_TEST

/* A client has room for 1 MiB: a line that fills it is taken, and no byte more. */
START_TEST(limit)
{
	static char line[1 << 19];
	const int fd = client();
	uint64_t bytes = 0, lost = 0;

	memset(line, 'x', sizeof(line));
	/* Nothing is sent in between. */
	for (size_t len = sizeof(line); len > 0; len /= 2)
		for (unsigned int i = 0; i < 2; i++) {
			const bool fits = bytes + len <= 1u << 20;

			json_lines_give(lines, line, len);
			if (fits)
				bytes += len;
			lost += !fits;
			ck_assert_uint_eq(counts().lost, lost);
			ck_assert(lost == 0 || bytes == 1u << 20);
		}
	close(fd);
}
END_TEST

/* A stream's parts become lines, and what has no end is none. */
START_TEST(stream)
{
	int fd = client();
	FILE *out = json_lines_file(lines);

	ck_assert_ptr_nonnull(out);
	fputs("{\"a\":", out);
	fflush(out);
	ck_assert_uint_eq(counts().lines, 0);
	fputs(" 1}\n{}\n[", out);
	fflush(out);
	ck_assert_uint_eq(counts().lines, 2);
	run();
	ck_gets(fd, "{\"a\": 1}\n{}\n");
	fputs("]\n\n?", out);
	fclose(out);
	ck_assert_uint_eq(counts().lines, 4);
	run();
	ck_gets(fd, "[]\n\n");
	close(fd);
}
END_TEST

/* What was given before the end is still sent. */
START_TEST(end)
{
	int fd = client();
	char bytes[16];

	give("last\n");
	json_lines_close(lines);
	lines = NULL;
	ck_assert_int_eq(recv(fd, bytes, sizeof(bytes), MSG_WAITALL), 5);
	ck_assert_int_eq(memcmp(bytes, "last\n", 5), 0);
	close(fd);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		each_client, more_than_there_is_room_for, client_that_is_gone, slow_client, limit,
		stream,
		end,
	};

	return check_run("export_lines", start, stop, tests, sizeof(tests) / sizeof(tests[0]));
}
