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
 *	struct writer *writer = writer_open(stdout, WRITER_JSON, false, &selection);
 *	struct cell cells[] = { cell_unsigned(17), cell_text("init", 4) };
 *	int ret = writer_put(writer, cells);
 *	writer_close(writer);
 */
#ifndef TOOLS_WRITER_H
#define TOOLS_WRITER_H

#include "column.h"

enum writer_format {
	WRITER_TABLE,
	WRITER_JSON,
	WRITER_CSV,
};

struct writer;

/*
 * A writer to @out, which stays the caller's.  @scaled: times and sizes in a table with three
 * digits and the unit that suits them.  @selection is copied, its columns must outlive the writer.
 * Return: the writer, to be freed by writer_close(); NULL without memory.
 */
struct writer *writer_open(FILE *out, enum writer_format format, bool scaled,
			   const struct selection *selection);

/* Set a bold heading, and colors where cells have tones.  The default is neither. */
void writer_set_colors(struct writer *writer, bool colors);

/* The columns that are shown.  What is not shown need not be put into its cell. */
const struct selection *writer_selection(const struct writer *writer);

/*
 * Writes a row, before the first one the heading that the format has.  @cells: one for each of
 * the selection's columns, shown or not.
 * Return: 0; -errno when @out fails, -EPIPE among them if the caller ignores SIGPIPE.
 */
int writer_put(struct writer *writer, const struct cell *cells);

/* Writes the heading if no row was written, and flushes @out.  Return: 0 or -errno. */
int writer_flush(struct writer *writer);

/* Frees the writer (NULL is none) without writing anything. */
void writer_close(struct writer *writer);

#endif
