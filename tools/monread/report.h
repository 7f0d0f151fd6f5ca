/* SPDX-License-Identifier: MIT */
/*
 * monread: tables of what a system did in all of the time, for a page and as text.
 *
 * They are those that people know from performance monitors: what users wait for, responses of
 * devices, paging of volumes and users, the load of the partition's processors.  Each has the
 * first ones by one of its columns.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "activity.h"
#include "threshold.h"

#define REPORT_ROWS 10u
#define REPORT_COLUMNS 12u
#define REPORT_CELL 48u

struct report_column {
	const char *head;		/* NULL: the end */
	bool text;			/* to the left; else a number, to the right */
};

struct report_cell {
	char text[REPORT_CELL];		/* UTF-8; of the data, too: it may have markup's characters */
	bool high;			/* above a threshold */
};

struct report {
	const char *id, *title;
	char facts[512];		/* a line before the table; "": none */
	char note[512];			/* sentences after it: what is above which threshold; "": none */
	struct report_column columns[REPORT_COLUMNS + 1];	/* the last one has no head */
	unsigned int rows;		/* 0: there are no data … */
	const char *none;		/* … which is said so; NULL: "No data." */
	unsigned int left_out;		/* further ones that there would be */
	struct report_cell cell[REPORT_ROWS][REPORT_COLUMNS];
};

enum report_kind {
	REPORT_SYSTEM, REPORT_LOAD, REPORT_USERS, REPORT_WAITS, REPORT_MOST_WAITS, REPORT_RESPONSES,
	REPORT_VOLUMES, REPORT_USER_PAGING, REPORT_UNUSED, REPORT_KINDS
};

void report_make(struct report *report, enum report_kind kind, const struct activity *f,
		 const struct thresholds *thresholds);

/* "D4R3 (user activity), D6R3 (device activity)": what is needed and was not understood; "": none. */
#define REPORT_NAMES 256u
const char *report_not_understood(const struct activity *f, char names[REPORT_NAMES]);

/* Digits in groups of three, with commas: "12,345.7". */
const char *report_number(char text[REPORT_CELL], double value, int decimals);
const char *report_count(char text[REPORT_CELL], uint64_t value);

/* What a table shows of the quantity; "": it is not known. */
struct quantity;
const char *report_quantity(char text[REPORT_CELL], const struct activity *f,
			    const struct quantity *quantity, const void *it);

/* All of them as text, after a line with the system and the time.  0, or -errno if @out fails. */
int report_text(FILE *out, const struct activity *f, const struct thresholds *thresholds);

#endif
