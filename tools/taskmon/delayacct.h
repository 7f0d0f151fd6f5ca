/* SPDX-License-Identifier: MIT */
/*
 * Whether the kernel accounts delays.  If it does not, the waits for block I/O, swapping,
 * reclaim, thrashing, compaction, copies and interrupts are 0 in its messages, which are shown as
 * unknown; those for a CPU are counted anyway.
 */
#ifndef TASKMON_DELAYACCT_H
#define TASKMON_DELAYACCT_H

#include <stddef.h>

/* Stored in recordings: numbers stay. */
enum delayacct_state {
	DELAYACCT_UNKNOWN = 0,		/* no /proc, or not compiled in */
	DELAYACCT_OFF = 1,
	DELAYACCT_SINCE_BOOT = 2,	/* by the boot parameter: for every task */
	DELAYACCT_SWITCHED = 3,		/* on now, but not from the beginning */
	DELAYACCT_STATES
};

/* Read the current setting. */
enum delayacct_state delayacct_read(void);

/* The same from the files of these names. */
enum delayacct_state delayacct_read_from(const char *setting, const char *command_line);

/* The same from texts: /proc/sys/kernel/task_delayacct (NULL: no such file), /proc/cmdline. */
enum delayacct_state delayacct_of(const char *setting, const char *command_line);

/* A sentence that says whether, since when, and how to turn it on. */
const char *delayacct_sentence(enum delayacct_state state);

#endif
