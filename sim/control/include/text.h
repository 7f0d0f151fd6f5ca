/* SPDX-License-Identifier: MIT */
/* Text that comes from outside, before and after JSON. */
#ifndef CTL_TEXT_H
#define CTL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Has the JSON text no more than that many values and levels?  A parsed value
 * takes up to a hundred times the room of its text, so they are counted before
 * the parser is let at it.
 */
bool ctl_modest(const char *text, size_t len, size_t max_values, size_t max_depth);
/** UTF-8 to ISO 8859-1 in place; false if a character has none. */
bool ctl_latin1(char *text, size_t *len);

#endif
