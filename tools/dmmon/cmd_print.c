// SPDX-License-Identifier: MIT
/* dmmon print: counters as they are, and with --clear from 0 on afterwards. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "area_columns.h"
#include "choice.h"
#include "command.h"
#include "look.h"
#include "machine.h"
#include "number.h"
#include "one_argument.h"
#include "output.h"

enum { KEY_CLEAR = 0x100, KEY_FIRST, KEY_COUNT };

static const struct column columns[] = { AREA_COLUMNS(true) };

struct arguments {
	const char *device;
	struct choice choice;
	struct output output;
	bool clear;
	uint64_t first, count;
};

static const struct argp_option options[] = {
	{ "clear", KEY_CLEAR, NULL, 0, "have what is printed begin at 0 again; no I/O is lost in "
	  "between", 1 },
	{ "first", KEY_FIRST, "AREA", 0, "first area (0)", 1 },
	{ "count", KEY_COUNT, "AREAS", 0, "number of areas (all)", 1 },
	{ 0 }
};

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->choice;
		state->child_inputs[1] = &arguments->output;
		return 0;
	case KEY_CLEAR:
		arguments->clear = true;
		return 0;
	case KEY_FIRST:
		if (!number_parse(word, 0, UINT64_MAX, &arguments->first))
			argp_error(state, "--first is the index of an area, not '%s'", word);
		return 0;
	case KEY_COUNT:
		if (!number_parse(word, 1, UINT64_MAX, &arguments->count))
			argp_error(state, "--count is a number of areas, not '%s'", word);
		return 0;
	default:
		return one_argument(key, word, state, &arguments->device, "device", true);
	}
}

static int print_part(struct rows *rows, const struct device *device, const struct dms_region *r,
		      struct dms_counts *counts)
{
	/* All there can be since the machine was started. */
	const struct dms_span span = { .elapsed = machine_now(), .oldest = machine_now() };
	uint64_t *zeros = calloc(counts->stride, 2 * sizeof(*zeros));
	struct cell cells[AREA_COLUMN_COUNT];
	int code = EXIT_PASS;

	if (!zeros) {
		complain("there is not enough memory");
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
			complain("there is not enough memory");
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
	static const struct argp_child children[] = {
		{ &choice_argp, 0, NULL, 3 }, { &output_argp, 0, NULL, 9 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "DEVICE",
		.doc = "Shows the counters of areas, of all programs' regions if nothing else is said.",
		.children = children,
	};
	struct arguments arguments = { .choice = CHOICE_NONE };
	struct device device;
	struct rows *rows;
	int code;

	output_init(&arguments.output, "counters of an area", columns, AREA_COLUMN_COUNT);
	command_parse(&argp, argc, argv, &arguments);
	code = device_open(&device, arguments.device);
	if (code != EXIT_PASS)
		return code;
	rows = output_open(&arguments.output);
	code = rows ? print_device(&arguments, rows, &device) : EXIT_FAILED;
	rows_close(rows);
	device_close(&device);
	return code;
}
