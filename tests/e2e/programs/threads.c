// SPDX-License-Identifier: MIT
/*
 * threads COUNT: threads, one after the other, each of which works 20 ms of CPU time, reads 64 KiB,
 * waits once, and exits; then says "ready" on standard error, and sleeps until it is killed.  COUNT 0:
 * it says so at once, and goes on with threads.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WORK_NS 20000000

static void *work(void *context)
{
	const struct timespec little = { .tv_nsec = 1 };
	struct timespec used;
	char bytes[65536];
	int zero = open("/dev/zero", O_RDONLY);

	if (zero < 0 || read(zero, bytes, sizeof(bytes)) != sizeof(bytes))
		abort();
	close(zero);
	nanosleep(&little, NULL);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while (used.tv_sec == 0 && used.tv_nsec < WORK_NS);
	return context;
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 0;

	if (!count && write(2, "ready\n", 6) != 6)
		return 1;
	for (long i = 0; !count || i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			return 1;
	}
	if (write(2, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
