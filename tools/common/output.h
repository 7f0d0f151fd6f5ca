/* SPDX-License-Identifier: MIT */
/*
 * The options of every command that reports rows: --format, --fields, --human, --color, --schema.
 *
 * A command names output_options among the parts of its command line, about a struct output, having
 * called output_init() with its columns before.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include "command_line.h"
#include "writer.h"

enum output_color {
	COLOR_AUTO,	/* on a terminal that has them, unless NO_COLOR says no */
	COLOR_ALWAYS,
	COLOR_NEVER,
};

struct output {
	enum writer_format format;
	enum output_color color;
	bool scaled;
	const char *title;		/* of the schema: what a line is */
	struct selection selection;
	bool named;			/* --fields named all of them, not only further ones */
};

/* The default: a table of the standard columns.  @columns as selection_standard(). */
void output_init(struct output *output, const char *title, const struct column *columns,
		 size_t count);

/*
 * Sets what the options say.  --fields help and --schema print and end the program with
 * EXIT_PASS, as --help does; what is wrong ends it with EXIT_USAGE.
 */
extern const struct option_table output_options;

/*
 * Whether there are to be colors.  @terminal: standard output is one; @no_color, @term: what the
 * environment variables NO_COLOR and TERM are, NULL for none.
 */
bool output_colors(enum output_color color, bool terminal, const char *no_color, const char *term);

/* The same of this process. */
bool output_has_colors(const struct output *output);

/* writer_open() on standard output, as the options say; NULL, having complained, without memory. */
struct writer *output_open(const struct output *output);

#endif
