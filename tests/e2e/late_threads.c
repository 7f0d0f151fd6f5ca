/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: threads that Hercules' main thread starts once it waits for commands begin late,
 * and so does the end of a main thread that has waited.  On a machine that is busy both happen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LATE_US 300000
#define LATER_US (4 * LATE_US)
/* Commands, and whatever else may end it. */
#define DESCRIPTORS 2

struct late {
	void *(*start)(void *arg);
	void *arg;
};

static int waited;

static int is_main(void)
{
	return gettid() == getpid();
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");

	if (count == DESCRIPTORS && is_main())
		waited = 1;
	return real(fds, count, timeout);
}

static void *begin(void *arg)
{
	struct late late = *(struct late *)arg;

	free(arg);
	usleep(LATE_US);
	return late.start(late.arg);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		dlsym(RTLD_NEXT, "pthread_create");
	struct late *late;

	if (!waited || !is_main())
		return real(thread, attr, start, arg);
	late = malloc(sizeof(*late));
	if (!late)
		abort();
	late->start = start;
	late->arg = arg;
	return real(thread, attr, begin, late);
}

int fflush(FILE *file)
{
	int (*real)(FILE *) = dlsym(RTLD_NEXT, "fflush");

	if (waited && is_main() && file == stdout)
		usleep(LATER_US);
	return real(file);
}
