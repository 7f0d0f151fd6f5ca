/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

void output_init(struct output *output, const char *title, const struct column *columns,
		 size_t count)
{
	*output = (struct output){ .format = WRITER_TABLE, .title = title };
	selection_standard(&output->selection, columns, count);
}

static void set_format(void *target, char *word, struct argp_state *state)
{
	static const char *const names[] = {
		[WRITER_TABLE] = "table", [WRITER_JSON] = "json", [WRITER_CSV] = "csv",
	};
	struct output *output = target;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(word, names[i]) == 0) {
			output->format = (enum writer_format)i;
			return;
		}
	}
	argp_error(state, "unknown format: '%s' (table, json or csv)", word);
}

static void set_color(void *target, char *word, struct argp_state *state)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(word, names[i]) == 0) {
			((struct output *)target)->color = (enum output_color)i;
			return;
		}
	}
	argp_error(state, "invalid --color: '%s' (auto, always or never)", word);
}

/* The exit code after printing instead of running. */
static void end_printed(int error)
{
	if (error || fflush(stdout)) {
		complain("standard output cannot be written: %s", strerror(error ? -error : errno));
		exit(EXIT_FAILED);
	}
	exit(EXIT_PASS);
}

static void set_fields(void *target, char *word, struct argp_state *state)
{
	struct output *output = target;
	char error[160];

	if (strcmp(word, "help") == 0) {
		columns_list(stdout, output->selection.columns, output->selection.count);
		end_printed(0);
	}
	if (!selection_parse(&output->selection, word, error, sizeof(error)))
		argp_error(state, "%s", error);
	output->named = *word != '+';
}

static void print_schema(void *target, char *word, struct argp_state *state)
{
	const struct output *output = target;

	(void)word;
	(void)state;
	end_printed(columns_schema(stdout, output->title, output->selection.columns,
				   output->selection.count));
}

static const struct option_row option_rows[] = {
	{ "format", 'f', "FORMAT", "table (default), json (an object in each line) or csv",
	  TO_CALL(set_format), .group = 10 },
	{ "fields", 'F', "NAMES", "show these fields in this order; +NAMES adds fields, "
	  "'all' shows all, 'help' lists them", TO_CALL(set_fields), .group = 10 },
	{ "human", 'H', NULL, "show times and sizes in a table with suitable units",
	  TO_FLAG(struct output, scaled), .group = 10 },
	{ "color", '\0', "WHEN", "use colors in a table: auto (default: on a terminal), always or "
	  "never", TO_CALL(set_color), .group = 10 },
	{ "schema", '\0', NULL, "print the JSON schema of a line", TO_CALL(print_schema),
	  .group = 10 },
	{ 0 }
};

const struct option_table output_options = { .rows = option_rows };

bool output_colors(enum output_color color, bool terminal, const char *no_color, const char *term)
{
	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	return terminal && (!no_color || !*no_color) && term && *term && strcmp(term, "dumb") != 0;
}

bool output_has_colors(const struct output *output)
{
	return output_colors(output->color, isatty(STDOUT_FILENO), getenv("NO_COLOR"),
			     getenv("TERM"));
}

struct writer *output_open(const struct output *output)
{
	struct writer *writer = writer_open(stdout, output->format, output->scaled,
					    &output->selection);

	if (!writer)
		complain("not enough memory to write rows");
	else
		writer_set_colors(writer, output_has_colors(output));
	return writer;
}
