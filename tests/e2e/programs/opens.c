/* SPDX-License-Identifier: MIT */
/*
 * Threads that open and close a file that only one may have open.
 *
 *   opens FILE THREADS ROUNDS
 *
 * Prints how many opens succeeded and how many failed with EBUSY.  Exit status: 0, or 1 if
 * two had it open at the same time or open failed with anything else.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 64

static const char *path;
static unsigned long rounds;
static atomic_ulong opened, busy, wrong;
static atomic_uint holders;

static void *open_and_close(void *unused)
{
	for (unsigned long round = 0; round < rounds; round++) {
		int fd = open(path, O_RDONLY);

		if (fd < 0) {
			atomic_fetch_add(errno == EBUSY ? &busy : &wrong, 1);
			sched_yield();
			continue;
		}
		atomic_fetch_add(&opened, 1);
		if (atomic_fetch_add(&holders, 1) != 0)
			atomic_fetch_add(&wrong, 1);
		/* The others run while this one has it, on a single CPU, too. */
		sched_yield();
		atomic_fetch_sub(&holders, 1);
		close(fd);
	}
	return unused;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	pthread_t thread[MOST];

	if (threads < 1 || threads > MOST)
		return EXIT_FAILURE;
	path = argv[1];
	rounds = strtoul(argv[3], NULL, 10);
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, open_and_close, NULL) != 0)
			return EXIT_FAILURE;
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%lu %lu\n", opened, busy);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
