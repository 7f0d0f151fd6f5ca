// SPDX-License-Identifier: MIT
/* dmmon histogram: how long I/Os take, by the bounds of a region, as numbers and drawn. */
#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "area_columns.h"
#include "command.h"
#include "watch_command.h"

#define NS_PER_S UINT64_C(1000000000)
#define DEFAULT_DURATION (10 * NS_PER_S)
#define DEFAULT_BOUNDS "10us,20us,50us,100us,200us,500us,1ms,2ms,5ms,10ms,20ms,50ms,100ms,200ms," \
		       "500ms,1s"
#define BAR_WIDTH 50u
#define PER_CENT 100.0

enum { COLUMN_AREA = 2, COLUMN_BAR = 7 };

static const struct column columns[] = {
	{ "device", COLUMN_TEXT, UNIT_NONE, 8, true, "name of the device" },
	{ "region", COLUMN_UNSIGNED, UNIT_NONE, 6, true, "number of the region" },
	[COLUMN_AREA] = { "area", COLUMN_UNSIGNED, UNIT_NONE, 4, false, "index of the area; absent "
	  "for all; shown with --per-area" },
	{ "from_ns", COLUMN_UNSIGNED, UNIT_NS, 8, true, "shortest duration that is counted" },
	{ "below_ns", COLUMN_UNSIGNED, UNIT_NS, 8, true, "durations are shorter; absent for the "
	  "last" },
	{ "ios", COLUMN_UNSIGNED, UNIT_NONE, 10, true, "I/Os with a duration in this range" },
	{ "percent", COLUMN_REAL, UNIT_PERCENT, 7, true, "of all" },
	[COLUMN_BAR] = { "bar", COLUMN_TEXT, UNIT_NONE, BAR_WIDTH, false, "the same, drawn; the "
	  "highest is 50 characters; shown in a table" },
};
enum { COLUMN_NUMBER = sizeof(columns) / sizeof(columns[0]) };

struct arguments {
	struct watch_command command;
	uint64_t duration_ns;	/* 0: not given */
	bool per_area;
};

static const struct option_row option_rows[] = {
	{ "duration", 'd', "TIME", "collection time; a signal ends it earlier (default: 10s; for an "
	  "existing region: all that it has counted)",
	  TO_TIME(struct arguments, duration_ns, 1, UINT64_MAX), .group = 1,
	  .wrong = "invalid --duration: '%s' (for example 500ms or 10s)" },
	{ "per-area", '\0', NULL, "show each area separately, not their sum",
	  TO_FLAG(struct arguments, per_area), .group = 1 },
	WATCH_COMMAND_KEEP(struct arguments, command),
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };
static const struct option_part parts[] = { WATCH_COMMAND_PARTS, { 0 } };

/* Draws the buckets of one area, or of all. */
static int draw(struct writer *writer, const struct watched *watched, const struct dms_region *r,
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
			cell_text_toned(bar, (size_t)(part * BAR_WIDTH + 0.5), TONE_GOOD),
		};

		code = area_put(writer, cells);
	}
	return code;
}

/* The counts of area @i: since the first look, or ever. */
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

static int show_region(const struct arguments *arguments, struct writer *writer,
		       const struct watched *watched, size_t index, bool since)
{
	const struct dms_region *r = &watched->regions.region[index];
	uint64_t *bucket = calloc(dms_buckets(r), sizeof(*bucket));
	struct cell area = cell_absent();
	int code = EXIT_PASS;

	if (!bucket) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; code == EXIT_PASS && i < watched->after[index].counts.count; i++) {
		take(bucket, watched, index, i, since);
		if (arguments->per_area) {
			area = cell_unsigned(i);
			code = draw(writer, watched, r, &area, bucket);
			memset(bucket, 0, dms_buckets(r) * sizeof(*bucket));
		}
	}
	if (code == EXIT_PASS && !arguments->per_area)
		code = draw(writer, watched, r, &area, bucket);
	free(bucket);
	return code;
}

/* The regions of one device.  *@shown: those that have a histogram. */
static int show_device(const struct arguments *arguments, struct writer *writer,
		       struct watched *watched, bool since, size_t *shown)
{
	int code = watched_look(watched);

	for (size_t i = 0; code == EXIT_PASS && i < watched->regions.count; i++) {
		if (!watched->regions.region[i].bound_count)
			continue;
		code = show_region(arguments, writer, watched, i, since);
		++*shown;
	}
	return code;
}

/* An error of one device does not stop the others. */
static int show(const struct arguments *arguments, struct writer *writer,
		struct watch_command_all *all, bool since)
{
	int code = EXIT_PASS, flushed;
	size_t shown = 0;

	for (size_t i = 0; i < all->count && !ferror(stdout); i++) {
		int one = show_device(arguments, writer, &all->watched[i], since, &shown);

		code = code == EXIT_PASS ? one : code;
	}
	if (!ferror(stdout)) {
		flushed = area_put(writer, NULL);
		code = code == EXIT_PASS ? flushed : code;
	}
	if (shown || code != EXIT_PASS)
		return code;
	complain("no region chosen of %s has a histogram; 'dmmon create --bounds' makes one",
		 all->count == 1 ? all->watched[0].device->name : "these devices");
	return EXIT_USAGE;
}

static int collect(const void *context, struct writer *writer, struct watch_command_all *all,
		   struct interval *interval)
{
	const struct arguments *arguments = context;
	uint64_t duration = arguments->duration_ns;
	int code = EXIT_PASS;

	if (all->watched[0].own && !duration)
		duration = DEFAULT_DURATION;
	if (duration)
		code = interval_start(interval, duration);
	if (code == EXIT_PASS && duration && interval_wait(interval) == INTERVAL_ERROR)
		code = EXIT_FAILED;
	return code == EXIT_PASS ? show(arguments, writer, all, duration > 0) : code;
}

/* Fields that nobody named: which area, and for people drawing, and times that suit them. */
static void usual_fields(struct arguments *arguments)
{
	struct output *output = &arguments->command.output;

	if (output->named)
		return;
	if (arguments->per_area)
		selection_show(&output->selection, COLUMN_AREA);
	if (output->format == WRITER_TABLE) {
		selection_show(&output->selection, COLUMN_BAR);
		output->scaled = true;
	}
}

int cmd_histogram(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = watch_command_words, .words_help = DEVICE_WORDS_HELP,
		.help = "Draws how long I/Os take.\v" WATCH_COMMAND_OWN_REGION
			"  Its default bounds are " DEFAULT_BOUNDS ".",
	};
	struct arguments arguments = { .command = { .options = { .choice = CHOICE_NONE } } };
	struct range *range = &arguments.command.options.range;

	output_init(&arguments.command.output, "I/Os of a range of durations", columns,
		    COLUMN_NUMBER);
	command_parse(&line, argc, argv, &arguments);
	usual_fields(&arguments);
	if (!range->bounds &&
	    range_parse_bounds(DEFAULT_BOUNDS, &range->bounds, &range->bound_count)) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	return watch_command_run(&arguments.command, collect, &arguments);
}
