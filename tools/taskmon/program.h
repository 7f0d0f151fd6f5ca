/* SPDX-License-Identifier: MIT */
/*
 * A program that is run, the signals that end what is done meanwhile, and how it ended, as a shell
 * has it.
 *
 * Signals go where they are meant to: one that somebody sends to this process is passed on to the
 * program, one from the terminal has reached both.  Whoever sends a second one while the program
 * still runs wants this process to end, and it does, without the program.
 */
#ifndef TASKMON_PROGRAM_H
#define TASKMON_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The exit code where the program has no status of its own. */
enum { PROGRAM_NOT_EXECUTABLE = 126, PROGRAM_NOT_FOUND = 127, PROGRAM_SIGNAL = 128 };

struct program {
	char **words;		/* NULL: there is none, only signals */
	pid_t pid;		/* 0: not started */
	int signals;		/* becomes readable when there is news */
	sigset_t before;	/* mask of signals, for the program */
	unsigned int passed;	/* signals that were passed on */
	int last;		/* the last signal that came, 0: none */
	int status;		/* as wait(2) has it, once it has exited */
};

/*
 * Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD, and ignores SIGPIPE: before there is any
 * thread.  Return: 0 or -errno.
 */
int program_init(struct program *program, char **words);

/* Starts it, found by PATH.  Return: 0; PROGRAM_NOT_… having complained. */
int program_start(struct program *program);

enum program_news {
	PROGRAM_GOES_ON,
	PROGRAM_HAS_EXITED,	/* it is not waited for: its statistics can still be had */
	PROGRAM_INTERRUPTED,	/* by a signal */
	PROGRAM_GIVEN_UP,	/* by a second one */
};

/*
 * What has come since the last time; passes signals on.  Children other than the program are
 * waited for, but only for their end.
 */
enum program_news program_news(struct program *program);

/*
 * Waits until it has exited, or is given up, having complained.
 * Return: PROGRAM_SIGNAL + signal, its status, or @code if that is 0.
 */
int program_end(struct program *program, int code);

/* Whether children of this process still run. */
bool program_left_some(void);

#endif
