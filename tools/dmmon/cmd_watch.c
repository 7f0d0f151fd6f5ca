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
#include "interval.h"
#include "number.h"
#include "one_argument.h"
#include "output.h"
#include "watched.h"

#define NS_PER_S 1000000000u
#define PER_CENT 100.0

enum { KEY_KEEP = 0x100, KEY_IDLE };

static const struct column columns[] = {
	AREA_COLUMNS(false),
	{ "reads_per_s", COLUMN_REAL, UNIT_PER_S, 11, true, "reads a second" },
	{ "writes_per_s", COLUMN_REAL, UNIT_PER_S, 12, true, "writes a second" },
	{ "read_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 0, true, "bytes read a second" },
	{ "write_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 0, true, "bytes written a second" },
	{ "read_latency_ns", COLUMN_REAL, UNIT_NS, 0, true, "mean duration of a read" },
	{ "write_latency_ns", COLUMN_REAL, UNIT_NS, 0, true, "mean duration of a write" },
	{ "busy_percent", COLUMN_REAL, UNIT_PERCENT, 0, true, "part of the time with I/O" },
	{ "queue", COLUMN_REAL, UNIT_NONE, 5, false, "mean number of I/Os under way" },
	{ "interval", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "number of the interval, from 1" },
	{ "interval_ns", COLUMN_UNSIGNED, UNIT_NS, 0, false, "its length" },
	{ "time", COLUMN_UNSIGNED, UNIT_TIME, 20, false, "its end" },
};
enum { COLUMN_NUMBER = sizeof(columns) / sizeof(columns[0]) };

struct arguments {
	const char *device;
	struct watched_options options;
	struct output output;
	uint64_t interval_ns, count;	/* count 0: until a signal comes */
	bool idle;
};

static const struct argp_option options[] = {
	{ "interval", 'i', "TIME", 0, "length of an interval (1s)", 1 },
	{ "count", 'c', "NUMBER", 0, "end after so many intervals (on a signal)", 1 },
	{ "idle", KEY_IDLE, NULL, 0, "areas in which nothing happened, too", 1 },
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
	case 'i':
		if (!number_parse_time(word, &arguments->interval_ns) || !arguments->interval_ns)
			argp_error(state, "--interval is a time such as 500ms or 2s, not '%s'",
				   word);
		return 0;
	case 'c':
		if (!number_parse(word, 1, UINT64_MAX, &arguments->count))
			argp_error(state, "--count is a number from 1 on, not '%s'", word);
		return 0;
	case KEY_IDLE:
		arguments->idle = true;
		return 0;
	case KEY_KEEP:
		arguments->options.keep = true;
		return 0;
	default:
		return one_argument(key, word, state, &arguments->device, "device", true);
	}
}

/* The cells that only this command has. */
static void rate_cells(struct cell *cells, const struct dms_rates *rates, uint64_t number,
		       uint64_t elapsed)
{
	cells[0] = cell_real(rates->reads);
	cells[1] = cell_real(rates->writes);
	cells[2] = cell_real(rates->read_bytes);
	cells[3] = cell_real(rates->write_bytes);
	cells[4] = cell_real(rates->read_latency);
	cells[5] = cell_real(rates->write_latency);
	cells[6] = cell_real(rates->busy * PER_CENT);
	cells[7] = cell_real(rates->queue);
	cells[8] = cell_unsigned(number);
	cells[9] = cell_unsigned(elapsed);
	cells[10] = cell_unsigned((uint64_t)time(NULL));
}

static int show_region(const struct arguments *arguments, struct rows *rows,
		       const struct watched *watched, size_t index, uint64_t number)
{
	const struct dms_counts *before = &watched->before[index].counts;
	const struct dms_counts *after = &watched->after[index].counts;
	const struct dms_region *r = &watched->regions.region[index];
	uint64_t elapsed, *delta = calloc(after->stride, sizeof(*delta));
	struct dms_span span = watched_span(watched, index, &elapsed);
	struct cell cells[COLUMN_NUMBER];
	int code = EXIT_PASS;

	if (!delta) {
		complain("there is not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; code == EXIT_PASS && i < after->count; i++) {
		unsigned int doubt = dms_delta(delta, dms_row(before, i), dms_row(after, i),
					       after->stride, r, &span);
		struct dms_rates rates;

		if (!arguments->idle && !doubt && !dms_active(delta, after->stride))
			continue;
		rates = dms_rates(delta, r, elapsed, doubt);
		area_cells(cells, watched->device, r, i, delta, doubt);
		rate_cells(cells + AREA_COLUMN_COUNT, &rates, number, elapsed);
		code = area_put(rows, cells);
	}
	free(delta);
	return code;
}

/* The second look at everything, and what has changed since the first. */
static int show_interval(const struct arguments *arguments, struct rows *rows,
			 struct watched *watched, uint64_t number)
{
	int code = watched_look(watched);

	for (size_t i = 0; code == EXIT_PASS && i < watched->regions.count; i++)
		code = show_region(arguments, rows, watched, i, number);
	if (code == EXIT_PASS)
		code = area_put(rows, NULL);
	watched_turn(watched);
	return code;
}

static int intervals(const struct arguments *arguments, struct rows *rows, struct watched *watched,
		     struct interval *interval)
{
	int code = interval_start(interval, arguments->interval_ns);
	enum interval_end end = INTERVAL_OVER;

	for (uint64_t number = 1; code == EXIT_PASS && end == INTERVAL_OVER; number++) {
		end = interval_wait(interval);
		/* What has happened up to a signal is an interval, too. */
		code = end == INTERVAL_ERROR ? EXIT_FAILED :
					       show_interval(arguments, rows, watched, number);
		if (number == arguments->count)
			break;
	}
	if (interval->missed)
		complain("%" PRIu64 " intervals were too short for this machine and went into the "
			 "next ones", interval->missed);
	return code;
}

static int watch(const struct arguments *arguments, struct device *device, struct rows *rows)
{
	struct interval interval;
	struct watched watched;
	int code = interval_open(&interval), end;

	if (code != EXIT_PASS)
		return code;
	code = watched_open(&watched, device, &arguments->options);
	if (code == EXIT_PASS) {
		area_warn(device);
		code = intervals(arguments, rows, &watched, &interval);
		end = watched_close(&watched, &arguments->options);
		code = code == EXIT_PASS ? end : code;
	}
	interval_close(&interval);
	return code;
}

int cmd_watch(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &choice_argp, 0, NULL, 3 }, { &range_argp, 0, NULL, 5 },
		{ &output_argp, 0, NULL, 9 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "DEVICE",
		.doc = "Shows what happens in areas, interval by interval.\vWithout --region, "
		       "--program, --all or --all-programs a region is made for it, with precise times, and "
		       "removed in the end.",
		.children = children,
	};
	struct arguments arguments = { .options = { .choice = CHOICE_NONE },
				       .interval_ns = NS_PER_S };
	struct device device;
	struct rows *rows;
	int code;

	output_init(&arguments.output, "an interval of an area", columns, COLUMN_NUMBER);
	command_parse(&argp, argc, argv, &arguments);
	code = device_open(&device, arguments.device);
	if (code == EXIT_PASS) {
		rows = output_open(&arguments.output);
		code = rows ? watch(&arguments, &device, rows) : EXIT_FAILED;
		rows_close(rows);
		device_close(&device);
	}
	range_free(&arguments.options.range);
	return code;
}
