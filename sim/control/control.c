/* SPDX-License-Identifier: MIT */
/* Control socket: the listening end and the clients' comings and goings. */
#define _GNU_SOURCE /* accept4 */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl_private.h"
#include "listen.h"

#define WHAT "control socket"

/* Connections accepted in one ctl_dispatch(). */
#define MAX_ACCEPTS 8

static int watch(struct ctl *ctl, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(ctl->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

struct ctl *ctl_open(const char *path, char *err, size_t errlen)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));

	if (!ctl || !(ctl->path = strdup(path))) {
		snprintf(err, errlen, "not enough memory for the control socket %s", path);
		free(ctl);
		return NULL;
	}
	ctl_memory_watch();
	ctl->listen_fd = -1;
	ctl_capture_init(&ctl->capture);
	ctl->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ctl->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ctl->epoll_fd >= 0 && ctl->wake_fd >= 0) {
		ctl->listen_fd = ctl_listen(path, SOCK_STREAM, WHAT, &ctl->inode, err, errlen);
		if (ctl->listen_fd < 0) {
			ctl_close(ctl);
			return NULL;
		}
		if (watch(ctl, ctl->wake_fd) == 0 && watch(ctl, ctl->listen_fd) == 0)
			return ctl;
	}
	snprintf(err, errlen, WHAT " %s cannot be watched: %s", path, strerror(errno));
	ctl_close(ctl);
	return NULL;
}

void ctl_attach(struct ctl *ctl, struct cp *cp)
{
	assert(!ctl->cp && cp);
	ctl->cp = cp;
	ctl_wake(ctl);
}

int ctl_fd(const struct ctl *ctl)
{
	return ctl->epoll_fd;
}

static void refuse(int fd)
{
	static const char text[] =
		"{\"error\":{\"class\":\"Failed\",\"desc\":\"the control socket has as many "
		"clients as it can serve; disconnect one\"},\"id\":null}\n";

	(void)!send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void accept_clients(struct ctl *ctl)
{
	for (int i = 0; i < MAX_ACCEPTS; i++) {
		int fd = accept4(ctl->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		unsigned int slot = 0;

		if (fd < 0)
			return;
		while (slot < CTL_MAX_CLIENTS && ctl->client[slot])
			slot++;
		if (slot == CTL_MAX_CLIENTS) {
			refuse(fd);
			continue;
		}
		ctl->client[slot] = ctl_client_new(ctl, fd);
		if (!ctl->client[slot])
			refuse(fd);
	}
}

static void remove_client(struct ctl *ctl, unsigned int slot)
{
	struct ctl_client *client = ctl->client[slot];

	ctl->client[slot] = NULL;
	ctl_peers_left(ctl, client);
	if (client->reason)
		ctl_notify(ctl, NULL, "client-dropped",
			   json_pack("{s:I, s:s}", "client", (json_int_t)client->id, "reason",
				     client->reason));
	ctl_client_free(ctl, client);
	if (ctl->cp)
		iucv_dispatch_rest(ctl->cp);
}

void ctl_dispatch(struct ctl *ctl)
{
	uint64_t count;

	(void)!read(ctl->wake_fd, &count, sizeof(count));
	accept_clients(ctl);
	for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++) {
		struct ctl_client *client = ctl->client[slot];

		if (!client)
			continue;
		ctl_client_serve(ctl, client, ctl_request);
		if (ctl_client_done(client))
			remove_client(ctl, slot);
	}
}

static bool is_behind(const struct ctl_client *client)
{
	return client && !client->dropped && client->out.len >= CTL_OUT_PAUSE;
}

bool ctl_needs_pause(struct ctl *ctl)
{
	bool needed = false;

	if (!ctl || !ctl->behind || ctl->events == ctl->paced)
		return false;
	ctl->paced = ctl->events;
	ctl->behind = false;
	for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++) {
		if (!is_behind(ctl->client[slot]))
			continue;
		ctl->behind = true;
		needed |= ctl->client[slot]->pauses++ < CTL_PAUSES;
	}
	return needed;
}

void ctl_close(struct ctl *ctl)
{
	if (!ctl)
		return;
	for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++)
		if (ctl->client[slot])
			ctl_client_free(ctl, ctl->client[slot]);
	memset(ctl->client, 0, sizeof(ctl->client));
	ctl_peers_free(ctl);
	ctl_capture_end(ctl);
	ctl_unlisten(ctl->path, ctl->inode);
	ctl_file_close(ctl->listen_fd);
	ctl_file_close(ctl->wake_fd);
	ctl_file_close(ctl->epoll_fd);
	free(ctl->path);
	free(ctl);
}
