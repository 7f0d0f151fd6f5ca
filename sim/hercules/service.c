/* SPDX-License-Identifier: MIT */
/* The thread that serves sockets and the timer, and notices the end of the machine. */
#include "port.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define MAX_EVENTS 8
/* A TOD clock unit is 2^-12 microseconds. */
#define TOD_UNITS_PER_US 4096u
#define NS_PER_US 1000u
#define NS_PER_S UINT64_C(1000000000)
/* The timer is set anew before a wait of this length has passed. */
#define MAX_WAIT_S 86400u

/*
 * A CPU that was told to stop does so within microseconds, unless the host gives its thread no
 * time: looked at every ms for 2 s, and then less often, until the machine has stopped.
 */
#define STOP_CHECK_MS 1
#define STOP_CHECKS 2000u
#define LATE_CHECK_MS 100

static struct {
	pthread_t thread;
	bool running;
	int epoll, timer, stops, quit, lines, requests;
	uint32_t requested;	/* of the machine: bits, shifted left by enum cp_machine_request */
	int console_ms;		/* console_serve() is due so soon; -1: when there is something new */
	bool stopping;		/* a CPU was told to; the machine has not been seen to stop */
	unsigned int checks;	/* of this, quick ones that are to come */
} service = {
	.epoll = -1, .timer = -1, .stops = -1, .quit = -1, .lines = -1, .requests = -1,
	.console_ms = -1,
};

static void notify(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		perror("zvmlab-cp: eventfd");
}

static void drain(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		perror("zvmlab-cp: eventfd");
}

int service_watch(int fd, void (*ready)(void))
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = (void *)ready };

	return epoll_ctl(service.epoll, EPOLL_CTL_ADD, fd, &event);
}

void service_unwatch(int fd)
{
	epoll_ctl(service.epoll, EPOLL_CTL_DEL, fd, NULL);
}

void service_set_timer(uint64_t now, uint64_t tod)
{
	struct itimerspec when = { 0 };
	uint64_t ns, us;

	if (tod != 0) {
		us = tod > now ? (tod - now) / TOD_UNITS_PER_US : 0;
		ns = us < MAX_WAIT_S * (NS_PER_S / NS_PER_US) ? us * NS_PER_US
							      : MAX_WAIT_S * NS_PER_S;
		/* One more, so that the time has come; and 0 would switch the timer off. */
		ns += NS_PER_US;
		when.it_value.tv_sec = (time_t)(ns / NS_PER_S);
		when.it_value.tv_nsec = (long)(ns % NS_PER_S);
	}
	if (timerfd_settime(service.timer, 0, &when, NULL) != 0)
		perror("zvmlab-cp: timer");
}

void service_cpu_stops(void)
{
	if (service.running)
		notify(service.stops);
}

void service_console(void)
{
	if (service.running)
		notify(service.lines);
}

void service_request(enum cp_machine_request what)
{
	__atomic_fetch_or(&service.requested, 1u << what, __ATOMIC_RELEASE);
	if (service.running)
		notify(service.requests);
}

/* As Hercules' panel does it: a CPU that is stopped sees the interruption as well. */
static void restart(void)
{
	REGS *regs;

	port_lock(NULL);
	regs = sysblk.regs[0];
	if (regs) {
		ON_IC_RESTART(regs);
		if (regs->cpustate == CPUSTATE_STOPPED)
			regs->cpustate = CPUSTATE_STOPPING;
		WAKEUP_CPU(regs);
	}
	port_unlock();
}

/* In this thread, because Hercules takes the lock for its service processor. */
static void requests_ready(void)
{
	uint32_t requested;

	drain(service.requests);
	requested = __atomic_exchange_n(&service.requested, 0, __ATOMIC_ACQ_REL);
	if (requested & 1u << CP_MACHINE_RESTART)
		restart();
	if (requested & 1u << CP_MACHINE_SHUTDOWN && can_signal_quiesce())
		signal_quiesce(0, 0);
	if (!(requested & 1u << CP_MACHINE_LOGOFF))
		return;
	if (!daemon_guest_ended())
		logmsg("zvmlab-cp: the guest has been logged off; its machine is to be ended here\n");
}

static void lines_ready(void)
{
	drain(service.lines);
	service.console_ms = 0;
}

static void control_ready(void)
{
	port_lock(NULL);
	port->own.calls->dispatch(&port->own);
	port_unlock();
}

static void timer_ready(void)
{
	drain(service.timer);
	port_lock(NULL);
	port->own.calls->timer(&port->own);
	port_unlock();
}

static void stops_ready(void)
{
	drain(service.stops);
	service.stopping = true;
	service.checks = STOP_CHECKS;
}

/* ms until the next look at CPUs and console; -1: there is nothing to look for. */
static int next_check(void)
{
	int stop_ms = service.checks > 0 ? STOP_CHECK_MS : LATE_CHECK_MS;

	if (!service.stopping)
		return service.console_ms;
	return service.console_ms < 0 || stop_ms < service.console_ms ? stop_ms
								      : service.console_ms;
}

/* Return: true if all CPUs are stopped; what follows from that has been done. */
static bool machine_stopped(void)
{
	bool ended = false, stopped;

	port_lock(NULL);
	stopped = port->used && sysblk.started_mask == 0;
	if (stopped && reload_wanted())
		reload_now();
	else
		ended = stopped;
	port_unlock();
	if (ended)
		(void)daemon_guest_ended();
	return stopped;
}

static void *serve(void *arg)
{
	struct epoll_event events[MAX_EVENTS];
	bool quit = false;

	(void)arg;
	while (!quit) {
		int count = epoll_wait(service.epoll, events, MAX_EVENTS, next_check());

		for (int i = 0; i < count; i++) {
			void (*ready)(void) = (void (*)(void))events[i].data.ptr;

			if (ready)
				ready();
			else
				quit = true;
		}
		if (service.console_ms >= 0)
			service.console_ms = console_serve();
		if (service.stopping)
			service.stopping = !machine_stopped();
		if (service.checks > 0)
			service.checks--;
	}
	return NULL;
}

static int create_fds(void)
{
	service.epoll = epoll_create1(EPOLL_CLOEXEC);
	service.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	service.stops = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	service.quit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	service.lines = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	service.requests = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (service.epoll < 0 || service.timer < 0 || service.stops < 0 || service.quit < 0 ||
	    service.lines < 0 || service.requests < 0)
		return -1;
	if (service_watch(service.timer, timer_ready) != 0 ||
	    service_watch(service.stops, stops_ready) != 0 ||
	    service_watch(service.quit, NULL) != 0 ||
	    service_watch(service.lines, lines_ready) != 0 ||
	    service_watch(service.requests, requests_ready) != 0)
		return -1;
	return 0;
}

int service_prepare(char *err, size_t errlen)
{
	if (create_fds() == 0)
		return 0;
	snprintf(err, errlen, "the control socket cannot be served: %s", strerror(errno));
	return -1;
}

int service_start(char *err, size_t errlen)
{
	const int clients = port->own.calls->fd(&port->own);
	int error = clients >= 0 && service_watch(clients, control_ready) != 0 ? errno : 0;

	if (error == 0)
		error = pthread_create(&service.thread, NULL, serve, NULL);
	service.running = error == 0;
	if (error == 0)
		return 0;
	snprintf(err, errlen, "the control socket cannot be served: %s", strerror(error));
	return -1;
}

void service_stop(void)
{
	if (!service.running)
		return;
	service.running = false;
	notify(service.quit);
	pthread_join(service.thread, NULL);
}
