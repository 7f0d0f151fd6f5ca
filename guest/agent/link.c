// SPDX-License-Identifier: MIT
/*
 * The stream to the harness: an AF_IUCV connection, or any other stream socket
 * that the program was given.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"

#ifndef AF_IUCV
#define AF_IUCV 32
#endif

/* Linux takes a message of up to MAX_SKB_FRAGS pages in one piece. */
#define SEND_CHUNK 32768u
/* Who accepts may have to wait for a CPU of a busy host; what is refused ends at once. */
#define CONNECT_S 60
#define LINGER_S 2

/* Copied values of net/iucv/af_iucv.h, which the kernel does not export to programs. */
struct sockaddr_iucv {
	sa_family_t family;
	uint16_t port;
	uint32_t addr;
	char nodeid[8];
	char user_id[8];
	char name[8];
};

static void pad(char field[8], const char *text)
{
	memset(field, ' ', 8);
	memcpy(field, text, strnlen(text, 8));
}

static struct sockaddr_iucv iucv_address(const char *user, const char *name)
{
	struct sockaddr_iucv addr = { .family = AF_IUCV };

	pad(addr.nodeid, "");
	pad(addr.user_id, user);
	pad(addr.name, name);
	return addr;
}

int link_connect(const char *user, const char *name)
{
	struct sockaddr_iucv own = iucv_address("", "INIT"), peer = iucv_address(user, name);
	struct timeval limit = { .tv_sec = CONNECT_S };
	int error, fd = socket(AF_IUCV, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* The name is still taken for a moment after a lost connection; any other will do. */
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) && errno != EADDRINUSE)
		goto fail;
	/* connect() obeys the send time limit, which is not wanted later. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&peer, sizeof(peer)))
		goto fail;
	limit.tv_sec = 0;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return own_file(fd);
fail:
	error = errno;
	close(fd);
	return -error;
}

void link_attach(struct link *link, int fd)
{
	pthread_mutex_lock(&link->lock);
	link->fd = fd;
	link->generation++;
	link->have = 0;
	pthread_mutex_unlock(&link->lock);
}

void link_detach(struct link *link)
{
	struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };

	pthread_mutex_lock(&link->lock);
	setsockopt(link->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(link->fd);
	link->fd = -1;
	link->generation++;
	pthread_mutex_unlock(&link->lock);
}

/* Return: so many bytes have come, 0 at the end of the stream. */
static size_t receive_some(int fd, void *data, size_t len)
{
	ssize_t got;

	do
		got = recv(fd, data, len, 0);
	while (got < 0 && errno == EINTR);
	return got < 0 ? 0 : (size_t)got;
}

/* A request is mostly one message: one call takes its header and what follows. */
static bool receive_all(struct link *link, void *data, size_t len)
{
	uint8_t *to = data;

	while (len) {
		size_t part = link->have < len ? link->have : len;

		memcpy(to, link->in + link->at, part);
		link->at += part;
		link->have -= part;
		if (!part && len >= sizeof(link->in)) {
			part = receive_some(link->fd, to, len);
			if (!part)
				return false;
		} else if (!part) {
			link->at = 0;
			link->have = receive_some(link->fd, link->in, sizeof(link->in));
			if (!link->have)
				return false;
		}
		to += part;
		len -= part;
	}
	return true;
}

static bool skip(struct link *link, size_t len)
{
	char scratch[4096];

	while (len) {
		size_t part = len < sizeof(scratch) ? len : sizeof(scratch);

		if (!receive_all(link, scratch, part))
			return false;
		len -= part;
	}
	return true;
}

enum receive link_receive(struct link *link, struct request **out)
{
	uint8_t header[FRAME_HEADER];
	struct rd in = { header, header + sizeof(header), false };
	struct request head = { 0 };
	struct request *req;
	uint32_t counted;

	if (!receive_all(link, header, sizeof(header)))
		return RECEIVE_END;
	counted = rd_u32(&in);
	head.id = rd_u32(&in);
	head.type = rd_u16(&in);
	head.worker = rd_u16(&in);
	head.generation = link->generation;
	/* There is no way back into step after a wrong length. */
	if (counted < FRAME_COUNTED || counted - FRAME_COUNTED > REQUEST_MAX)
		return RECEIVE_END;
	head.len = counted - FRAME_COUNTED;
	req = malloc(sizeof(*req) + head.len);
	if (!req) {
		req = malloc(sizeof(*req));
		if (!req || !skip(link, head.len)) {
			free(req);
			return RECEIVE_END;
		}
		head.len = 0;
		*req = head;
		*out = req;
		return RECEIVE_NO_MEMORY;
	}
	*req = head;
	if (!receive_all(link, req->payload, head.len)) {
		free(req);
		return RECEIVE_END;
	}
	*out = req;
	return RECEIVE_OK;
}

static bool send_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t put = send(fd, data, len < SEND_CHUNK ? len : SEND_CHUNK, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		/* Linux ran out of memory below 2 GiB for a moment. */
		if (put < 0 && (errno == ENOBUFS || errno == EAGAIN)) {
			poll(NULL, 0, 1);
			continue;
		}
		if (put <= 0)
			return false;
		data += put;
		len -= (size_t)put;
	}
	return true;
}

void link_reply(struct link *link, const struct request *req, enum status status, struct wr *out)
{
	put_be32(out->data, (uint32_t)(out->len - FRAME_HEADER) + FRAME_COUNTED);
	put_be32(out->data + 4, req->id);
	put_be16(out->data + 8, (uint16_t)(req->type | REPLY_BIT));
	put_be16(out->data + 10, (uint16_t)status);
	pthread_mutex_lock(&link->lock);
	/* A failed send needs no handling: the reading thread meets the same end. */
	if (link->generation == req->generation && !send_all(link->fd, out->data, out->len))
		shutdown(link->fd, SHUT_RDWR);
	pthread_mutex_unlock(&link->lock);
}
