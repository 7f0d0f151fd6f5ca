// SPDX-License-Identifier: MIT
/*
 * Time limits: a timer signals the thread, so that a system call ends with
 * EINTR.  The signal is repeated, because it may arrive just before the call.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

#define REPEAT_NS 20000000

static void on_signal(int signal)
{
	(void)signal;
}

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void limit_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIG_INTERRUPT, &act, NULL);
	act.sa_flags = SA_RESTART;
	sigaction(SIG_RESTART, &act, NULL);
	act.sa_flags = 0;
	act.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &act, NULL);
}

bool limit_create(struct limit *limit)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIG_INTERRUPT };

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	return timer_create(CLOCK_MONOTONIC, &event, &limit->timer) == 0;
}

void limit_start(struct limit *limit, uint32_t ms)
{
	struct itimerspec when = {
		.it_value = { ms / 1000, (long)(ms % 1000) * 1000000 },
		.it_interval = { 0, REPEAT_NS },
	};

	limit->deadline = clock_ns() + (uint64_t)ms * 1000000;
	timer_settime(limit->timer, 0, &when, NULL);
}

void limit_stop(struct limit *limit)
{
	timer_settime(limit->timer, 0, &(struct itimerspec){ 0 }, NULL);
}

bool limit_expired(const struct limit *limit)
{
	return clock_ns() >= limit->deadline;
}
