/* SPDX-License-Identifier: MIT */
/* Points in time, and the signals that end a program: what the kernel is asked for, and its errors. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "exit_code.h"
#include "interval.h"
#include "said.h"
#include "unit_test.h"

/* The error of each call, 0: none. */
static int signal_error, mask_error, signals_error, timer_error, set_error, read_error;
/* Results of poll(2) in turn: an errno value, or 0 and the files of the two that are ready. */
static int poll_errors[4];
static bool ready[2];
static unsigned int polls;
/* The value read from the timer, and its number of bytes. */
static uint64_t passed;
static size_t read_len;
static struct itimerspec times;
static bool is_fake;

static bool fails(int error)
{
	errno = error;
	return error != 0;
}

__sighandler_t __real_signal(int number, __sighandler_t handler);
__sighandler_t __wrap_signal(int number, __sighandler_t handler);
__sighandler_t __wrap_signal(int number, __sighandler_t handler)
{
	if (number != SIGPIPE)
		return __real_signal(number, handler);
	return fails(signal_error) ? SIG_ERR : __real_signal(number, handler);
}

int __real_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	return fails(mask_error) ? -1 : __real_sigprocmask(how, set, before);
}

int __real_signalfd(int fd, const sigset_t *set, int flags);
int __wrap_signalfd(int fd, const sigset_t *set, int flags);
int __wrap_signalfd(int fd, const sigset_t *set, int flags)
{
	ck_assert_int_eq(fd, -1);
	return fails(signals_error) ? -1 : __real_signalfd(fd, set, flags);
}

int __real_timerfd_create(clockid_t clock, int flags);
int __wrap_timerfd_create(clockid_t clock, int flags);
int __wrap_timerfd_create(clockid_t clock, int flags)
{
	ck_assert_int_eq(clock, CLOCK_MONOTONIC);
	return fails(timer_error) ? -1 : __real_timerfd_create(clock, flags);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *wanted,
			   struct itimerspec *before);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *wanted,
			   struct itimerspec *before)
{
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(flags, 0);
	ck_assert_ptr_null(before);
	times = *wanted;
	return fails(set_error) ? -1 : 0;
}

int __real_poll(struct pollfd *files, nfds_t count, int ms);
int __wrap_poll(struct pollfd *files, nfds_t count, int ms);
int __wrap_poll(struct pollfd *files, nfds_t count, int ms)
{
	if (!is_fake)
		return __real_poll(files, count, ms);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(ms, -1);
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(files[i].events, POLLIN);
	if (fails(poll_errors[polls++]))
		return -1;
	files[0].revents = ready[0] ? POLLIN : 0;
	files[1].revents = ready[1] ? POLLIN : 0;
	return ready[0] + ready[1];
}

ssize_t __real_read(int fd, void *bytes, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len)
{
	if (!is_fake)
		return __real_read(fd, bytes, len);
	ck_assert_uint_eq(len, sizeof(passed));
	memcpy(bytes, &passed, read_len);
	return fails(read_error) ? -1 : (ssize_t)read_len;
}

static struct interval interval;

static void stop(void)
{
	is_fake = false;
}

CASE("tool interval", NULL, stop);

/* Files that keep nobody waiting, and come to no program that is started. */
static void ck_file(int fd)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

TEST(what_is_opened)
{
	sigset_t blocked;

	memset(&interval, 0x55, sizeof(interval));
	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	ck_file(interval.signals);
	ck_file(interval.timer);
	ck_assert_uint_eq(interval.missed, 0);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &blocked), 0);
	for (int i = 1; i < 32; i++)
		ck_assert_int_eq(sigismember(&blocked, i),
				 i == SIGINT || i == SIGTERM || i == SIGHUP);
	ck_assert_ptr_eq(signal(SIGPIPE, SIG_DFL), SIG_IGN);
	interval_close(&interval);
	ck_assert_int_eq(fcntl(interval.signals, F_GETFD), -1);
	ck_assert_int_eq(fcntl(interval.timer, F_GETFD), -1);
}

/* Each of the signals is noticed, and so is the time. */
TEST(what_ends_a_wait)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	for (size_t i = 0; i < 3; i++) {
		struct signalfd_siginfo info;

		raise(numbers[i]);
		ck_assert_int_eq(interval_wait(&interval), INTERVAL_SIGNAL);
		ck_assert_int_eq(read(interval.signals, &info, sizeof(info)), sizeof(info));
		ck_assert_uint_eq(info.ssi_signo, numbers[i]);
	}
	interval_close(&interval);
}

TEST(errors_of_opening)
{
	static const struct {
		int *error;
		const char *said;
	} cases[] = {
		{ &signal_error, ": signals cannot be held back: Operation not permitted\n" },
		{ &mask_error, ": signals cannot be held back: Operation not permitted\n" },
		{ &signals_error, ": signals cannot be read: Operation not permitted\n" },
		{ &timer_error, ": a timer cannot be created: Operation not permitted\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct said said;
		int before = dup(1), after, code;

		close(before);
		said = said_begin(2);
		*cases[i].error = EPERM;
		code = interval_open(&interval);
		*cases[i].error = 0;
		ck_assert_str_eq(strchr(said_end(&said), ':'), cases[i].said);
		ck_assert_int_eq(code, EXIT_FAILED);
		ck_assert(interval.timer == -1 && interval.signals == -1);
		after = dup(1);
		ck_assert_int_eq(after, before);
		close(after);
	}
}

/* A file may have the number 0. */
TEST(descriptor_zero)
{
	close(0);
	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	ck_assert_int_eq(interval.signals, 0);
	interval_close(&interval);
	/* Now the other one. */
	ck_assert_int_eq(dup2(2, 0), 0);
	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	interval_close(&interval);
}

TEST(distances)
{
	static const struct {
		uint64_t ns;
		time_t s;
		long rest;
	} cases[] = {
		{ 1, 0, 1 }, { 999999999, 0, 999999999 }, { 1000000000, 1, 0 },
		{ 1500000000, 1, 500000000 }, { UINT64_C(86400000000001), 86400, 1 },
	};
	struct said said;

	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(interval_start(&interval, cases[i].ns), EXIT_PASS);
		ck_assert_int_eq(times.it_value.tv_sec, cases[i].s);
		ck_assert_int_eq(times.it_value.tv_nsec, cases[i].rest);
		ck_assert_int_eq(times.it_interval.tv_sec, cases[i].s);
		ck_assert_int_eq(times.it_interval.tv_nsec, cases[i].rest);
	}
	set_error = EINVAL;
	said = said_begin(2);
	ck_assert_int_eq(interval_start(&interval, 1), EXIT_FAILED);
	ck_assert_str_eq(strchr(said_end(&said), ':'), ": the timer cannot be set: Invalid argument\n");
	interval_close(&interval);
}

/* Waits once; what is said. */
static const char *waited(enum interval_end wanted)
{
	struct said said = said_begin(2);
	enum interval_end end;
	const char *text;

	polls = 0;
	is_fake = true;
	end = interval_wait(&interval);
	is_fake = false;
	text = said_end(&said);
	ck_assert_int_eq(end, wanted);
	text = strchr(text, ':');
	return text ? text : "";
}

TEST(points_in_time)
{
	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	ready[1] = true;
	read_len = sizeof(passed);
	passed = 1;
	ck_assert_str_eq(waited(INTERVAL_OVER), "");
	ck_assert_uint_eq(interval.missed, 0);
	passed = 4;
	ck_assert_str_eq(waited(INTERVAL_OVER), "");
	ck_assert_str_eq(waited(INTERVAL_OVER), "");
	ck_assert_uint_eq(interval.missed, 6);
	/* What interrupts, ends no wait; a signal comes before the time. */
	poll_errors[0] = poll_errors[1] = EINTR;
	ck_assert_str_eq(waited(INTERVAL_OVER), "");
	ck_assert_uint_eq(polls, 3);
	ready[0] = true;
	ck_assert_str_eq(waited(INTERVAL_SIGNAL), "");
	ck_assert_uint_eq(interval.missed, 9);
	interval_close(&interval);
}

TEST(errors_of_waiting)
{
	ck_assert_int_eq(interval_open(&interval), EXIT_PASS);
	ready[1] = true;
	poll_errors[0] = EINTR;
	poll_errors[1] = ENOMEM;
	ck_assert_str_eq(waited(INTERVAL_ERROR),
			 ": the timer cannot be waited for: Cannot allocate memory\n");
	ck_assert_uint_eq(polls, 2);
	poll_errors[0] = 0;
	read_error = ECANCELED;
	ck_assert_str_eq(waited(INTERVAL_ERROR), ": the timer cannot be read: Operation canceled\n");
	ck_assert_uint_eq(interval.missed, 0);
	interval_close(&interval);
}
