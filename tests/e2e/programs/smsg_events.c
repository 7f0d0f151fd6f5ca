// SPDX-License-Identifier: MIT
/*
 * smsg_events COUNT FILE: wait for so many uevents of smsgiucv_app and print "SENDER TEXT" of each.
 * FILE appears when none can be missed any more.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT_MS 60000

/* The value of one of the strings of an event, NULL if it has none of that name. */
static const char *value(const char *event, size_t len, const char *name)
{
	for (const char *at = event; at < event + len; at += strlen(at) + 1)
		if (strncmp(at, name, strlen(name)) == 0)
			return at + strlen(name);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
	static char event[65536];

	if (argc != 3 || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    close(open(argv[2], O_CREAT | O_WRONLY, 0600)))
		return 2;
	for (int left = atoi(argv[1]); left > 0;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		const char *sender, *text;
		ssize_t len;

		if (poll(&ready, 1, LIMIT_MS) != 1)
			return 1;
		len = recv(fd, event, sizeof(event) - 1, 0);
		if (len <= 0)
			return 2;
		event[len] = '\0';
		sender = value(event, (size_t)len, "SMSG_SENDER=");
		text = value(event, (size_t)len, "SMSG_TEXT=");
		if (!sender || !text)
			continue;
		printf("%s %s\n", sender, text);
		left--;
	}
	return 0;
}
