/* SPDX-License-Identifier: MIT */
/* Files by name, opened without waiting for anything. */
#include "zvmlab/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *give_up(int *fd, const char *why)
{
	assert(why);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return why;
}

const char *file_open_read(const char *path, int *fd)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st) != 0)
		return give_up(fd, strerror(errno));
	return S_ISREG(st.st_mode) ? NULL : give_up(fd, "it is not a regular file");
}

const char *file_open_write(const char *path, bool append, int *fd)
{
	const int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	struct stat st;

	*fd = open(path, append ? flags | O_APPEND : flags, 0666);
	/* Of a FIFO that nobody reads. */
	if (*fd < 0)
		return errno == ENXIO ? "it is not a regular file" : strerror(errno);
	if (fstat(*fd, &st) != 0)
		return give_up(fd, strerror(errno));
	if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))
		return give_up(fd, "it is not a regular file");
	if (S_ISREG(st.st_mode) && ftruncate(*fd, 0) != 0)
		return give_up(fd, strerror(errno));
	return NULL;
}
