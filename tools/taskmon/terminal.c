/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Another screen, no cursor, lines are cut; and all of it back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[m\033[?7h\033[?25h\033[?1049l"
#define LAST_MS 1000

/* The terminal settings to restore by signals that end the program at once. */
static struct terminal *entered;

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Only what a handler may do. */
static void put_back(int number)
{
	if (entered) {
		ssize_t done = write(entered->fd, LEAVE, sizeof(LEAVE) - 1);

		(void)done;
		tcsetattr(entered->fd, TCSANOW, &entered->before);
	}
	/* By SA_RESETHAND it ends the program now. */
	raise(number);
}

bool terminal_is_there(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind && *kind &&
	       strcmp(kind, "dumb") != 0;
}

int terminal_enter(struct terminal *terminal)
{
	struct termios raw = terminal->before;

	/* Signals of keys stay; what was typed before stays, too. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(terminal->fd, TCSADRAIN, &raw))
		return -errno;
	terminal->entered = true;
	entered = terminal;
	text_clear(&terminal->pending);
	terminal->written = 0;
	text_append(&terminal->pending, ENTER, sizeof(ENTER) - 1);
	return 0;
}

int terminal_open(struct terminal *terminal)
{
	struct sigaction action = { .sa_handler = put_back, .sa_flags = (int)SA_RESETHAND };
	char path[256];

	*terminal = (struct terminal){ .fd = -1 };
	/* Opened again: that it does not wait is no matter of others who have it open. */
	if (ttyname_r(STDIN_FILENO, path, sizeof(path)))
		return -errno;
	terminal->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (terminal->fd < 0)
		return -errno;
	if (tcgetattr(terminal->fd, &terminal->before)) {
		int error = errno;

		close(terminal->fd);
		return -error;
	}
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		sigaction(fatal[i], &action, NULL);
	return terminal_enter(terminal);
}

void terminal_size(const struct terminal *terminal, unsigned int *rows, unsigned int *columns)
{
	struct winsize size = { 0 };

	*rows = 24;
	*columns = 80;
	if (ioctl(terminal->fd, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	*rows = size.ws_row;
	*columns = size.ws_col;
}

bool terminal_is_busy(const struct terminal *terminal)
{
	return terminal->written < terminal->pending.len;
}

int terminal_write(struct terminal *terminal)
{
	ssize_t done;

	while (terminal_is_busy(terminal)) {
		done = write(terminal->fd, terminal->pending.bytes + terminal->written,
			     terminal->pending.len - terminal->written);
		if (done < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		terminal->written += (size_t)done;
	}
	text_clear(&terminal->pending);
	terminal->written = 0;
	return 0;
}

void terminal_leave(struct terminal *terminal)
{
	struct pollfd writable = { .fd = terminal->fd, .events = POLLOUT };

	if (!terminal->entered)
		return;
	text_append(&terminal->pending, LEAVE, sizeof(LEAVE) - 1);
	while (!terminal_write(terminal) && terminal_is_busy(terminal) &&
	       poll(&writable, 1, LAST_MS) > 0)
		;
	tcsetattr(terminal->fd, TCSANOW, &terminal->before);
	terminal->entered = false;
	entered = NULL;
}

void terminal_close(struct terminal *terminal)
{
	terminal_leave(terminal);
	close(terminal->fd);
	text_free(&terminal->pending);
	*terminal = (struct terminal){ .fd = -1 };
}
