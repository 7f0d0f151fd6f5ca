/* SPDX-License-Identifier: MIT */
/* monread: bytes of a file, a pipe or the device. */
#define _GNU_SOURCE /* ppoll() */
#include "monread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

static volatile sig_atomic_t caught;

static void catch(int number)
{
	caught = number;
}

void input_catch_signals(void)
{
	struct sigaction action = { .sa_handler = catch };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int input_signal(void)
{
	return caught;
}

/* Where there are always data ppoll() never comes to the signal. */
static bool signal_waits(void)
{
	sigset_t waiting;

	sigpending(&waiting);
	if (sigismember(&waiting, SIGINT))
		caught = SIGINT;
	else if (sigismember(&waiting, SIGTERM))
		caught = SIGTERM;
	return caught != 0;
}

/*
 * With the signals blocked but for the wait, none is missed between looking for it
 * and waiting.  poll() tells of a severed device, too: read() then says how.
 */
ssize_t input_read(void *context, void *buffer, size_t len)
{
	struct input *input = context;
	struct pollfd poll_fd = { .fd = input->fd, .events = POLLIN };
	const struct timespec limit = {
		.tv_sec = input->timeout_ms / 1000,
		.tv_nsec = input->timeout_ms % 1000 * 1000000L,
	};
	sigset_t none;
	int ready;

	if (signal_waits())
		return -EINTR;
	sigemptyset(&none);
	ready = ppoll(&poll_fd, 1, input->timeout_ms < 0 ? NULL : &limit, &none);
	if (ready < 0)
		return -errno;
	if (ready == 0) {
		input->timed_out = true;
		return -ETIMEDOUT;
	}
	return monrec_read_fd(&input->fd, buffer, len);
}
