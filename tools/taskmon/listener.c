/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* recvmmsg, CPU_ALLOC, pthread_setaffinity_np */
#include "listener.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "living.h"

/* Messages of a system call, and bytes of one: two records of the longest version take 1.5 KiB. */
#define BATCH 32u
#define MESSAGE_SIZE 4096u
/* System calls before a worker looks whether it is to stop. */
#define BATCHES_MAX 16u
#define EVENTS_MAX 16
/*
 * What exits in this time is read at once, which costs a fraction of being woken for
 * each record; a buffer of that size has room for half a million exits a second.
 */
#define GATHER_NS 2000000
#define GATHER_BUFFER (1u << 20)

struct listener_worker {
	struct listener *listener;
	struct listener_socket *sockets;
	unsigned int count;
	bool pinned;
	pthread_t thread;
	int epoll_fd;
};

/* The buffer for a batch of messages. */
struct batch {
	struct mmsghdr headers[BATCH];
	struct iovec parts[BATCH];
	struct sockaddr_nl senders[BATCH];
	uint8_t bytes[BATCH][MESSAGE_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

static void read_dropped(struct listener_socket *socket)
{
	uint32_t now;

	if (!kernel_dropped(&socket->kernel, &now)) {
		socket->dropped = RECORDING_NOT_TOLD;
		return;
	}
	socket->dropped += now - socket->dropped_low;
	socket->dropped_low = now;
}

/* A way to give two things to a kernel_message. */
struct place {
	struct listener *listener;
	struct listener_socket *socket;
};

/* An exit message goes to the collector, which is locked. */
static void take(void *context, struct nlmsghdr *header)
{
	const struct place *place = context;
	struct collector *collector = place->listener->collector;
	struct recording_frame frame = {
		.type = RECORDING_MESSAGE, .cpu = place->socket->cpu, .number = header->nlmsg_seq,
	};
	size_t size;

	frame.payload = kernel_attributes(header, &size);
	/* Answers to us have our port, messages about exits none. */
	if (header->nlmsg_pid != 0 || !frame.payload)
		return;
	frame.time_ns = living_now();
	frame.size = (uint32_t)size;
	if (!message_count_is_next(&collector->accounts[frame.cpu], frame.number))
		read_dropped(place->socket);
	frame.dropped = place->socket->dropped;
	collector_message(collector, &frame);
	if (collector->own_came)
		pthread_cond_signal(&place->listener->own_came);
}

static void take_datagram(struct place *place, struct mmsghdr *datagram)
{
	const struct sockaddr_nl *sender = datagram->msg_hdr.msg_name;
	struct nlmsghdr *header = datagram->msg_hdr.msg_iov->iov_base;
	unsigned int left = datagram->msg_len;

	/* Privileged processes may send here, too; only the kernel is port 0. */
	if (sender->nl_pid != 0)
		return;
	if (datagram->msg_hdr.msg_flags & MSG_TRUNC)
		place->listener->collector->malformed++;
	for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left))
		if (header->nlmsg_type == place->socket->kernel.family)
			take(place, header);
}

static void prepare(struct batch *batch)
{
	memset(batch->headers, 0, sizeof(batch->headers));
	for (unsigned int i = 0; i < BATCH; i++) {
		batch->parts[i] = (struct iovec){ batch->bytes[i], MESSAGE_SIZE };
		batch->headers[i].msg_hdr = (struct msghdr){
			.msg_name = &batch->senders[i], .msg_namelen = sizeof(batch->senders[i]),
			.msg_iov = &batch->parts[i], .msg_iovlen = 1,
		};
	}
}

/* Reads up to @calls batches.  Return: whether the queue was empty in the end. */
static bool drain(struct listener *listener, struct listener_socket *socket, struct batch *batch,
		  unsigned int calls)
{
	struct place place = { listener, socket };
	bool empty = false;

	while (calls-- && !empty) {
		enum delayacct_state delays;
		bool overflowed;
		int count;

		prepare(batch);
		count = recvmmsg(socket->kernel.fd, batch->headers, BATCH, MSG_DONTWAIT, NULL);
		overflowed = count < 0 && errno == ENOBUFS;
		empty = count < 0 && !overflowed && errno != EINTR;
		delays = count > 0 ? delayacct_read() : DELAYACCT_UNKNOWN;
		pthread_mutex_lock(&listener->lock);
		socket->overflows += overflowed;
		if (count > 0)
			collector_look(listener->collector, delays, living_now());
		for (int i = 0; i < count; i++)
			take_datagram(&place, &batch->headers[i]);
		if (!empty && count >= 0 && (unsigned int)count < BATCH)
			empty = true;
		pthread_mutex_unlock(&listener->lock);
	}
	return empty;
}

static void tell_if_done(struct listener *listener)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&listener->lock);
	if (listener->collector->writer && !listener->collector->rows_error)
		listener->collector->rows_error = writer_flush(listener->collector->writer);
	if (collector_is_done(listener->collector) && !listener->told_done)
		listener->told_done = write(listener->done_fd, &one, sizeof(one)) == sizeof(one);
	pthread_mutex_unlock(&listener->lock);
}

static void *work(void *context)
{
	const struct timespec gather = { .tv_nsec = GATHER_NS };
	struct listener_worker *worker = context;
	struct epoll_event events[EVENTS_MAX];
	struct batch *batch = malloc(sizeof(*batch));
	bool stopping = !batch;

	while (!stopping) {
		int count = epoll_wait(worker->epoll_fd, events, EVENTS_MAX, -1);

		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr)
				drain(worker->listener, events[i].data.ptr, batch, BATCHES_MAX);
			else
				stopping = true;
		}
		tell_if_done(worker->listener);
		if (!stopping && worker->listener->buffer >= GATHER_BUFFER)
			nanosleep(&gather, NULL);
	}
	free(batch);
	return NULL;
}

static int open_socket(struct listener *listener, unsigned int cpu, size_t buffer)
{
	struct listener_socket *socket = &listener->sockets[listener->count];
	struct place place = { listener, socket };
	int ret = kernel_open(&socket->kernel);
	char list[16];

	if (ret)
		return ret;
	listener->count++;
	socket->cpu = cpu;
	listener->buffer = kernel_set_buffer(&socket->kernel, buffer);
	read_dropped(socket);
	listener->collector->is_counted[cpu] = 1;
	snprintf(list, sizeof(list), "%u", cpu);
	return kernel_listen(&socket->kernel, list, take, &place);
}

int listener_open(struct listener *listener, const struct cpus *cpus, size_t buffer,
		  struct collector *collector)
{
	pthread_condattr_t monotonic;
	int ret = 0;

	*listener = (struct listener){ .collector = collector };
	pthread_mutex_init(&listener->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&listener->own_came, &monotonic);
	pthread_condattr_destroy(&monotonic);
	listener->stop_fd = eventfd(0, EFD_CLOEXEC);
	listener->done_fd = eventfd(0, EFD_CLOEXEC);
	listener->sockets = calloc(cpus->count, sizeof(*listener->sockets));
	listener->workers = calloc(cpus->count, sizeof(*listener->workers));
	if (listener->stop_fd < 0 || listener->done_fd < 0)
		return -errno;
	if (!listener->sockets || !listener->workers)
		return -ENOMEM;
	for (unsigned int cpu = 0; cpu < CPUS_MAX && !ret; cpu++)
		if (cpus->is[cpu])
			ret = open_socket(listener, cpu, buffer);
	return ret;
}

int listener_done_fd(const struct listener *listener)
{
	return listener->done_fd;
}

static int watch(int epoll_fd, int fd, void *context)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = context };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Pins a thread; that is not possible while its CPU is offline, and then does not matter. */
static void pin(pthread_t thread, unsigned int cpu)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);

	if (!set)
		return;
	CPU_ZERO_S(CPU_ALLOC_SIZE(CPUS_MAX), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(CPUS_MAX), set);
	pthread_setaffinity_np(thread, CPU_ALLOC_SIZE(CPUS_MAX), set);
	CPU_FREE(set);
}

static int start_worker(struct listener *listener, unsigned int first, unsigned int count)
{
	struct listener_worker *worker = &listener->workers[listener->workers_running];
	int ret;

	*worker = (struct listener_worker){ .listener = listener,
					    .sockets = listener->sockets + first, .count = count };
	worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (worker->epoll_fd < 0)
		return -errno;
	ret = watch(worker->epoll_fd, listener->stop_fd, NULL);
	for (unsigned int i = 0; i < count && !ret; i++)
		ret = watch(worker->epoll_fd, worker->sockets[i].kernel.fd, &worker->sockets[i]);
	if (!ret)
		ret = -pthread_create(&worker->thread, NULL, work, worker);
	if (ret) {
		close(worker->epoll_fd);
		return ret;
	}
	listener->workers_running++;
	return 0;
}

int listener_start(struct listener *listener, bool per_cpu)
{
	int ret = 0;

	if (!per_cpu)
		return start_worker(listener, 0, listener->count);
	for (unsigned int i = 0; i < listener->count && !ret; i++) {
		ret = start_worker(listener, i, 1);
		if (!ret)
			pin(listener->workers[i].thread, listener->sockets[i].cpu);
	}
	return ret;
}

void listener_look(struct listener *listener, void (*look)(void *context), void *context)
{
	pthread_mutex_lock(&listener->lock);
	for (unsigned int i = 0; i < listener->count; i++) {
		struct listener_socket *socket = &listener->sockets[i];

		read_dropped(socket);
		collector_losses(listener->collector, socket->cpu, socket->dropped,
				 socket->overflows);
	}
	look(context);
	pthread_mutex_unlock(&listener->lock);
}

static void stop_workers(struct listener *listener)
{
	const uint64_t one = 1;

	if (write(listener->stop_fd, &one, sizeof(one)) != sizeof(one))
		return; /* an eventfd takes 8 bytes */
	for (unsigned int i = 0; i < listener->workers_running; i++) {
		pthread_join(listener->workers[i].thread, NULL);
		close(listener->workers[i].epoll_fd);
	}
	listener->workers_running = 0;
}

/* Read the messages queued on a socket that nobody sends to any more, and the losses. */
static void finish_socket(struct listener *listener, struct listener_socket *socket,
			  struct batch *batch)
{
	struct recording_frame counters = { .type = RECORDING_COUNTERS, .cpu = socket->cpu };

	while (batch && !drain(listener, socket, batch, BATCHES_MAX))
		;
	read_dropped(socket);
	counters.number = socket->overflows;
	counters.dropped = socket->dropped;
	collector_counters(listener->collector, &counters);
}

void listener_stop(struct listener *listener)
{
	struct batch *batch = malloc(sizeof(*batch));
	struct collector *collector = listener->collector;
	struct recording_frame end = { .type = RECORDING_END };

	/* First of all, lest the exits of our own threads be told. */
	for (unsigned int i = 0; i < listener->count; i++) {
		char list[16];

		snprintf(list, sizeof(list), "%u", listener->sockets[i].cpu);
		kernel_end_listening(&listener->sockets[i].kernel, list);
	}
	stop_workers(listener);
	for (unsigned int i = 0; i < listener->count; i++)
		finish_socket(listener, &listener->sockets[i], batch);
	if (collector->recording && !collector->recording_error)
		collector->recording_error = recording_write_frame(collector->recording, &end);
	free(batch);
}

void listener_close(struct listener *listener)
{
	for (unsigned int i = 0; i < listener->count; i++)
		kernel_close(&listener->sockets[i].kernel);
	close(listener->stop_fd);
	close(listener->done_fd);
	free(listener->sockets);
	free(listener->workers);
	pthread_cond_destroy(&listener->own_came);
	pthread_mutex_destroy(&listener->lock);
}
