/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "translate.h"
#include "whole_names.h"

/* Options without a letter: this and their row.  Letters are below. */
#define KEY_OF_ROW 0x100

/* With the end of each, and the part that every command has. */
#define OPTIONS_ROOM (OPTION_ROWS_MAX + 1)
#define PARTS_ROOM (OPTION_PARTS_MAX + 1)
#define CHILDREN_ROOM (PARTS_ROOM + 1)

/* A table as argp knows it, and what it is about. */
struct parser {
	const struct command_line *line;	/* NULL: of the options of a part */
	const struct option_table *table;	/* NULL: no options */
	void *target;
	struct argp_option options[OPTIONS_ROOM];
	struct argp argp;
	struct parser *parts;			/* of a command */
	size_t words;				/* taken so far */
};

static int key_of(const struct option_row *row, size_t index)
{
	return row->letter ? row->letter : KEY_OF_ROW | (int)index;
}

static bool is_end(const struct option_row *row)
{
	return !row->name && !row->help;
}

static void convert(struct parser *parser)
{
	const struct option_row *row = parser->table ? parser->table->rows : NULL;

	for (size_t i = 0; row && !is_end(&row[i]); i++) {
		assert(i < OPTION_ROWS_MAX);
		parser->options[i] = (struct argp_option){
			.name = row[i].name,
			.key = key_of(&row[i], i),
			.arg = row[i].value,
			.doc = row[i].help,
			.group = row[i].group,
		};
	}
	parser->argp.options = parser->options;
}

/* Says the sentence, with the word at its "%s" if it has one. */
static void refuse(const struct argp_state *state, const char *sentence, const char *word)
{
	const char *place = strstr(sentence, "%s");

	if (place)
		argp_error(state, "%.*s%s%s", (int)(place - sentence), sentence, word, place + 2);
	else
		argp_error(state, "%s", sentence);
}

static bool number_of(const struct option_row *row, const char *word, uint64_t *number)
{
	switch (row->kind) {
	case OPTION_TIME:
		return number_parse_time(word, number);
	case OPTION_SIZE:
		return number_parse_size(word, number);
	default:
		return number_parse(word, 0, UINT64_MAX, number);
	}
}

static void set_number(const struct option_row *row, void *target, const char *word,
		       const struct argp_state *state)
{
	uint64_t number;
	unsigned int narrow;

	if (!number_of(row, word, &number) || number < row->least || number > row->most) {
		refuse(state, row->wrong, word);
	} else if (row->size == sizeof(narrow)) {
		narrow = (unsigned int)number;
		memcpy((char *)target + row->member, &narrow, sizeof(narrow));
	} else {
		memcpy((char *)target + row->member, &number, sizeof(number));
	}
}

static void set(const struct option_row *row, void *target, char *word, struct argp_state *state)
{
	const bool given = true;

	switch (row->kind) {
	case OPTION_FLAG:
		memcpy((char *)target + row->member, &given, row->size);
		break;
	case OPTION_WORD:
		memcpy((char *)target + row->member, &word, row->size);
		break;
	case OPTION_CALL:
		row->set(target, word, state);
		break;
	default:
		set_number(row, target, word, state);
	}
}

/* In place of argp's own options, which print help before the locale is set. */
static void print_help(void *target, char *word, struct argp_state *state)
{
	(void)target;
	(void)word;
	translate_print_help(state);
}

static void print_usage(void *target, char *word, struct argp_state *state)
{
	(void)target;
	(void)word;
	argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
}

static void print_version(void *target, char *word, struct argp_state *state)
{
	(void)target;
	(void)word;
	(void)state;
	puts(argp_program_version);
	exit(EXIT_SUCCESS);
}

#define HELP_ROWS                                                                                 \
	{ "help", '?', NULL, "print this help", TO_CALL(print_help), .group = -1 },               \
	{ "usage", '\0', NULL, "print a short usage message", TO_CALL(print_usage), .group = -1 }
static const struct option_row help_rows[] = { HELP_ROWS, { 0 } };
static const struct option_row help_and_version_rows[] = {
	HELP_ROWS,
	{ "version", 'V', NULL, "print the version", TO_CALL(print_version), .group = -1 },
	{ 0 }
};
static const struct option_table help_options = { .rows = help_rows };
static const struct option_table help_and_version_options = { .rows = help_and_version_rows };

static error_t take_option(const struct parser *parser, int key, char *word,
			   struct argp_state *state)
{
	const struct option_table *table = parser->table;

	for (size_t i = 0; table && !is_end(&table->rows[i]); i++) {
		if (!table->rows[i].name || key_of(&table->rows[i], i) != key)
			continue;
		set(&table->rows[i], parser->target, word, state);
		if (table->given)
			table->given(parser->target);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* A word that is no option. */
static error_t take_word(struct parser *parser, char *word, struct argp_state *state)
{
	const struct word_row *words = parser->line->words;
	const struct word_row *row = words ? &words[parser->words] : NULL;
	char **rest;

	if (!row || row->kind == OPTION_HEADING) {
		if (parser->line->more_words)
			refuse(state, parser->line->more_words, word);
		return ARGP_ERR_UNKNOWN;
	}
	if (row->kind == OPTION_WORDS) {
		struct word_list *list = (void *)((char *)parser->target + row->member);

		if (list->count == WORD_LIST_MAX)
			argp_error(state, "too many words (at most %u)", WORD_LIST_MAX);
		list->word[list->count++] = word;
		return 0;
	}
	if (row->kind == OPTION_REST) {
		rest = &state->argv[state->next - 1];
		state->next = state->argc;
		memcpy((char *)parser->target + row->member, &rest, row->size);
	} else {
		memcpy((char *)parser->target + row->member, &word, row->size);
	}
	parser->words++;
	return 0;
}

static void check_words(const struct parser *parser, const struct argp_state *state)
{
	const struct word_row *row = parser->line->words;

	for (size_t i = parser->words; row && row[i].kind != OPTION_HEADING; i++) {
		const struct word_list *list = (const void *)((char *)parser->target + row[i].member);

		if (row[i].missing && (row[i].kind != OPTION_WORDS || !list->count))
			argp_error(state, "%s", row[i].missing);
	}
}

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct parser *parser = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		for (size_t i = 0; parser->argp.children && parser->argp.children[i].argp; i++)
			state->child_inputs[i] = &parser->parts[i];
		return 0;
	case ARGP_KEY_ARG:
		return parser->line ? take_word(parser, word, state) : ARGP_ERR_UNKNOWN;
	case ARGP_KEY_NO_ARGS:
		/* Before anything else is judged. */
		if (parser->line)
			check_words(parser, state);
		return 0;
	case ARGP_KEY_END:
		if (parser->line)
			check_words(parser, state);
		if (parser->table && parser->table->check)
			parser->table->check(parser->target, state);
		return 0;
	default:
		return take_option(parser, key, word, state);
	}
}

static void open_part(struct parser *parser, struct argp_child *child, const struct option_part *part,
		      void *arguments)
{
	parser->table = part->table;
	parser->target = (char *)arguments + part->member;
	parser->argp = (struct argp){ .parser = parse };
	convert(parser);
	*child = (struct argp_child){
		.argp = &parser->argp, .header = part->heading, .group = part->group,
	};
}

error_t command_line_parse(const struct command_line *line, unsigned int flags, int argc,
			   char **argv, void *arguments)
{
	const struct option_part help = {
		argp_program_version ? &help_and_version_options : &help_options, 0, .group = -1,
	};
	struct parser parts[PARTS_ROOM] = { 0 };
	struct argp_child children[CHILDREN_ROOM] = { 0 };
	struct parser command = {
		.line = line, .table = line->options, .target = arguments, .parts = parts,
		.argp = {
			.parser = parse, .args_doc = line->words_help, .doc = line->help,
			.children = children,
		},
	};
	size_t count = 0;

	whole_names(line, help.table, argc, argv);
	for (; line->parts && line->parts[count].table; count++) {
		assert(count < OPTION_PARTS_MAX);
		open_part(&parts[count], &children[count], &line->parts[count], arguments);
	}
	open_part(&parts[count], &children[count], &help, arguments);
	convert(&command);
	return argp_parse(&command.argp, argc, argv, flags | ARGP_NO_HELP, NULL, &command);
}
