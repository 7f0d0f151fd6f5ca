// SPDX-License-Identifier: MIT
/* dmmon create: makes a region that stays. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "range.h"
#include "regions.h"

struct arguments {
	const char *device;
	char *program, *aux;
	bool dry_run;
	struct range range;
};

static const struct option_row option_rows[] = {
	{ "program", 'p', "ID", "program to which the region belongs (default: dmmon)",
	  TO_WORD(struct arguments, program), .group = 1 },
	{ "aux", 'x', "TEXT", "auxiliary data, any characters (default: -)",
	  TO_WORD(struct arguments, aux), .group = 1 },
	{ "dry-run", '\0', NULL, "only show the memory that it would need",
	  TO_FLAG(struct arguments, dry_run), .group = 1 },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

static const struct option_part parts[] = {
	{ &range_options, offsetof(struct arguments, range), .group = 5 }, { 0 }
};

static const struct word_row words[] = { DEVICE_WORD(struct arguments), { 0 } };

static int create(const struct arguments *arguments, const struct device *device)
{
	struct dms_region region;
	int code = range_region(&arguments->range, device, arguments->program, arguments->aux,
				&region);

	if (code == EXIT_PASS)
		code = regions_check(device, &region);
	if (code == EXIT_PASS && !arguments->dry_run) {
		code = regions_create(device, &region);
		if (code == EXIT_PASS)
			printf("%d\n", region.id);
	}
	free(region.bounds);
	return code;
}

int cmd_create(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .more_words = ONE_DEVICE, .words_help = "DEVICE",
		.help = "Makes a region, and prints its number.\vThe region stays until it is deleted "
			"or the device disappears.",
	};
	static char program[] = OWN_PROGRAM, aux[] = "-";
	struct arguments arguments = { .program = program, .aux = aux };
	struct device device;
	int code;

	command_parse(&line, argc, argv, &arguments);
	code = device_open(&device, arguments.device);
	if (code == EXIT_PASS) {
		code = create(&arguments, &device);
		device_close(&device);
	}
	range_free(&arguments.range);
	return code;
}
