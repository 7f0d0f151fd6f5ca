// SPDX-License-Identifier: MIT
/* dmmon create: makes a region that stays. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "one_argument.h"
#include "range.h"
#include "regions.h"

enum { KEY_DRY_RUN = 0x100 };

struct arguments {
	const char *device;
	char *program, *aux;
	bool dry_run;
	struct range range;
};

static const struct argp_option options[] = {
	{ "program", 'p', "ID", 0, "program that the region belongs to (dmmon)", 1 },
	{ "aux", 'x', "TEXT", 0, "auxiliary data, any characters (-)", 1 },
	{ "dry-run", KEY_DRY_RUN, NULL, 0, "say what memory it would take, and end", 1 },
	{ 0 }
};

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->range;
		return 0;
	case 'p':
		arguments->program = word;
		return 0;
	case 'x':
		arguments->aux = word;
		return 0;
	case KEY_DRY_RUN:
		arguments->dry_run = true;
		return 0;
	default:
		return one_argument(key, word, state, &arguments->device, "device", true);
	}
}

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
	static const struct argp_child children[] = { { &range_argp, 0, NULL, 5 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "DEVICE",
		.doc = "Makes a region, and prints its number.\vThe region stays until it is deleted "
		       "or the device goes.",
		.children = children,
	};
	static char program[] = OWN_PROGRAM, aux[] = "-";
	struct arguments arguments = { .program = program, .aux = aux };
	struct device device;
	int code;

	command_parse(&argp, argc, argv, &arguments);
	code = device_open(&device, arguments.device);
	if (code == EXIT_PASS) {
		code = create(&arguments, &device);
		device_close(&device);
	}
	range_free(&arguments.range);
	return code;
}
