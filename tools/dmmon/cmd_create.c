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
	bool dry_run, segments;
	struct range range;
};

static const struct option_row option_rows[] = {
	{ "program", 'p', "ID", "program to which the region belongs (default: dmmon)",
	  TO_WORD(struct arguments, program), .group = 1 },
	{ "aux", 'x', "TEXT", "auxiliary data, any characters (default: -)",
	  TO_WORD(struct arguments, aux), .group = 1 },
	{ "segments", '\0', NULL, "a region for each segment of the device's table",
	  TO_FLAG(struct arguments, segments), .group = 1 },
	{ "dry-run", '\0', NULL, "only show the memory that it would need",
	  TO_FLAG(struct arguments, dry_run), .group = 1 },
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct arguments *arguments = target;

	if (arguments->segments && (arguments->range.start || arguments->range.length))
		argp_error(state, "--segments makes regions as long as the segments; --start and "
			   "--length cannot be used together with it");
}

static const struct option_table options = { .rows = option_rows, .check = check };

static const struct option_part parts[] = {
	{ &range_options, offsetof(struct arguments, range), .group = 5 }, { 0 }
};

static const struct word_row words[] = { DEVICE_WORD(struct arguments), { 0 } };

static int create(const struct arguments *arguments, const struct range *range,
		  const struct device *device, int *id)
{
	struct dms_region region;
	int code = range_region(range, device, arguments->program, arguments->aux, &region);

	if (code == EXIT_PASS)
		code = regions_check(device, &region);
	if (code == EXIT_PASS && !arguments->dry_run) {
		code = regions_create(device, &region);
		*id = region.id;
	}
	free(region.bounds);
	return code;
}

/* All regions, or none: those that were made go again. */
static int create_each(const struct arguments *arguments, const struct device *device,
		       const struct device_segment *segments, size_t count, int *ids)
{
	int code = EXIT_PASS;

	for (size_t i = 0; code == EXIT_PASS && i < count; i++) {
		struct range range = arguments->range;

		range.start = segments[i].start;
		range.length = segments[i].length;
		code = create(arguments, &range, device, &ids[i]);
		while (code != EXIT_PASS && !arguments->dry_run && i > 0)
			regions_delete(device, ids[--i]);
	}
	return code;
}

static int create_segments(const struct arguments *arguments, const struct device *device)
{
	struct device_segment *segments;
	size_t count;
	int code = device_segments(device, &segments, &count), *ids;

	if (code != EXIT_PASS)
		return code;
	ids = calloc(count + 1, sizeof(*ids));
	if (!count) {
		complain("%s has no segments: no table was loaded", device->name);
		code = EXIT_FAILED;
	} else if (!ids) {
		complain("not enough memory");
		code = EXIT_FAILED;
	} else {
		code = create_each(arguments, device, segments, count, ids);
	}
	for (size_t i = 0; code == EXIT_PASS && !arguments->dry_run && i < count; i++)
		printf("%d\n", ids[i]);
	free(ids);
	free(segments);
	return code;
}

static int create_one(const struct arguments *arguments, const struct device *device)
{
	int id, code = create(arguments, &arguments->range, device, &id);

	if (code == EXIT_PASS && !arguments->dry_run)
		printf("%d\n", id);
	return code;
}

int cmd_create(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .more_words = ONE_DEVICE, .words_help = "DEVICE",
		.help = "Makes a region, or with --segments several, and prints the numbers.\v"
			"A region stays until it is deleted "
			"or the device disappears.",
	};
	static char program[] = OWN_PROGRAM, aux[] = "-";
	struct arguments arguments = { .program = program, .aux = aux };
	struct device device;
	int code;

	command_parse(&line, argc, argv, &arguments);
	code = device_open(&device, arguments.device);
	if (code == EXIT_PASS) {
		code = arguments.segments ? create_segments(&arguments, &device)
					  : create_one(&arguments, &device);
		device_close(&device);
	}
	range_free(&arguments.range);
	return code;
}
