/* SPDX-License-Identifier: MIT */
/* Times and sizes as people read them. */
#ifndef TOOLS_SCALE_H
#define TOOLS_SCALE_H

#include "column.h"

/*
 * A value with three digits and the largest unit of which there is one at least: "1.23 ms",
 * "45.6 MiB", "890 ns"; sizes by powers of 1024.
 * Return: false, with @out untouched, if the column's unit has none to be scaled to.
 */
bool scale_value(const struct column *column, const struct cell *cell, char *out, size_t size);

/*
 * The heading of a column whose values are scaled: its name without the unit, which each value
 * has.  Return: its characters from *@heading on; no NUL follows them.
 */
size_t scale_heading(const struct column *column, const char **heading);

/* Seconds since 1970 as "2026-11-21T09:30:00Z"; as a number where a year has no four digits. */
void scale_time(uint64_t seconds, char *out, size_t size);

#endif
