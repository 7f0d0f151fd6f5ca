/* SPDX-License-Identifier: MIT */
/* monread: names of options are written out, so that a new option changes no old command. */
#ifndef WHOLE_NAMES_H
#define WHOLE_NAMES_H

#include "command_line.h"

/*
 * Ends the program if an option is abbreviated, which libc would take.  Options that there are
 * none of, and whatever else is wrong, are left to command_line_parse().
 */
void whole_names(const struct command_line *line, int argc, char **argv);

#endif
