/* SPDX-License-Identifier: MIT */
/*
 * Rows written as a table, as JSON lines or as CSV, one after the other as they come.
 *
 * table  for people: a heading once, numbers to the right, text to the left.  No byte of a text
 *	  reaches the terminal as a control character; a column is as wide as declared, a longer
 *	  value moves only its own line.  Where values are scaled they have their own units, and
 *	  the heading has none.
 * JSON   an object a line, members in the order selected, all numbers exact (64 bits unsigned
 *	  too).  Text that is no UTF-8 is escaped as in tables, and the further member "escaped"
 *	  lists the names of these columns.
 * CSV    as RFC 4180 says, but lines end with a line feed alone; text byte by byte.
 *
 *	struct rows *rows = rows_open(stdout, ROWS_JSON, false, &selection);
 *	struct cell cells[] = { cell_unsigned(17), cell_text("init", 4) };
 *	int ret = rows_put(rows, cells);
 *	rows_close(rows);
 */
#ifndef TOOLS_ROWS_H
#define TOOLS_ROWS_H

#include "column.h"

enum rows_format {
	ROWS_TABLE,
	ROWS_JSON,
	ROWS_CSV,
};

struct rows;

/*
 * A writer to @out, which stays the caller's.  @scaled: times and sizes in a table with three
 * digits and the unit that suits them.  @selection is copied, its columns must outlive the writer.
 * Return: the writer, to be freed by rows_close(); NULL without memory.
 */
struct rows *rows_open(FILE *out, enum rows_format format, bool scaled,
		       const struct selection *selection);

/* Set a bold heading, and colors where cells have tones.  The default is neither. */
void rows_set_colors(struct rows *rows, bool colors);

/* The columns that are shown.  What is not shown need not be put into its cell. */
const struct selection *rows_selection(const struct rows *rows);

/*
 * Writes a row, before the first one the heading that the format has.  @cells: one for each of
 * the selection's columns, shown or not.
 * Return: 0; -errno when @out fails, -EPIPE among them if the caller ignores SIGPIPE.
 */
int rows_put(struct rows *rows, const struct cell *cells);

/* Writes the heading if no row was written, and flushes @out.  Return: 0 or -errno. */
int rows_flush(struct rows *rows);

/* Frees the writer (NULL is none) without writing anything. */
void rows_close(struct rows *rows);

#endif
