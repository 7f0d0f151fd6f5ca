// SPDX-License-Identifier: MIT
#include "interval.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "command.h"

#define NS_PER_S 1000000000u

static int failed(const char *what)
{
	complain("%s: %s", what, strerror(errno));
	return EXIT_FAILED;
}

int interval_open(struct interval *interval)
{
	sigset_t set;

	*interval = (struct interval){ .timer = -1, .signals = -1 };
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigprocmask(SIG_BLOCK, &set, NULL))
		return failed("signals cannot be held back");
	interval->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interval->signals < 0)
		return failed("signals cannot be read");
	interval->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (interval->timer >= 0)
		return EXIT_PASS;
	failed("a timer cannot be created");
	close(interval->signals);
	interval->signals = -1;
	return EXIT_FAILED;
}

int interval_start(struct interval *interval, uint64_t ns)
{
	struct timespec step = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
	struct itimerspec times = { .it_value = step, .it_interval = step };

	if (timerfd_settime(interval->timer, 0, &times, NULL))
		return failed("the timer cannot be set");
	return EXIT_PASS;
}

enum interval_end interval_wait(struct interval *interval)
{
	struct pollfd files[] = {
		{ .fd = interval->signals, .events = POLLIN },
		{ .fd = interval->timer, .events = POLLIN },
	};
	uint64_t passed = 0;

	/* The timer ends this. */
	while (poll(files, 2, -1) == -1)
		if (errno != EINTR) {
			failed("the timer cannot be waited for");
			return INTERVAL_ERROR;
		}
	if (files[0].revents)
		return INTERVAL_SIGNAL;
	if (read(interval->timer, &passed, sizeof(passed)) != sizeof(passed)) {
		failed("the timer cannot be read");
		return INTERVAL_ERROR;
	}
	interval->missed += passed - 1;
	return INTERVAL_OVER;
}

void interval_close(struct interval *interval)
{
	close(interval->timer);
	close(interval->signals);
}
