/* SPDX-License-Identifier: MIT */
/* The trace in a file: one writev() a line, so that a kill loses nothing that was complete. */
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct trace_file {
	char *path;
	int fd;
	bool failed;
};

struct trace_file *trace_file_open(const char *path, char *err, size_t errlen)
{
	struct trace_file *file = calloc(1, sizeof(*file));

	if (!file || !(file->path = strdup(path))) {
		snprintf(err, errlen, "not enough memory for the trace file %s", path);
		free(file);
		return NULL;
	}
	file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (file->fd < 0) {
		snprintf(err, errlen, "trace file %s cannot be written: %s", path, strerror(errno));
		free(file->path);
		free(file);
		return NULL;
	}
	return file;
}

static bool write_line(int fd, const char *line, size_t len)
{
	struct iovec part[2] = { { (void *)(uintptr_t)line, len }, { (void *)(uintptr_t)"\n", 1 } };
	size_t left = len + 1;

	while (left > 0) {
		ssize_t done = writev(fd, part, 2);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		left -= (size_t)done;
		for (int i = 0; i < 2 && done > 0; i++) {
			size_t gone = (size_t)done < part[i].iov_len ? (size_t)done : part[i].iov_len;

			part[i].iov_base = (char *)part[i].iov_base + gone;
			part[i].iov_len -= gone;
			done -= (ssize_t)gone;
		}
	}
	return true;
}

void trace_file_line(void *opaque, const char *line, size_t len)
{
	struct trace_file *file = opaque;

	if (file->failed || write_line(file->fd, line, len))
		return;
	file->failed = true;
	fprintf(stderr, "zvmlab: trace file %s ends here: %s\n", file->path, strerror(errno));
}

void trace_file_close(struct trace_file *file)
{
	if (!file)
		return;
	close(file->fd);
	free(file->path);
	free(file);
}
