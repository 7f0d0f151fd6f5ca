/* SPDX-License-Identifier: MIT */
#include "whole_names.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options of the command itself, of its parts, and further ones. */
#define TABLES_MAX (OPTION_PARTS_MAX + 2)

struct tables {
	const struct option_table *table[TABLES_MAX];
	size_t count;
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

/* @name: a letter; it is never the NUL that an option without a letter has. */
static bool has_letter(const struct option_row *row, const char *name, size_t len)
{
	(void)len;
	return row->letter == *name;
}

/* @row: the one to begin after; NULL: the first. */
static const struct option_row *next_in(const struct option_table *table,
					const struct option_row *row, row_is *is, const char *name,
					size_t len)
{
	for (row = row ? row + 1 : table->rows; row->name || row->help; row++)
		if (is(row, name, len))
			return row;
	return NULL;
}

static const struct option_row *find(const struct tables *tables, row_is *is, const char *name,
				     size_t len)
{
	const struct option_row *found = NULL;

	for (size_t i = 0; !found && i < tables->count; i++)
		found = next_in(tables->table[i], NULL, is, name, len);
	return found;
}

/* Is the next word the value of an option in this word?  @letters: after the '-'. */
static bool letters_take_next(const struct tables *tables, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_row *row = find(tables, has_letter, letters, 1);

		if (row && row->value)
			return letters[1] == '\0';
	}
	return false;
}

static _Noreturn void refuse(const struct tables *tables, const char *program, const char *name,
			     size_t len)
{
	const char *between = "";

	fprintf(stderr, "%s: abbreviated option: '--%.*s' (write ", program, (int)len, name);
	for (size_t i = 0; i < tables->count; i++) {
		const struct option_row *row = NULL;

		while ((row = next_in(tables->table[i], row, begins_so, name, len))) {
			fprintf(stderr, "%s--%s", between, row->name);
			between = " or ";
		}
	}
	fputs(")\n", stderr);
	exit(argp_err_exit_status);
}

/* The same; @name: after the "--". */
static bool name_takes_next(const struct tables *tables, const char *program, const char *name)
{
	const size_t len = strcspn(name, "=");
	const struct option_row *row = find(tables, has_name, name, len);

	if (row)
		return row->value && name[len] == '\0';
	if (find(tables, begins_so, name, len))
		refuse(tables, program, name, len);
	return false;
}

/* Is a word that is no option the first one of a program to run?  @words: there were before. */
static bool is_program(const struct word_row *rows, size_t words)
{
	for (size_t i = 0; rows && rows[i].kind != OPTION_HEADING; i++)
		if (rows[i].kind == OPTION_REST)
			return i == words;
	return false;
}

static void add(struct tables *tables, const struct option_table *table)
{
	assert(tables->count < TABLES_MAX);
	if (table)
		tables->table[tables->count++] = table;
}

void whole_names(const struct command_line *line, const struct option_table *more, int argc,
		 char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *program = slash ? slash + 1 : argv[0];
	struct tables tables = { .count = 0 };
	size_t words = 0;

	add(&tables, line->options);
	for (const struct option_part *part = line->parts; part && part->table; part++)
		add(&tables, part->table);
	add(&tables, more);
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		bool skip = false;

		if (strcmp(word, "--") == 0)
			return;
		if (word[0] != '-' || !word[1]) {
			if (is_program(line->words, words++))
				return;
		} else if (word[1] == '-') {
			skip = name_takes_next(&tables, program, word + 2);
		} else {
			skip = letters_take_next(&tables, word + 1);
		}
		i += skip;
	}
}
