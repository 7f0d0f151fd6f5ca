/* SPDX-License-Identifier: MIT */
/*
 * Points in time at equal distances, until somebody ends the program by a signal.
 *
 * From interval_open() on SIGINT, SIGTERM and SIGHUP end nothing, so that what was begun can be
 * undone; SIGPIPE becomes an error of write().
 */
#ifndef TOOLS_INTERVAL_H
#define TOOLS_INTERVAL_H

#include <stdint.h>

struct interval {
	int timer, signals;
	uint64_t missed;	/* points in time that had passed before they were waited for */
};

enum interval_end {
	INTERVAL_OVER,		/* the next point in time */
	INTERVAL_SIGNAL,	/* the program is to end */
	INTERVAL_ERROR,		/* it has complained */
};

/*
 * Return: EXIT_PASS, and interval_close() is due; else an exit code, having complained, and there is
 * nothing to close: both files are -1.
 */
int interval_open(struct interval *interval);

/* The next points in time are @ns, 2 @ns … from now; at least 1. */
int interval_start(struct interval *interval, uint64_t ns);

enum interval_end interval_wait(struct interval *interval);

/* Closes the files; the signals stay blocked, for the program is about to end. */
void interval_close(struct interval *interval);

#endif
