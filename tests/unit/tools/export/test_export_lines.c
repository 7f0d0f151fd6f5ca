/* SPDX-License-Identifier: MIT */
/* JSON lines by TCP: who gets which, what a slow client loses and is told. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "exit_code.h"
#include "json_lines.h"
#include "said.h"
#include "storage_fails.h"
#include "unit_test.h"

/* Indexes of entries that are not clients'. */
#define LISTEN JSON_LINES_CLIENTS
#define WAKE (JSON_LINES_CLIENTS + 1)

static struct json_lines *lines;
static struct sockaddr_in to;

/* The lock of @lines; libcheck has one, too.  It is taken and given back in turn. */
static pthread_mutex_t *lock;
static bool locked;
static unsigned int locks;

int __real_pthread_mutex_init(pthread_mutex_t *which, const pthread_mutexattr_t *how);
int __wrap_pthread_mutex_init(pthread_mutex_t *which, const pthread_mutexattr_t *how);
int __wrap_pthread_mutex_init(pthread_mutex_t *which, const pthread_mutexattr_t *how)
{
	lock = which;
	return __real_pthread_mutex_init(which, how);
}

int __real_pthread_mutex_lock(pthread_mutex_t *which);
int __wrap_pthread_mutex_lock(pthread_mutex_t *which);
int __wrap_pthread_mutex_lock(pthread_mutex_t *which)
{
	if (which == lock) {
		if (locked)
			abort();
		locked = true;
		locks++;
	}
	return __real_pthread_mutex_lock(which);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *which);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *which);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *which)
{
	if (which == lock) {
		if (!locked)
			abort();
		locked = false;
	}
	return __real_pthread_mutex_unlock(which);
}

int __real_pthread_mutex_destroy(pthread_mutex_t *which);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *which);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *which)
{
	if (which == lock) {
		if (locked)
			abort();
		lock = NULL;
	}
	return __real_pthread_mutex_destroy(which);
}

/* The error of the next call of each, 0: none; bytes that may be sent altogether. */
static int event_error, send_error, recv_error;
static size_t may_send = SIZE_MAX;
static bool event_zero, send_nothing;
/* Sockets from which was received. */
static unsigned int received;

static bool fails(int *error)
{
	if (!*error)
		return false;
	errno = *error;
	*error = 0;
	return true;
}

int __real_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags);
int __wrap_eventfd(unsigned int count, int flags)
{
	int fd;

	if (fails(&event_error))
		return -1;
	fd = __real_eventfd(count, flags);
	if (!event_zero)
		return fd;
	dup2(fd, 0);
	close(fd);
	return 0;
}

ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	ssize_t sent;

	if (fails(&send_error))
		return -1;
	if (send_nothing) {
		send_nothing = false;
		errno = 0;
		return 0;
	}
	if (may_send == 0) {
		errno = EAGAIN;
		return -1;
	}
	sent = __real_send(fd, bytes, len < may_send ? len : may_send, flags);
	if (sent > 0 && may_send != SIZE_MAX)
		may_send -= (size_t)sent;
	return sent;
}

ssize_t __real_recv(int fd, void *bytes, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t len, int flags)
{
	received++;
	return fails(&recv_error) ? -1 : __real_recv(fd, bytes, len, flags);
}

static void start(void)
{
	struct said said = said_begin(2);
	const char *text;
	unsigned int port;

	ck_assert_int_eq(json_lines_open(&lines, "0"), 0);
	ck_assert_ptr_nonnull(lock);
	text = said_end(&said);
	ck_assert_int_eq(sscanf(strchr(text, ':'), ": JSON lines at 127.0.0.1:%u\n", &port), 1);
	to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static void stop(void)
{
	storage_left = -1;
	json_lines_close(lines);
	ck_assert_ptr_null(lock);
}

CASE("export_lines", start, stop);

/* Does what can be done now, or waits if there is nothing. */
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

/* That, and then the end. */
static void ck_gets_end(int fd, const char *wanted)
{
	char bytes[256] = "";

	ck_assert_int_eq(recv(fd, bytes, sizeof(bytes) - 1, MSG_WAITALL), (ssize_t)strlen(wanted));
	ck_assert_str_eq(bytes, wanted);
}

/* From when they are connected on. */
TEST(each_client)
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

TEST(more_than_there_is_room_for)
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

/* It is found out by sending, and is no reason to end: no signal comes. */
TEST(client_that_is_gone)
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

/* Lines are whole, and those that are missing are counted where they would be. */
TEST(slow_client)
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

/* A client has room for 1 MiB: a line that fills it is taken, and no byte more. */
TEST(limit)
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

/* A stream's parts become lines, and what has no end is none. */
/* A line that fills it by itself is taken, too; a longer one never is. */
TEST(longest_line)
{
	static char line[(1 << 20) + 1];
	const int fd = client();

	memset(line, 'x', sizeof(line));
	json_lines_give(lines, line, sizeof(line));
	ck_assert_uint_eq(counts().lost, 1);
	close(fd);
	run();
	close(client());
	json_lines_give(lines, line, sizeof(line) - 1);
	ck_assert_uint_eq(counts().lost, 1);
}

TEST(stream)
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
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_uint_eq(counts().lines, 4);
	run();
	ck_gets(fd, "[]\n\n");
	close(fd);
}

/* Lines given before the end are still sent; nothing stays open. */
TEST(end)
{
	struct pollfd fds[JSON_LINES_FDS];
	int fd = client();
	char bytes[16];

	json_lines_poll(lines, fds);
	give("last\n");
	json_lines_close(lines);
	lines = NULL;
	ck_assert_int_eq(recv(fd, bytes, sizeof(bytes), MSG_WAITALL), 5);
	ck_assert_int_eq(memcmp(bytes, "last\n", 5), 0);
	for (size_t i = 0; i < JSON_LINES_FDS; i++)
		ck_assert_int_eq(fcntl(fds[i].fd, F_GETFD), -1);
	close(fd);
	json_lines_close(NULL);
}

/* No descriptor makes this wait, or comes to a program that is started. */
static void ck_descriptor(const struct pollfd *fd, short events)
{
	ck_assert_int_ge(fd->fd, 0);
	ck_assert_int_eq(fd->events, events);
	ck_assert_int_eq(fd->revents, 0);
	ck_assert(fcntl(fd->fd, F_GETFL) & O_NONBLOCK);
	ck_assert_int_eq(fcntl(fd->fd, F_GETFD), FD_CLOEXEC);
}

TEST(what_is_waited_for)
{
	struct pollfd fds[JSON_LINES_FDS];
	int fd;

	memset(fds, 0x55, sizeof(fds));
	json_lines_poll(lines, fds);
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++)
		ck_assert_int_eq(fds[i].fd, -1);
	ck_descriptor(&fds[LISTEN], POLLIN);
	ck_descriptor(&fds[WAKE], POLLIN);
	fd = client();
	json_lines_poll(lines, fds);
	ck_descriptor(&fds[0], POLLIN);
	ck_assert_int_eq(fds[1].fd, -1);
	give("line\n");
	json_lines_poll(lines, fds);
	ck_descriptor(&fds[0], POLLIN | POLLOUT);
	run();
	json_lines_poll(lines, fds);
	ck_descriptor(&fds[0], POLLIN);
	close(fd);
	run();
	json_lines_poll(lines, fds);
	ck_assert_int_eq(fds[0].fd, -1);
}

static void ck_awake(bool wanted)
{
	struct pollfd fds[JSON_LINES_FDS];

	json_lines_poll(lines, fds);
	ck_assert_int_eq(poll(&fds[WAKE], 1, 0), wanted);
}

/* A line wakes the thread that sends, if there is anybody to send it to. */
TEST(woken)
{
	struct pollfd fds[JSON_LINES_FDS];
	eventfd_t count;
	int fd;

	give("zero\n");
	ck_awake(false);
	fd = client();
	ck_awake(false);
	give("one\n");
	give("two\n");
	ck_awake(true);
	json_lines_poll(lines, fds);
	json_lines_run(lines, fds);
	ck_awake(true);
	ck_assert_int_eq(eventfd_read(fds[WAKE].fd, &count), 0);
	/* Once for each line. */
	ck_assert_uint_eq(count, 2);
	ck_awake(false);
	give("three\n");
	run();
	ck_awake(false);
	ck_gets(fd, "one\ntwo\nthree\n");
	close(fd);
}

/* Descriptors not reported as ready are left alone; one that is no longer ready does no harm. */
TEST(only_what_is_ready)
{
	struct pollfd fds[JSON_LINES_FDS];
	int fd = client(), waiting = socket(AF_INET, SOCK_STREAM, 0);

	json_lines_poll(lines, fds);
	fds[LISTEN].revents = fds[WAKE].revents = fds[0].revents = POLLIN;
	received = 0;
	json_lines_run(lines, fds);
	ck_assert_uint_eq(received, 1);
	ck_assert_uint_eq(counts().clients, 1);
	ck_assert_uint_eq(counts().refused, 0);
	ck_assert_int_eq(connect(waiting, (struct sockaddr *)&to, sizeof(to)), 0);
	ck_assert_int_eq(send(fd, "x", 1, 0), 1);
	json_lines_poll(lines, fds);
	json_lines_run(lines, fds);
	ck_assert_uint_eq(received, 1);
	ck_assert_uint_eq(counts().clients, 1);
	run();
	ck_assert_uint_eq(counts().clients, 2);
	close(fd);
	close(waiting);
}

/* Only an end, and what cannot be mended, ends a client. */
TEST(errors_of_a_client)
{
	static const struct {
		int error;
		bool ends;
	} cases[] = { { EAGAIN, false }, { EINTR, false }, { ECONNRESET, true }, { EPIPE, true },
		      { ETIMEDOUT, true } };

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const int error = cases[i / 2].error;
		struct pollfd fds[JSON_LINES_FDS];
		int fd = client();
		char byte;

		give("line\n");
		json_lines_poll(lines, fds);
		if (i % 2) {
			send_error = error;
		} else {
			recv_error = error;
			fds[0].revents = POLLIN;
		}
		json_lines_run(lines, fds);
		ck_assert_int_eq(send_error, 0);
		ck_assert_int_eq(recv_error, 0);
		ck_assert_uint_eq(counts().clients, !cases[i / 2].ends);
		if (cases[i / 2].ends) {
			ck_assert_int_eq(recv(fd, &byte, 1, 0), 0);
			ck_assert_int_eq(fcntl(fds[0].fd, F_GETFD), -1);
		} else {
			run();
			ck_gets(fd, "line\n");
		}
		close(fd);
		while (counts().clients)
			run();
	}
}

static void ck_bytes(int fd, const char *bytes, size_t len)
{
	static char got[1 << 20];

	for (size_t at = 0; at < len;) {
		struct pollfd fds[JSON_LINES_FDS], readable = { .fd = fd, .events = POLLIN };
		ssize_t more;

		json_lines_poll(lines, fds);
		json_lines_run(lines, fds);
		ck_assert_int_eq(poll(&readable, 1, 60000), 1);
		more = read(fd, got, len - at);
		ck_assert_int_gt(more, 0);
		ck_assert_int_eq(memcmp(got, bytes + at, (size_t)more), 0);
		at += (size_t)more;
	}
}

/* There is room for as much as was sent; what is told of lost lines needs some, too. */
TEST(room_is_exact)
{
	static char half[1 << 19];
	const int fd = client();
	char line[1001];

	for (size_t i = 0; i < sizeof(half); i++)
		half[i] = (char)('a' + i % 23);
	memset(line, 'z', sizeof(line));
	may_send = 1000;
	json_lines_give(lines, half, sizeof(half));
	json_lines_give(lines, half, sizeof(half));
	give("x");
	ck_assert_uint_eq(counts().lost, 1);
	run();
	ck_assert_uint_eq(may_send, 0);
	ck_bytes(fd, half, 1000);
	/* A line of twelve bytes says how many. */
	json_lines_give(lines, line, 989);
	ck_assert_uint_eq(counts().lost, 2);
	json_lines_give(lines, line, 988);
	ck_assert_uint_eq(counts().lost, 2);
	may_send = SIZE_MAX;
	ck_bytes(fd, half + 1000, sizeof(half) - 1000);
	ck_bytes(fd, half, sizeof(half));
	ck_bytes(fd, "{\"lost\": 2}\n", 12);
	ck_bytes(fd, line, 988);
	give("!");
	ck_bytes(fd, "!", 1);
	/* Longer than all there is room for. */
	may_send = 0;
	for (unsigned int i = 0; i < 2; i++)
		json_lines_give(lines, half, sizeof(half));
	ck_assert_uint_eq(counts().lost, 2);
	close(fd);
}

/* Nothing sent is no error, nor is a byte of a client. */
TEST(nothing_sent)
{
	const int fd = client();

	ck_assert_int_eq(send(fd, "x", 1, 0), 1);
	errno = 0;
	run();
	ck_assert_uint_eq(counts().clients, 1);
	send_nothing = true;
	give("line\n");
	run();
	ck_assert(!send_nothing);
	ck_assert_uint_eq(counts().clients, 1);
	ck_gets(fd, "line\n");
	close(fd);
}

/* A client for whose line there is no memory is ended: it cannot be told any more.  Others get it. */
TEST(no_storage_for_a_client)
{
	int one = client(), two = client();
	char byte;

	storage_left = 0;
	give("line\n");
	ck_assert_int_eq(storage_left, -1);
	ck_assert_uint_eq(counts().clients, 1);
	run();
	ck_assert_int_eq(recv(one, &byte, 1, 0), 0);
	ck_gets(two, "line\n");
	close(one);
	close(two);
}

/* A line that there is no memory for is lost as a whole, and all are told. */
TEST(no_storage_for_a_line)
{
	FILE *out = json_lines_file(lines);
	int one, two;

	ck_assert_ptr_nonnull(out);
	setvbuf(out, NULL, _IONBF, 0);
	one = client();
	two = client();
	storage_left = 0;
	fputs("[1, ", out);
	ck_assert_int_eq(storage_left, -1);
	fputs("2]\n", out);
	ck_assert_uint_eq(counts().lines, 1);
	ck_assert_uint_eq(counts().lost, 2);
	fputs("[3]\n", out);
	run();
	ck_gets(one, "{\"lost\": 1}\n[3]\n");
	ck_gets(two, "{\"lost\": 1}\n[3]\n");
	ck_assert_int_eq(fclose(out), 0);
	close(one);
	close(two);
}

/* Zero is a descriptor as any other. */
TEST(descriptor_zero)
{
	struct pollfd fds[JSON_LINES_FDS];
	int fd = socket(AF_INET, SOCK_STREAM, 0), other;

	close(0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	run();
	json_lines_poll(lines, fds);
	ck_assert_int_eq(fds[0].fd, 0);
	other = client();
	ck_assert_uint_eq(counts().clients, 2);
	give("line\n");
	run();
	ck_gets(fd, "line\n");
	ck_gets(other, "line\n");
	close(fd);
	run();
	ck_assert_uint_eq(counts().clients, 1);
	ck_assert_int_eq(fcntl(0, F_GETFD), -1);
	give("more\n");
	run();
	ck_gets(other, "more\n");
	close(other);
}

TEST(end_of_descriptor_zero)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	close(0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	run();
	give("last\n");
	json_lines_close(lines);
	lines = NULL;
	ck_gets_end(fd, "last\n");
	close(fd);
	ck_assert_int_eq(fcntl(0, F_GETFD), -1);
}

/* Likewise of what listens, and of what wakes. */
TEST(opens_with_descriptor_zero)
{
	struct pollfd fds[JSON_LINES_FDS];
	struct said said;

	json_lines_close(lines);
	for (unsigned int i = 0; i < 2; i++) {
		said = said_begin(2);
		event_zero = i;
		if (!event_zero)
			close(0);
		ck_assert_int_eq(json_lines_open(&lines, "0"), EXIT_PASS);
		said_end(&said);
		json_lines_poll(lines, fds);
		ck_assert_int_eq(fds[event_zero ? WAKE : LISTEN].fd, 0);
		json_lines_close(lines);
		ck_assert_int_eq(fcntl(0, F_GETFD), -1);
		ck_assert_int_eq(open("/dev/null", O_RDONLY), 0);
	}
	lines = NULL;
}

/* Each call takes the lock once: another thread gives lines meanwhile. */
TEST(lock_is_taken)
{
	struct pollfd fds[JSON_LINES_FDS];

	locks = 0;
	give("line\n");
	ck_assert_uint_eq(locks, 1);
	json_lines_poll(lines, fds);
	ck_assert_uint_eq(locks, 2);
	json_lines_run(lines, fds);
	ck_assert_uint_eq(locks, 3);
	counts();
	ck_assert_uint_eq(locks, 4);
}

static void ck_does_not_open(const char *word, int code, const char *sentence)
{
	struct json_lines *made = lines;
	struct said said;
	const char *text;
	int got, before = dup(1), after;

	close(before);
	said = said_begin(2);
	got = json_lines_open(&made, word);
	text = said_end(&said);
	ck_assert_int_eq(got, code);
	ck_assert_ptr_null(made);
	ck_assert_str_eq(strchr(text, ':'), sentence);
	/* Nothing was left open. */
	after = dup(1);
	ck_assert_int_eq(after, before);
	close(after);
}

TEST(what_does_not_open)
{
	event_error = EMFILE;
	ck_does_not_open("0", EXIT_FAILED, ": JSON lines cannot be sent: Too many open files\n");
	storage_left = 0;
	ck_does_not_open("0", EXIT_FAILED, ": not enough memory for lines\n");
	ck_does_not_open("192.0.2.1:0", EXIT_USAGE, ": cannot listen at 192.0.2.1:0: this machine does "
			 "not have this address\n");
}
