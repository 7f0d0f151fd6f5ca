/* SPDX-License-Identifier: MIT */
/* Whole files, for requests that name one. */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl_private.h"
#include "zvmlab/file.h"

/* A saved CP holds segments and messages; more than this is something else. */
#define MAX_FILE (1 << 30)

void ctl_file_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

int ctl_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		const ssize_t done = TEMP_FAILURE_RETRY(write(fd, at, len));

		if (done < 0)
			return -1;
		at += done;
		len -= (size_t)done;
	}
	return 0;
}

int ctl_file_write(const char *path, const void *data, size_t len, char *err, size_t errlen)
{
	int fd;
	const char *why = file_open_write(path, false, &fd);

	if (!why && ctl_write_all(fd, data, len) != 0)
		why = strerror(errno);
	if (fd >= 0 && close(fd) != 0 && !why)
		why = strerror(errno);
	if (why)
		snprintf(err, errlen, "file %s cannot be written: %s", path, why);
	return why ? -1 : 0;
}

static int read_all(int fd, uint8_t *data, size_t len)
{
	while (len > 0) {
		const ssize_t done = TEMP_FAILURE_RETRY(read(fd, data, len));

		if (done <= 0) {
			errno = done == 0 ? ENODATA : errno;
			return -1;
		}
		data += done;
		len -= (size_t)done;
	}
	return 0;
}

int ctl_file_read(const char *path, uint8_t **data, size_t *len, char *err, size_t errlen)
{
	int fd;
	const char *why = file_open_read(path, &fd);
	struct stat st;

	*data = NULL;
	if (why || fstat(fd, &st) != 0) {
		snprintf(err, errlen, "file %s cannot be read: %s", path,
			 why ? why : strerror(errno));
	} else if (st.st_size > MAX_FILE) {
		snprintf(err, errlen, "file %s is longer than %d bytes", path, MAX_FILE);
	} else {
		*len = (size_t)st.st_size;
		*data = malloc(*len + 1);
		if (!*data || read_all(fd, *data, *len) != 0) {
			snprintf(err, errlen, "file %s cannot be read: %s", path, strerror(errno));
			free(*data);
			*data = NULL;
		}
	}
	ctl_file_close(fd);
	return *data ? 0 : -1;
}
