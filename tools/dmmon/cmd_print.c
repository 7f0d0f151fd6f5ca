// SPDX-License-Identifier: MIT
/* dmmon print: counters as they are, and with --clear from 0 on afterwards. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>

#include "area_columns.h"
#include "choice.h"
#include "command.h"
#include "group_cell.h"
#include "named_devices.h"
#include "look.h"
#include "machine.h"
#include "order.h"
#include "output.h"

static const struct column columns[] = {
	AREA_COLUMNS(true),
	{ "group", COLUMN_TEXT, UNIT_NONE, 8, false,
	  "alias of dmstats' group that its region is in; the group's first region if it has none" },
};
enum { COLUMN_GROUP = AREA_COLUMN_COUNT, COLUMN_NUMBER };

struct arguments {
	struct device_words devices;
	struct choice choice;
	struct order order;
	struct output output;
	bool clear, groups;
	uint64_t first, count;
};

static const struct option_row option_rows[] = {
	{ "clear", '\0', NULL, "also set the counters to 0; no I/O is lost",
	  TO_FLAG(struct arguments, clear), .group = 1 },
	{ "groups", '\0', NULL, "show totals of dmstats' groups in place of areas",
	  TO_FLAG(struct arguments, groups), .group = 1 },
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
	{ &order_options, offsetof(struct arguments, order), .group = 1 },
	{ &choice_options, offsetof(struct arguments, choice), .group = 3 },
	{ &output_options, offsetof(struct arguments, output), .group = 9 },
	{ &device_words_need, offsetof(struct arguments, devices), .group = 2 },
	{ 0 }
};

static const struct word_row words[] = { DEVICE_WORDS(struct arguments, devices), { 0 } };

/* Some areas of a region: what was counted, and whether it is to be believed. */
struct part {
	const struct device *device;
	const struct dms_regions *list;	/* that the region is in */
	const struct dms_region *region;
	struct dms_counts counts;
	unsigned int *doubt;	/* of each area; owned */
};

/* The areas to print, and those kept for sorting. */
struct printed {
	const struct arguments *arguments;
	struct writer *writer;
	uint64_t now;			/* since the machine was started; the same for all rates */
	struct part *part;		/* in the order of devices, regions and areas; owned */
	size_t count, room;
	struct dms_regions *regions;	/* of each device; owned */
	struct dms_group_sums sums;	/* of the groups of one device */
};

static void part_free(struct part *part)
{
	dms_counts_free(&part->counts);
	free(part->doubt);
}

/* Return: whether there was memory for it. */
static bool judge(struct part *part)
{
	/* All there can be since the machine was started. */
	const struct dms_span span = { .elapsed = machine_now(), .oldest = machine_now() };
	const struct dms_counts *counts = &part->counts;
	uint64_t *zeros = calloc(counts->stride, 2 * sizeof(*zeros));

	part->doubt = calloc(counts->count ? counts->count : 1, sizeof(*part->doubt));
	for (size_t i = 0; zeros && part->doubt && i < counts->count; i++)
		part->doubt[i] = dms_delta(zeros + counts->stride, zeros, dms_row(counts, i),
					   counts->stride, part->region, &span);
	free(zeros);
	return zeros && part->doubt;
}

static int put_area(const struct printed *printed, const struct part *part, size_t index)
{
	struct cell cells[COLUMN_NUMBER];
	char group[GROUP_NAME_SIZE];

	area_cells(cells, part->device, part->region, part->counts.first + index,
		   dms_row(&part->counts, index), part->doubt[index]);
	/* Of many regions each has to be looked for. */
	cells[COLUMN_GROUP] =
		group_cell(selection_shows(writer_selection(printed->writer), COLUMN_GROUP) ?
				   dms_group_of(part->list, part->region->id) : NULL, group);
	return area_put(printed->writer, cells);
}

/* For put_sorted().  Return: whether there was memory for it; it is owned by @printed then. */
static bool keep(struct printed *printed, const struct part *part)
{
	if (printed->count == printed->room) {
		size_t room = printed->room ? 2 * printed->room : 16;
		struct part *larger = reallocarray(printed->part, room, sizeof(*larger));

		if (!larger)
			return false;
		printed->part = larger;
		printed->room = room;
	}
	printed->part[printed->count++] = *part;
	return true;
}

static void add_part(struct printed *printed, const struct part *part)
{
	const struct dms_region *r = part->region, *leader = dms_group_of(part->list, r->id);

	for (size_t i = 0; leader && i < part->counts.count; i++)
		dms_group_add(dms_group_sum_of(&printed->sums, leader), r,
			      dms_area_length(r, part->counts.first + i),
			      dms_row(&part->counts, i), part->doubt[i]);
}

/* A group as if it were an area of one region. */
static int put_group(const struct printed *printed, const struct device *device,
		     const struct dms_group_sum *sum)
{
	const struct dms_region as_one = dms_group_as_region(sum);
	struct cell cells[COLUMN_NUMBER];
	char group[GROUP_NAME_SIZE];

	area_cells(cells, device, &as_one, 0, sum->row, sum->doubt);
	cells[AREA_COLUMN_INDEX] = cells[AREA_COLUMN_START] = cell_absent();
	cells[COLUMN_GROUP] = group_cell(sum->leader, group);
	return area_put(printed->writer, cells);
}

static int put_groups(struct printed *printed, const struct device *device)
{
	int code = EXIT_PASS;

	for (size_t i = 0; code == EXIT_PASS && i < printed->sums.count; i++)
		code = put_group(printed, device, &printed->sums.sum[i]);
	return code;
}

/* Prints the areas that were looked at, adds them up, or keeps them, which frees them later. */
static int take_part(struct printed *printed, struct part *part)
{
	const bool sorted = order_wanted(&printed->arguments->order);
	int code = EXIT_PASS;

	if (!judge(part) || (sorted && !keep(printed, part))) {
		complain("not enough memory");
		code = EXIT_FAILED;
	}
	if (code == EXIT_PASS && printed->arguments->groups)
		add_part(printed, part);
	for (size_t i = 0; !sorted && !printed->arguments->groups && code == EXIT_PASS &&
	     i < part->counts.count; i++)
		code = put_area(printed, part, i);
	if (!sorted || code != EXIT_PASS)
		part_free(part);
	return code;
}

static int print_region(struct printed *printed, const struct device *device,
			const struct dms_regions *list, const struct dms_region *r)
{
	const struct arguments *arguments = printed->arguments;
	uint64_t end = dms_area_count(r->length, r->step), first = arguments->first;
	int code = EXIT_PASS;

	if (arguments->count && first < end && arguments->count < end - first)
		end = first + arguments->count;
	while (code == EXIT_PASS && first < end) {
		uint64_t room = end - first < LOOK_AREAS ? end - first : LOOK_AREAS;
		struct part part = { .device = device, .list = list, .region = r };

		if (dms_counts_init(&part.counts, r, (size_t)room)) {
			complain("not enough memory");
			return EXIT_FAILED;
		}
		part.counts.first = first;
		code = look_part(&part.counts, device, r, arguments->clear);
		if (code == EXIT_PASS)
			code = take_part(printed, &part);
		else
			part_free(&part);
		first += room;
	}
	return code;
}

static int print_device(struct printed *printed, const struct device *device,
			struct dms_regions *list)
{
	const struct arguments *arguments = printed->arguments;
	int code = choice_regions(&arguments->choice, device, arguments->clear, list), flushed;

	if (code != EXIT_PASS)
		return code;
	area_warn(device);
	printed->sums = (struct dms_group_sums){
		.sum = calloc(list->count ? list->count : 1, sizeof(*printed->sums.sum)),
	};
	if (!printed->sums.sum) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	/* One that has gone meanwhile is no matter of the others; no more output is. */
	for (size_t i = 0; !ferror(stdout) && i < list->count; i++) {
		int one = print_region(printed, device, list, &list->region[i]);

		code = one == EXIT_PASS ? code : one;
	}
	if (!ferror(stdout) && printed->sums.count) {
		int one = put_groups(printed, device);

		code = one == EXIT_PASS ? code : one;
	}
	free(printed->sums.sum);
	printed->sums.sum = NULL;
	if (ferror(stdout))
		return code;
	flushed = area_put(printed->writer, NULL);
	return code == EXIT_PASS ? flushed : code;
}

/* Print the kept areas, the highest values first. */
static int put_sorted(const struct printed *printed)
{
	const struct order *order = &printed->arguments->order;
	struct dms_top top;
	uint64_t areas = 0;
	int code;

	for (size_t i = 0; i < printed->count; i++)
		areas += printed->part[i].counts.count;
	code = order_open(order, areas, &top);
	if (code != EXIT_PASS)
		return code;
	for (size_t i = 0; i < printed->count; i++) {
		const struct part *part = &printed->part[i];

		for (size_t j = 0; j < part->counts.count; j++) {
			struct dms_rates rates = dms_rates(dms_row(&part->counts, j), part->region,
							   printed->now, part->doubt[j]);
			struct dms_candidate candidate = { .device = i, .area = j };

			dms_top_values(candidate.value, &order->keys, &rates);
			dms_top_offer(&top, &candidate);
		}
	}
	dms_top_sort(&top);
	for (size_t i = 0; code == EXIT_PASS && i < top.count; i++)
		code = put_area(printed, &printed->part[top.of[i].device], top.of[i].area);
	dms_top_free(&top);
	return code == EXIT_PASS ? area_put(printed->writer, NULL) : code;
}

static int print_all(struct printed *printed, struct named_devices *devices)
{
	int code = EXIT_PASS, sorted;

	printed->now = machine_now();
	printed->regions = calloc(devices->count ? devices->count : 1, sizeof(*printed->regions));
	if (!printed->regions) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; !ferror(stdout) && i < devices->count; i++) {
		int one = print_device(printed, &devices->device[i], &printed->regions[i]);

		code = code == EXIT_PASS ? one : code;
	}
	if (!ferror(stdout) && order_wanted(&printed->arguments->order)) {
		sorted = put_sorted(printed);
		code = code == EXIT_PASS ? sorted : code;
	}
	for (size_t i = 0; i < printed->count; i++)
		part_free(&printed->part[i]);
	for (size_t i = 0; i < devices->count; i++)
		dms_regions_free(&printed->regions[i]);
	free(printed->part);
	free(printed->regions);
	return code;
}

int cmd_print(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .words_help = DEVICE_WORDS_HELP,
		.help = "Shows the counters of areas (default: regions of all programs).",
	};
	struct arguments arguments = { .choice = CHOICE_NONE };
	struct printed printed = { .arguments = &arguments };
	struct named_devices devices;
	int code;

	output_init(&arguments.output, "counters of an area", columns, COLUMN_NUMBER);
	command_parse(&line, argc, argv, &arguments);
	if (arguments.groups && order_wanted(&arguments.order)) {
		complain("--groups shows totals in the order of the groups: --top and --sort are about "
			 "areas");
		return EXIT_USAGE;
	}
	if (arguments.groups && !arguments.output.named)
		selection_show(&arguments.output.selection, COLUMN_GROUP);
	code = named_devices_open(&devices, &arguments.devices);
	if (code != EXIT_PASS)
		return code;
	printed.writer = output_open(&arguments.output);
	code = printed.writer ? print_all(&printed, &devices) : EXIT_FAILED;
	writer_close(printed.writer);
	named_devices_close(&devices);
	return code;
}
