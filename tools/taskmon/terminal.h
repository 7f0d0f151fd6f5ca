/* SPDX-License-Identifier: MIT */
/*
 * The terminal as a screen: keys come one by one and unseen, lines are not broken, and what was
 * there before comes back in the end, however that comes, but for SIGKILL.
 *
 * Nothing waits for it: what it does not take is kept until it does.
 */
#ifndef TASKMON_TERMINAL_H
#define TASKMON_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

#include "tool_text.h"

struct terminal {
	int fd;
	bool entered;
	struct termios before;
	struct text pending;	/* to be written */
	size_t written;		/* of that */
};

/* Whether standard input and output are a terminal that can be a screen. */
bool terminal_is_there(void);

/* Opens it, and makes it a screen.  Return: 0, and terminal_close() is due; or -errno. */
int terminal_open(struct terminal *terminal);

/* Puts back what was there; waits a second for what it has not taken. */
void terminal_close(struct terminal *terminal);

/* The same for a time in which somebody else has it, and the end of that. */
void terminal_leave(struct terminal *terminal);
int terminal_enter(struct terminal *terminal);

/* Its size in characters; 80 by 24 if it has none. */
void terminal_size(const struct terminal *terminal, unsigned int *rows, unsigned int *columns);

/* Writes what it takes now of what is pending.  Return: 0 or -errno, -EIO if it has gone. */
int terminal_write(struct terminal *terminal);

bool terminal_is_busy(const struct terminal *terminal);

#endif
