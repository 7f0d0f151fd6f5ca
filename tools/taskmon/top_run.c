/* SPDX-License-Identifier: MIT */
#include "top_run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "interval.h"
#include "keys.h"
#include "terminal.h"

#define NS_PER_S UINT64_C(1000000000)

/* Time of day, of the machine's time zone. */
static void time_of_day(char *text, size_t size)
{
	time_t seconds = time(NULL);
	struct tm parts;

	if (!localtime_r(&seconds, &parts) || !strftime(text, size, "%H:%M:%S", &parts))
		snprintf(text, size, "-");
}

static int complain_look(const struct top_source *source, int error)
{
	complain("the tasks cannot be listed: %s", source->reason(error));
	return source->code(error);
}

/* Return: 0 or -errno. */
static int look(struct top *top, const struct top_source *source)
{
	struct snapshot now = { 0 };
	int ret = source->take(source->context, &now, top_parts(top));

	/* After that, lest a process be missing in both. */
	snapshot_free(&top->exited);
	if (source->exits)
		top->lost += source->exits(source->context, &top->exited);
	if (!ret)
		ret = top_take(top, &now);
	snapshot_free(&now);
	return ret;
}

/* On a terminal. */

struct screen {
	struct top *top;
	const struct top_source *source;
	struct terminal terminal;
	struct keys keys;
	int signals, timer;
	uint64_t interval_ns, intervals;
	bool quit, stale;	/* stale: to be drawn when the terminal has taken what is pending */
	int error;		/* of a look or the terminal, -errno */
	bool of_look;
};

static void draw(struct screen *screen)
{
	char now[16];
	unsigned int rows, columns;
	int ret;

	screen->stale = terminal_is_busy(&screen->terminal);
	if (screen->stale)
		return;
	time_of_day(now, sizeof(now));
	terminal_size(&screen->terminal, &rows, &columns);
	ret = top_draw(screen->top, now, rows, columns, &screen->terminal.pending);
	if (!screen->error)
		screen->error = ret;
}

static void look_again(struct screen *screen)
{
	int ret = look(screen->top, screen->source);

	if (ret) {
		screen->error = ret;
		screen->of_look = true;
	}
}

static void take_key(void *context, int key)
{
	struct screen *screen = context;

	if (screen->quit || screen->error)
		return;
	switch (top_key(screen->top, key)) {
	case TOP_QUIT:
		screen->quit = true;
		return;
	case TOP_LOOK:
		look_again(screen);
		break;
	case TOP_DRAW:
		screen->error = top_arrange(screen->top);
		break;
	}
	screen->stale = true;
}

static void take_keys(struct screen *screen)
{
	unsigned char bytes[256];
	ssize_t count = read(screen->terminal.fd, bytes, sizeof(bytes));

	if (count > 0)
		keys_take(&screen->keys, bytes, (size_t)count, take_key, screen);
	else if (count == 0)
		screen->quit = true; /* it has gone */
	else if (errno != EAGAIN && errno != EINTR)
		screen->error = -errno;
}

static void take_signals(struct screen *screen)
{
	struct signalfd_siginfo signal;

	while (read(screen->signals, &signal, sizeof(signal)) == sizeof(signal)) {
		switch (signal.ssi_signo) {
		case SIGWINCH:
			break;
		case SIGTSTP:
			terminal_leave(&screen->terminal);
			raise(SIGSTOP);
			break;
		case SIGCONT:
			screen->error = terminal_enter(&screen->terminal);
			break;
		default:
			screen->quit = true;
		}
		screen->stale = true;
	}
}

static void take_tick(struct screen *screen)
{
	uint64_t passed;

	if (read(screen->timer, &passed, sizeof(passed)) != sizeof(passed) || screen->top->paused)
		return;
	look_again(screen);
	screen->stale = true;
	if (screen->intervals && screen->top->interval >= screen->intervals)
		screen->quit = true;
}

static void wait_for_news(struct screen *screen)
{
	struct pollfd files[] = {
		{ .fd = screen->signals, .events = POLLIN },
		{ .fd = screen->timer, .events = POLLIN },
		{ .fd = screen->terminal.fd, .events = POLLIN },
	};

	if (terminal_is_busy(&screen->terminal))
		files[2].events |= POLLOUT;
	if (poll(files, 3, -1) < 0) {
		if (errno != EINTR)
			screen->error = -errno;
		return;
	}
	if (files[2].revents & POLLOUT)
		screen->error = terminal_write(&screen->terminal);
	if (files[2].revents & (POLLERR | POLLHUP))
		screen->quit = true;
	else if (files[2].revents & POLLIN)
		take_keys(screen);
	if (files[0].revents)
		take_signals(screen);
	if (files[1].revents && !screen->error)
		take_tick(screen);
}

/* The signals that end, resize and stop it. */
static int open_files(struct screen *screen)
{
	static const int all[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT,
	};
	struct timespec step = { .tv_sec = (time_t)(screen->interval_ns / NS_PER_S),
				 .tv_nsec = (long)(screen->interval_ns % NS_PER_S) };
	struct itimerspec times = { .it_value = step, .it_interval = step };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sigaddset(&set, all[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	screen->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	screen->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (screen->signals < 0 || screen->timer < 0)
		return -errno;
	return timerfd_settime(screen->timer, 0, &times, NULL) ? -errno : 0;
}

static void run(struct screen *screen)
{
	draw(screen);
	while (!screen->quit && !screen->error) {
		wait_for_news(screen);
		if (screen->stale && !screen->error)
			draw(screen);
	}
}

static int report(const struct screen *screen)
{
	if (!screen->error || screen->error == -EIO)
		return EXIT_PASS; /* a terminal that has gone wants no more */
	if (screen->of_look)
		return complain_look(screen->source, screen->error);
	complain("the terminal cannot be used: %s", strerror(-screen->error));
	return EXIT_FAILED;
}

int top_run_screen(struct top *top, const struct top_source *source, uint64_t interval_ns,
		   uint64_t intervals)
{
	struct screen screen = { .top = top, .source = source, .signals = -1, .timer = -1,
				 .interval_ns = interval_ns, .intervals = intervals };
	int ret;

	top_select(top);
	/* What fails from the beginning is said on the screen that was there. */
	look_again(&screen);
	if (screen.error)
		return report(&screen);
	ret = open_files(&screen);
	if (!ret)
		ret = terminal_open(&screen.terminal);
	if (ret) {
		complain("the terminal cannot be used: %s; --batch needs none", strerror(-ret));
		return EXIT_CANNOT_RUN;
	}
	run(&screen);
	terminal_close(&screen.terminal);
	close(screen.signals);
	close(screen.timer);
	return report(&screen);
}

/* Write the screen as text. */

static int put_rows(const struct top *top, struct writer *writer)
{
	struct cell cells[TOP_COLUMNS];
	int ret = 0;

	for (size_t i = 0; !ret && i < top->shown.count; i++) {
		top_cells(top, &top->shown.tasks[i], cells);
		ret = writer_put(writer, cells);
	}
	return ret ? ret : writer_flush(writer);
}

/* A table has its title, and is one of its own. */
static int put_table(const struct top *top, bool colors)
{
	struct writer *writer = writer_open(stdout, WRITER_TABLE, true, &top->selection);
	struct text lines = { 0 };
	char now[16];
	int ret = 0;

	if (writer)
		writer_set_colors(writer, colors);
	time_of_day(now, sizeof(now));
	if (top->interval > 1)
		text_append(&lines, "\n", 1);
	top_title(top, now, &lines);
	text_append(&lines, "\n", 1);
	top_totals(top, &lines);
	text_append(&lines, "\n", 1);
	if (top_notice(top, &lines))
		text_append(&lines, "\n", 1);
	if (!writer || lines.failed)
		ret = -ENOMEM;
	else if (fwrite(lines.bytes, 1, lines.len, stdout) != lines.len)
		ret = errno ? -errno : -EIO;
	if (!ret)
		ret = put_rows(top, writer);
	writer_close(writer);
	text_free(&lines);
	return ret;
}

/* Waits for an interval's end, and writes what happened in it.  *@ret: of the output, -errno. */
static enum interval_end run_interval(struct top *top, const struct top_source *source,
				      const struct output *output, struct writer *writer,
				      struct interval *interval, int *code)
{
	enum interval_end end = interval_wait(interval);
	int ret;

	if (end == INTERVAL_ERROR) {
		*code = EXIT_FAILED;
		return end;
	}
	ret = look(top, source);
	if (ret) {
		*code = complain_look(source, ret);
		return end;
	}
	ret = writer ? put_rows(top, writer) : put_table(top, output_has_colors(output));
	if (ret) {
		if (ret != -EPIPE)
			complain("the output cannot be written: %s", strerror(-ret));
		*code = EXIT_FAILED;
	}
	return end;
}

int top_run_batch(struct top *top, const struct top_source *source, const struct output *output,
		  uint64_t interval_ns, uint64_t intervals)
{
	enum interval_end end = INTERVAL_OVER;
	struct interval interval;
	struct writer *writer = NULL;
	int code = interval_open(&interval), ret;

	if (code)
		return code;
	top_select(top);
	if (output->format != WRITER_TABLE) {
		if (!top->named)
			selection_show(&top->selection, TOP_INTERVAL);
		writer = writer_open(stdout, output->format, false, &top->selection);
		if (!writer) {
			complain("not enough memory to write rows");
			code = EXIT_FAILED;
		}
	}
	ret = code ? 0 : look(top, source);
	if (ret)
		code = complain_look(source, ret);
	if (!code)
		code = interval_start(&interval, interval_ns);
	while (!code && end == INTERVAL_OVER && (!intervals || top->interval < intervals))
		end = run_interval(top, source, output, writer, &interval, &code);
	writer_close(writer);
	interval_close(&interval);
	return code;
}
