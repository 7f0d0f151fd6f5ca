/* SPDX-License-Identifier: MIT */
/* monread: signals, which come only when they are asked for. */
#define _GNU_SOURCE /* sigtimedwait() */
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t first, count, alarmed;
static sigset_t ours;

static void catch(int number)
{
	if (!first)
		first = number;
	count++;
	/* If the wait that it is to end has not begun, the alarm will come into it. */
	alarm(1);
}

static void ring(int number)
{
	(void)number;
	alarmed = true;
	/* The same if it was a time limit that is over. */
	alarm(1);
}

void signals_catch(void)
{
	const struct sigaction end = { .sa_handler = catch }, alarm_clock = { .sa_handler = ring };

	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGALRM);
	sigprocmask(SIG_BLOCK, &ours, NULL);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGALRM, &alarm_clock, NULL);
	/* A file that may not grow any more is written like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
}

int signals_first(void)
{
	return first;
}

unsigned int signals_count(void)
{
	static const struct timespec now;
	int number;

	/* Where there are always data no wait ever begins. */
	while ((number = sigtimedwait(&ours, NULL, &now)) != -1) {
		if (number == SIGALRM)
			continue;
		if (!first)
			first = number;
		count++;
	}
	return (unsigned int)count;
}

void signals_begin(int timeout_ms)
{
	const struct timeval never = { 0 }, time = {
		.tv_sec = timeout_ms / 1000,
		/* A timer of 0 would be none. */
		.tv_usec = timeout_ms % 1000 * 1000L + 1,
	};
	const struct itimerval limit = { .it_value = timeout_ms < 0 ? never : time };

	alarmed = false;
	setitimer(ITIMER_REAL, &limit, NULL);
	sigprocmask(SIG_UNBLOCK, &ours, NULL);
}

bool signals_end(void)
{
	static const struct itimerval none;

	sigprocmask(SIG_BLOCK, &ours, NULL);
	setitimer(ITIMER_REAL, &none, NULL);
	return alarmed;
}
