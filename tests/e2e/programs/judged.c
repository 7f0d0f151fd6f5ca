// SPDX-License-Identifier: MIT
/*
 * A process whose I/O and CPU time collectors are to show: judged DEVICE BLOCKS SPIN_MS DONE.
 * Four threads, the first of them the process' own, wait for SIGUSR1.  Then each writes BLOCKS
 * blocks of 4 KiB to the device, past the page cache, reads half as many, and takes SPIN_MS of CPU
 * time.  Three of them exit.  The process calls itself "renamed", makes the folder DONE, and waits
 * for a signal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4u
#define BLOCK 4096u

static const char *device;
static unsigned int blocks;
static uint64_t spin_ns;
static pthread_barrier_t all;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		exit(2);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *work(void *argument)
{
	uint64_t first = (uint64_t)(uintptr_t)argument * blocks;
	void *buffer;
	int fd = open(device, O_RDWR | O_DIRECT);

	pthread_barrier_wait(&all);
	if (fd < 0 || posix_memalign(&buffer, BLOCK, BLOCK) != 0)
		exit(3);
	for (uint64_t i = 0; i < blocks; i++) {
		off_t at = (off_t)((first + i) * BLOCK);

		if (pwrite(fd, buffer, BLOCK, at) != (ssize_t)BLOCK)
			exit(4);
		if (i % 2 == 0 && pread(fd, buffer, BLOCK, at) != (ssize_t)BLOCK)
			exit(5);
	}
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < spin_ns)
		;
	close(fd);
	free(buffer);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	sigset_t begin;
	int taken;

	if (argc != 5)
		return 1;
	device = argv[1];
	blocks = (unsigned int)atoi(argv[2]);
	spin_ns = (uint64_t)atoi(argv[3]) * 1000000u;
	sigemptyset(&begin);
	sigaddset(&begin, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &begin, NULL);
	pthread_barrier_init(&all, NULL, THREADS);
	for (uintptr_t i = 1; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 6;
	sigwait(&begin, &taken);
	work(NULL);
	for (unsigned int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	prctl(PR_SET_NAME, "renamed");
	if (mkdir(argv[4], 0700) != 0)
		return 7;
	pause();
	return 0;
}
