/* SPDX-License-Identifier: MIT */
/* taskmon top: the busiest tasks, refreshed periodically. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "living.h"
#include "number.h"
#include "taskmon.h"
#include "terminal.h"
#include "top_exits.h"
#include "top_run.h"

#define DEFAULT_INTERVAL UINT64_C(2000000000)

struct arguments {
	struct output output;
	struct top top;
	bool batch;
	uint64_t interval_ns, intervals;	/* intervals 0: until somebody ends it */
};

static void set_sort(void *target, char *word, struct argp_state *state)
{
	size_t column = column_find(top_columns, TOP_COLUMNS, word, strlen(word));

	if (column == TOP_COLUMNS)
		argp_error(state, "invalid --sort: '%s'; --fields help lists the fields", word);
	((struct arguments *)target)->top.sort = (enum top_column)column;
}

static void add_pid(void *target, char *word, struct argp_state *state)
{
	struct filter *filter = &((struct arguments *)target)->top.wanted.filter;
	uint64_t pid;

	if (!number_parse(word, 1, UINT32_MAX, &pid))
		argp_error(state, "invalid --pid: '%s' (the number of a process)", word);
	for (unsigned int i = 0; i < filter->pid_count; i++)
		if (filter->pids[i] == pid)
			return;
	if (filter->pid_count == FILTER_PIDS_MAX)
		argp_error(state, "too many processes (at most %u)", FILTER_PIDS_MAX);
	filter->pids[filter->pid_count++] = (uint32_t)pid;
}

static const struct option_row option_rows[] = {
	{ "batch", 'b', NULL, "write text; no terminal is needed", TO_FLAG(struct arguments, batch),
	  .group = 1 },
	{ "count", 'n', "N", "stop after N intervals (default: run until ended)",
	  TO_NUMBER(struct arguments, intervals, 1, UINT64_MAX), .group = 1,
	  .wrong = "invalid --count: '%s' (1 or more)" },
	{ "interval", 'd', "TIME", "refresh after this time (default: 2s)",
	  TO_TIME(struct arguments, interval_ns, 1000000, UINT64_MAX), .group = 1,
	  .wrong = "invalid --interval: '%s' (1ms or more, for example 500ms or 2s)" },
	{ "pid", 'p', "PID", "only this process, or with --by task this task; may be repeated",
	  TO_CALL(add_pid), .group = 1 },
	{ "sort", 's', "FIELD", "sort by this field (default: cpu_percent)", TO_CALL(set_sort),
	  .group = 1 },
	{ "reverse", 'r', NULL, "reverse the order", TO_FLAG(struct arguments, top.reverse),
	  .group = 1 },
	{ "accumulated", 'A', NULL, "show totals since the beginning instead of the last interval",
	  TO_FLAG(struct arguments, top.accumulated), .group = 1 },
	{ "forest", '\0', NULL, "show processes below their parents",
	  TO_FLAG(struct arguments, top.forest), .group = 1 },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

static const struct option_part parts[] = {
	{ &output_options, offsetof(struct arguments, output), .group = 9, .heading = "Output:" },
	{ &wanted_options, offsetof(struct arguments, top.wanted), .group = 3 },
	{ 0 }
};

struct looking {
	struct living living;
	struct top_exits exits;
};

static int take(void *context, struct snapshot *now, unsigned int wanted)
{
	return living_take(&((struct looking *)context)->living, now, wanted);
}

static uint64_t take_exits(void *context, struct snapshot *exited)
{
	return top_exits_take(&((struct looking *)context)->exits, exited);
}

/* Columns beyond the standard ones, which change with what is shown. */
static void add_columns(struct top *top, const struct selection *selection)
{
	size_t standard = 0;

	for (size_t column = 0; column < TOP_COLUMNS; column++)
		standard += top_columns[column].standard;
	for (size_t i = standard; !top->named && i < selection->shown_count; i++)
		top->more[top->more_count++] = selection->shown[i];
}

/* A number may be used later, so that top goes on. */
static void warn_missing(const struct filter *filter)
{
	char path[32];

	for (unsigned int i = 0; i < filter->pid_count; i++) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32, filter->pids[i]);
		if (access(path, F_OK) != 0)
			complain("--pid %" PRIu32 ": there is no such process now", filter->pids[i]);
	}
}

int cmd_top(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.help = "Shows the busiest processes, also those that exited meanwhile, sorted, and "
			"refreshes them periodically.  "
			"On a terminal the key 'h' lists the keys.  Without a terminal, and with "
			"--batch, it writes text.",
	};
	static struct arguments arguments = { .top = TOP_DEFAULT, .interval_ns = DEFAULT_INTERVAL };
	struct top *top = &arguments.top;
	static struct looking looking;
	struct kernel kernel;
	struct top_source source = {
		.take = take, .reason = living_reason, .code = exit_code_of, .context = &looking,
	};
	int code;

	output_init(&arguments.output, "what a process did in an interval", top_columns,
		    TOP_COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	top->named = arguments.output.named;
	top->selection = arguments.output.selection;
	add_columns(top, &arguments.output.selection);
	code = open_kernel(&kernel);
	if (code)
		return code;
	code = open_living(&looking.living, &kernel);
	if (code) {
		kernel_close(&kernel);
		return code;
	}
	warn_delayacct();
	warn_missing(&top->wanted.filter);
	living_probe(&looking.living);
	if (top_exits_open(&looking.exits))
		source.exits = take_exits;
	if (arguments.batch || arguments.output.format != WRITER_TABLE || !terminal_is_there())
		code = top_run_batch(top, &source, &arguments.output, arguments.interval_ns,
				     arguments.intervals);
	else
		code = top_run_screen(top, &source, arguments.interval_ns, arguments.intervals);
	top_exits_close(&looking.exits);
	top_free(top);
	kernel_close(&kernel);
	return code;
}
