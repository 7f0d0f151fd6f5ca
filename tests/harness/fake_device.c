/* SPDX-License-Identifier: MIT */
/*
 * A /dev/monreader for programs of the host, by LD_PRELOAD: open(), read() and poll()
 * of that name give what the file FAKE_DEVICE says, a line for each.
 *
 *	open N		open() gives a descriptor (0), or fails with errno N
 *	data HEX	bytes, in as many reads as it takes
 *	end		a read gives 0 bytes
 *	error N		a read fails with errno N
 *	again N		as error N, but poll() tells of an error, too
 *	silence		nothing comes: the call waits
 *	signal N	signal N comes before the next line; no call takes this line
 *
 * Behind the last line everything fails with ENODEV.
 *
 * With FAKE_WAITS nothing waits for time alone: how many nanoseconds it would have been goes to
 * that file, a line for each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE "/dev/monreader"
#define LINE (1 << 20)

static FILE *script;
static char line[LINE];
static size_t taken;		/* hexadecimal digits of a data line */
static bool have;
static int device = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The line at hand; NULL behind the last one. */
static const char *current(void)
{
	while (!have) {
		if (!script)
			script = fopen(getenv("FAKE_DEVICE"), "re");
		if (!script || !fgets(line, sizeof(line), script))
			return NULL;
		line[strcspn(line, "\n")] = '\0';
		taken = 0;
		have = true;
		if (strncmp(line, "signal ", 7) == 0) {
			kill(getpid(), atoi(line + 7));
			have = false;
		}
	}
	return line;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static int open_device(void)
{
	const char *now = current();
	int pipes[2], error;

	if (!now || strncmp(now, "open ", 5) != 0)
		return fail(ENODEV);
	error = atoi(now + 5);
	have = false;
	if (error)
		return fail(error);
	/* A pipe in which nothing ever is, so that poll() and read() can wait. */
	if (REAL(pipe2)(pipes, O_CLOEXEC))
		return -1;
	device = pipes[0];
	return device;
}

static int any_open(const char *path, int flags, mode_t mode)
{
	if (getenv("FAKE_DEVICE") && strcmp(path, DEVICE) == 0)
		return open_device();
	return REAL(open)(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return any_open(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return any_open(path, flags, mode);
}

int fstat(int fd, struct stat *status)
{
	const int ret = REAL(fstat)(fd, status);

	if (ret == 0 && fd == device && fd >= 0)
		status->st_mode = S_IFCHR | 0400;
	return ret;
}

int close(int fd)
{
	if (fd == device && fd >= 0)
		device = -1;
	return REAL(close)(fd);
}

static ssize_t give_data(const char *hex, char *to, size_t len)
{
	size_t got = 0;

	while (got < len && hex[taken]) {
		const char digits[3] = { hex[taken], hex[taken + 1], '\0' };

		to[got++] = (char)strtoul(digits, NULL, 16);
		taken += 2;
	}
	if (!hex[taken])
		have = false;
	return (ssize_t)got;
}

ssize_t read(int fd, void *buffer, size_t len)
{
	const char *now;

	if (fd != device || fd < 0)
		return REAL(read)(fd, buffer, len);
	now = current();
	if (!now || strncmp(now, "open ", 5) == 0)
		return fail(ENODEV);
	if (strncmp(now, "data ", 5) == 0)
		return give_data(now + 5, buffer, len);
	if (strcmp(now, "silence") == 0)
		return REAL(read)(fd, buffer, len);
	have = false;
	return strcmp(now, "end") == 0 ? 0 : fail(atoi(strchr(now, ' ') + 1));
}

static int note_wait(const struct timespec *limit)
{
	FILE *waits = fopen(getenv("FAKE_WAITS"), "ae");

	if (!waits)
		return fail(EIO);
	fprintf(waits, "%ld\n", limit->tv_sec * 1000000000L + limit->tv_nsec);
	return fclose(waits) ? fail(EIO) : 0;
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
	const char *now;

	if (count == 0 && limit && getenv("FAKE_WAITS"))
		return note_wait(limit);
	if (count != 1 || fds->fd != device || device < 0)
		return REAL(ppoll)(fds, count, limit, mask);
	now = current();
	if (now && strcmp(now, "silence") == 0)
		return REAL(ppoll)(fds, count, limit, mask);
	fds->revents = now && strncmp(now, "again ", 6) == 0 ? POLLERR : POLLIN;
	return 1;
}
