// SPDX-License-Identifier: MIT
/*
 * What device-mapper says to somebody who may not use it: dm_user user|namespace.  Root opens the
 * control node, then becomes user 1000, or root of a user namespace of its own; prints the errno
 * of listing devices by the open file, and of opening the node.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CONTROL "/dev/mapper/control"
#define OTHER 1000

int main(int argc, char **argv)
{
	struct dm_ioctl request = {
		.version = { DM_VERSION_MAJOR, 0, 0 },
		.data_size = sizeof(request),
	};
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC);
	int listed, opened;

	if (argc != 2 || fd < 0)
		return 2;
	if (strcmp(argv[1], "namespace") == 0 ? unshare(CLONE_NEWUSER) :
						setresuid(OTHER, OTHER, OTHER)) {
		perror(argv[1]);
		return 2;
	}
	listed = ioctl(fd, DM_LIST_DEVICES, &request) ? errno : 0;
	opened = open(CONTROL, O_RDWR | O_CLOEXEC) < 0 ? errno : 0;
	printf("list=%d open=%d\n", listed, opened);
	return 0;
}
