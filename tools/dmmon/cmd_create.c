// SPDX-License-Identifier: MIT
/* dmmon create: makes a region that stays. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dms_group.h"
#include "file_map.h"
#include "range.h"
#include "regions.h"

struct arguments {
	const char *device;	/* NULL: that of the file */
	const char *file, *alias;
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
	{ "file", 'f', "FILE", "a region for each part of the device that this file has, and a group of "
	  "them", TO_WORD(struct arguments, file), .group = 1 },
	{ "alias", '\0', "NAME", "name of the group of --file (default: that of the file)",
	  TO_WORD(struct arguments, alias), .group = 1 },
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
	if (arguments->file && (arguments->segments || arguments->range.start ||
				arguments->range.length))
		argp_error(state, "--file makes regions where the file is; --segments, --start and "
			   "--length cannot be used together with it");
	if (arguments->alias && !arguments->file)
		argp_error(state, "--alias can only be used with --file");
	if (!arguments->file && !arguments->device)
		argp_error(state, "a device is missing");
	if (arguments->file && arguments->device)
		argp_error(state, "--file knows the device, '%s' is one too many", arguments->device);
}

static const struct option_table options = { .rows = option_rows, .check = check };

static const struct option_part parts[] = {
	{ &range_options, offsetof(struct arguments, range), .group = 5 }, { 0 }
};

static const struct word_row words[] = { { TO_WORD(struct arguments, device) }, { 0 } };

/* Regions of these segments; NULL: the one that the options describe.  Bounds are owned. */
static int describe(const struct arguments *arguments, const struct device *device,
		    const struct device_segment *segments, size_t count, struct dms_region *regions)
{
	int code = EXIT_PASS;

	for (size_t i = 0; code == EXIT_PASS && i < count; i++) {
		struct range range = arguments->range;

		if (segments) {
			range.start = segments[i].start;
			range.length = segments[i].length;
		}
		code = range_region(&range, device, arguments->program, arguments->aux, &regions[i]);
	}
	return code;
}

/* Of a file the regions are a group, of the name that dmstats would give it. */
static int make_group(const struct arguments *arguments, const struct device *device,
		      const int *ids, size_t count)
{
	const char *slash = strrchr(arguments->file, '/'), *alias = arguments->alias;
	struct text aux = { 0 };
	int code = EXIT_FAILED;

	if (!alias)
		alias = slash ? slash + 1 : arguments->file;
	dms_group_write(&aux, alias, ids, count, arguments->aux);
	if (aux.failed)
		complain("not enough memory");
	else
		code = regions_set_aux(device, ids[0], aux.bytes);
	text_free(&aux);
	return code;
}

/* All regions, or none: those that were made go again. */
static int create_each(const struct arguments *arguments, const struct device *device,
		       struct dms_region *regions, size_t count, int *ids)
{
	int code = EXIT_PASS;
	size_t made = 0;

	while (code == EXIT_PASS && made < count) {
		code = regions_create(device, &regions[made]);
		if (code == EXIT_PASS) {
			ids[made] = regions[made].id;
			made++;
		}
	}
	if (code == EXIT_PASS && arguments->file)
		code = make_group(arguments, device, ids, count);
	while (code != EXIT_PASS && made > 0)
		regions_delete(device, ids[--made]);
	return code;
}

static int create(const struct arguments *arguments, const struct device *device,
		  const struct device_segment *segments, size_t count)
{
	struct dms_region *regions = calloc(count, sizeof(*regions));
	int *ids = calloc(count, sizeof(*ids));
	int code = EXIT_FAILED;

	if (!regions || !ids)
		complain("not enough memory");
	else
		code = describe(arguments, device, segments, count, regions);
	if (code == EXIT_PASS)
		code = regions_check(device, regions, count);
	if (code == EXIT_PASS && !arguments->dry_run) {
		code = create_each(arguments, device, regions, count, ids);
		for (size_t i = 0; code == EXIT_PASS && i < count; i++)
			printf("%d\n", ids[i]);
	}
	for (size_t i = 0; regions && i < count; i++)
		free(regions[i].bounds);
	free(regions);
	free(ids);
	return code;
}

static int create_segments(const struct arguments *arguments, const struct device *device)
{
	struct device_segment *segments;
	size_t count;
	int code = device_segments(device, &segments, &count);

	if (code != EXIT_PASS)
		return code;
	if (count) {
		code = create(arguments, device, segments, count);
	} else {
		complain("%s has no segments: no table was loaded", device->name);
		code = EXIT_FAILED;
	}
	free(segments);
	return code;
}

static int create_of_file(const struct arguments *arguments)
{
	struct device device;
	struct file_map map;
	int code = file_map_read(&map, arguments->file);

	if (code != EXIT_PASS)
		return code;
	code = device_open_of_file(&device, arguments->file, map.major, map.minor);
	if (code == EXIT_PASS) {
		code = create(arguments, &device, map.segment, map.count);
		device_close(&device);
	}
	file_map_free(&map);
	return code;
}

static int create_on(const struct arguments *arguments)
{
	struct device device;
	int code = device_open(&device, arguments->device);

	if (code != EXIT_PASS)
		return code;
	code = arguments->segments ? create_segments(arguments, &device)
				   : create(arguments, &device, NULL, 1);
	device_close(&device);
	return code;
}

int cmd_create(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .more_words = ONE_DEVICE, .words_help = "DEVICE | --file FILE",
		.help = "Makes a region, or with --segments or --file several, and prints the "
			"numbers.\v"
			"A region stays until it is deleted "
			"or the device disappears.",
	};
	static char program[] = OWN_PROGRAM, aux[] = "-";
	struct arguments arguments = { .program = program, .aux = aux };
	int code;

	command_parse(&line, argc, argv, &arguments);
	code = arguments.file ? create_of_file(&arguments) : create_on(&arguments);
	range_free(&arguments.range);
	return code;
}
