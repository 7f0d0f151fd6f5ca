/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "number.h"
#include "proc.h"
#include "process.h"
#include "row.h"
#include "taskmon.h"

#define IDS_MAX 1024u

struct arguments {
	struct output output;
	struct {
		enum stats_kind kind;
		uint32_t id;
	} wanted[IDS_MAX];
	unsigned int count;
};

static void add(struct arguments *arguments, enum stats_kind kind, const char *word,
		const struct argp_state *state)
{
	uint64_t id;

	/* PIDs end at 2^22; what the kernel takes has 32 bits, and it is to judge. */
	if (!number_parse(word, 0, UINT32_MAX, &id))
		argp_error(state, "invalid task ID: '%s'", word);
	if (arguments->count == IDS_MAX)
		argp_error(state, "too many tasks (at most %u)", IDS_MAX);
	arguments->wanted[arguments->count].kind = kind;
	arguments->wanted[arguments->count++].id = (uint32_t)id;
}

static void add_task(void *target, char *word, struct argp_state *state)
{
	add(target, STATS_TASK, word, state);
}

static void add_process(void *target, char *word, struct argp_state *state)
{
	add(target, STATS_PROCESS, word, state);
}

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "ID of a task; may be repeated", TO_CALL(add_task) },
	{ "tgid", 't', "TGID", "ID of any task of a thread group; may be repeated",
	  TO_CALL(add_process) },
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct arguments *arguments = target;

	if (!arguments->count)
		argp_error(state, "no task given; use --pid or --tgid");
}

static const struct option_table options = { .rows = option_rows, .check = check };

static void keep(void *context, const struct stats_record *record)
{
	*(struct stats_record *)context = *record;
}

/* A status is one only if the task had exited before it was asked for. */
static int get_task(struct kernel *kernel, uint32_t id, struct show *show)
{
	struct stats_record record = { 0 };
	struct proc_task task;
	char path[32];
	bool exited;
	int ret;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", id);
	exited = proc_read(&task, path) && proc_has_exited(&task);
	ret = kernel_get(kernel, STATS_TASK, id, keep, &record);
	if (ret)
		return ret;
	record.exited = exited;
	show_record(show, &record);
	return 0;
}

static int get_process(struct kernel *kernel, uint32_t id, struct show *show)
{
	struct stats_record record = { 0 };
	enum process_sums sums;
	int ret = process_get(kernel, id, &record, &sums);

	if (ret)
		return ret;
	if (sums == PROCESS_SUMS_TWICE)
		complain("a thread of process %" PRIu32 " has been exiting for 5 s: the sums may "
			 "count twice what it used", id);
	else if (sums == PROCESS_SUMS_UNKNOWN)
		complain("/proc does not show process %" PRIu32 ": the sums may count twice what a "
			 "thread used that exits just now", id);
	show_record(show, &record);
	return 0;
}

static int get_all(struct kernel *kernel, const struct arguments *arguments, struct show *show)
{
	int code = EXIT_PASS;

	for (unsigned int i = 0; i < arguments->count; i++) {
		uint32_t id = arguments->wanted[i].id;
		int ret = arguments->wanted[i].kind == STATS_TASK ? get_task(kernel, id, show) :
								    get_process(kernel, id, show);

		if (!ret)
			continue;
		if (ret == -ESRCH) {
			complain("no such task: %u", id);
			code = EXIT_FAILED;
			continue;
		}
		complain("task %u: %s", id, kernel_reason(ret));
		return exit_code_of(ret);
	}
	return code;
}

int cmd_get(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = output_parts,
		.help = "Shows statistics of living tasks and thread groups, and of those that have "
			"exited but were not waited for.",
	};
	static struct arguments arguments;
	struct show show = { 0 };
	struct kernel kernel;
	int code, end;

	output_init(&arguments.output, TASKMON_ROW_TITLE, row_columns, ROW_COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	code = open_kernel(&kernel);
	if (code)
		return code;
	show.rows = output_open(&arguments.output);
	if (!show.rows) {
		kernel_close(&kernel);
		return EXIT_FAILED;
	}
	warn_delayacct();
	code = get_all(&kernel, &arguments, &show);
	end = show_end(&show);
	kernel_close(&kernel);
	return code ? code : end;
}
