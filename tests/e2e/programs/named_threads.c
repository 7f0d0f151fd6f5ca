// SPDX-License-Identifier: MIT
/* named_threads COUNT: that many threads, one after the other, each with a name of its own: conn-0 and so on. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *connection(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "conn-%ld", (long)number % 1000000);
	if (pthread_setname_np(pthread_self(), name))
		abort();
	return NULL;
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, connection, (void *)i) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}
