/* SPDX-License-Identifier: MIT */
/* taskmon top on a terminal: keys, resizes and signals arrive, and the terminal is put back. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "terminal.h"
#include "terminal_seen.h"
#include "top_run.h"
#include "unit_test.h"

#define HOUR UINT64_C(3600000000000)
/* For what never comes. */
#define LIMIT_MS 60000
#define LOOK_MS 10
#define EXIT_LOOK 9

static pid_t child;
static int master, slave;
static struct seen seen;
static struct termios before;

/* The child's actions. */
static struct {
	uint64_t interval_ns, intervals;
	unsigned int fails_at;	/* this look, from 1; 0: none */
	bool aborts;		/* in the second look */
} fake;

static int take(void *context, struct snapshot *now, unsigned int parts)
{
	static unsigned int looks;
	struct snapshot_task task = { .process = 7, .parent = 1, .state = 'R' };

	(void)context;
	(void)parts;
	looks++;
	if (looks == fake.fails_at)
		return -ESRCH;
	if (looks == 2 && fake.aborts)
		abort();
	task.record.kind = STATS_PROCESS;
	task.record.id = 7;
	task.record.stats.comm_len = (size_t)snprintf(task.record.stats.comm, STATS_COMM_MAX,
						      "look%u", looks);
	now->time_ns = looks * UINT64_C(1000000000);
	return snapshot_add(now, &task);
}

static const char *reason(int error)
{
	return error == -ESRCH ? "so it was asked" : "something else";
}

static int code(int error)
{
	return error == -ESRCH ? EXIT_LOOK : 1;
}

static void start(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&seen, 0, sizeof(seen));
	fake.interval_ns = HOUR;
	child = 0;
	setenv("TERM", "xterm", 1);
}

static void stop(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	close(master);
	close(slave);
}

CASE("terminal", start, stop);

static void begin(void)
{
	const struct winsize size = { .ws_row = 12, .ws_col = 100 };
	const struct top_source source = { .take = take, .reason = reason, .code = code };
	struct top top = TOP_DEFAULT;
	int ended;

	ck_assert_int_eq(openpty(&master, &slave, NULL, NULL, &size), 0);
	ck_assert_int_eq(tcgetattr(slave, &before), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(master);
		login_tty(slave);
		ended = terminal_is_there() ?
			top_run_screen(&top, &source, fake.interval_ns, fake.intervals) : 99;
		top_free(&top);
		_exit(ended);
	}
	/* The slave is kept open: settings can be seen when the child has gone. */
}

/* Until the screen has this text, or not any more. */
static void until(const char *text, bool there)
{
	struct pollfd readable = { .fd = master, .events = POLLIN };
	char bytes[3];

	while ((seen_find(&seen, text) < SEEN_ROWS) != there) {
		ssize_t count;

		ck_assert_msg(poll(&readable, 1, LIMIT_MS) > 0, "%s: never %d", text, there);
		/* Sequences in pieces are what a busy machine makes of them now and then. */
		count = read(master, bytes, sizeof(bytes));
		ck_assert_msg(count > 0, "it has ended before '%s'", text);
		seen_take(&seen, bytes, (size_t)count);
	}
}

static void press(const char *keys)
{
	ck_assert_int_eq(write(master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Takes the rest, and asserts that all is as it was.  Return: the status. */
static int end(void)
{
	struct pollfd readable = { .fd = master, .events = POLLIN };
	struct termios now;
	char bytes[4096];
	ssize_t count;
	pid_t ended;
	int status;

	/* A terminal whose buffer is full takes nothing more, not even what puts it back. */
	do {
		ended = waitpid(child, &status, WNOHANG);
		ck_assert_int_ge(ended, 0);
		while (poll(&readable, 1, ended ? 0 : LOOK_MS) > 0 &&
		       (count = read(master, bytes, sizeof(bytes))) > 0)
			seen_take(&seen, bytes, (size_t)count);
	} while (ended != child);
	child = 0;
	ck_assert(!seen.other_screen && !seen.hidden && !seen.cut && !seen.turned);
	ck_assert_uint_eq(seen.strange, 0);
	ck_assert_uint_eq(seen.state, SEEN_PLAIN);
	ck_assert_int_eq(tcgetattr(master, &now), 0);
	ck_assert_uint_eq(now.c_lflag, before.c_lflag);
	ck_assert_uint_eq(now.c_iflag, before.c_iflag);
	ck_assert_uint_eq(now.c_oflag, before.c_oflag);
	return status;
}

TEST(keys_arrive_and_quit_ends_it)
{
	struct termios now;

	begin();
	until("look1", true);
	ck_assert(seen.other_screen && seen.hidden && seen.cut);
	tcgetattr(master, &now);
	ck_assert_uint_eq(now.c_lflag & (ICANON | ECHO), 0);
	/* Any key looks again. */
	press("x");
	until("look2", true);
	press("/nothing\r");
	until("look2", false);
	until("name with 'nothing'", true);
	press("/\r");
	until("look2", true);
	press("\033[21~");
	ck_assert_int_eq(end(), 0);
}

TEST(every_interval_is_a_look)
{
	fake.interval_ns = 1000000;
	begin();
	until("look20", true);
	press("q");
	ck_assert_int_eq(end(), 0);
}

TEST(so_many_intervals_end_it)
{
	fake.interval_ns = 1000000;
	fake.intervals = 3;
	begin();
	ck_assert_int_eq(end(), 0);
}

TEST(a_resize_draws_again)
{
	const struct winsize small = { .ws_row = 6, .ws_col = 40 };

	begin();
	until("q quit", true);
	ck_assert_uint_eq(seen_find(&seen, "q quit"), 11);
	ck_assert_int_eq(ioctl(master, TIOCSWINSZ, &small), 0);
	while (seen_find(&seen, "q quit") != 5) {
		seen_clear(&seen, 11, 0);
		until("q quit", true);
	}
	ck_assert_uint_le(strlen(seen.line[0]), 40);
	press("q");
	ck_assert_int_eq(end(), 0);
}

TEST_LOOP(signals_end_it_in_order, 0, 4)
{
	static const int numbers[] = { SIGTERM, SIGHUP, SIGQUIT, SIGINT };

	begin();
	until("look1", true);
	kill(child, numbers[_i]);
	ck_assert_int_eq(end(), 0);
}

TEST(interrupt_of_the_terminal)
{
	begin();
	until("look1", true);
	press("\003");
	ck_assert_int_eq(end(), 0);
}

TEST(a_crash_puts_the_terminal_back)
{
	int status;

	fake.aborts = true;
	begin();
	until("look1", true);
	press("x");
	status = end();
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(stopped_and_continued)
{
	int status;

	begin();
	until("look1", true);
	kill(child, SIGTSTP);
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
	/* While somebody else has the terminal it is as it was. */
	press("#y#");
	until("#y#", true);
	ck_assert(!seen.other_screen && !seen.hidden && !seen.cut);
	memset(&seen, 0, sizeof(seen));
	kill(child, SIGCONT);
	until("look", true);
	ck_assert(seen.other_screen && seen.hidden);
	press("q");
	ck_assert_int_eq(end(), 0);
}

TEST(a_look_that_fails_ends_it)
{
	int status;

	fake.fails_at = 2;
	begin();
	until("look1", true);
	press("x");
	status = end();
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_LOOK);
	ck_assert_uint_lt(seen_find(&seen, "the tasks cannot be listed: so it was asked"), SEEN_ROWS);
}

TEST(a_terminal_that_goes_ends_it)
{
	int status;

	begin();
	until("look1", true);
	close(master);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "%x", (unsigned int)status);
	child = 0;
}

/* It takes nothing that is written; a signal still ends the program. */
TEST(a_terminal_that_takes_nothing)
{
	struct termios now;
	int status;

	fake.interval_ns = 1000000;
	begin();
	until("look1", true);
	ck_assert_int_eq(tcflow(slave, TCOOFF), 0);
	kill(child, SIGTERM);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	child = 0;
	ck_assert_int_eq(tcgetattr(slave, &now), 0);
	ck_assert_uint_eq(now.c_lflag, before.c_lflag);
}

TEST(not_every_terminal_can)
{
	ck_assert(!terminal_is_there() || isatty(0));
	setenv("TERM", "dumb", 1);
	ck_assert(!terminal_is_there());
	unsetenv("TERM");
	ck_assert(!terminal_is_there());
}
