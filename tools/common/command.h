/* SPDX-License-Identifier: MIT */
/*
 * A tool of several commands ("taskmon get", "taskmon listen"), each with its own command line.
 *
 * What is common: "TOOL --help" lists the commands, "TOOL --version" tells the version,
 * "TOOL COMMAND --help" is argp's, a wrong command line ends with EXIT_USAGE and one sentence on
 * standard error.
 */
#ifndef TOOLS_COMMAND_H
#define TOOLS_COMMAND_H

#include "command_line.h"
#include "exit_code.h"

struct command {
	const char *name;
	const char *summary;	/* for the list of commands; lower case, no full stop */
	/* @argv[0]: "TOOL COMMAND", for the help.  Return: an exit code. */
	int (*run)(int argc, char **argv);
};

struct tool {
	const char *name;
	const char *summary;	/* a sentence */
	const struct command *commands;	/* ended by a name of NULL */
};

/* Runs the command that argv[1] names.  Return: its exit code, EXIT_USAGE, EXIT_PASS for help. */
int tool_main(const struct tool *tool, int argc, char **argv);

/*
 * command_line_parse() for a command; where the words are wrong it ends the program with
 * EXIT_USAGE, after --help and --usage with EXIT_PASS, and without memory with EXIT_FAILED.
 */
void command_parse(const struct command_line *line, int argc, char **argv, void *arguments);

/* Writes "TOOL: SENTENCE" to standard error; standard output is flushed before. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
