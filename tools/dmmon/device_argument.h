/* SPDX-License-Identifier: MIT */
/* The argument DEVICE of a command's argp parser. */
#ifndef DMMON_DEVICE_ARGUMENT_H
#define DMMON_DEVICE_ARGUMENT_H

#include <argp.h>
#include <stdbool.h>

/* For the parser's default case: takes one device; @needed: there has to be one. */
static inline error_t device_argument(int key, char *word, struct argp_state *state,
				      const char **device, bool needed)
{
	if (key == ARGP_KEY_NO_ARGS && needed) {
		argp_error(state, "a device is missing");
	} else if (key == ARGP_KEY_ARG) {
		if (*device)
			argp_error(state, "one device at a time, not '%s', too", word);
		*device = word;
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

#endif
