/* SPDX-License-Identifier: MIT */
#include "whole_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"

/* Options that argp adds. */
static const struct option_row argp_rows[] = {
	{ .name = "help", .letter = '?' }, { .name = "usage" }, { .name = "version", .letter = 'V' },
	{ .name = "program-name", .value = "NAME" }, { .name = "HANG" }, { 0 },
};

/* Given a row and what is looked for: is that it? */
typedef bool row_is(const struct option_row *row, const char *name, size_t len);

static bool has_name(const struct option_row *row, const char *name, size_t len)
{
	return row->name && strlen(row->name) == len && memcmp(row->name, name, len) == 0;
}

static bool begins_so(const struct option_row *row, const char *name, size_t len)
{
	return row->name && strncmp(row->name, name, len) == 0;
}

static bool has_letter(const struct option_row *row, const char *name, size_t len)
{
	(void)len;
	return row->letter && row->letter == *name;
}

static const struct option_row *find_in(const struct option_row *rows, row_is *is, const char *name,
					size_t len)
{
	for (; rows->name || rows->help; rows++)
		if (is(rows, name, len))
			return rows;
	return NULL;
}

/* The first one of all that the command line may have. */
static const struct option_row *find(const struct command_line *line, row_is *is, const char *name,
				     size_t len)
{
	const struct option_row *found = find_in(line->options->rows, is, name, len);

	for (const struct option_part *part = line->parts; !found && part && part->table; part++)
		found = find_in(part->table->rows, is, name, len);
	return found ? found : find_in(argp_rows, is, name, len);
}

/* Is the next word the value of an option in this word?  @letters: behind the '-'. */
static bool letters_take_next(const struct command_line *line, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_row *row = find(line, has_letter, letters, 1);

		if (row && row->value)
			return letters[1] == '\0';
	}
	return false;
}

/* The same; @name: behind the "--". */
static bool name_takes_next(const struct command_line *line, const char *program, const char *name)
{
	const size_t len = strcspn(name, "=");
	const struct option_row *row = find(line, has_name, name, len);

	if (!row) {
		row = find(line, begins_so, name, len);
		if (!row)
			return false;
		fprintf(stderr, "%s: abbreviated option: '--%.*s' (write --%s)\n", program, (int)len,
			name, row->name);
		exit(EXIT_USAGE);
	}
	return row->value && name[len] == '\0';
}

void whole_names(const struct command_line *line, int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *program = slash ? slash + 1 : argv[0];

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		bool skip = false;

		if (strcmp(word, "--") == 0)
			return;
		if (word[0] == '-' && word[1] == '-')
			skip = name_takes_next(line, program, word + 2);
		else if (word[0] == '-')
			skip = letters_take_next(line, word + 1);
		i += skip;
	}
}
