// SPDX-License-Identifier: MIT
/*
 * shifted DEVICE - write a page without the page cache, from a buffer that begins within a page.
 *
 * The buffer begins 0, 512, 1024, … bytes behind a page's beginning, and is full of 'a', 'b', 'c', ….
 * Prints for each how many bytes were written, or the negative errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096
#define SECTOR 512

int main(int argc, char **argv)
{
	void *pages;
	int fd;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || posix_memalign(&pages, PAGE, 2 * PAGE) != 0) {
		perror(argv[1]);
		return 1;
	}
	for (int shift = 0; shift < PAGE; shift += SECTOR) {
		char *buffer = (char *)pages + shift;
		ssize_t written;

		memset(buffer, 'a' + shift / SECTOR, PAGE);
		written = pwrite(fd, buffer, PAGE, 0);
		printf("%d\n", written < 0 ? -errno : (int)written);
	}
	free(pages);
	return close(fd) != 0;
}
