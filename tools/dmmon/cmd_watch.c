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
#include "watching.h"

#define NS_PER_S 1000000000u
#define PER_CENT 100.0

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
	struct watching watching;
	uint64_t interval_ns, count;	/* count 0: until a signal comes */
	bool idle;
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
	WATCHING_KEEP(struct arguments, watching),
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

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
		complain("not enough memory");
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

static int intervals(const void *context, struct rows *rows, struct watched *watched,
		     struct interval *interval)
{
	const struct arguments *arguments = context;
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

int cmd_watch(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = watching_parts,
		.words = watching_words, .more_words = ONE_DEVICE, .words_help = "DEVICE",
		.help = "Shows rates and latencies of areas, interval by interval.\v" WATCHING_OWN_REGION,
	};
	struct arguments arguments = { .watching = { .options = { .choice = CHOICE_NONE } },
				       .interval_ns = NS_PER_S };

	output_init(&arguments.watching.output, "an interval of an area", columns, COLUMN_NUMBER);
	command_parse(&line, argc, argv, &arguments);
	return watching_run(&arguments.watching, intervals, &arguments);
}
