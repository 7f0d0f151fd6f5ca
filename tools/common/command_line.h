/* SPDX-License-Identifier: MIT */
/*
 * What a command line may have, as tables: options, what their values become, further words.
 *
 *	struct arguments { const char *device; uint64_t count; bool idle; struct output output; };
 *
 *	static const struct option_row rows[] = {
 *		{ "count", 'c', "N", "stop after N", TO_NUMBER(struct arguments, count, 1, 9),
 *		  .wrong = "invalid --count: '%s' (1 to 9)" },
 *		{ "idle", '\0', NULL, "also show those at rest", TO_FLAG(struct arguments, idle) },
 *		{ 0 }
 *	};
 *	static const struct option_table table = { rows };
 *	static const struct option_part parts[] = {
 *		{ &output_options, offsetof(struct arguments, output), .group = 9 }, { 0 }
 *	};
 *	static const struct word_row words[] = {
 *		{ TO_WORD(struct arguments, device), .missing = "a device is missing" }, { 0 }
 *	};
 *	static const struct command_line line = {
 *		.options = &table, .parts = parts, .words = words, .words_help = "DEVICE",
 *	};
 *
 * Underneath is argp of libc, which has the layout of help, and what is said of options that there
 * are none of.  Names of options cannot be abbreviated (whole_names.h).  Every command has --help
 * and --usage, and --version if argp_program_version is set.  Whatever is wrong ends the program
 * with argp_err_exit_status.
 */
#ifndef TOOLS_COMMAND_LINE_H
#define TOOLS_COMMAND_LINE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of a command line; more are a mistake of the program. */
#define OPTION_ROWS_MAX 24u
#define OPTION_PARTS_MAX 5u

enum option_kind {
	OPTION_HEADING,		/* no option: @help is a heading of its group */
	OPTION_FLAG,		/* bool: true */
	OPTION_WORD,		/* char *: the word, of the command line */
	OPTION_NUMBER,		/* uint64_t, unsigned int or int, which has room for @least to @most */
	OPTION_TIME,		/* uint64_t, in nanoseconds; see number_parse_time() */
	OPTION_SIZE,		/* uint64_t, in bytes; see number_parse_size() */
	OPTION_CALL,		/* whatever @set does */
	OPTION_REST,		/* no option: char **, this word and all after it */
	OPTION_WORDS,		/* no option: struct word_list, this word and further ones */
};

#define WORD_LIST_MAX 256u

/* Words of the command line. */
struct word_list {
	const char *word[WORD_LIST_MAX];
	unsigned int count;
};

/*
 * Sets what an option says.  @target: what the option's table is about.  @word: the option's
 * value; NULL if it has none.  What is wrong goes to argp_error().
 */
typedef void option_set(void *target, char *word, struct argp_state *state);

struct option_row {
	const char *name;	/* without "--"; NULL: a heading, or with @help NULL the end */
	char letter;		/* '\0': none */
	const char *value;	/* name of its value, for the help; NULL: it takes none */
	const char *help;	/* lower case, no full stop */
	enum option_kind kind;
	size_t member, size;	/* offset and size of what is set, in what the table is about */
	uint64_t least, most;	/* values of OPTION_NUMBER, _TIME, _SIZE */
	option_set *set;	/* of OPTION_CALL */
	const char *wrong;	/* a sentence, with "%s" for the value; needed with @least and @most */
	int group;		/* groups are shown in their order */
};

/* Offset and size of a member; it does not compile if the member has none of these types. */
#define MEMBER_OF(type, name, ...) \
	.member = offsetof(type, name) + 0 * sizeof(_Generic(((type *)0)->name, __VA_ARGS__)), \
	.size = sizeof(((type *)0)->name)
#define TO_FLAG(type, name) .kind = OPTION_FLAG, MEMBER_OF(type, name, bool: 0)
#define TO_WORD(type, name) \
	.kind = OPTION_WORD, MEMBER_OF(type, name, char *: 0, const char *: 0)
#define TO_NUMBER(type, name, from, to) .kind = OPTION_NUMBER, .least = (from), .most = (to), \
	MEMBER_OF(type, name, uint64_t: 0, unsigned int: 0, int: 0)
#define TO_TIME(type, name, from, to) .kind = OPTION_TIME, .least = (from), .most = (to), \
	MEMBER_OF(type, name, uint64_t: 0)
#define TO_SIZE(type, name, from, to) .kind = OPTION_SIZE, .least = (from), .most = (to), \
	MEMBER_OF(type, name, uint64_t: 0)
#define TO_REST(type, name) .kind = OPTION_REST, MEMBER_OF(type, name, char **: 0)
#define TO_WORDS(type, name) .kind = OPTION_WORDS, MEMBER_OF(type, name, struct word_list: 0)
#define TO_CALL(function) .kind = OPTION_CALL, .set = (function)

/* Options about one structure. */
struct option_table {
	const struct option_row *rows;	/* ended by a row of zeros */
	/* Called for each of them that was given; NULL: nobody wants to know. */
	void (*given)(void *target);
	/* Called when all words were seen, to judge them together; NULL: nothing to judge. */
	void (*check)(const void *target, const struct argp_state *state);
};

/* Options of another table that a command has, too: those that several commands share. */
struct option_part {
	const struct option_table *table;	/* NULL: the end */
	size_t member;		/* offset of what it is about, in the command's arguments */
	int group;		/* of all of it, among the command's own groups */
	const char *heading;	/* NULL: none */
};

/* A word that is no option; they come in this order. */
struct word_row {
	enum option_kind kind;		/* TO_WORD, TO_REST or, last, TO_WORDS; 0 ends them */
	size_t member, size;
	const char *missing;		/* what to say if it is not there; NULL: it need not be */
};

struct command_line {
	const struct option_table *options;	/* of the command itself; NULL: none */
	const struct option_part *parts;	/* ended by zeros; NULL: none */
	const struct word_row *words;		/* ended by zeros; NULL: none */
	const char *more_words;		/* what to say of one more, "%s"; NULL: what argp says */
	const char *words_help;		/* of the words, for the usage line; NULL: there are none */
	const char *help;		/* sentences; "\v" before what comes after the options */
};

/*
 * Fills @arguments in as the words say.  @flags: of argp_parse(): ARGP_IN_ORDER, or 0 if options may
 * come after words, too.  Return: 0, or an errno value if the words cannot be read.
 */
error_t command_line_parse(const struct command_line *line, unsigned int flags, int argc,
			   char **argv, void *arguments);

#endif
