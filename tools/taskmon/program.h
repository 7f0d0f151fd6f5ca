/* SPDX-License-Identifier: MIT */
/* A program that is run, and how it ended, as a shell has it. */
#ifndef TASKMON_PROGRAM_H
#define TASKMON_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* What is returned where there is no status of the program's own. */
enum { PROGRAM_NOT_EXECUTABLE = 126, PROGRAM_NOT_FOUND = 127, PROGRAM_SIGNAL = 128 };

/*
 * Starts @program, found by PATH, with the signal mask @mask.  From now on this process ignores
 * SIGINT and SIGQUIT: they reach the program as well, which is to decide what they do.
 * Return: 0 and the child in *@child; PROGRAM_NOT_… having complained.
 */
int program_start(char **program, const sigset_t *mask, pid_t *child);

/* Whether it has exited; it is not waited for, and its statistics can still be had. */
bool program_has_exited(pid_t child);

/* Waits for it.  Return: PROGRAM_SIGNAL + signal, its status, or @code if that is 0. */
int program_end(pid_t child, int code);

#endif
