/* SPDX-License-Identifier: MIT */
/* COMMANDS and QUERY COMMANDS: what the issuer may give. */
#include <stdio.h>
#include <string.h>

#include "command_private.h"

/* Columns of QUERY COMMANDS. */
#define COMMANDS_PER_LINE 6
#define COMMAND_WIDTH 12

/* "IBMCLASS=" and those of @word's classes that the issuer has. */
static void show_classes(struct cpcmd_args *args, const struct cpcmd_word *word)
{
	const char *from = word->classes;
	char list[2 * CP_CLASSES + 1] = "";
	size_t at = 0;

	for (; from && *from && !(args->issuer == CPCMD_PEER && word->classes[0] == '='); from++)
		if (*from != CPCMD_MACHINE[0] && strchr(args->classes, *from))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%c", at ? "," : "",
					       *from);
	cpcmd_line(args->cp, "%s IBMCLASS=%s", word->name,
		   !word->classes ? "ANY" : at > 0 ? list : "NONE");
}

/* COMMANDS word …: as which of its versions may the issuer give it? */
static int show_commands(struct cpcmd_args *args)
{
	do {
		const struct cpcmd_word *command = args->commands;

		while (command->name &&
		       !cpcmd_abbreviates(args->word, command->name, command->min))
			command++;
		if (!command->name)
			return cpcmd_invalid(args, "CQC");
		show_classes(args, command);
	} while (cpcmd_next(args));
	return 0;
}

int cpcmd_query_commands(struct cpcmd_args *args)
{
	char line[COMMANDS_PER_LINE * (COMMAND_WIDTH + 1) + 1];
	unsigned int on_line = 0;

	if (cpcmd_next(args))
		return show_commands(args);
	for (const struct cpcmd_word *command = args->commands; command->name; command++) {
		if (!cpcmd_find(args, command, command->name))
			continue;
		snprintf(line + on_line * (COMMAND_WIDTH + 1), COMMAND_WIDTH + 2, "%-*s ",
			 COMMAND_WIDTH, command->name);
		if (++on_line == COMMANDS_PER_LINE) {
			cpcmd_line(args->cp, "%s", line);
			on_line = 0;
		}
	}
	if (on_line > 0)
		cpcmd_line(args->cp, "%s", line);
	return 0;
}
