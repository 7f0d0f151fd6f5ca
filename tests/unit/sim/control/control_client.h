/* SPDX-License-Identifier: MIT */
/*
 * A control socket on the fixture's CP, and clients of it: for the tests of
 * the control socket, each of which includes this once.
 */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ctl_private.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"
#include "scratch.h"
#include "zvmlab_version.h"

#define GREETING \
	"{\"zvmlab\":{\"version\":\"" ZVMLAB_VERSION \
	"\",\"capabilities\":[\"peers\",\"monitor-capture\"]}}"
#define CONTROL_MAX_ANSWER (9u << 20)

static char path[96], err[512];
static struct ctl *ctl;

/* The options are fx_setup_with()'s. */
static inline void start_with(const char *const *options)
{
	fx_setup_with(options);
	folder_make();
	snprintf(path, sizeof(path), "%s/control", folder);
	ctl = ctl_open(path, err, sizeof(err));
	ck_assert_msg(ctl != NULL, "%s", err);
	ctl_attach(ctl, fx.cp);
}

static inline void start(void)
{
	start_with(NULL);
}

static inline void stop(void)
{
	ctl_close(ctl);
	ck_assert_int_eq(rmdir(folder), 0);
	fx_teardown();
}

static inline int connect_client(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* As an event loop would: only when the descriptor is readable.  false: nothing to do. */
static inline bool step(void)
{
	struct pollfd ready = { .fd = ctl_fd(ctl), .events = POLLIN };

	if (poll(&ready, 1, 0) != 1)
		return false;
	ctl_dispatch(ctl);
	return true;
}

/* The next line without its newline, "" at the end of the connection. */
static inline const char *read_line(int fd)
{
	static char *line;
	size_t len = 0;

	if (!line)
		line = unit_large(CONTROL_MAX_ANSWER);
	for (int idle = 0; idle < 3 && len < CONTROL_MAX_ANSWER;) {
		ssize_t seen = recv(fd, line + len, CONTROL_MAX_ANSWER - len, MSG_PEEK);
		const char *end;

		if (seen == 0 || (seen < 0 && errno == ECONNRESET))
			break;
		if (seen < 0) {
			ck_assert_int_eq(errno, EAGAIN);
			idle = step() ? 0 : idle + 1;
			continue;
		}
		end = memchr(line + len, '\n', (size_t)seen);
		if (end)
			seen = end - (line + len) + 1;
		ck_assert_int_eq(recv(fd, line + len, (size_t)seen, 0), seen);
		len += (size_t)seen;
		if (end) {
			line[len - 1] = '\0';
			return line;
		}
	}
	ck_assert_uint_eq(len, 0);
	return "";
}

static inline int new_client(void)
{
	int fd = connect_client();

	ck_assert_str_eq(read_line(fd), GREETING);
	return fd;
}

static inline void say(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t done = send(fd, text, len, MSG_NOSIGNAL);

		if (done < 0) {
			if (errno == EPIPE || errno == ECONNRESET)
				return;
			ck_assert_int_eq(errno, EAGAIN);
			ck_assert(step());
			continue;
		}
		text += done;
		len -= (size_t)done;
	}
}

static inline const char *ask(int fd, const char *request)
{
	say(fd, request, strlen(request));
	say(fd, "\n", 1);
	return read_line(fd);
}

/* The answer, without the events before it. */
static inline const char *answer(int fd, const char *request)
{
	const char *line = ask(fd, request);

	while (strncmp(line, "{\"event\"", 8) == 0)
		line = read_line(fd);
	return line;
}

#define ask_is(fd, request, answer) ck_assert_str_eq(ask(fd, request), answer)
#define bad(desc) "{\"error\":{\"class\":\"BadRequest\",\"desc\":\"" desc "\"},\"id\":null}"
#define wrong(desc) "{\"error\":{\"class\":\"BadArgument\",\"desc\":\"" desc "\"},\"id\":null}"
#define failed(desc) "{\"error\":{\"class\":\"Failed\",\"desc\":\"" desc "\"},\"id\":null}"

#endif
