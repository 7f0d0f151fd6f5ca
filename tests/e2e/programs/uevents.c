// SPDX-License-Identifier: MIT
/*
 * uevents COUNT FILE STRING: wait for so many of the kernel's events that have this string, and print
 * what each is about, "ACTION@PATH".  FILE appears when none can be missed any more.
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

static bool has(const char *event, size_t len, const char *string)
{
	for (const char *at = event; at < event + len; at += strlen(at) + 1)
		if (strcmp(at, string) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct sockaddr_nl own = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	static char event[65536];

	if (argc != 4 || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
	    close(open(argv[2], O_CREAT | O_WRONLY, 0600)))
		return 2;
	for (int left = atoi(argv[1]); left > 0;) {
		ssize_t len = poll(&ready, 1, LIMIT_MS) == 1 ? recv(fd, event, sizeof(event) - 1, 0) : -1;

		if (len <= 0)
			return 1;
		event[len] = '\0';
		if (!has(event, (size_t)len, argv[3]))
			continue;
		printf("%s\n", event);
		left--;
	}
	return 0;
}
