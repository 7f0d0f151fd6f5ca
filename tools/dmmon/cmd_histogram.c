// SPDX-License-Identifier: MIT
/* dmmon histogram: how long I/Os take, by the bounds of a region, as numbers and drawn. */
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "area_columns.h"
#include "command.h"
#include "interval.h"
#include "number.h"
#include "one_argument.h"
#include "output.h"
#include "watched.h"

#define NS_PER_S UINT64_C(1000000000)
#define DEFAULT_DURATION (10 * NS_PER_S)
#define DEFAULT_BOUNDS "10us,20us,50us,100us,200us,500us,1ms,2ms,5ms,10ms,20ms,50ms,100ms,200ms," \
		       "500ms,1s"
#define BAR_WIDTH 50u
#define PER_CENT 100.0

enum { KEY_KEEP = 0x100, KEY_PER_AREA };

enum { COLUMN_AREA = 2, COLUMN_BAR = 7 };

static const struct column columns[] = {
	{ "device", COLUMN_TEXT, UNIT_NONE, 8, true, "name of the device" },
	{ "region", COLUMN_UNSIGNED, UNIT_NONE, 6, true, "number of the region" },
	[COLUMN_AREA] = { "area", COLUMN_UNSIGNED, UNIT_NONE, 4, false, "index of the area; absent "
	  "for all; shown with --per-area" },
	{ "from_ns", COLUMN_UNSIGNED, UNIT_NS, 8, true, "shortest duration that is counted" },
	{ "below_ns", COLUMN_UNSIGNED, UNIT_NS, 8, true, "durations are shorter; absent for the "
	  "last" },
	{ "ios", COLUMN_UNSIGNED, UNIT_NONE, 10, true, "I/Os that took so long" },
	{ "percent", COLUMN_REAL, UNIT_PERCENT, 7, true, "of all" },
	[COLUMN_BAR] = { "bar", COLUMN_TEXT, UNIT_NONE, BAR_WIDTH, false, "the same, drawn; the "
	  "highest is 50 characters; shown in a table" },
};
enum { COLUMN_NUMBER = sizeof(columns) / sizeof(columns[0]) };

struct arguments {
	const char *device;
	struct watched_options options;
	struct output output;
	uint64_t duration_ns;	/* 0: not given */
	bool per_area;
};

static const struct argp_option options[] = {
	{ "duration", 'd', "TIME", 0, "collect so long; a signal ends it earlier (10s; of a region "
	  "that is there: what it has)", 1 },
	{ "per-area", KEY_PER_AREA, NULL, 0, "each area by itself, not their sum", 1 },
	{ "keep", KEY_KEEP, NULL, 0, "leave the region that was made for it", 1 },
	{ 0 }
};

static error_t parse(int key, char *word, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->options.choice;
		state->child_inputs[1] = &arguments->options.range;
		state->child_inputs[2] = &arguments->output;
		return 0;
	case 'd':
		if (!number_parse_time(word, &arguments->duration_ns) || !arguments->duration_ns)
			argp_error(state, "--duration is a time such as 500ms or 10s, not '%s'",
				   word);
		return 0;
	case KEY_PER_AREA:
		arguments->per_area = true;
		return 0;
	case KEY_KEEP:
		arguments->options.keep = true;
		return 0;
	default:
		return one_argument(key, word, state, &arguments->device, "device", true);
	}
}

/* Draws the buckets of one area, or of all. */
static int draw(struct rows *rows, const struct watched *watched, const struct dms_region *r,
		const struct cell *area, const uint64_t *bucket)
{
	static const char bar[BAR_WIDTH + 1] = "##################################################";
	size_t count = dms_buckets(r);
	uint64_t highest = 1;
	double all = 0;
	int code = EXIT_PASS;

	for (size_t i = 0; i < count; i++) {
		highest = bucket[i] > highest ? bucket[i] : highest;
		all += (double)bucket[i];
	}
	for (size_t i = 0; code == EXIT_PASS && i < count; i++) {
		double part = (double)bucket[i] / (double)highest;
		const struct cell cells[COLUMN_NUMBER] = {
			cell_text(watched->device->name, strlen(watched->device->name)),
			cell_unsigned((uint64_t)r->id),
			*area,
			cell_unsigned(i ? dms_time_ns(r, r->bounds[i - 1]) : 0),
			i < r->bound_count ? cell_unsigned(dms_time_ns(r, r->bounds[i])) :
					     cell_absent(),
			cell_unsigned(bucket[i]),
			all > 0 ? cell_real(PER_CENT * (double)bucket[i] / all) : cell_absent(),
			cell_text(bar, (size_t)(part * BAR_WIDTH + 0.5)),
		};

		code = area_put(rows, cells);
	}
	return code;
}

/* What area @i has counted: since the first look, or ever. */
static void take(uint64_t *bucket, const struct watched *watched, size_t index, size_t i, bool since)
{
	const struct dms_counts *after = &watched->after[index].counts;
	const uint64_t *new = dms_row(after, i) + DMS_COUNTERS;
	const uint64_t *old = dms_row(&watched->before[index].counts, i) + DMS_COUNTERS;
	bool cleared = false;

	for (size_t b = 0; b < after->stride - DMS_COUNTERS; b++)
		cleared |= new[b] < old[b];
	for (size_t b = 0; b < after->stride - DMS_COUNTERS; b++)
		bucket[b] += new[b] - (since && !cleared ? old[b] : 0);
}

static int show_region(const struct arguments *arguments, struct rows *rows,
		       const struct watched *watched, size_t index, bool since)
{
	const struct dms_region *r = &watched->regions.region[index];
	uint64_t *bucket = calloc(dms_buckets(r), sizeof(*bucket));
	struct cell area = cell_absent();
	int code = EXIT_PASS;

	if (!bucket) {
		complain("there is not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; code == EXIT_PASS && i < watched->after[index].counts.count; i++) {
		take(bucket, watched, index, i, since);
		if (arguments->per_area) {
			area = cell_unsigned(i);
			code = draw(rows, watched, r, &area, bucket);
			memset(bucket, 0, dms_buckets(r) * sizeof(*bucket));
		}
	}
	if (code == EXIT_PASS && !arguments->per_area)
		code = draw(rows, watched, r, &area, bucket);
	free(bucket);
	return code;
}

static int show(const struct arguments *arguments, struct rows *rows, struct watched *watched,
		bool since)
{
	int code = watched_look(watched);
	size_t shown = 0;

	for (size_t i = 0; code == EXIT_PASS && i < watched->regions.count; i++) {
		if (!watched->regions.region[i].bound_count)
			continue;
		code = show_region(arguments, rows, watched, i, since);
		shown++;
	}
	if (code == EXIT_PASS)
		code = area_put(rows, NULL);
	if (shown || code != EXIT_PASS)
		return code;
	complain("no region chosen of %s has a histogram; 'dmmon create --bounds' makes one",
		 watched->device->name);
	return EXIT_USAGE;
}

static int collect(const struct arguments *arguments, struct device *device,
		   struct rows *rows)
{
	uint64_t duration = arguments->duration_ns;
	struct interval interval;
	struct watched watched;
	int code = interval_open(&interval), end;

	if (code != EXIT_PASS)
		return code;
	code = watched_open(&watched, device, &arguments->options);
	if (code == EXIT_PASS) {
		area_warn(device);
		if (watched.own && !duration)
			duration = DEFAULT_DURATION;
		if (duration)
			code = interval_start(&interval, duration);
		if (code == EXIT_PASS && duration && interval_wait(&interval) == INTERVAL_ERROR)
			code = EXIT_FAILED;
		if (code == EXIT_PASS)
			code = show(arguments, rows, &watched, duration > 0);
		end = watched_close(&watched, &arguments->options);
		code = code == EXIT_PASS ? end : code;
	}
	interval_close(&interval);
	return code;
}

/* Fields that nobody named: which area, and for people drawing, and times that suit them. */
static void usual_fields(struct arguments *arguments)
{
	struct output *output = &arguments->output;

	if (output->named)
		return;
	if (arguments->per_area)
		selection_show(&output->selection, COLUMN_AREA);
	if (output->format == ROWS_TABLE) {
		selection_show(&output->selection, COLUMN_BAR);
		output->scaled = true;
	}
}

static int run(struct arguments *arguments)
{
	struct range *range = &arguments->options.range;
	struct device device;
	struct rows *rows;
	int code;

	if (!range->bounds &&
	    range_parse_bounds(DEFAULT_BOUNDS, &range->bounds, &range->bound_count)) {
		complain("there is not enough memory");
		return EXIT_FAILED;
	}
	code = device_open(&device, arguments->device);
	if (code != EXIT_PASS)
		return code;
	rows = output_open(&arguments->output);
	code = rows ? collect(arguments, &device, rows) : EXIT_FAILED;
	rows_close(rows);
	device_close(&device);
	return code;
}

int cmd_histogram(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &choice_argp, 0, NULL, 3 }, { &range_argp, 0, NULL, 5 },
		{ &output_argp, 0, NULL, 9 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "DEVICE",
		.doc = "Draws how long I/Os take.\vWithout --region, --program, --all or "
		       "--all-programs a region is made for it, with precise times, and removed in "
		       "the end.  Its bounds "
		       "are " DEFAULT_BOUNDS " if no others are given.",
		.children = children,
	};
	struct arguments arguments = { .options = { .choice = CHOICE_NONE } };
	int code;

	output_init(&arguments.output, "I/Os of a range of durations", columns, COLUMN_NUMBER);
	command_parse(&argp, argc, argv, &arguments);
	usual_fields(&arguments);
	code = run(&arguments);
	range_free(&arguments.options.range);
	return code;
}
