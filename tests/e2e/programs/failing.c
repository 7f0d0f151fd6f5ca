/* SPDX-License-Identifier: MIT */
/*
 * failing FILE NAME [PARAMETERS]: puts a kernel module in and out again, once for each of its
 * allocations, which fails.
 *
 * Each load is a line on stdout: the number of the failing allocation, the error number or 0,
 * and how many drivers and devices the kernel lists while the module is loaded.  It ends after
 * the first load of which nothing failed.  The kernel counts the allocations and copies of a
 * thread (/proc/thread-self/fail-nth).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than any module has. */
#define NUMBERS_MAX 4000

static int failing_load(int nth, const char *path, const char *params, int number, int *error)
{
	char text[16] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC), length = snprintf(text, sizeof(text), "%d", number);
	ssize_t left;

	if (file < 0 || pwrite(nth, text, (size_t)length, 0) != length)
		return -1;
	*error = syscall(SYS_finit_module, file, params, 0) ? errno : 0;
	left = pread(nth, text, sizeof(text) - 1, 0);
	/* A counter of 2 makes this call the one that fails. */
	if (pwrite(nth, "0", 1, 0) != 1 && pwrite(nth, "0", 1, 0) != 1)
		return -1;
	close(file);
	/* A counter of 1 makes the call that reads the counter fail. */
	return left > 0 && atoi(text) == 0;
}

/* The lines of what lists drivers and devices; -1 if it cannot be read. */
static long registered(void)
{
	static const char *const lists[] = { "/proc/devices", "/proc/misc" };
	long lines = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		FILE *list = fopen(lists[i], "re");

		if (!list)
			return -1;
		for (int c = fgetc(list); c != EOF; c = fgetc(list))
			lines += c == '\n';
		fclose(list);
	}
	return lines;
}

int main(int argc, char **argv)
{
	int nth, number, error = 0, failed = 1;

	if (argc < 3) {
		fprintf(stderr, "usage: failing FILE NAME [PARAMETERS]\n");
		return 2;
	}
	nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth < 0) {
		perror("fail-nth");
		return EXIT_FAILURE;
	}
	for (number = 1; failed && number < NUMBERS_MAX; number++) {
		failed = failing_load(nth, argv[1], argc > 3 ? argv[3] : "", number, &error);
		if (failed < 0) {
			perror(argv[1]);
			return EXIT_FAILURE;
		}
		printf("%d %d %ld\n", number, error, registered());
		if (!error && syscall(SYS_delete_module, argv[2], O_NONBLOCK)) {
			perror(argv[2]);
			return EXIT_FAILURE;
		}
	}
	return EXIT_SUCCESS;
}
