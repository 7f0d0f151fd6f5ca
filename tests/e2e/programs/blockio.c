// SPDX-License-Identifier: MIT
/*
 * I/O on a block device, each one exactly as it is asked for: blockio DEVICE WHAT OFFSET LENGTH
 * [COUNT [SECONDS]].  WHAT is read, write, flush, discard or zeroout; bytes, whole sectors.
 * COUNT: so many, one right behind the other.  With SECONDS, the same over and over again for
 * that time.  Prints how many have been done.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define ALIGNMENT 4096u

static int once(int fd, const char *what, void *buffer, uint64_t offset, uint64_t length)
{
	uint64_t range[2] = { offset, length };

	if (strcmp(what, "read") == 0)
		return pread(fd, buffer, length, (off_t)offset) == (ssize_t)length ? 0 : -1;
	if (strcmp(what, "write") == 0)
		return pwrite(fd, buffer, length, (off_t)offset) == (ssize_t)length ? 0 : -1;
	if (strcmp(what, "flush") == 0)
		return fsync(fd);
	if (strcmp(what, "discard") == 0)
		return ioctl(fd, BLKDISCARD, range);
	if (strcmp(what, "zeroout") == 0)
		return ioctl(fd, BLKZEROOUT, range);
	errno = EINVAL;
	return -1;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t offset, length, count, done = 0;
	double end = now();
	void *buffer;
	int fd;

	if (argc < 5 || argc > 7)
		return 2;
	offset = strtoull(argv[3], NULL, 0);
	length = strtoull(argv[4], NULL, 0);
	count = argc > 5 ? strtoull(argv[5], NULL, 0) : 1;
	end += argc > 6 ? strtod(argv[6], NULL) : 0;
	fd = open(argv[1], O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || posix_memalign(&buffer, ALIGNMENT, length ? length : ALIGNMENT)) {
		perror(argv[1]);
		return 1;
	}
	memset(buffer, 0x5a, length);
	do {
		for (uint64_t i = 0; i < count; i++, done++) {
			if (once(fd, argv[2], buffer, offset + i * length, length)) {
				perror(argv[2]);
				return 1;
			}
		}
	} while (now() < end);
	printf("%llu\n", (unsigned long long)done);
	return 0;
}
