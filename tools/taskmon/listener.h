/* SPDX-License-Identifier: MIT */
/*
 * Listening to exits: a socket for each CPU, so that what is lost can be counted, read by one
 * thread, or by a thread for each CPU that runs there.
 *
 *	listener_open()		sockets, receive buffers, registrations
 *	listener_start()	threads; messages go to the collector from now on
 *	listener_probe()	do messages come at all?
 *	…			until the caller has enough, or listener_done_fd() is readable
 *	listener_stop()		ends the registrations, reads what is queued, ends the recording
 *	listener_close()
 */
#ifndef TASKMON_LISTENER_H
#define TASKMON_LISTENER_H

#include <pthread.h>

#include "collector.h"
#include "cpus.h"
#include "kernel.h"

struct listener_socket {
	struct kernel kernel;
	unsigned int cpu;
	uint32_t overflows;	/* ENOBUFS seen */
	uint64_t dropped;	/* RECORDING_NOT_TOLD: the kernel does not tell */
	uint32_t dropped_low;	/* as last seen: the kernel's counter has 32 bits */
};

struct listener {
	struct collector *collector;
	struct listener_socket *sockets;
	unsigned int count;
	size_t buffer;			/* bytes of each receive buffer, as the kernel has them */
	struct listener_worker *workers;
	unsigned int workers_running;
	int stop_fd, done_fd;		/* eventfds */
	bool told_done;
	pthread_mutex_t lock;		/* of collector and told_done, while workers run */
	pthread_cond_t own_came;
};

/*
 * Registers for every CPU of @cpus.  @buffer: wanted size of each receive buffer in bytes, beyond
 * net.core.rmem_max where privilege allows.
 * Return: 0; -errno as kernel_open() and kernel_listen(); to be closed in either case.
 */
int listener_open(struct listener *listener, const struct cpus *cpus, size_t buffer,
		  struct collector *collector);

/* @per_cpu: a thread for each CPU, pinned where the CPU is online.  Return: 0 or -errno. */
int listener_start(struct listener *listener, bool per_cpu);

/* Becomes readable when the collector is done.  For poll() alone. */
int listener_done_fd(const struct listener *listener);

/*
 * Has a child exit on CPU @cpu, which is online and listened to, and waits for the message about
 * it, which the collector does not show.
 * Return: 0; -ETIMEDOUT: none came within 5 s; another -errno.
 */
int listener_probe(struct listener *listener, unsigned int cpu);

/* Calls @look while nothing else uses the collector, whose counts of what is lost are the newest then. */
void listener_look(struct listener *listener, void (*look)(void *context), void *context);

/* Give the messages queued so far to the collector.  Once, after listener_start(). */
void listener_stop(struct listener *listener);

void listener_close(struct listener *listener);

#endif
