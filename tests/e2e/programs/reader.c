/* SPDX-License-Identifier: MIT */
/*
 * A reader in a process of its own.
 *
 *   reader open FILE BYTES END	open FILE
 *   reader fd NUMBER BYTES END	use a descriptor that it was started with
 *
 * It writes its process id to /tmp/reader.pid, reads up to BYTES bytes or a 0-byte read,
 * and writes what it has read to stdout.  Then it ends as END says: "exit" with status 0,
 * "die" by SIGKILL, "pause" whenever a signal comes.  Its exit status is errno if open or
 * read fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE 255

static void leave_pid(void)
{
	FILE *file = fopen("/tmp/reader.pid", "w");

	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file) != 0)
		exit(errno);
}

static void copy(int fd, size_t left)
{
	char buffer[4096];

	while (left > 0) {
		ssize_t got = read(fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer));

		if (got == 0)
			return;
		if (got < 0 || write(STDOUT_FILENO, buffer, (size_t)got) != got)
			exit(errno);
		left -= (size_t)got;
	}
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 5)
		return USAGE;
	leave_pid();
	fd = strcmp(argv[1], "fd") == 0 ? atoi(argv[2]) : open(argv[2], O_RDONLY);
	if (fd < 0)
		return errno;
	copy(fd, strtoul(argv[3], NULL, 10));
	if (strcmp(argv[4], "die") == 0)
		raise(SIGKILL);
	if (strcmp(argv[4], "pause") == 0)
		pause();
	return 0;
}
