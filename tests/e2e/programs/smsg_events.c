// SPDX-License-Identifier: MIT
/*
 * smsg_events COUNT FILE [LAST]: wait for so many uevents of smsgiucv_app, or for the one whose
 * text is LAST, and print "SENDER ID TEXT" of each.  FILE appears when none can be missed any more.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT_MS 60000
/* Hundreds of events come before this program runs again. */
#define RECEIVE_BUFFER (8 << 20)

/* The value of one of the strings of an event, NULL if it has none of that name. */
static const char *value(const char *event, size_t len, const char *name)
{
	for (const char *at = event; at < event + len; at += strlen(at) + 1)
		if (strncmp(at, name, strlen(name)) == 0)
			return at + strlen(name);
	return NULL;
}

/* One more event; return: 1 if it is one of smsgiucv_app, 2 if it is the last, 0 if not, or -1. */
static int next(int fd, const char *last)
{
	static char event[65536];
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	const char *sender, *id, *text;
	ssize_t len;

	if (poll(&ready, 1, LIMIT_MS) != 1)
		return -1;
	len = recv(fd, event, sizeof(event) - 1, 0);
	if (len <= 0)
		return -1;
	event[len] = '\0';
	sender = value(event, (size_t)len, "SMSG_SENDER=");
	id = value(event, (size_t)len, "SMSG_ID=");
	text = value(event, (size_t)len, "SMSG_TEXT=");
	if (!sender || !id || !text)
		return 0;
	printf("%s %s %s\n", sender, id, text);
	return last && strcmp(text, last) == 0 ? 2 : 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT), room = RECEIVE_BUFFER;
	const char *last = argc == 4 ? argv[3] : NULL;

	if (argc < 3 || argc > 4 || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    close(open(argv[2], O_CREAT | O_WRONLY, 0600)))
		return 2;
	for (int left = atoi(argv[1]); left > 0;) {
		int found = next(fd, last);

		if (found < 0)
			return 1;
		left = found == 2 ? 0 : left - found;
	}
	return 0;
}
