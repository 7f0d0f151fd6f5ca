/* SPDX-License-Identifier: MIT */
/* One client: bytes in, lines, bytes out; never blocks. */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl_private.h"
#include "zvmlab_version.h"

/* Work for one client in one ctl_dispatch(). */
#define READ_SIZE (64u << 10)
#define MAX_READS 16
#define MAX_REQUESTS 32

static bool reserve(struct ctl_buffer *buffer, size_t more)
{
	size_t capacity = buffer->capacity;
	char *data;

	if (buffer->start > 0 && buffer->start + buffer->len + more > capacity) {
		memmove(buffer->data, buffer->data + buffer->start, buffer->len);
		buffer->start = 0;
	}
	if (buffer->start + buffer->len + more <= capacity)
		return true;
	while (capacity < buffer->len + more)
		capacity = capacity ? 2 * capacity : READ_SIZE;
	data = realloc(buffer->data, capacity);
	if (!data)
		return false;
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
}

static void consume(struct ctl_buffer *buffer, size_t len)
{
	assert(len <= buffer->len);
	buffer->start += len;
	buffer->len -= len;
	if (buffer->len > 0)
		return;
	buffer->start = 0;
	/* What one long line needed is not kept for a client's whole life. */
	if (buffer->capacity > 4 * READ_SIZE) {
		free(buffer->data);
		*buffer = (struct ctl_buffer){ 0 };
	}
}

void ctl_wake(struct ctl *ctl)
{
	uint64_t one = 1;
	ssize_t done = write(ctl->wake_fd, &one, sizeof(one));

	assert(done == sizeof(one) || errno == EAGAIN);
}

/*
 * Callable inside an entry point of the CP, so the client itself stays until
 * ctl_dispatch().  @why is told to the others; NULL: it went by itself.
 */
static void drop(struct ctl *ctl, struct ctl_client *client, const char *why)
{
	/* The first reason is why it goes. */
	if (client->dropped)
		return;
	client->dropped = true;
	client->reason = why;
	shutdown(client->fd, SHUT_RDWR);
	ctl_wake(ctl);
}

/* Return: length of the first line with its newline, 0 if none is complete. */
static size_t first_line(struct ctl_client *client)
{
	const char *data, *end;

	if (client->scanned == client->in.len)
		return 0;
	data = client->in.data + client->in.start;
	end = memchr(data + client->scanned, '\n', client->in.len - client->scanned);
	if (end)
		return (size_t)(end - data) + 1;
	client->scanned = client->in.len;
	return 0;
}

/*
 * Requests that wait for their turn are asked for as EPOLLOUT: that comes at
 * once, or as soon as there is room for answers.  A descriptor that nothing is
 * expected of is not watched at all, because EPOLLHUP cannot be masked.
 */
static void watch(struct ctl *ctl, struct ctl_client *client)
{
	struct epoll_event event = { .data.fd = client->fd };
	int how = EPOLL_CTL_MOD;

	if (!client->ended && client->out.len < CTL_OUT_PAUSE)
		event.events |= EPOLLIN;
	if (client->out.len > 0 || (ctl->cp && first_line(client) > 0))
		event.events |= EPOLLOUT;
	if (event.events == client->watched)
		return;
	if (event.events == 0)
		how = EPOLL_CTL_DEL;
	else if (client->watched == 0)
		how = EPOLL_CTL_ADD;
	if (epoll_ctl(ctl->epoll_fd, how, client->fd, &event) != 0)
		drop(ctl, client, "it cannot be watched");
	client->watched = event.events;
}

static void flush(struct ctl *ctl, struct ctl_client *client)
{
	while (client->out.len > 0 && !client->dropped) {
		const ssize_t done =
			TEMP_FAILURE_RETRY(send(client->fd, client->out.data + client->out.start,
						client->out.len, MSG_NOSIGNAL | MSG_DONTWAIT));

		if (done < 0) {
			if (errno != EAGAIN)
				drop(ctl, client, NULL);
			break;
		}
		consume(&client->out, (size_t)done);
		client->pauses = 0;
	}
	if (!client->serving)
		watch(ctl, client);
}

struct ctl_client *ctl_client_new(struct ctl *ctl, int fd)
{
	struct ctl_client *client = calloc(1, sizeof(*client));
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (!client || epoll_ctl(ctl->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		free(client);
		return NULL;
	}
	client->id = ++ctl->last_client;
	client->fd = fd;
	client->watched = event.events;
	ctl_client_send(ctl, client, ctl_greeting(), false);
	return client;
}

void ctl_client_free(struct ctl *ctl, struct ctl_client *client)
{
	if (client->watched != 0)
		epoll_ctl(ctl->epoll_fd, EPOLL_CTL_DEL, client->fd, NULL);
	close(client->fd);
	free(client->in.data);
	free(client->out.data);
	free(client->later.data);
	free(client);
}

static bool append(struct ctl_buffer *buffer, const char *data, size_t len)
{
	if (!reserve(buffer, len))
		return false;
	memcpy(buffer->data + buffer->start + buffer->len, data, len);
	buffer->len += len;
	return true;
}

/* What has waited for another message goes with this one. */
static bool append_line(struct ctl_client *client, const char *text, size_t len, bool later)
{
	struct ctl_buffer *waits = &client->later;
	struct ctl_buffer *to = later ? waits : &client->out;

	if (!later && waits->len > 0) {
		if (!append(to, waits->data + waits->start, waits->len))
			return false;
		consume(waits, waits->len);
	}
	return append(to, text, len) && append(to, "\n", 1);
}

void ctl_client_send(struct ctl *ctl, struct ctl_client *client, json_t *message, bool later)
{
	const uint64_t failures = ctl_memory_failures();
	char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t len;

	json_decref(message);
	ctl->failures = ctl_memory_failures();
	if (ctl->failures != failures) {
		free(text);
		text = NULL;
	}
	len = text ? strlen(text) : 0;
	if (client->dropped) {
		free(text);
		return;
	}
	later = later && client->later.len < CTL_LATER_LIMIT;
	if (client->out.len + client->later.len + len + 1 > CTL_OUT_LIMIT) {
		drop(ctl, client, "too slow: it does not read what it is sent");
	} else if (!text || !append_line(client, text, len, later)) {
		drop(ctl, client, "no memory for its messages");
	} else if (!later) {
		flush(ctl, client);
		ctl->behind |= client->out.len >= CTL_OUT_PAUSE;
	}
	free(text);
}

static void refuse_line(struct ctl *ctl, struct ctl_client *client)
{
	ctl_client_send(ctl, client,
			json_pack("{s:{s:s, s:s}, s:n}", "error", "class", "BadRequest", "desc",
				  "the request is longer than 8 MiB; the connection is closed", "id"),
			false);
	client->ended = true;
	consume(&client->in, client->in.len);
	client->scanned = 0;
}

static void answer(struct ctl *ctl, struct ctl_client *client, ctl_serve *request)
{
	for (int i = 0; i < MAX_REQUESTS; i++) {
		size_t len;

		if (client->dropped || client->out.len >= CTL_OUT_PAUSE)
			return;
		len = first_line(client);
		if (len > CTL_MAX_LINE || (len == 0 && client->in.len >= CTL_MAX_LINE)) {
			refuse_line(ctl, client);
			return;
		}
		if (len == 0)
			return;
		request(ctl, client, client->in.data + client->in.start, len - 1);
		consume(&client->in, len);
		client->scanned = 0;
	}
}

static void receive(struct ctl *ctl, struct ctl_client *client)
{
	for (int i = 0; i < MAX_READS; i++) {
		ssize_t done;

		if (client->ended || client->in.len >= CTL_MAX_LINE ||
		    client->out.len >= CTL_OUT_PAUSE)
			return;
		if (!reserve(&client->in, READ_SIZE)) {
			drop(ctl, client, "no memory for its requests");
			return;
		}
		done = TEMP_FAILURE_RETRY(recv(client->fd, client->in.data + client->in.start +
							   client->in.len, READ_SIZE, MSG_DONTWAIT));
		if (done < 0 && errno == EAGAIN)
			return;
		/* A connection that is reset ends like one that is closed. */
		if (done <= 0) {
			client->ended = true;
			return;
		}
		client->in.len += (size_t)done;
		/* That was all; what has come since is told of again. */
		if ((size_t)done < READ_SIZE)
			return;
	}
}

void ctl_client_serve(struct ctl *ctl, struct ctl_client *client, ctl_serve *request)
{
	client->serving = true;
	receive(ctl, client);
	if (ctl->cp)
		answer(ctl, client, request);
	client->serving = false;
	flush(ctl, client);
}

bool ctl_client_done(const struct ctl_client *client)
{
	return client->dropped ||
	       (client->ended && client->out.len == 0 && client->scanned == client->in.len);
}

json_t *ctl_greeting(void)
{
	return json_pack("{s:{s:s, s:[s, s]}}", "zvmlab", "version", ZVMLAB_VERSION, "capabilities",
			 "peers", "monitor-capture");
}
