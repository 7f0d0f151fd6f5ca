/* SPDX-License-Identifier: MIT */
/* Messages to users, for tools with and without commands. */
#ifndef TOOLS_SAY_H
#define TOOLS_SAY_H

/* Writes "PROGRAM: SENTENCE" to standard error in one piece; standard output is flushed before. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
