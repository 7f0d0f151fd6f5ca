/* SPDX-License-Identifier: MIT */
/*
 * The guest's console as a 3215 that CP has: a keyboard and a printer, by their channel commands
 * (zvmlab/unit.h).
 *
 * What the guest and CP write goes to cp_host.console.  What is typed is a line for the guest,
 * which reads it after an attention interruption, or after #CP a command.
 */
#ifndef ZVMLAB_CONSOLE_H
#define ZVMLAB_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;

/** Longest line that is typed; Linux reads as much. */
#define CONSOLE_LINE 160u
/** Lines that are typed before the guest reads them. */
#define CONSOLE_LINES 16u

/**
 * Keys, in ISO 8859-1: a line ends with a newline or a carriage return.  Ctrl-C, Ctrl-D and
 * Ctrl-Z, which a 3215 does not have, are lines as Linux wants them.
 * Return: how many were taken; the others are to be typed again when the guest has read a line.
 */
size_t console_type(struct cp *cp, const char *keys, size_t len);
/** Is there a line that the guest has not read? */
bool console_has_line(const struct cp *cp);

#endif
