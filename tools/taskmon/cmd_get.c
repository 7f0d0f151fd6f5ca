/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "interval.h"
#include "living.h"
#include "number.h"
#include "row.h"
#include "taskmon.h"
#include "wanted.h"

#define IDS_MAX 1024u

/* A task or thread group that was named. */
struct named {
	enum stats_kind kind;
	uint32_t id;
	uint64_t begin;		/* as proc.h has it, once it was found; 0: not known */
	bool gone;
};

struct arguments {
	struct output output;
	struct wanted wanted;
	struct named named[IDS_MAX];
	unsigned int count;		/* of @named */
	bool all;
	uint64_t interval_ns, intervals;	/* 0: none, no limit */
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
	arguments->named[arguments->count].kind = kind;
	arguments->named[arguments->count++].id = (uint32_t)id;
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
	{ "all", 'a', NULL, "all tasks; implied by --by and by options that select tasks",
	  TO_FLAG(struct arguments, all) },
	{ "interval", 'i', "TIME", "show what was used in each interval of this length, such as "
	  "500ms or 2s", TO_TIME(struct arguments, interval_ns, 1, UINT64_MAX),
	  .wrong = "invalid --interval: '%s' (for example 500ms or 2s)" },
	{ "count", 'n', "N", "stop after N intervals (default: run until interrupted)",
	  TO_NUMBER(struct arguments, intervals, 1, UINT64_MAX),
	  .wrong = "invalid --count: '%s' (1 or more)" },
	{ 0 }
};

static bool is_all(const struct arguments *arguments)
{
	return arguments->all || arguments->wanted.given;
}

static void check(const void *target, const struct argp_state *state)
{
	const struct arguments *arguments = target;

	if (!arguments->count && !is_all(arguments))
		argp_error(state, "no task given; use --pid, --tgid or --all");
	if (arguments->count && is_all(arguments))
		argp_error(state, "--pid and --tgid name tasks; --all, --by and options that say "
			   "which of all tasks cannot be used together with them");
	if (arguments->intervals && !arguments->interval_ns)
		argp_error(state, "--count needs --interval");
}

static const struct option_table options = { .rows = option_rows, .check = check };

static const struct option_part parts[] = {
	{ &output_options, offsetof(struct arguments, output), .group = 9, .heading = "Output:" },
	{ &wanted_options, offsetof(struct arguments, wanted), .group = 3 },
	{ 0 }
};

/* The source and the sink of records. */
struct get {
	struct arguments *arguments;
	struct kernel kernel;
	struct living living;
	struct show show;
	uint64_t interval;	/* number of the interval; 0: none */
	bool failed;		/* one that was named was not there */
};

static void complain_about_sums(enum process_sums sums, uint32_t id)
{
	if (sums == PROCESS_SUMS_TWICE)
		complain("a thread of process %" PRIu32 " has been exiting for 5 s: until it has gone "
			 "it is not known for what the process waited", id);
	else if (sums == PROCESS_SUMS_UNKNOWN)
		complain("/proc does not show process %" PRIu32 ": the sums may count twice what a "
			 "thread used that exits just now", id);
}

/* Return: as kernel_get(). */
static int add_named(struct get *get, const struct named *named, struct snapshot *snapshot)
{
	enum process_sums sums = PROCESS_SUMS_RIGHT;
	int ret;

	if (named->kind == STATS_TASK)
		return living_add_task(&get->living, snapshot, named->id);
	ret = living_add_process(&get->living, snapshot, named->id, &sums);
	if (!ret)
		complain_about_sums(sums, named->id);
	return ret;
}

/* One that was named.  Return: 0, also if it is gone, or -errno. */
static int take_named(struct get *get, struct named *named, struct snapshot *snapshot)
{
	int ret = add_named(get, named, snapshot);
	uint64_t begin = ret ? 0 : snapshot->tasks[snapshot->count - 1].begin;

	/* Somebody else may have its number. */
	if (!ret && named->begin && begin != named->begin) {
		snapshot->count--;
		ret = -ESRCH;
	}
	if (ret == -ESRCH) {
		named->gone = true;
		get->failed |= !get->interval;
		complain(get->interval ? "task %" PRIu32 " has exited" : "no such task: %" PRIu32,
			 named->id);
		return 0;
	}
	if (ret)
		complain("task %" PRIu32 ": %s", named->id, kernel_reason(ret));
	else
		named->begin = begin;
	return ret;
}

/* Take everything requested, as it is now.  Return: an exit code. */
static int take(struct get *get, struct snapshot *snapshot)
{
	struct arguments *arguments = get->arguments;
	const struct wanted *wanted = &arguments->wanted;
	int ret = 0;

	if (is_all(arguments)) {
		ret = living_take(&get->living, snapshot,
				  (wanted_cgroups(wanted) ? LIVING_CGROUPS : 0) |
				  (wanted->by != BY_TASK ? LIVING_PROCESSES : 0));
		if (ret)
			complain("the tasks cannot be listed: %s", living_reason(ret));
		return ret ? exit_code_of(ret) : EXIT_PASS;
	}
	for (unsigned int i = 0; !ret && i < arguments->count; i++)
		if (!arguments->named[i].gone)
			ret = take_named(get, &arguments->named[i], snapshot);
	living_end(&get->living, snapshot);
	return ret ? exit_code_of(ret) : EXIT_PASS;
}

static void show_task(struct get *get, const struct snapshot_task *task)
{
	struct row_more more = { task->name, get->interval, task->interval_ns };

	if (task->record.kind == STATS_USER)
		more.name = wanted_user_name((uint32_t)task->record.stats.value[STATS_UID]);
	if (!get->show.error)
		get->show.error = row_put_living(get->show.writer, &task->record, &more);
}

/* Select the requested tasks from those taken, or from the differences. */
static int show_wanted(struct get *get, struct snapshot *tasks)
{
	const struct wanted *wanted = &get->arguments->wanted;
	struct snapshot chosen = { 0 };
	int ret = snapshot_choose(&chosen, tasks, &wanted->filter, wanted->by);

	for (size_t i = 0; !ret && i < chosen.count; i++)
		show_task(get, &chosen.tasks[i]);
	snapshot_free(&chosen);
	if (!ret && !get->show.error)
		get->show.error = writer_flush(get->show.writer);
	if (!ret)
		return EXIT_PASS;
	complain("not enough memory to add up statistics");
	return EXIT_FAILED;
}

static int get_once(struct get *get)
{
	struct snapshot tasks = { 0 };
	int code = take(get, &tasks);

	/* What was found before something failed is shown. */
	if (!code || get->arguments->count) {
		int shown = show_wanted(get, &tasks);

		code = code ? code : shown;
	}
	snapshot_free(&tasks);
	return code;
}

/* The differences from @before, which then becomes @now. */
static int show_interval(struct get *get, struct snapshot *before)
{
	struct snapshot now = { 0 }, since = { 0 };
	int code;

	get->interval++;
	code = take(get, &now);
	snapshot_sort(&now);
	if (!code && snapshot_since(&since, before, &now)) {
		complain("not enough memory to compare statistics");
		code = EXIT_FAILED;
	}
	if (!code)
		code = show_wanted(get, &since);
	snapshot_free(&since);
	snapshot_free(before);
	*before = now;
	return code;
}

static int get_intervals(struct get *get)
{
	const struct arguments *arguments = get->arguments;
	struct snapshot before = { 0 };
	struct interval interval;
	enum interval_end end = INTERVAL_OVER;
	int code = interval_open(&interval);

	if (code)
		return code;
	code = take(get, &before);
	snapshot_sort(&before);
	if (!code)
		code = interval_start(&interval, arguments->interval_ns);
	while (!code && before.count && end == INTERVAL_OVER && !get->show.error &&
	       (!arguments->intervals || get->interval < arguments->intervals)) {
		end = interval_wait(&interval);
		/* What has happened up to a signal is an interval, too. */
		code = end == INTERVAL_ERROR ? EXIT_FAILED : show_interval(get, &before);
	}
	if (interval.missed)
		complain("%" PRIu64 " intervals were too short for this machine and went into the "
			 "next ones", interval.missed);
	snapshot_free(&before);
	interval_close(&interval);
	return code;
}

/* Sums and intervals have other default fields. */
static void usual_fields(struct arguments *arguments)
{
	struct selection *selection = &arguments->output.selection;
	enum snapshot_by by = arguments->wanted.by;
	size_t kept = 0;

	if (arguments->output.named)
		return;
	if (arguments->interval_ns)
		selection_show(selection, ROW_CPU_PERCENT);
	if (by == BY_USER || by == BY_CGROUP)
		selection_show(selection, ROW_NAME);
	if (by != BY_TASK)
		selection_show(selection, ROW_TASKS);
	for (size_t i = 0; i < selection->shown_count; i++) {
		size_t column = selection->shown[i];
		bool sum = by == BY_USER || by == BY_CGROUP || by == BY_COMMAND;
		/* Living tasks have not been ended. */
		bool none = column == ROW_SIGNAL || (column == ROW_ID && sum) || (column == ROW_STATUS && by != BY_TASK) ||
			    (column == ROW_COMM && (by == BY_USER || by == BY_CGROUP)) ||
			    (column == ROW_FIELDS + STATS_ETIME && sum);

		if (!none)
			selection->shown[kept++] = column;
	}
	selection->shown_count = kept;
}

/* The same task twice has one difference. */
static void name_once(struct arguments *arguments)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < arguments->count; i++) {
		const struct named *named = &arguments->named[i];
		bool twice = false;

		for (unsigned int j = 0; j < kept; j++)
			twice |= arguments->named[j].kind == named->kind &&
				 arguments->named[j].id == named->id;
		if (!twice)
			arguments->named[kept++] = *named;
	}
	arguments->count = kept;
}

int cmd_get(int argc, char **argv)
{
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.help = "Shows statistics of living tasks and thread groups, and of those that have "
			"exited but were not waited for.  With --interval it shows what they used "
			"in each interval.",
	};
	static struct arguments arguments = { .wanted = { .by = BY_TASK } };
	struct get get = { .arguments = &arguments };
	int code, end;

	output_init(&arguments.output, TASKMON_ROW_TITLE, row_columns, ROW_COLUMNS);
	command_parse(&line, argc, argv, &arguments);
	usual_fields(&arguments);
	code = open_kernel(&get.kernel);
	if (code)
		return code;
	code = open_living(&get.living, &get.kernel);
	if (!code)
		get.show.writer = output_open(&arguments.output);
	if (!get.show.writer) {
		kernel_close(&get.kernel);
		return code ? code : EXIT_FAILED;
	}
	warn_delayacct();
	if (arguments.interval_ns) {
		name_once(&arguments);
		code = get_intervals(&get);
	} else {
		code = get_once(&get);
	}
	end = show_end(&get.show);
	kernel_close(&get.kernel);
	if (!code && get.failed)
		code = EXIT_FAILED;
	return code ? code : end;
}
