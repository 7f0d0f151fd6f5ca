// SPDX-License-Identifier: MIT
/* dmmon list: the regions of one device, or of all. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "area_columns.h"
#include "command.h"
#include "group_cell.h"
#include "named_devices.h"
#include "output.h"
#include "regions.h"

static const struct column columns[] = {
	{ "device", COLUMN_TEXT, UNIT_NONE, 8, true, "name of the device" },
	{ "number", COLUMN_TEXT, UNIT_NONE, 6, false, "major and minor number of the device" },
	{ "uuid", COLUMN_TEXT, UNIT_NONE, 8, false, "UUID of the device" },
	{ "region", COLUMN_UNSIGNED, UNIT_NONE, 6, true, "number of the region" },
	{ "start_sector", COLUMN_UNSIGNED, UNIT_SECTORS, 12, true, "where it begins" },
	{ "sectors", COLUMN_UNSIGNED, UNIT_SECTORS, 10, true, "how long it is" },
	{ "area_sectors", COLUMN_UNSIGNED, UNIT_SECTORS, 12, true, "length of an area" },
	{ "areas", COLUMN_UNSIGNED, UNIT_NONE, 6, true, "how many areas it has" },
	{ "program", COLUMN_TEXT, UNIT_NONE, 8, true, "program that owns it" },
	{ "precise", COLUMN_FLAG, UNIT_NONE, 7, true, "times are exact, not by ticks" },
	{ "bounds_ns", COLUMN_LIST, UNIT_NONE, 9, true, "bounds of its histogram" },
	{ "memory_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 12, false, "kernel memory it takes" },
	{ "aux", COLUMN_TEXT, UNIT_NONE, 8, true, "auxiliary data" },
	{ "group", COLUMN_TEXT, UNIT_NONE, 8, false,
	  "alias of dmstats' group that it is in; the group's first region if it has none" },
};
enum { COLUMN_NUMBER = sizeof(columns) / sizeof(columns[0]) };
enum { COLUMN_MEMORY = 11, COLUMN_GROUP = 13 };
_Static_assert(COLUMN_GROUP == COLUMN_NUMBER - 1, "the group is the last column");

struct arguments {
	struct device_words devices;
	const char *program;
	struct output output;
	struct writer *writer;
	struct dms_machine machine;
	bool machine_known;	/* asked once, and only for memory_bytes: it takes longer than a region */
	bool grouped;		/* groups are shown: of many regions each has to be looked for */
	bool failed;		/* of all devices, one at least */
};

static const struct option_row option_rows[] = {
	{ "program", 'p', "ID", "only regions of this program",
	  TO_WORD(struct arguments, program), .group = 1 },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

/* Bounds in nanoseconds, to be freed; NULL without any, or without memory. */
static uint64_t *bounds_ns(const struct dms_region *r)
{
	uint64_t *bounds = r->bound_count ? calloc(r->bound_count, sizeof(*bounds)) : NULL;

	for (size_t i = 0; bounds && i < r->bound_count; i++)
		bounds[i] = dms_time_ns(r, r->bounds[i]);
	return bounds;
}

static int show(const struct arguments *arguments, const struct device *device,
		const struct dms_regions *list, const struct dms_region *r)
{
	char group[GROUP_NAME_SIZE];
	uint64_t areas = dms_area_count(r->length, r->step), *bounds = bounds_ns(r);
	char number[sizeof("4095:1048575")];
	int len = snprintf(number, sizeof(number), "%u:%u", device->major, device->minor);
	const struct cell cells[COLUMN_NUMBER] = {
		cell_text(device->name, strlen(device->name)),
		cell_text(number, (size_t)len),
		*device->uuid ? cell_text(device->uuid, strlen(device->uuid)) : cell_absent(),
		cell_unsigned((uint64_t)r->id),
		cell_unsigned(r->start),
		cell_unsigned(r->length),
		cell_unsigned(r->step),
		cell_unsigned(areas),
		cell_text(r->program, strlen(r->program)),
		cell_flag(r->precise),
		bounds ? cell_list(bounds, r->bound_count) : cell_absent(),
		arguments->machine_known
			? cell_unsigned(dms_memory(&arguments->machine, areas, r->bound_count))
			: cell_absent(),
		cell_text(r->aux, strlen(r->aux)),
		group_cell(arguments->grouped ? dms_group_of(list, r->id) : NULL, group),
	};
	int code = area_put(arguments->writer, cells);

	free(bounds);
	return code;
}

static int show_all(const struct arguments *arguments, const struct device *device,
		    const struct dms_regions *list)
{
	int code = EXIT_PASS;

	for (size_t i = 0; code == EXIT_PASS && i < list->count; i++)
		code = show(arguments, device, list, &list->region[i]);
	return code;
}

/* One of all: it may have gone meanwhile, and what is wrong with it is no matter of the others. */
static int list_one(const struct device *device, void *context)
{
	struct arguments *arguments = context;
	struct dms_regions list;
	int code = regions_left(device, arguments->program, &list);

	if (code != EXIT_PASS) {
		arguments->failed = true;
		return EXIT_PASS;
	}
	code = show_all(arguments, device, &list);
	dms_regions_free(&list);
	return code;
}

static int list_named(const struct arguments *arguments)
{
	struct named_devices devices;
	struct dms_regions list;
	int code = named_devices_open(&devices, &arguments->devices);

	for (size_t i = 0; code == EXIT_PASS && i < devices.count; i++) {
		code = regions_list(&devices.device[i], arguments->program, &list);
		if (code != EXIT_PASS)
			break;
		code = show_all(arguments, &devices.device[i], &list);
		dms_regions_free(&list);
	}
	named_devices_close(&devices);
	return code;
}

int cmd_list(int argc, char **argv)
{
	static const struct option_part parts[] = {
		{ &output_options, offsetof(struct arguments, output), .group = 9 },
		{ &device_words_options, offsetof(struct arguments, devices), .group = 2 },
		{ 0 }
	};
	static const struct word_row words[] = {
		DEVICE_WORDS(struct arguments, devices), { 0 }
	};
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .words_help = "[DEVICE...]",
		.help = "Shows the regions of devices, or of all devices.",
	};
	struct arguments arguments = { 0 };
	int code;

	output_init(&arguments.output, "a region of device-mapper statistics", columns,
		    COLUMN_NUMBER);
	command_parse(&line, argc, argv, &arguments);
	arguments.grouped = selection_shows(&arguments.output.selection, COLUMN_GROUP);
	arguments.writer = output_open(&arguments.output);
	if (!arguments.writer)
		return EXIT_FAILED;
	arguments.machine_known =
		selection_shows(&arguments.output.selection, COLUMN_MEMORY) &&
		machine_read(&arguments.machine);
	if (arguments.devices.names.count)
		code = list_named(&arguments);
	else
		code = device_each(list_one, &arguments);
	if (code == EXIT_PASS)
		code = area_put(arguments.writer, NULL);
	writer_close(arguments.writer);
	return code == EXIT_PASS && arguments.failed ? EXIT_FAILED : code;
}
