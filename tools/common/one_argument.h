/* SPDX-License-Identifier: MIT */
/* The only argument of a command that takes one, for its argp parser. */
#ifndef TOOLS_ONE_ARGUMENT_H
#define TOOLS_ONE_ARGUMENT_H

#include <argp.h>
#include <stdbool.h>

/* For the parser's default case: takes one @what ("device"); @needed: there has to be one. */
static inline error_t one_argument(int key, char *word, struct argp_state *state,
				   const char **argument, const char *what, bool needed)
{
	if (key == ARGP_KEY_NO_ARGS && needed) {
		argp_error(state, "a %s is missing", what);
	} else if (key == ARGP_KEY_ARG) {
		if (*argument)
			argp_error(state, "one %s at a time, not '%s', too", what, word);
		*argument = word;
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

#endif
