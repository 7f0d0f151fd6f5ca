/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* asprintf() */
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* 0 or -errno */
static int write_all(int fd, const struct text *text)
{
	size_t at = 0;

	while (at < text->len) {
		const ssize_t wrote = write(fd, text->bytes + at, text->len - at);

		if (wrote < 0)
			return -errno;
		at += (size_t)wrote;
	}
	return 0;
}

int textfile_write(const char *name, const struct text *text)
{
	char *scratch;
	int fd, ret;

	if (asprintf(&scratch, "%s.%ld", name, (long)getpid()) == -1)
		return -ENOMEM;
	fd = open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		ret = -errno;
		free(scratch);
		return ret;
	}
	ret = write_all(fd, text);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(scratch, name))
		ret = -errno;
	if (ret)
		unlink(scratch);
	free(scratch);
	return ret;
}
