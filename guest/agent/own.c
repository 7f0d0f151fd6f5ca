// SPDX-License-Identifier: MIT
/*
 * Files that the agent opens for itself.  Requests may close numbers that they have been given
 * before, while other threads work: the agent's own are not among those.
 */
#include <fcntl.h>
#include <unistd.h>

#include "agent.h"

#define FIRST 200	/* no program that is tested has so many files */

int own_file(int fd)
{
	int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FIRST);

	/* Without room there, it stays where it is. */
	if (own < 0)
		return fd;
	close(fd);
	return own;
}

int own_open(const char *path, int flags, mode_t mode)
{
	return own_file(open(path, flags | O_CLOEXEC, mode));
}
