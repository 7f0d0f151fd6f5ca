/* SPDX-License-Identifier: MIT */
/* The command line of a tool: its commands, and the options of what it reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "said.h"
#include "unit_test.h"
#include "zvmlab_version.h"

static const struct column columns[] = {
	{ "pid", COLUMN_UNSIGNED, UNIT_NONE, 5, true, "a task" },
	{ "comm", COLUMN_TEXT, UNIT_NONE, 6, false, "its program" },
};

static struct output output;
static char argv_zero[64];

static int run_get(int argc, char **argv)
{
	static const struct command_line line = { .options = &output_options };

	snprintf(argv_zero, sizeof(argv_zero), "%s", argv[0]);
	output_init(&output, "a row", columns, 2);
	command_parse(&line, argc, argv, &output);
	return 5;
}

static int run(const char *first, const char *second)
{
	static const struct command commands[] = { { "get", "get it", run_get }, { 0 } };
	static const struct tool tool = { "tool", "Gets.", commands };
	char name[] = "tool", one[64], two[64];
	char *argv[] = { name, first ? strcpy(one, first) : NULL,
			 second ? strcpy(two, second) : NULL, NULL };

	return tool_main(&tool, 1 + !!first + !!second, argv);
}

/* The output on @fd, 1 or 2, of a program that must not exit. */
static const char *said_by(int fd, const char *first, const char *second, int *code)
{
	struct said said = said_begin(fd);

	*code = run(first, second);
	return said_end(&said);
}

TEST(commands)
{
	int code;

	ck_assert_str_eq(said_by(2, "put", NULL, &code),
			 "tool: unknown command: 'put'; 'tool --help' lists them\n");
	ck_assert_int_eq(code, EXIT_USAGE);
	ck_assert_str_eq(said_by(1, "--help", NULL, &code),
			 "Usage: tool COMMAND [OPTION...] [ARGUMENT...]\nGets.\n\n"
			 "  get        get it\n\n"
			 "'tool COMMAND --help' lists the options of a command, "
			 "'tool --version' the version.\n");
	ck_assert_int_eq(code, EXIT_PASS);
	ck_assert_str_eq(said_by(1, "--version", NULL, &code), "tool " ZVMLAB_VERSION "\n");
	ck_assert_int_eq(code, EXIT_PASS);
	ck_assert_ptr_nonnull(strstr(said_by(2, NULL, NULL, &code), "Usage: tool"));
	ck_assert_int_eq(code, EXIT_USAGE);
}

/* Each tool complains by its own name, and there is one before a tool begins. */
TEST(names_of_tools)
{
	static const struct command none[] = { { 0 } };
	static const struct tool other = { "other", "Does nothing.", none };
	char name[] = "x", word[] = "put";
	char *argv[] = { name, word, NULL };
	struct said said = said_begin(2);

	complain("first");
	ck_assert_int_eq(tool_main(&other, 2, argv), EXIT_USAGE);
	complain("last");
	ck_assert_str_eq(said_end(&said), "tool: first\n"
			 "other: unknown command: 'put'; 'other --help' lists them\n"
			 "other: last\n");
}

TEST(options)
{
	ck_assert_int_eq(run("get", NULL), 5);
	ck_assert_str_eq(argv_zero, "tool get");
	ck_assert(output.format == WRITER_TABLE && !output.scaled);
	ck_assert_uint_eq(output.selection.shown_count, 1);
	ck_assert_int_eq(run("get", "--format=json"), 5);
	ck_assert(output.format == WRITER_JSON);
	ck_assert_int_eq(run("get", "-fcsv"), 5);
	ck_assert(output.format == WRITER_CSV);
	ck_assert_int_eq(run("get", "--human"), 5);
	ck_assert(output.scaled);
	ck_assert_int_eq(run("get", "--fields=comm,pid"), 5);
	ck_assert_uint_eq(output.selection.shown_count, 2);
	ck_assert_uint_eq(output.selection.shown[0], 1);
	ck_assert(output.named);
	ck_assert_int_eq(run("get", "--fields=+comm"), 5);
	ck_assert(!output.named);
}

TEST(colors)
{
	static const struct {
		enum output_color color;
		bool terminal;
		const char *no_color, *term;
		bool wanted;
	} c[] = {
		{ COLOR_AUTO, true, NULL, "xterm", true }, { COLOR_AUTO, false, NULL, "xterm", false },
		{ COLOR_AUTO, true, "", "xterm", true }, { COLOR_AUTO, true, "1", "xterm", false },
		{ COLOR_AUTO, true, NULL, "dumb", false }, { COLOR_AUTO, true, NULL, NULL, false },
		{ COLOR_AUTO, true, NULL, "", false }, { COLOR_ALWAYS, false, "1", NULL, true },
		{ COLOR_NEVER, true, NULL, "xterm", false },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_msg(output_colors(c[i].color, c[i].terminal, c[i].no_color, c[i].term) ==
			      c[i].wanted, "%zu", i);
	ck_assert_int_eq(run("get", NULL), 5);
	ck_assert_int_eq(output.color, COLOR_AUTO);
	ck_assert_int_eq(run("get", "--color=always"), 5);
	ck_assert_int_eq(output.color, COLOR_ALWAYS);
	ck_assert(output_has_colors(&output));
	ck_assert_int_eq(run("get", "--color=never"), 5);
	ck_assert_int_eq(output.color, COLOR_NEVER);
	ck_assert_int_eq(run("get", "--color=auto"), 5);
	ck_assert_int_eq(output.color, COLOR_AUTO);
	setenv("NO_COLOR", "1", 1);
	ck_assert(!output_has_colors(&output));
}

TEST(what_is_opened)
{
	struct writer *writer;

	run("get", "--fields=comm,pid");
	writer = output_open(&output);
	ck_assert_ptr_nonnull(writer);
	ck_assert_uint_eq(writer_selection(writer)->shown_count, 2);
	writer_close(writer);
	ck_assert_int_eq(run("get", "--format=table"), 5);
	ck_assert(output.format == WRITER_TABLE && !output.named);
	ck_assert_str_eq(output.title, "a row");
}

TEST(help_by_its_word)
{
	char text[1024];
	int code;

	strcpy(text, said_by(1, "--help", NULL, &code));
	ck_assert_str_eq(said_by(1, "help", NULL, &code), text);
	ck_assert_int_eq(code, EXIT_PASS);
}

/* Earlier output comes before the complaint, though both go to the same place. */
TEST(complaints_come_after_what_was_written)
{
	struct said errors = said_begin(2);
	int kept = dup(1);

	dup2(2, 1);
	printf("first\n");
	complain("%s %d", "second", 2);
	printf("third\n");
	fflush(stdout);
	dup2(kept, 1);
	close(kept);
	ck_assert_str_eq(said_end(&errors), "first\ntool: second 2\nthird\n");
}

/* Text that is printed instead of running is complete, or the program fails. */
TEST(what_cannot_be_printed)
{
	static const char *const lines[][2] = {
		{ "--help", NULL }, { "--version", NULL }, { "get", "--fields=help" },
		{ "get", "--schema" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int status;
		pid_t child;

		fflush(NULL);
		child = fork();
		if (child == 0) {
			if (!freopen("/dev/full", "w", stdout) || !freopen("/dev/null", "w", stderr))
				_exit(98);
			exit(run(lines[i][0], lines[i][1]));
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(status == EXIT_FAILED << 8, "%zu: %x", i, (unsigned)status);
	}
}

TEST(what_is_printed_instead)
{
	static const char *const texts[] = { "--fields=help", "--schema", "--help" };
	static const char *const begins[] = { "* pid", "{\n  \"$schema\"",
		"Usage: tool get [OPTION...]\n\n"
		"      --color=WHEN           use colors in a table: auto (default: on a\n"
		"                             terminal), always or never\n"
		"  -f, --format=FORMAT        table (default), json (an object in each line) or\n"
		"                             csv\n"
		"  -F, --fields=NAMES         show these fields in this order; +NAMES adds\n"
		"                             fields, 'all' shows all, 'help' lists them\n"
		"  -H, --human                show times and sizes in a table with suitable\n"
		"                             units\n"
		"      --schema               print the JSON schema of a line\n",
	};

	for (size_t i = 0; i < 3; i++) {
		struct said said = said_begin(1);
		pid_t child = fork();
		const char *text;
		int status;

		if (child == 0) {
			run("get", texts[i]);
			_exit(99);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		text = said_end(&said);
		ck_assert_int_eq(status, EXIT_PASS << 8);
		ck_assert_msg(strncmp(text, begins[i], strlen(begins[i])) == 0, "%s", text);
	}
}

/* Each of these ends the program. */
static const struct {
	const char *option;
	int code;
} ending[] = {
	{ "--fields=help", EXIT_PASS }, { "--schema", EXIT_PASS }, { "--help", EXIT_PASS },
	{ "--format=xml", EXIT_USAGE }, { "--fields=tgid", EXIT_USAGE }, { "word", EXIT_USAGE },
	{ "--nonsense", EXIT_USAGE }, { "--color=red", EXIT_USAGE },
};

TEST_EACH(options_that_end, ending)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(98);
		run("get", ending[_i].option);
		_exit(99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, ending[_i].code << 8);
}
