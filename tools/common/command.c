/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "translate.h"
#include "zvmlab_version.h"

#include <assert.h>
#include <libintl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whose complaints these are. */
static const char *tool_name = "tool";

static void list(FILE *out, const struct tool *tool)
{
	translate_help();
	fprintf(out, gettext("Usage: %s COMMAND [OPTION...] [ARGUMENT...]\n"), tool->name);
	fprintf(out, "%s\n\n", gettext(tool->summary));
	for (const struct command *command = tool->commands; command->name; command++)
		fprintf(out, "  %-10s %s\n", command->name, gettext(command->summary));
	fprintf(out, gettext("\n'%s COMMAND --help' lists the options of a command, '%s --version' "
			     "the version.\n"), tool->name, tool->name);
}

void complain(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "%s: ", tool_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

void command_parse(const struct command_line *line, int argc, char **argv, void *arguments)
{
	error_t error;

	argp_err_exit_status = EXIT_USAGE;
	error = command_line_parse(line, ARGP_IN_ORDER, argc, argv, arguments);
	if (error) {
		complain("the command line cannot be read: %s", strerror(error));
		exit(EXIT_FAILED);
	}
}

static int run(const struct tool *tool, const struct command *command, int argc, char **argv)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%s %s", tool->name, command->name);

	assert(len > 0 && (size_t)len < sizeof(name));
	argv[1] = name;
	return command->run(argc - 1, argv + 1);
}

int tool_main(const struct tool *tool, int argc, char **argv)
{
	tool_name = tool->name;
	if (argc < 2) {
		list(stderr, tool);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		list(stdout, tool);
		return fflush(stdout) ? EXIT_FAILED : EXIT_PASS;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("%s %s\n", tool->name, ZVMLAB_VERSION);
		return fflush(stdout) ? EXIT_FAILED : EXIT_PASS;
	}
	for (const struct command *command = tool->commands; command->name; command++)
		if (strcmp(argv[1], command->name) == 0)
			return run(tool, command, argc, argv);
	complain("unknown command: '%s'; '%s --help' lists them", argv[1], tool->name);
	return EXIT_USAGE;
}
