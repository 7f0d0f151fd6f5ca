/* SPDX-License-Identifier: MIT */
#include "exits.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "taskmon.h"

#define NS_PER_S 1000000000u

int exits_wait(const struct listener *listener, uint64_t duration_ns, struct program *program)
{
	struct itimerspec time = { .it_value = { (time_t)(duration_ns / NS_PER_S),
						 (long)(duration_ns % NS_PER_S) } };
	struct pollfd ends[] = {
		{ .fd = program->signals, .events = POLLIN },
		{ .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), .events = POLLIN },
		{ .fd = listener_done_fd(listener), .events = POLLIN },
	};
	bool over = false;
	int ret = 0;

	/* A time of 0 sets no timer, which is what it stands for. */
	if (ends[1].fd < 0 || timerfd_settime(ends[1].fd, 0, &time, NULL))
		ret = -errno;
	while (!ret && !over) {
		if (poll(ends, sizeof(ends) / sizeof(ends[0]), -1) < 0)
			ret = errno == EINTR ? 0 : -errno;
		else
			over = ends[1].revents || ends[2].revents ||
			       program_news(program) != PROGRAM_GOES_ON;
	}
	close(ends[1].fd);
	return ret;
}

void exits_look(struct collector *collector)
{
	struct kernel kernel;

	/* If there is no answer listening will say why. */
	if (!kernel_open(&kernel)) {
		(void)living_lacks(&kernel, &collector->accounting.lacks);
		kernel_close(&kernel);
	}
	collector_look(collector, delayacct_read(), living_now());
}

int exits_failed(int error, const struct listener *listener)
{
	const unsigned int cpu = listener->count ? listener->sockets[listener->count - 1].cpu : 0;

	if (error == -EINVAL)
		complain("cannot listen on CPU %u: the kernel lets only processes of the "
			 "initial PID namespace listen; run this outside of containers", cpu);
	else
		complain("cannot listen on CPU %u: %s", cpu, kernel_reason(error));
	return error == -EINVAL ? EXIT_CANNOT_RUN : exit_code_of(error);
}

/* The first one that is online; CPUS_MAX: none. */
static unsigned int online_of(const struct cpus *cpus)
{
	struct cpus online;
	unsigned int cpu = 0;

	if (cpus_read(&online, "online"))
		return CPUS_MAX;
	while (cpu < CPUS_MAX && !(cpus->is[cpu] && online.is[cpu]))
		cpu++;
	return cpu;
}

int exits_heard(struct listener *listener, const struct cpus *cpus)
{
	const unsigned int cpu = online_of(cpus);

	return cpu == CPUS_MAX ? -ENODEV : listener_probe(listener, cpu);
}

int exits_probe(struct listener *listener, const struct cpus *cpus)
{
	const unsigned int cpu = online_of(cpus);
	int ret;

	if (cpu == CPUS_MAX) {
		complain("none of these CPUs is online: there will be no messages before one is");
		return EXIT_PASS;
	}
	ret = listener_probe(listener, cpu);
	if (!ret)
		return EXIT_PASS;
	if (ret == -ETIMEDOUT)
		complain("no message came when a task of taskmon exited on CPU %u: the kernel reports "
			 "exits in the initial network namespace only; run this there, as "
			 "'nsenter --net=/proc/1/ns/net taskmon listen'", cpu);
	else
		complain("cannot let a task exit on CPU %u: %s", cpu, strerror(-ret));
	return ret == -ETIMEDOUT ? EXIT_CANNOT_RUN : EXIT_FAILED;
}
