/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* No letters: these are options of another kind than the command's own. */
enum {
	KEY_SCHEMA = 0x100,
};

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0, "table (default), json (an object a line) or csv", 10 },
	{ "fields", 'F', "NAMES", 0, "these fields, in this order; +NAMES: these, too; all; "
	  "help lists them", 10 },
	{ "human", 'H', NULL, 0, "times and sizes in a table with units that suit them, headings without one", 10 },
	{ "schema", KEY_SCHEMA, NULL, 0, "print the JSON schema of a line, and end", 10 },
	{ 0 }
};

void output_init(struct output *output, const char *title, const struct column *columns,
		 size_t count)
{
	*output = (struct output){ .format = ROWS_TABLE, .title = title };
	selection_standard(&output->selection, columns, count);
}

static bool set_format(struct output *output, const char *word)
{
	static const char *const names[] = {
		[ROWS_TABLE] = "table", [ROWS_JSON] = "json", [ROWS_CSV] = "csv",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(word, names[i]) == 0) {
			output->format = (enum rows_format)i;
			return true;
		}
	}
	return false;
}

/* Of what was printed instead of running. */
static void end_printed(int error)
{
	if (error || fflush(stdout)) {
		complain("standard output cannot be written: %s", strerror(error ? -error : errno));
		exit(EXIT_FAILED);
	}
	exit(EXIT_PASS);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct output *output = state->input;
	char error[160];

	switch (key) {
	case 'f':
		if (!set_format(output, word))
			argp_error(state, "there is no format '%s'; table, json and csv are", word);
		return 0;
	case 'F':
		if (strcmp(word, "help") == 0) {
			columns_list(stdout, output->selection.columns, output->selection.count);
			end_printed(0);
		}
		if (!selection_parse(&output->selection, word, error, sizeof(error)))
			argp_error(state, "%s", error);
		output->named = *word != '+';
		return 0;
	case 'H':
		output->scaled = true;
		return 0;
	case KEY_SCHEMA:
		end_printed(columns_schema(stdout, output->title, output->selection.columns,
					   output->selection.count));
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp output_argp = { .options = options, .parser = parse };

struct rows *output_open(const struct output *output)
{
	struct rows *rows = rows_open(stdout, output->format, output->scaled, &output->selection);

	if (!rows)
		complain("there is no memory to write rows");
	return rows;
}
