/* SPDX-License-Identifier: MIT */
/* Names of options are written out, so that a new option changes no old command. */
#ifndef TOOLS_WHOLE_NAMES_H
#define TOOLS_WHOLE_NAMES_H

#include "command_line.h"

/*
 * Ends the program with argp_err_exit_status if an option is abbreviated, which libc would take.
 * @more: options that the command has beside those of @line; NULL: none.  Options that there are
 * none of, and whatever else is wrong, are left to argp.
 */
void whole_names(const struct command_line *line, const struct option_table *more, int argc,
		 char **argv);

#endif
