// SPDX-License-Identifier: MIT
/* Files of a fuzz target: files.h. */
#define _GNU_SOURCE /* memfd_create */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

static bool ours;
static int files[FILES] = { -1, -1, -1, -1 };
static int pipes[2] = { -1, -1 };

void files_start(void)
{
	for (unsigned int i = 0; i < FILES; i++) {
		if (files[i] < 0)
			files[i] = memfd_create("file", MFD_CLOEXEC);
		if (files[i] < 0 || ftruncate(files[i], 0) != 0)
			abort();
	}
	if (pipes[0] < 0 && pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
		abort();
	ours = true;
}

void files_end(void)
{
	ours = false;
}

static int again(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return __real_open(path, (flags & ~(O_CREAT | O_EXCL)) | O_NONBLOCK | O_CLOEXEC);
}

static int none(int error)
{
	errno = error;
	return -1;
}

/* By the path's last character: a file, or what cannot be used like one. */
static int open_ours(const char *path, int flags)
{
	const size_t len = strlen(path);
	const char kind = len > 0 ? path[len - 1] : 'm';

	switch (kind) {
	case 'm':
		return none(ENOENT);
	case 'd':
		return none(EACCES);
	case 'p':
		return again(pipes[(flags & O_ACCMODE) != O_RDONLY], flags);
	case '/':
		return __real_open("/", flags & ~(O_CREAT | O_TRUNC));
	case 'l':
		return __real_open("/dev/full", flags & ~O_CREAT);
	default:
		return again(files[(uint8_t)kind % FILES], flags);
	}
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	if (ours)
		return open_ours(path, flags);
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return __real_open(path, flags, mode);
}

uint8_t *files_take(unsigned int file, size_t *len)
{
	const off_t size = lseek(files[file % FILES], 0, SEEK_END);
	void *bytes;

	if (size <= 0)
		return NULL;
	*len = (size_t)size;
	bytes = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, files[file % FILES], 0);
	return bytes == MAP_FAILED ? NULL : bytes;
}

void files_give(uint8_t *bytes, size_t len)
{
	munmap(bytes, len);
}
