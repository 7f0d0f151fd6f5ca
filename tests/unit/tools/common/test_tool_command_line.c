/* SPDX-License-Identifier: MIT */
/* Command lines as tables: what options and words become, and what is said of wrong ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "command_line.h"
#include "exit_code.h"
#include "said.h"
#include "unit_test.h"

#define USAGE 9		/* no exit code of anybody else */
#define WORDS_MAX 8

/* The error that argp has, 0: none. */
static error_t argp_error_number;

error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *index, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *index, void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
			  int *index, void *input)
{
	return argp_error_number ? argp_error_number :
				   __real_argp_parse(argp, argc, argv, flags, index, input);
}

struct shared {
	uint64_t depth;
	bool given;
};

struct arguments {
	char *first, *second;
	bool flag;
	const char *text;
	uint64_t wide, time, size;
	unsigned int narrow;
	int whole;
	unsigned int calls;
	char called[16];
	struct shared shared;
	char **program;
	struct word_list many;
};

static void call(void *target, char *word, struct argp_state *state)
{
	struct arguments *arguments = target;

	arguments->calls++;
	if (word && strcmp(word, "bad") == 0)
		argp_error(state, "no, not %s", word);
	snprintf(arguments->called, sizeof(arguments->called), "%s", word ? word : "none");
}

static const struct option_row rows[] = {
	{ .help = "All kinds:", .group = 1 },
	{ "flag", 'f', NULL, "set it", TO_FLAG(struct arguments, flag), .group = 1 },
	{ "text", 't', "TEXT", "keep it", TO_WORD(struct arguments, text), .group = 1 },
	{ "wide", 0, "N", "64 bits", TO_NUMBER(struct arguments, wide, 1, UINT64_MAX), .group = 1,
	  .wrong = "'%s' is nothing wide" },
	{ "narrow", 0, "N", "32 bits", TO_NUMBER(struct arguments, narrow, 3, UINT32_MAX),
	  .group = 1, .wrong = "--narrow is from 3 on" },
	{ "whole", 0, "N", "32 bits, signed", TO_NUMBER(struct arguments, whole, 0, INT32_MAX),
	  .group = 1, .wrong = "--whole is a number, not '%s'" },
	{ "time", 0, "TIME", "nanoseconds", TO_TIME(struct arguments, time, 1, 2000000000),
	  .group = 1, .wrong = "no time: '%s' (1ns to 2s)" },
	{ "size", 0, "SIZE", "bytes", TO_SIZE(struct arguments, size, 2048, 4096), .group = 1,
	  .wrong = "no size: '%s'" },
	{ "call", 'c', "WORD", "call it", TO_CALL(call), .group = 2 },
	{ "bare", 0, NULL, "call it without a word", TO_CALL(call), .group = 2 },
	{ 0 }
};

static void check_both(const void *target, const struct argp_state *state)
{
	const struct arguments *arguments = target;

	if (arguments->flag && arguments->text)
		argp_error(state, "--flag and --text exclude each other");
}

static const struct option_row shared_rows[] = {
	{ "depth", 'd', "N", "how deep", TO_NUMBER(struct shared, depth, 0, 9),
	  .wrong = "not so deep as %s" },
	{ 0 }
};

static void shared_given(void *target)
{
	((struct shared *)target)->given = true;
}

static void check_shared(const void *target, const struct argp_state *state)
{
	const struct shared *shared = target;

	if (shared->depth == 7)
		argp_error(state, "7 is taken");
}

static const struct option_table table = { .rows = rows, .check = check_both };
static const struct option_table shared_table = {
	.rows = shared_rows, .given = shared_given, .check = check_shared,
};
static const struct option_part parts[] = {
	{ &shared_table, offsetof(struct arguments, shared), .group = 5, .heading = "Shared:" },
	{ 0 }
};
static const struct word_row two_words[] = {
	{ TO_WORD(struct arguments, first), .missing = "the first is missing" },
	{ TO_WORD(struct arguments, second) },
	{ 0 }
};
static const struct command_line two = {
	.options = &table, .parts = parts, .words = two_words,
	.more_words = "two are enough, without '%s'", .words_help = "FIRST [SECOND]",
	.help = "Tries all.\vThat is it.",
};

/* Words parted by blanks; @text is cut into them. */
static error_t parse(const struct command_line *line, unsigned int flags, char *text,
		     struct arguments *arguments)
{
	static char *argv[WORDS_MAX + 1];
	static char name[] = "test";
	int argc = 0;

	argv[argc++] = name;
	for (char *word = strtok(text, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	argp_err_exit_status = USAGE;
	return command_line_parse(line, flags, argc, argv, arguments);
}

static char text[256];

static struct arguments parsed(const struct command_line *line, const char *words)
{
	struct arguments arguments = { .wide = 5, .shared = { .depth = 1 } };

	snprintf(text, sizeof(text), "%s", words);
	ck_assert_int_eq(parse(line, ARGP_IN_ORDER, text, &arguments), 0);
	return arguments;
}

TEST(each_kind)
{
	struct arguments a = parsed(&two, "one");

	ck_assert_str_eq(a.first, "one");
	ck_assert(!a.second && !a.flag && !a.text && a.wide == 5 && !a.calls);
	ck_assert(a.shared.depth == 1 && !a.shared.given);
	a = parsed(&two, "-f one two");
	ck_assert(a.flag && strcmp(a.second, "two") == 0);
	a = parsed(&two, "--text x -t yy one");
	ck_assert_str_eq(a.text, "yy");
	a = parsed(&two, "--wide 18446744073709551615 --narrow 4294967295 --whole=2147483647 one");
	ck_assert(a.wide == UINT64_MAX && a.narrow == UINT32_MAX && a.whole == INT32_MAX);
	ck_assert_uint_eq(a.time, 0);
	a = parsed(&two, "--time 2s --size 4K one");
	ck_assert(a.time == 2000000000 && a.size == 4096);
	a = parsed(&two, "--time=1ns --size=2048 --narrow=3 --whole=0 one");
	ck_assert(a.time == 1 && a.size == 2048 && a.narrow == 3 && a.whole == 0);
	a = parsed(&two, "-cab --call c one");
	ck_assert(a.calls == 2 && strcmp(a.called, "c") == 0);
	a = parsed(&two, "--bare one");
	ck_assert(a.calls == 1 && strcmp(a.called, "none") == 0);
}

/* Bytes beside a number of 32 bits are not touched. */
TEST(widths)
{
	struct arguments a = parsed(&two, "--narrow 3 one");

	ck_assert(a.narrow == 3 && a.whole == 0 && a.calls == 0 && a.size == 0);
	a = parsed(&two, "--whole 4 one");
	ck_assert(a.narrow == 0 && a.whole == 4 && a.calls == 0);
}

/* As many rows as there may be; each sets its own. */
TEST(most_rows)
{
	static const char names[OPTION_ROWS_MAX][2] = {
		"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p",
		"q", "r", "s", "t", "u", "v", "w", "x",
	};
	static struct option_row full[OPTION_ROWS_MAX + 1];
	static const struct option_table full_table = { .rows = full };
	static const struct command_line line = { .options = &full_table };

	for (size_t i = 0; i < OPTION_ROWS_MAX; i++)
		full[i] = (struct option_row){
			names[i], '\0', "N", "a number", .kind = OPTION_NUMBER, .most = 99,
			.wrong = "no", .member = i * sizeof(uint64_t), .size = sizeof(uint64_t),
		};
	for (size_t i = 0; i < OPTION_ROWS_MAX; i++) {
		uint64_t numbers[OPTION_ROWS_MAX] = { 0 };
		char name[] = "test", word[16];
		char *argv[] = { name, word, NULL };

		snprintf(word, sizeof(word), "--%c=77", names[i][0]);
		ck_assert_int_eq(command_line_parse(&line, 0, 2, argv, numbers), 0);
		for (size_t other = 0; other < OPTION_ROWS_MAX; other++)
			ck_assert_uint_eq(numbers[other], other == i ? 77 : 0);
	}
}

/* An abbreviated option name that has another meaning. */
TEST(words_that_are_no_names)
{
	struct arguments a = parsed(&two, "--text --fla one");

	ck_assert(!a.flag && strcmp(a.text, "--fla") == 0);
	a = parsed(&two, "-t --fla one");
	ck_assert(!a.flag && strcmp(a.text, "--fla") == 0);
	a = parsed(&two, "-d 1 -- --fla");
	ck_assert(!a.flag && strcmp(a.first, "--fla") == 0);
}

TEST(options_of_a_part)
{
	struct arguments a = parsed(&two, "-d 9 one");

	ck_assert(a.shared.depth == 9 && a.shared.given && !a.flag);
}

static const struct word_row program_words[] = {
	{ TO_REST(struct arguments, program), .missing = "name a program" }, { 0 }
};
static const struct command_line program = { .options = &table, .words = program_words };

static const struct word_row after_one_words[] = {
	{ TO_WORD(struct arguments, first) }, { TO_REST(struct arguments, program) }, { 0 }
};
static const struct command_line after_one = { .options = &table, .words = after_one_words };

TEST(a_program_has_all_words_after_it)
{
	struct arguments a = parsed(&program, "-f prog -t --nonsense x");

	ck_assert(a.flag && !a.text);
	ck_assert_str_eq(a.program[0], "prog");
	ck_assert_str_eq(a.program[1], "-t");
	ck_assert_str_eq(a.program[3], "x");
	ck_assert_ptr_null(a.program[4]);
	a = parsed(&program, "-- -f");
	ck_assert(!a.flag && strcmp(a.program[0], "-f") == 0);
	a = parsed(&program, "prog --fla");
	ck_assert(!a.flag && strcmp(a.program[1], "--fla") == 0);
	a = parsed(&after_one, "one prog --fla");
	ck_assert(!a.flag && strcmp(a.program[1], "--fla") == 0);
}

static const struct word_row many_words[] = {
	{ TO_WORD(struct arguments, first) },
	{ TO_WORDS(struct arguments, many), .missing = "name some" },
	{ 0 }
};
static const struct command_line many = { .options = &table, .words = many_words };

TEST(many_words_and_options_between)
{
	struct arguments a = parsed(&many, "one two -f three");

	ck_assert(a.flag && a.many.count == 2);
	ck_assert_str_eq(a.first, "one");
	ck_assert_str_eq(a.many.word[0], "two");
	ck_assert_str_eq(a.many.word[1], "three");
}

TEST(options_after_words)
{
	struct arguments a = { 0 };

	snprintf(text, sizeof(text), "one -f");
	ck_assert_int_eq(parse(&two, 0, text, &a), 0);
	ck_assert(a.flag && !a.second);
	a = parsed(&two, "one -f");
	ck_assert(a.flag && !a.second);
}

/* Returns the exit code and the output on @fd of a program that exits because of these words. */
static const char *ended(const struct command_line *line, const char *words, int fd, int *code)
{
	struct said said = said_begin(fd);
	pid_t child = fork();
	int status;

	if (child == 0) {
		parsed(line, words);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	*code = WEXITSTATUS(status);
	return said_end(&said);
}

static const struct word_row pair_words[] = {
	{ TO_WORD(struct arguments, first), .missing = "the first is missing" },
	{ TO_WORD(struct arguments, second), .missing = "the second is missing" },
	{ 0 }
};
static const struct command_line pair = { .options = &table, .parts = parts, .words = pair_words };

TEST(what_is_wrong_is_said)
{
	static const struct command_line none = { .options = &table }, bare = { 0 };
	static const struct { const struct command_line *line; const char *words, *said; } c[] = {
		{ &two, "--wide 0 one", "'0' is nothing wide" },
		{ &two, "--wide -1 one", "'-1' is nothing wide" },
		{ &two, "--wide 18446744073709551616 one", "is nothing wide" },
		{ &two, "--narrow 2 one", "--narrow is from 3 on" },
		{ &two, "--narrow 4294967296 one", "--narrow is from 3 on" },
		{ &two, "--whole 2147483648 one", "--whole is a number, not '2147483648'" },
		{ &two, "--time 2000000001ns one", "no time: '2000000001ns' (1ns to 2s)" },
		{ &two, "--time 0 one", "no time: '0' (1ns to 2s)" },
		{ &two, "--time 1K one", "no time: '1K'" },
		{ &two, "--size 2047 one", "no size: '2047'" },
		{ &two, "--size 5K one", "no size: '5K'" },
		{ &two, "--size 1s one", "no size: '1s'" },
		{ &two, "--call bad one", "no, not bad" },
		{ &two, "-f -t x one", "--flag and --text exclude each other" },
		{ &two, "-d 10 one", "not so deep as 10" },
		{ &two, "-d 7 one", "7 is taken" },
		{ &two, "", "the first is missing" },
		{ &two, "-f -t x", "the first is missing" },
		{ &two, "-d 7", "the first is missing" },
		{ &two, "one two three", "two are enough, without 'three'" },
		{ &two, "--nonsense", "unrecognized option '--nonsense'" },
		{ &two, "--flag=1 one", "option '--flag' doesn't allow an argument" },
		{ &two, "--text", "option '--text' requires an argument" },
		{ &two, "--wid 1 one", "test: abbreviated option: '--wid' (write --wide)\n" },
		{ &two, "--wid=1 one", "abbreviated option: '--wid' (write --wide)\n" },
		{ &two, "--w one", "abbreviated option: '--w' (write --wide or --whole)\n" },
		{ &two, "one --de 1", "abbreviated option: '--de' (write --depth)\n" },
		{ &two, "--he one", "abbreviated option: '--he' (write --help)\n" },
		{ &two, "-t --te --fl one", "abbreviated option: '--fl' (write --flag)\n" },
		{ &two, "-ft --fl one", "--flag and --text exclude each other" },
		{ &two, "-tx --fl one", "abbreviated option: '--fl' (write --flag)\n" },
		{ &two, "--flag --fl one", "abbreviated option: '--fl' (write --flag)\n" },
		{ &two, "- --fl", "abbreviated option: '--fl' (write --flag)\n" },
		{ &bare, "--us", "abbreviated option: '--us' (write --usage)\n" },
		{ &bare, "--ve", "unrecognized option '--ve'" },
		{ &program, "-f", "name a program" },
		{ &many, "one", "name some" }, { &many, "", "name some" },
		{ &pair, "", "the first is missing" },
		{ &pair, "one -f", "the second is missing" },
		{ &pair, "one two three", "Too many arguments" },
		{ &none, "one", "Too many arguments" },
	};
	int code;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const char *said = ended(c[i].line, c[i].words, 2, &code);

		ck_assert_msg(code == USAGE, "'%s': %d", c[i].words, code);
		ck_assert_msg(strstr(said, c[i].said) != NULL, "'%s': %s", c[i].words, said);
	}
}

TEST(help)
{
	int code;

	ck_assert_str_eq(ended(&two, "--help", 1, &code),
		"Usage: test [OPTION...] FIRST [SECOND]\n"
		"Tries all.\n\n"
		" All kinds:\n"
		"  -f, --flag                 set it\n"
		"      --narrow=N             32 bits\n"
		"      --size=SIZE            bytes\n"
		"      --time=TIME            nanoseconds\n"
		"  -t, --text=TEXT            keep it\n"
		"      --whole=N              32 bits, signed\n"
		"      --wide=N               64 bits\n\n"
		"      --bare                 call it without a word\n"
		"  -c, --call=WORD            call it\n"
		"\n\n Shared:\n"
		"  -d, --depth=N              how deep\n"
		"\n"
		"  -?, --help                 print this help\n"
		"      --usage                print a short usage message\n\n"
		"Mandatory or optional arguments to long options are also mandatory or optional\n"
		"for any corresponding short options.\n\n"
		"That is it.\n");
	ck_assert_int_eq(code, 0);
}

/* A program with a version has an option and a letter for it. */
TEST(version)
{
	static const struct command_line one = { .options = &shared_table, .help = "Little." };
	int code;

	argp_program_version = "test 1.2";
	ck_assert_str_eq(ended(&two, "--version", 1, &code), "test 1.2\n");
	ck_assert_int_eq(code, 0);
	ck_assert_str_eq(ended(&two, "-V -d 10", 1, &code), "test 1.2\n");
	ck_assert_int_eq(code, 0);
	ck_assert_str_eq(ended(&one, "--help", 1, &code),
		"Usage: test [OPTION...]\n"
		"Little.\n\n"
		"  -d, --depth=N              how deep\n"
		"  -?, --help                 print this help\n"
		"      --usage                print a short usage message\n"
		"  -V, --version              print the version\n\n"
		"Mandatory or optional arguments to long options are also mandatory or optional\n"
		"for any corresponding short options.\n");
	ck_assert_str_eq(ended(&one, "--ve", 2, &code),
			 "test: abbreviated option: '--ve' (write --version)\n");
	ck_assert_int_eq(code, USAGE);
}

TEST(usage)
{
	int code;

	ck_assert_str_eq(ended(&program, "--usage", 1, &code),
		"Usage: test [-f?] [-t TEXT] [-c WORD] [--flag] [--narrow=N] [--size=SIZE]\n"
		"            [--time=TIME] [--text=TEXT] [--whole=N] [--wide=N] [--bare]\n"
		"            [--call=WORD] [--help] [--usage]\n");
	ck_assert_int_eq(code, 0);
}

/* As many as there is room for, and one more. */
TEST(most_words)
{
	static char name[] = "/usr/bin/test", word[] = "word", first[] = "first";
	static char *argv[WORD_LIST_MAX + 4] = { name, first };
	static struct arguments arguments;
	struct said said;
	pid_t child;
	int status;

	for (size_t i = 0; i <= WORD_LIST_MAX; i++)
		argv[2 + i] = word;
	argp_err_exit_status = USAGE;
	ck_assert_int_eq(command_line_parse(&many, ARGP_IN_ORDER, 2 + WORD_LIST_MAX, argv, &arguments),
			 0);
	ck_assert_uint_eq(arguments.many.count, 256);
	ck_assert_ptr_eq(arguments.many.word[255], word);
	said = said_begin(2);
	child = fork();
	if (child == 0) {
		arguments = (struct arguments){ 0 };
		command_line_parse(&many, ARGP_IN_ORDER, 3 + WORD_LIST_MAX, argv, &arguments);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, USAGE << 8);
	ck_assert_ptr_nonnull(strstr(said_end(&said), "too many words (at most 256)\n"));
}

/* A program is named without its folder. */
TEST(name_of_the_program)
{
	static char name[] = "/usr/bin/a/test", word[] = "--fla";
	char *argv[] = { name, word, NULL };
	struct arguments arguments = { 0 };
	struct said said = said_begin(2);
	pid_t child = fork();
	int status;

	if (child == 0) {
		argp_err_exit_status = USAGE;
		command_line_parse(&two, 0, 2, argv, &arguments);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, USAGE << 8);
	ck_assert_str_eq(said_end(&said), "test: abbreviated option: '--fla' (write --flag)\n");
}

/* A command that cannot be read for want of memory was not wrong: it failed. */
TEST(without_memory)
{
	static char name[] = "test";
	char *argv[] = { name, NULL };
	struct arguments arguments = { 0 };
	struct said said = said_begin(2);
	pid_t child = fork();
	int status;

	if (child == 0) {
		argp_error_number = ENOMEM;
		command_parse(&two, 1, argv, &arguments);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, EXIT_FAILED << 8);
	ck_assert_str_eq(strchr(said_end(&said), ':'),
			 ": the command line cannot be read: Cannot allocate memory\n");
}
