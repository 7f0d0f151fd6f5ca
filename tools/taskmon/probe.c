/* SPDX-License-Identifier: MIT */
/*
 * Do messages about exits come at all?  In a network namespace of its own a listener is
 * registered, and acknowledged, and never hears anything: the kernel sends to the initial one.
 */
#define _GNU_SOURCE /* CPU_ALLOC, sched_setaffinity */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "listener.h"

#define PROBE_S 5

#define SET_SIZE CPU_ALLOC_SIZE(CPUS_MAX)

/* The child: to the CPU, and out, as soon as somebody knows its pid.  Allocates nothing. */
static void exit_there(const cpu_set_t *set, int begin_fd)
{
	char word;

	sched_setaffinity(0, SET_SIZE, set);
	while (read(begin_fd, &word, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int await(struct listener *listener)
{
	struct timespec limit;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &limit);
	limit.tv_sec += PROBE_S;
	pthread_mutex_lock(&listener->lock);
	while (!listener->collector->own_came && ret == 0)
		ret = pthread_cond_timedwait(&listener->own_came, &listener->lock, &limit);
	listener->collector->own_pid = 0;
	pthread_mutex_unlock(&listener->lock);
	return -ret;
}

int listener_probe(struct listener *listener, unsigned int cpu)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	int begin[2], ret;
	pid_t child;

	if (!set || pipe(begin)) {
		ret = set ? -errno : -ENOMEM;
		CPU_FREE(set);
		return ret;
	}
	CPU_ZERO_S(SET_SIZE, set);
	CPU_SET_S(cpu, SET_SIZE, set);
	child = fork();
	if (child == 0) {
		close(begin[1]);
		exit_there(set, begin[0]);
	}
	ret = child < 0 ? -errno : 0;
	CPU_FREE(set);
	if (!ret) {
		pthread_mutex_lock(&listener->lock);
		listener->collector->own_pid = (uint32_t)child;
		pthread_mutex_unlock(&listener->lock);
	}
	close(begin[0]);
	close(begin[1]); /* the child's read() ends */
	if (ret)
		return ret;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return await(listener);
}
