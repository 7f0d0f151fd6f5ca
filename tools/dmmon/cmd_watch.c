// SPDX-License-Identifier: MIT
/*
 * dmmon watch: what happens in areas, interval by interval.
 *
 * Counters are compared, not cleared: an I/O that falls between two messages is in the next
 * interval, and other readers of a region miss nothing.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "area_columns.h"
#include "command.h"
#include "group_cell.h"
#include "order.h"
#include "watch_command.h"

#define NS_PER_S 1000000000u
#define PER_CENT 100.0
#define BUSY_HIGH 0.6
#define BUSY_BAD 0.9

static const struct column columns[] = {
	AREA_COLUMNS(false),
	{ "reads_per_s", COLUMN_REAL, UNIT_PER_S, 11, true, "reads a second" },
	{ "writes_per_s", COLUMN_REAL, UNIT_PER_S, 12, true, "writes a second" },
	{ "read_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 0, true, "bytes read a second" },
	{ "write_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 0, true, "bytes written a second" },
	{ "read_size_bytes", COLUMN_REAL, UNIT_BYTES, 0, true, "mean size of a read" },
	{ "write_size_bytes", COLUMN_REAL, UNIT_BYTES, 0, true, "mean size of a write" },
	{ "read_latency_ns", COLUMN_REAL, UNIT_NS, 0, true, "mean duration of a read" },
	{ "write_latency_ns", COLUMN_REAL, UNIT_NS, 0, true, "mean duration of a write" },
	{ "busy_percent", COLUMN_REAL, UNIT_PERCENT, 0, true, "part of the time with I/O" },
	{ "queue", COLUMN_REAL, UNIT_NONE, 5, false, "mean number of I/Os under way" },
	{ "ios_per_s", COLUMN_REAL, UNIT_PER_S, 9, false, "throughput: reads and writes a second" },
	{ "service_time_ns", COLUMN_REAL, UNIT_NS, 0, false, "time with I/O for each read or write" },
	{ "interval", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "number of the interval, from 1" },
	{ "interval_ns", COLUMN_UNSIGNED, UNIT_NS, 0, false, "its length" },
	{ "time", COLUMN_UNSIGNED, UNIT_TIME, 20, false, "its end" },
	{ "group", COLUMN_TEXT, UNIT_NONE, 8, false,
	  "alias of dmstats' group that its region is in; the group's first region if it has none" },
};
enum { COLUMN_NUMBER = sizeof(columns) / sizeof(columns[0]), COLUMN_GROUP = COLUMN_NUMBER - 1,
       COLUMN_TIME = COLUMN_GROUP - 1 };

struct arguments {
	struct watch_command command;
	uint64_t interval_ns, count;	/* count 0: until a signal comes */
	bool idle, groups;
	struct order order;
};

static const struct option_row option_rows[] = {
	{ "interval", 'i', "TIME", "length of an interval (default: 1s)",
	  TO_TIME(struct arguments, interval_ns, 1, UINT64_MAX), .group = 1,
	  .wrong = "invalid --interval: '%s' (for example 500ms or 2s)" },
	{ "count", 'c', "N", "stop after N intervals (default: run until interrupted)",
	  TO_NUMBER(struct arguments, count, 1, UINT64_MAX), .group = 1,
	  .wrong = "invalid --count: '%s' (1 or more)" },
	{ "idle", '\0', NULL, "also show areas without I/O",
	  TO_FLAG(struct arguments, idle), .group = 1 },
	{ "groups", '\0', NULL, "show totals of dmstats' groups in place of areas",
	  TO_FLAG(struct arguments, groups), .group = 1 },
	WATCH_COMMAND_KEEP(struct arguments, command),
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct arguments *arguments = target;

	if (arguments->groups && order_wanted(&arguments->order))
		argp_error(state, "--groups shows totals in the order of the groups: --top and --sort "
			   "are about areas");
	if (arguments->groups && !choice_made(&arguments->command.options.choice))
		argp_error(state, "--groups shows groups of regions that there are: choose them, for "
			   "example by --all-programs");
}

static const struct option_table options = { .rows = option_rows, .check = check };

static const struct option_part parts[] = {
	{ &order_options, offsetof(struct arguments, order), .group = 1 },
	WATCH_COMMAND_PARTS,
	{ 0 }
};

/* How busy an area is: a disk that is busy all the time lets I/Os wait. */
static enum cell_tone busy_tone(double busy)
{
	if (busy >= BUSY_BAD)
		return TONE_BAD;
	return busy >= BUSY_HIGH ? TONE_HIGH : TONE_PLAIN;
}

/* The cells that only this command has. */
static void rate_cells(struct cell *cells, const struct dms_rates *rates, uint64_t number,
		       uint64_t elapsed)
{
	cells[0] = cell_real(rates->reads);
	cells[1] = cell_real(rates->writes);
	cells[2] = cell_real(rates->read_bytes);
	cells[3] = cell_real(rates->write_bytes);
	cells[4] = cell_real(rates->read_size);
	cells[5] = cell_real(rates->write_size);
	cells[6] = cell_real(rates->read_latency);
	cells[7] = cell_real(rates->write_latency);
	cells[8] = cell_toned(cell_real(rates->busy * PER_CENT), busy_tone(rates->busy));
	cells[9] = cell_real(rates->queue);
	cells[10] = cell_real(rates->reads + rates->writes);
	cells[11] = cell_real(rates->service);
	cells[12] = cell_unsigned(number);
	cells[13] = cell_unsigned(elapsed);
	cells[14] = cell_unsigned((uint64_t)time(NULL));
}

/* An interval of all devices. */
struct shown {
	const struct arguments *arguments;
	struct writer *writer;
	struct watch_command_all *all;
	struct dms_top top;	/* of this interval; without room: not sorted */
	struct dms_group_sums sums;	/* of the groups of one device, in this interval */
	uint64_t number;
	int code;		/* what was wrong with a device, or with the output */
};

/* The numbers of an area in an interval, and whether they can be trusted. */
struct deed {
	uint64_t elapsed;
	unsigned int doubt;
	struct dms_rates rates;
};

static struct deed compare(const struct watched *watched, size_t index, size_t area,
			   uint64_t *delta)
{
	const struct dms_counts *before = &watched->before[index].counts;
	const struct dms_counts *after = &watched->after[index].counts;
	const struct dms_region *r = &watched->regions.region[index];
	struct deed deed;
	struct dms_span span = watched_span(watched, index, &deed.elapsed);

	deed.doubt = dms_delta(delta, dms_row(before, area), dms_row(after, area), after->stride, r,
			       &span);
	deed.rates = dms_rates(delta, r, deed.elapsed, deed.doubt);
	return deed;
}

static int put_area(const struct shown *shown, const struct watched *watched, size_t index,
		    size_t area, const uint64_t *delta, const struct deed *deed)
{
	const struct dms_region *r = &watched->regions.region[index];
	struct cell cells[COLUMN_NUMBER];
	char group[GROUP_NAME_SIZE];

	area_cells(cells, watched->device, r, area, delta, deed->doubt);
	rate_cells(cells + AREA_COLUMN_COUNT, &deed->rates, shown->number, deed->elapsed);
	/* Of many regions each has to be looked for. */
	cells[COLUMN_GROUP] =
		group_cell(selection_shows(writer_selection(shown->writer), COLUMN_GROUP) ?
				   dms_group_of(&watched->regions, r->id) : NULL, group);
	return area_put(shown->writer, cells);
}

static void add_area(struct shown *shown, const struct dms_region *leader,
		     const struct dms_region *r, size_t area, const uint64_t *delta,
		     const struct deed *deed)
{
	struct dms_group_sum *sum = dms_group_sum_of(&shown->sums, leader);

	dms_group_add(sum, r, dms_area_length(r, area), delta, deed->doubt);
	if (deed->elapsed > sum->elapsed)
		sum->elapsed = deed->elapsed;
}

static int put_group(const struct shown *shown, const struct device *device,
		     const struct dms_group_sum *sum)
{
	const struct dms_region as_one = dms_group_as_region(sum);
	const struct dms_rates rates = dms_rates(sum->row, &as_one, sum->elapsed, sum->doubt);
	struct cell cells[COLUMN_NUMBER];
	char group[GROUP_NAME_SIZE];

	area_cells(cells, device, &as_one, 0, sum->row, sum->doubt);
	cells[AREA_COLUMN_INDEX] = cells[AREA_COLUMN_START] = cell_absent();
	rate_cells(cells + AREA_COLUMN_COUNT, &rates, shown->number, sum->elapsed);
	cells[COLUMN_GROUP] = group_cell(sum->leader, group);
	return area_put(shown->writer, cells);
}

static int put_groups(const struct shown *shown, const struct device *device)
{
	int code = EXIT_PASS;

	for (size_t i = 0; code == EXIT_PASS && i < shown->sums.count; i++) {
		const struct dms_group_sum *sum = &shown->sums.sum[i];

		if (shown->arguments->idle || sum->doubt || dms_active(sum->row, DMS_COUNTERS))
			code = put_group(shown, device, sum);
	}
	return code;
}

/* Puts the areas of a region, or offers them to the top. */
static int take_region(struct shown *shown, size_t device, size_t index)
{
	const struct watched *watched = &shown->all->watched[device];
	const struct dms_counts *after = &watched->after[index].counts;
	const struct dms_region *r = &watched->regions.region[index], *leader = NULL;
	uint64_t *delta = calloc(after->stride, sizeof(*delta));
	int code = EXIT_PASS;

	if (!delta) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	if (shown->arguments->groups)
		leader = dms_group_of(&watched->regions, r->id);
	for (size_t i = 0; code == EXIT_PASS && i < after->count; i++) {
		struct deed deed = compare(watched, index, i, delta);
		struct dms_candidate candidate = { .device = device, .region = index, .area = i };

		if (shown->arguments->groups) {
			if (leader)
				add_area(shown, leader, r, i, delta, &deed);
			continue;
		}
		dms_top_values(candidate.value, &shown->arguments->order.keys, &deed.rates);
		if (!shown->arguments->idle && !deed.doubt && !dms_active(delta, after->stride))
			continue;
		if (shown->top.most)
			dms_top_offer(&shown->top, &candidate);
		else
			code = put_area(shown, watched, index, i, delta, &deed);
	}
	free(delta);
	return code;
}

/* The areas that were offered and are the highest. */
static int put_top(struct shown *shown)
{
	int code = EXIT_PASS;

	dms_top_sort(&shown->top);
	for (size_t i = 0; code == EXIT_PASS && i < shown->top.count; i++) {
		const struct dms_candidate *area = &shown->top.of[i];
		const struct watched *watched = &shown->all->watched[area->device];
		size_t stride = watched->after[area->region].counts.stride;
		uint64_t *delta = calloc(stride, sizeof(*delta));
		struct deed deed;

		if (!delta) {
			complain("not enough memory");
			return EXIT_FAILED;
		}
		deed = compare(watched, area->region, area->area, delta);
		code = put_area(shown, watched, area->region, area->area, delta, &deed);
		free(delta);
	}
	shown->top.count = 0;
	return code;
}

/* The second look at a device, and what has changed since the first; it may have been lost. */
static int take_device(struct shown *shown, size_t device)
{
	struct watched *watched = &shown->all->watched[device];
	int code = EXIT_PASS, looked;

	if (watched->lost)
		return EXIT_PASS;
	looked = watched_look(watched);
	if (looked != EXIT_PASS) {
		watched->lost = true;
		shown->code = looked;
		return EXIT_PASS;
	}
	shown->sums = (struct dms_group_sums){
		.sum = calloc(watched->regions.count + 1, sizeof(*shown->sums.sum)),
	};
	if (!shown->sums.sum) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; code == EXIT_PASS && i < watched->regions.count; i++)
		code = take_region(shown, device, i);
	if (code == EXIT_PASS)
		code = put_groups(shown, watched->device);
	free(shown->sums.sum);
	return code;
}

/* Return: whether to go on; @shown->code says what was wrong. */
static bool show_interval(struct shown *shown)
{
	size_t left = 0;
	int code = EXIT_PASS;

	for (size_t i = 0; code == EXIT_PASS && i < shown->all->count; i++)
		code = take_device(shown, i);
	if (code == EXIT_PASS)
		code = put_top(shown);
	for (size_t i = 0; i < shown->all->count; i++) {
		left += !shown->all->watched[i].lost;
		watched_turn(&shown->all->watched[i]);
	}
	if (code == EXIT_PASS && left)
		code = area_put(shown->writer, NULL);
	if (code != EXIT_PASS)
		shown->code = code;
	return code == EXIT_PASS && left;
}

/* Room for the top: of all areas if only an order was asked for.  Return: an exit code. */
static int make_top(struct shown *shown)
{
	uint64_t areas = 0;

	if (!order_wanted(&shown->arguments->order))
		return EXIT_PASS;
	for (size_t i = 0; i < shown->all->count; i++)
		for (size_t j = 0; j < shown->all->watched[i].regions.count; j++)
			areas += shown->all->watched[i].after[j].counts.room;
	return order_open(&shown->arguments->order, areas, &shown->top);
}

static int intervals(const void *context, struct writer *writer, struct watch_command_all *all,
		     struct interval *interval)
{
	const struct arguments *arguments = context;
	struct shown shown = { .arguments = arguments, .writer = writer, .all = all };
	enum interval_end end = INTERVAL_OVER;
	bool goes_on;

	shown.code = make_top(&shown);
	if (shown.code == EXIT_PASS)
		shown.code = interval_start(interval, arguments->interval_ns);
	goes_on = shown.code == EXIT_PASS;
	while (goes_on && end == INTERVAL_OVER) {
		shown.number++;
		end = interval_wait(interval);
		if (end == INTERVAL_ERROR) {
			shown.code = EXIT_FAILED;
			break;
		}
		/* What has happened up to a signal is an interval, too. */
		goes_on = show_interval(&shown) && shown.number != arguments->count;
	}
	if (interval->missed)
		complain("%" PRIu64 " intervals were too short for this machine and went into the "
			 "next ones", interval->missed);
	dms_top_free(&shown.top);
	return shown.code;
}

int cmd_watch(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = watch_command_words, .words_help = DEVICE_WORDS_HELP,
		.help = "Shows rates and latencies of areas, interval by interval.\v"
			WATCH_COMMAND_OWN_REGION,
	};
	struct arguments arguments = { .command = { .options = { .choice = CHOICE_NONE } },
				       .interval_ns = NS_PER_S };

	output_init(&arguments.command.output, "an interval of an area", columns, COLUMN_NUMBER);
	command_parse(&line, argc, argv, &arguments);
	/* A table is read by people, who have no other mark between two intervals. */
	if (arguments.command.output.format == WRITER_TABLE && !arguments.command.output.named)
		selection_show(&arguments.command.output.selection, COLUMN_TIME);
	if (arguments.groups && !arguments.command.output.named)
		selection_show(&arguments.command.output.selection, COLUMN_GROUP);
	return watch_command_run(&arguments.command, intervals, &arguments);
}
