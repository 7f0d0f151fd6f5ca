/* SPDX-License-Identifier: MIT */
/* Numbers in texts: digits without a sign, and nothing that depends on a locale. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Takes the digits of @base, 2 to 16, from *@at on, none of them at @end or after it; letters may
 * be of either case.  Return: false, with *@at and *@number untouched, if there are none or the
 * number is above @most; else *@at is after them.
 */
bool number_take(const char **at, const char *end, unsigned int base, uint64_t most,
		 uint64_t *number);

/*
 * Bytes as pairs of hexadecimal digits, 0 to 9 and a to f: @len characters give @len / 2 bytes.
 * Return: false, with some bytes written, if that is not what they are.
 */
bool number_bytes(const char *text, size_t len, uint8_t *bytes);

/* A word.  Return: false, with *@number untouched, if it is no decimal from @least to @most. */
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
