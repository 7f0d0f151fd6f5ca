/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* accept4(), fopencookie() */
#include "json_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "exit_code.h"
#include "say.h"
#include "tool_text.h"

/* The entries for poll(); those of clients come first. */
enum { LISTEN_FD = JSON_LINES_CLIENTS, WAKE_FD };

struct client {
	int fd;			/* does not block; -1: none */
	struct text waiting;	/* whole lines, but for the first one that is being sent */
	size_t sent;		/* of it */
	uint64_t lost;		/* and not told yet */
};

struct json_lines {
	pthread_mutex_t lock;
	int listen_fd, wake_fd;
	struct client clients[JSON_LINES_CLIENTS];
	struct json_lines_counts counts;
	struct text part;	/* of the stream: a line that is not whole */
};

int json_lines_open(struct json_lines **made, const char *listen)
{
	struct json_lines *lines = calloc(1, sizeof(*lines));
	char text[ADDRESS_TEXT_SIZE];

	*made = NULL;
	if (!lines) {
		say("not enough memory for lines");
		return EXIT_FAILED;
	}
	lines->listen_fd = address_listen(listen);
	if (lines->listen_fd < 0) {
		free(lines);
		return EXIT_USAGE;
	}
	lines->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lines->wake_fd < 0) {
		say("JSON lines cannot be sent: %s", strerror(errno));
		close(lines->listen_fd);
		free(lines);
		return EXIT_FAILED;
	}
	pthread_mutex_init(&lines->lock, NULL);
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++)
		lines->clients[i].fd = -1;
	say("JSON lines at %s", address_text(lines->listen_fd, text));
	*made = lines;
	return EXIT_PASS;
}

static void end_client(struct json_lines *lines, struct client *client)
{
	if (client->fd < 0)
		return;
	close(client->fd);
	text_free(&client->waiting);
	*client = (struct client){ .fd = -1 };
	lines->counts.clients--;
}

/* Send the lines that the client has room for now.  Without lines that wait, do nothing. */
static void send_waiting(struct json_lines *lines, struct client *client)
{
	while (client->sent < client->waiting.len) {
		const ssize_t sent = send(client->fd, client->waiting.bytes + client->sent,
					  client->waiting.len - client->sent, MSG_NOSIGNAL);

		if (sent < 0) {
			if (errno != EAGAIN && errno != EINTR)
				end_client(lines, client);
			return;
		}
		client->sent += (size_t)sent;
	}
	text_clear(&client->waiting);
	client->sent = 0;
}

static bool has_room(const struct client *client, size_t len)
{
	const size_t left = client->waiting.len - client->sent;

	return len <= JSON_LINES_BYTES && left <= JSON_LINES_BYTES - len;
}

/* Puts it behind what waits. */
static void put(struct client *client, const char *line, size_t len)
{
	/* What was sent takes storage no longer. */
	if (client->sent) {
		client->waiting.len -= client->sent;
		memmove(client->waiting.bytes, client->waiting.bytes + client->sent,
			client->waiting.len);
		client->sent = 0;
	}
	text_append(&client->waiting, line, len);
}

static void give_client(struct json_lines *lines, struct client *client, const char *line,
			size_t len)
{
	char told[sizeof("{\"lost\": 18446744073709551615}\n")];
	int told_len = 0;

	if (client->lost)
		told_len = snprintf(told, sizeof(told), "{\"lost\": %" PRIu64 "}\n", client->lost);
	if (!line || !has_room(client, (size_t)told_len + len)) {
		client->lost++;
		lines->counts.lost++;
		return;
	}
	put(client, told, (size_t)told_len);
	put(client, line, len);
	client->lost = 0;
	/* Without memory nobody knows what it still has. */
	if (client->waiting.failed)
		end_client(lines, client);
}

void json_lines_give(struct json_lines *lines, const char *line, size_t len)
{
	bool any = false;

	pthread_mutex_lock(&lines->lock);
	lines->counts.lines++;
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++) {
		if (lines->clients[i].fd < 0)
			continue;
		any = true;
		give_client(lines, &lines->clients[i], line, len);
	}
	pthread_mutex_unlock(&lines->lock);
	/* It fails only if it is readable already. */
	if (any)
		(void)eventfd_write(lines->wake_fd, 1);
}

static ssize_t take_part(void *cookie, const char *bytes, size_t len)
{
	struct json_lines *lines = cookie;
	size_t at = 0;

	while (at < len) {
		const char *end = memchr(bytes + at, '\n', len - at);
		const size_t more = end ? (size_t)(end - bytes) + 1 - at : len - at;

		text_append(&lines->part, bytes + at, more);
		at += more;
		if (!end)
			continue;
		/* One that there is no memory for is lost to all: no part of it may look whole. */
		json_lines_give(lines, lines->part.failed ? NULL : lines->part.bytes,
				lines->part.len);
		text_clear(&lines->part);
	}
	return (ssize_t)len;
}

static int end_part(void *cookie)
{
	text_free(&((struct json_lines *)cookie)->part);
	return 0;
}

FILE *json_lines_file(struct json_lines *lines)
{
	return fopencookie(lines, "w", (cookie_io_functions_t){ .write = take_part,
								.close = end_part });
}

void json_lines_poll(struct json_lines *lines, struct pollfd *fds)
{
	pthread_mutex_lock(&lines->lock);
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++)
		fds[i] = (struct pollfd){
			.fd = lines->clients[i].fd,
			.events = (short)(POLLIN | (lines->clients[i].waiting.len ? POLLOUT : 0)),
		};
	pthread_mutex_unlock(&lines->lock);
	fds[LISTEN_FD] = (struct pollfd){ .fd = lines->listen_fd, .events = POLLIN };
	fds[WAKE_FD] = (struct pollfd){ .fd = lines->wake_fd, .events = POLLIN };
}

static void take_client(struct json_lines *lines)
{
	const int fd = accept4(lines->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++) {
		if (lines->clients[i].fd >= 0)
			continue;
		lines->clients[i].fd = fd;
		lines->counts.clients++;
		return;
	}
	lines->counts.refused++;
	close(fd);
}

/* Nothing is expected of a client; its end is, and that a few words more do not stay. */
static bool has_ended(const struct client *client)
{
	char bytes[512];
	const ssize_t got = recv(client->fd, bytes, sizeof(bytes), 0);

	return got <= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR));
}

void json_lines_run(struct json_lines *lines, const struct pollfd *fds)
{
	eventfd_t count;

	pthread_mutex_lock(&lines->lock);
	if (fds[WAKE_FD].revents)
		(void)eventfd_read(lines->wake_fd, &count);
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++) {
		struct client *client = &lines->clients[i];

		if (client->fd >= 0 && fds[i].revents && has_ended(client))
			end_client(lines, client);
		else
			send_waiting(lines, client);
	}
	if (fds[LISTEN_FD].revents)
		take_client(lines);
	pthread_mutex_unlock(&lines->lock);
}

void json_lines_count(struct json_lines *lines, struct json_lines_counts *counts)
{
	pthread_mutex_lock(&lines->lock);
	*counts = lines->counts;
	pthread_mutex_unlock(&lines->lock);
}

void json_lines_close(struct json_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < JSON_LINES_CLIENTS; i++) {
		send_waiting(lines, &lines->clients[i]);
		end_client(lines, &lines->clients[i]);
	}
	close(lines->listen_fd);
	close(lines->wake_fd);
	pthread_mutex_destroy(&lines->lock);
	free(lines);
}
