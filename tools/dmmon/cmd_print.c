// SPDX-License-Identifier: MIT
/* dmmon print: counters as they are, and with --clear from 0 on afterwards. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "area_columns.h"
#include "choice.h"
#include "command.h"
#include "devices.h"
#include "look.h"
#include "machine.h"
#include "output.h"

static const struct column columns[] = { AREA_COLUMNS(true) };

struct arguments {
	struct devices_named devices;
	struct choice choice;
	struct output output;
	bool clear;
	uint64_t first, count;
};

static const struct option_row option_rows[] = {
	{ "clear", '\0', NULL, "also set the counters to 0; no I/O is lost",
	  TO_FLAG(struct arguments, clear), .group = 1 },
	{ "first", '\0', "AREA", "first area (default: 0)",
	  TO_NUMBER(struct arguments, first, 0, UINT64_MAX), .group = 1,
	  .wrong = "invalid --first: '%s' (the index of an area)" },
	{ "count", '\0', "AREAS", "number of areas (default: all)",
	  TO_NUMBER(struct arguments, count, 1, UINT64_MAX), .group = 1,
	  .wrong = "invalid --count: '%s' (a number of areas)" },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

static const struct option_part parts[] = {
	{ &choice_options, offsetof(struct arguments, choice), .group = 3 },
	{ &output_options, offsetof(struct arguments, output), .group = 9 },
	{ &devices_need, offsetof(struct arguments, devices), .group = 2 },
	{ 0 }
};

static const struct word_row words[] = { DEVICES_WORDS(struct arguments, devices), { 0 } };

static int print_part(struct rows *rows, const struct device *device, const struct dms_region *r,
		      struct dms_counts *counts)
{
	/* All there can be since the machine was started. */
	const struct dms_span span = { .elapsed = machine_now(), .oldest = machine_now() };
	uint64_t *zeros = calloc(counts->stride, 2 * sizeof(*zeros));
	struct cell cells[AREA_COLUMN_COUNT];
	int code = EXIT_PASS;

	if (!zeros) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; code == EXIT_PASS && i < counts->count; i++) {
		const uint64_t *row = dms_row(counts, i);
		unsigned int doubt = dms_delta(zeros + counts->stride, zeros, row, counts->stride,
					       r, &span);

		area_cells(cells, device, r, counts->first + i, row, doubt);
		code = area_put(rows, cells);
	}
	free(zeros);
	return code;
}

static int print_region(const struct arguments *arguments, struct rows *rows,
			const struct device *device, const struct dms_region *r)
{
	uint64_t end = dms_area_count(r->length, r->step), first = arguments->first;
	struct dms_counts counts;
	int code = EXIT_PASS;

	if (arguments->count && first < end && arguments->count < end - first)
		end = first + arguments->count;
	while (code == EXIT_PASS && first < end) {
		uint64_t room = end - first < LOOK_AREAS ? end - first : LOOK_AREAS;

		if (dms_counts_init(&counts, r, (size_t)room)) {
			complain("not enough memory");
			return EXIT_FAILED;
		}
		counts.first = first;
		code = look_part(&counts, device, r, arguments->clear);
		if (code == EXIT_PASS)
			code = print_part(rows, device, r, &counts);
		first += room;
		dms_counts_free(&counts);
	}
	return code;
}

static int print_device(const struct arguments *arguments, struct rows *rows,
			const struct device *device)
{
	struct dms_regions list;
	int code = choice_regions(&arguments->choice, device, arguments->clear, &list), flushed;

	if (code != EXIT_PASS)
		return code;
	area_warn(device);
	/* One that has gone meanwhile is no matter of the others; no more output is. */
	for (size_t i = 0; !ferror(stdout) && i < list.count; i++) {
		int one = print_region(arguments, rows, device, &list.region[i]);

		code = one == EXIT_PASS ? code : one;
	}
	dms_regions_free(&list);
	if (ferror(stdout))
		return code;
	flushed = area_put(rows, NULL);
	return code == EXIT_PASS ? flushed : code;
}

int cmd_print(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .words_help = DEVICES_HELP,
		.help = "Shows the counters of areas (default: regions of all programs).",
	};
	struct arguments arguments = { .choice = CHOICE_NONE };
	struct devices devices;
	struct rows *rows;
	int code;

	output_init(&arguments.output, "counters of an area", columns, AREA_COLUMN_COUNT);
	command_parse(&line, argc, argv, &arguments);
	code = devices_open(&devices, &arguments.devices);
	if (code != EXIT_PASS)
		return code;
	rows = output_open(&arguments.output);
	code = rows ? EXIT_PASS : EXIT_FAILED;
	for (size_t i = 0; rows && !ferror(stdout) && i < devices.count; i++) {
		int one = print_device(&arguments, rows, &devices.device[i]);

		code = code == EXIT_PASS ? one : code;
	}
	rows_close(rows);
	devices_close(&devices);
	return code;
}
