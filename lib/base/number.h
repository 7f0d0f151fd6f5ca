/* SPDX-License-Identifier: MIT */
/* Numbers on the command line: all of the word, decimal, no sign, in the range. */
#ifndef TOOLS_NUMBER_H
#define TOOLS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return: false, with *@number untouched, if the word is no number from @least to @most. */
bool number_parse(const char *word, uint64_t least, uint64_t most, uint64_t *number);

/*
 * A time: a number with the unit ns, us, ms, s, m or h, without one in seconds; "1.5" and the
 * like, too, down to the nanosecond.  Return: false, with *@ns untouched, if it is none, or above
 * 2^63-1 ns.
 */
bool number_parse_time(const char *word, uint64_t *ns);

/* A size in bytes: a number with K, M or G for powers of 1024, or none.  As above. */
bool number_parse_size(const char *word, uint64_t *bytes);

#endif
