// SPDX-License-Identifier: MIT
/*
 * mapped FILE - store into the first two pages of a file through a shared mapping.
 *
 * The process writes "parent" to the first page, and a child that inherits the mapping "child"
 * to the second one.  Prints what the parent reads there in the end: both words.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 2

static int fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	int fd, status;
	char *map;

	if (argc != 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fail(argv[1]);
	map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return fail("mmap");
	strcpy(map, "parent");
	switch (fork()) {
	case -1:
		return fail("fork");
	case 0:
		strcpy(map + PAGE, "child");
		_exit(0);
	}
	if (wait(&status) < 0 || status != 0)
		return fail("wait");
	printf("%.6s %.5s\n", map, map + PAGE);
	if (msync(map, PAGES * PAGE, MS_SYNC) != 0 || munmap(map, PAGES * PAGE) != 0 || close(fd) != 0)
		return fail("msync, munmap or close");
	return 0;
}
