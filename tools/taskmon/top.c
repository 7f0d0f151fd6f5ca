/* SPDX-License-Identifier: MIT */
#include "top.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "living.h"
#include "number.h"
#include "scale.h"

#define NS_PER_S 1e9
#define PER_CENT 100.0
/* The state of a task that has exited, as ps(1) has it. */
#define EXITED 'X'

const struct column top_columns[] = {
	[TOP_PID] = { "pid", COLUMN_UNSIGNED, UNIT_NONE, 7, true, "number of the process or task" },
	[TOP_USER] = { "user", COLUMN_TEXT, UNIT_NONE, 8, true, "its user" },
	[TOP_STATE] = { "state", COLUMN_TEXT, UNIT_NONE, 1, true,
			"state as ps(1) has it, of a process that of its busiest task" },
	[TOP_TASKS] = { "tasks", COLUMN_UNSIGNED, UNIT_NONE, 5, false, "how many tasks it has" },
	[TOP_CPU] = { "cpu_percent", COLUMN_REAL, UNIT_PERCENT, 7, true,
		      "CPU time, of one CPU" },
	[TOP_CPU_WAIT] = { "cpu_wait_percent", COLUMN_REAL, UNIT_PERCENT, 8, true,
			   "time that it waited for a CPU" },
	[TOP_IO_WAIT] = { "io_wait_percent", COLUMN_REAL, UNIT_PERCENT, 7, true,
			  "time that it waited for block I/O" },
	[TOP_STORAGE_WAIT] = { "storage_wait_percent", COLUMN_REAL, UNIT_PERCENT, 0, false,
			       "time that it waited for storage: swapping, reclaim, thrashing, "
			       "compaction, copies" },
	[TOP_READ_RATE] = { "read_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 11, true,
			    "bytes fetched from storage devices a second" },
	[TOP_WRITE_RATE] = { "write_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 11, true,
			     "bytes sent to storage devices a second" },
	[TOP_READ] = { "read_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 9, false,
		       "bytes fetched from storage devices" },
	[TOP_WRITE] = { "write_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 9, false,
			"bytes sent to storage devices" },
	[TOP_RESIDENT] = { "max_rss_kib", COLUMN_UNSIGNED, UNIT_KIB, 8, true,
			   "most resident storage that it ever had" },
	[TOP_CPU_TIME] = { "cpu_time_ns", COLUMN_UNSIGNED, UNIT_NS, 8, true,
			   "CPU time since it began" },
	[TOP_CGROUP] = { "cgroup", COLUMN_TEXT, UNIT_NONE, 15, false,
			 "its cgroup; known with --cgroup and --by cgroup" },
	[TOP_INTERVAL] = { "interval", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			   "number of the interval, from 1" },
	[TOP_HISTORY] = { "cpu_history_percent", COLUMN_LIST, UNIT_PERCENT, 0, false,
			  "CPU time in the last ten intervals, of one CPU, the oldest first" },
	[TOP_COMMAND] = { "command", COLUMN_TEXT, UNIT_NONE, 15, true,
			  "name of the program, the user or the cgroup" },
	[TOP_ARGUMENTS] = { "cmdline", COLUMN_TEXT, UNIT_NONE, 15, false,
			    "command line; of one that has none the name in brackets" },
};

_Static_assert(sizeof(top_columns) / sizeof(top_columns[0]) == TOP_COLUMNS, "one for each");

void top_free(struct top *top)
{
	snapshot_free(&top->first);
	snapshot_free(&top->before);
	snapshot_free(&top->now);
	snapshot_free(&top->exited);
	snapshot_free(&top->gone);
	snapshot_free(&top->shown);
}

/* Return: whether any of it is known. */
static bool storage_wait(const struct stats *stats, uint64_t *sum)
{
	static const enum stats_field fields[] = {
		STATS_SWAPIN_DELAY, STATS_FREEPAGES_DELAY, STATS_THRASHING_DELAY,
		STATS_COMPACT_DELAY, STATS_WPCOPY_DELAY,
	};
	bool known = false;

	*sum = 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		*sum += stats->value[fields[i]];
		known |= stats->present[fields[i]];
	}
	return known;
}

/* A sum of an interval as a rate: those of two tasks may be of different lengths. */
static double rate_of(const struct snapshot_task *task, uint64_t sum)
{
	return (double)sum / (double)(task->interval_ns ? task->interval_ns : 1);
}

/* The number that a column sorts by. */
static double value_of(const struct snapshot_task *task, enum top_column column)
{
	const struct stats *stats = &task->record.stats;
	uint64_t sum;

	switch (column) {
	case TOP_TASKS:
		return (double)task->record.tasks;
	case TOP_CPU:
	case TOP_HISTORY:
		return rate_of(task, stats->value[STATS_CPU_RUN_VIRTUAL]);
	case TOP_CPU_WAIT:
		return rate_of(task, stats->value[STATS_CPU_DELAY]);
	case TOP_IO_WAIT:
		return rate_of(task, stats->value[STATS_BLKIO_DELAY]);
	case TOP_STORAGE_WAIT:
		storage_wait(stats, &sum);
		return rate_of(task, sum);
	case TOP_READ_RATE:
		return rate_of(task, stats->value[STATS_READ_BYTES]);
	case TOP_READ:
		return (double)stats->value[STATS_READ_BYTES];
	case TOP_WRITE_RATE:
		return rate_of(task, stats->value[STATS_WRITE_BYTES]);
	case TOP_WRITE:
		return (double)stats->value[STATS_WRITE_BYTES];
	case TOP_RESIDENT:
		return (double)stats->value[STATS_HIWATER_RSS];
	case TOP_CPU_TIME:
		return (double)task->cpu_ns;
	default: /* numbers and texts rise */
		return 0;
	}
}

static const char *user_name(const struct snapshot_task *task)
{
	const struct stats *stats = &task->record.stats;

	return stats->present[STATS_UID] ? wanted_user_name((uint32_t)stats->value[STATS_UID]) : NULL;
}

/* The same as text of *@len bytes; "-" if it is not known. */
static const char *user_of(const struct snapshot_task *task, size_t *len)
{
	const char *name = user_name(task);

	name = name ? name : "-";
	*len = strlen(name);
	return name;
}

/* Name of the program, the user or the cgroup, as above; that of a user is good for one only. */
static const char *command_of(const struct snapshot_task *task, size_t *len)
{
	const char *name = task->name ? task->name : "-";

	switch (task->record.kind) {
	case STATS_USER:
		return user_of(task, len);
	case STATS_CGROUP:
		*len = strlen(name);
		return name;
	default:
		*len = task->record.stats.comm_len;
		return task->record.stats.comm;
	}
}

static int compare_names(const struct snapshot_task *a, const struct snapshot_task *b,
			 const char *(*name_of)(const struct snapshot_task *task, size_t *len))
{
	char kept[WANTED_NAME_SIZE];
	size_t first_len, second_len;
	const char *first = name_of(a, &first_len), *second;

	/* It may be that of a user. */
	if (first_len < sizeof(kept))
		first = memcpy(kept, first, first_len);
	second = name_of(b, &second_len);
	return text_compare(first, first_len, second, second_len);
}

static int compare_columns(const struct snapshot_task *a, const struct snapshot_task *b,
			   enum top_column column)
{
	double first, second;

	switch (column) {
	case TOP_PID:
		return (a->record.id > b->record.id) - (a->record.id < b->record.id);
	case TOP_STATE:
		return (a->state > b->state) - (a->state < b->state);
	case TOP_USER:
		return compare_names(a, b, user_of);
	case TOP_COMMAND:
		return compare_names(a, b, command_of);
	case TOP_CGROUP:
		return strcmp(a->cgroup ? a->cgroup : "", b->cgroup ? b->cgroup : "");
	case TOP_ARGUMENTS:
		return strcmp(a->arguments ? a->arguments : "", b->arguments ? b->arguments : "");
	default:
		first = value_of(a, column);
		second = value_of(b, column);
		return (first < second) - (first > second);
	}
}

static int compare(const struct snapshot_task *a, const struct snapshot_task *b,
		   const void *context)
{
	const struct top *top = context;
	int order = compare_columns(a, b, top->sort);

	return top->reverse ? -order : order;
}

static bool is_sum(const struct top *top)
{
	return top->wanted.by != BY_TASK && top->wanted.by != BY_PROCESS;
}

static void add(struct top_total *total, const struct stats *stats, enum stats_field field)
{
	total->value += stats->value[field];
	total->known += stats->present[field];
	total->unknown += !stats->present[field];
}

static void sum_up_all(struct top *top, const struct snapshot *since)
{
	top->cpu = top->read = top->write = (struct top_total){ 0 };
	top->tasks = 0;
	for (size_t i = 0; i < since->count; i++) {
		const struct stats *stats = &since->tasks[i].record.stats;

		if (since->tasks[i].record.kind != STATS_PROCESS) {
			top->tasks += since->tasks[i].state != EXITED;
			continue;
		}
		add(&top->cpu, stats, STATS_CPU_RUN_VIRTUAL);
		add(&top->read, stats, STATS_READ_BYTES);
		add(&top->write, stats, STATS_WRITE_BYTES);
	}
}

static int add_gone(struct snapshot *since, const struct snapshot *gone)
{
	struct snapshot copies = { 0 };
	int ret = snapshot_copy(&copies, gone);

	for (size_t i = 0; !ret && i < copies.count; i++) {
		ret = snapshot_add(since, &copies.tasks[i]);
		/* It is the other's now, or freed. */
		copies.tasks[i].cgroup = copies.tasks[i].name = copies.tasks[i].arguments = NULL;
	}
	snapshot_free(&copies);
	snapshot_sort(since);
	return ret;
}

int top_arrange(struct top *top)
{
	const struct snapshot *base = top->accumulated ? &top->first : &top->before;
	enum snapshot_by by = top->wanted.by;
	struct snapshot since = { 0 };
	int ret = snapshot_since(&since, base, &top->now);

	if (!ret && !top->accumulated)
		ret = add_gone(&since, &top->gone);
	snapshot_free(&top->shown);
	top->length_ns = top->now.time_ns - base->time_ns;
	sum_up_all(top, &since);
	if (by == BY_TASK)
		snapshot_keep(&since, STATS_TASK);
	if (!ret)
		ret = snapshot_choose(&top->shown, &since, &top->wanted.filter, by);
	snapshot_free(&since);
	if (!ret && top->forest && by == BY_PROCESS)
		ret = snapshot_order_tree(&top->shown, compare, top);
	else
		snapshot_order(&top->shown, compare, top);
	if (top->scrolled >= top->shown.count)
		top->scrolled = top->shown.count ? top->shown.count - 1 : 0;
	return ret;
}

/* Copies for the first look, which is all that there was, too. */
static int take_first(struct top *top, const struct snapshot *now)
{
	int ret = snapshot_copy(&top->first, now);

	return ret ? ret : snapshot_copy(&top->before, now);
}

/* What one that exited did in the interval, and what was known of it.  Return: 0 or -ENOMEM. */
static int add_exited(struct top *top, struct snapshot *gone, const struct snapshot_task *exited)
{
	const struct snapshot_task *process = snapshot_find(&top->before, STATS_PROCESS,
							    exited->process);
	const struct snapshot_task *old = snapshot_find(&top->before, STATS_TASK, exited->record.id);
	struct snapshot_task task = *exited;

	task.state = EXITED;
	task.cpu_ns = exited->record.stats.value[STATS_CPU_RUN_VIRTUAL];
	task.interval_ns = top->now.time_ns - top->before.time_ns;
	task.parent = (uint32_t)exited->record.stats.value[STATS_PPID];
	if (old && old->process == exited->process)
		stats_since(&task.record.stats, &old->record.stats, &exited->record.stats);
	if (process) {
		task.begin = process->begin;
		task.cgroup = process->cgroup ? strdup(process->cgroup) : NULL;
		task.arguments = process->arguments ? strdup(process->arguments) : NULL;
		memcpy(task.history, process->history, sizeof(task.history));
		task.history_count = process->history_count;
	}
	return snapshot_add(gone, &task);
}

/* Tasks of processes of which none is left: what others did is in the values of their process. */
static int take_exited(struct top *top)
{
	struct snapshot processes = { 0 };
	int ret = 0;

	snapshot_free(&top->gone);
	for (size_t i = 0; !ret && i < top->exited.count; i++) {
		const struct snapshot_task *exited = &top->exited.tasks[i];
		const struct snapshot_task *old = snapshot_find(&top->before, STATS_PROCESS,
								exited->process);
		const struct snapshot_task *now = snapshot_find(&top->now, STATS_PROCESS,
								exited->process);

		/* A number may have been used again. */
		if (!now || (old && old->begin != now->begin))
			ret = add_exited(top, &top->gone, exited);
	}
	if (!ret && top->gone.count)
		ret = snapshot_sums(&processes, &top->gone, BY_PROCESS);
	if (!ret)
		ret = add_gone(&top->gone, &processes);
	snapshot_free(&processes);
	return ret;
}

/* Percent of a CPU in the interval. */
static uint64_t percent(const struct snapshot_task *old, const struct snapshot_task *task,
			uint64_t length_ns)
{
	const enum stats_field field = STATS_CPU_RUN_VIRTUAL;
	uint64_t used = task->record.stats.value[field];

	if (old && used >= old->record.stats.value[field])
		used -= old->record.stats.value[field];
	return length_ns ? (uint64_t)(PER_CENT * (double)used / (double)length_ns + 0.5) : 0;
}

static void remember(struct snapshot_task *task, uint64_t value)
{
	if (task->history_count == SNAPSHOT_HISTORY) {
		memmove(task->history, task->history + 1,
			(SNAPSHOT_HISTORY - 1) * sizeof(task->history[0]));
		task->history_count--;
	}
	task->history[task->history_count++] = value;
}

static void remember_all(struct top *top)
{
	const uint64_t length_ns = top->now.time_ns - top->before.time_ns;

	for (size_t i = 0; i < top->now.count; i++) {
		struct snapshot_task *task = &top->now.tasks[i];
		const struct snapshot_task *old = snapshot_find(&top->before, task->record.kind,
								task->record.id);

		if (!task->record.stats.present[STATS_CPU_RUN_VIRTUAL])
			continue;
		if (old && old->begin != task->begin)
			old = NULL;
		if (old) {
			memcpy(task->history, old->history, sizeof(task->history));
			task->history_count = old->history_count;
		}
		remember(task, percent(old, task, old && task->time_ns ?
					task->time_ns - old->time_ns : length_ns));
	}
	for (size_t i = 0; i < top->gone.count; i++)
		remember(&top->gone.tasks[i], percent(NULL, &top->gone.tasks[i], length_ns));
}

int top_take(struct top *top, struct snapshot *now)
{
	const bool first = !top->now.time_ns;
	int ret = 0;

	if (first) {
		ret = take_first(top, now);
	} else {
		snapshot_free(&top->before);
		top->before = top->now;
		top->interval++;
	}
	top->now = *now;
	*now = (struct snapshot){ 0 };
	if (!ret && !first)
		ret = take_exited(top);
	if (!ret && !first)
		remember_all(top);
	return ret ? ret : top_arrange(top);
}

/* Cells. */

static struct cell part(const struct snapshot_task *task, bool known, uint64_t time_ns)
{
	if (!task->interval_ns || !known)
		return cell_absent();
	return cell_real(PER_CENT * (double)time_ns / (double)task->interval_ns);
}

static struct cell part_of(const struct snapshot_task *task, enum stats_field field)
{
	const struct stats *stats = &task->record.stats;

	return part(task, stats->present[field], stats->value[field]);
}

static struct cell rate(const struct snapshot_task *task, enum stats_field field)
{
	const struct stats *stats = &task->record.stats;

	if (!task->interval_ns || !stats->present[field])
		return cell_absent();
	return cell_real((double)stats->value[field] * NS_PER_S / (double)task->interval_ns);
}

static struct cell known(const struct stats *stats, enum stats_field field)
{
	return stats->present[field] ? cell_unsigned(stats->value[field]) : cell_absent();
}

static struct cell text_cell(const char *text)
{
	return text ? cell_text(text, strlen(text)) : cell_absent();
}

/* The position of a process in the forest, and its name. */
static struct cell command_cell(const struct snapshot_task *task)
{
	enum { DEEPEST = 20, STEP = 2, MOST = 4096 };
	static char text[DEEPEST * STEP + MOST];
	unsigned int depth = task->depth < DEEPEST ? task->depth : DEEPEST;
	size_t blanks = depth * STEP, len;
	const char *name = command_of(task, &len);

	len = len < MOST ? len : MOST;
	memset(text, ' ', blanks);
	memcpy(text + blanks, name, len);
	return cell_text(text, blanks + len);
}

static struct cell arguments_cell(const struct snapshot_task *task)
{
	static char name[STATS_COMM_MAX + sizeof("[]")];

	if (task->arguments)
		return text_cell(task->arguments);
	if (task->record.kind != STATS_TASK && task->record.kind != STATS_PROCESS)
		return cell_absent();
	snprintf(name, sizeof(name), "[%.*s]", (int)task->record.stats.comm_len,
		 task->record.stats.comm);
	return text_cell(name);
}

void top_cells(const struct top *top, const struct snapshot_task *task, struct cell *cells)
{
	const struct stats *stats = &task->record.stats;
	bool sum = is_sum(top), waits;
	uint64_t wait;

	waits = storage_wait(stats, &wait);
	cells[TOP_PID] = sum ? cell_absent() : cell_unsigned(task->record.id);
	cells[TOP_USER] = text_cell(user_name(task));
	cells[TOP_STATE] = task->state && !sum ? cell_text(&task->state, 1) : cell_absent();
	cells[TOP_TASKS] = cell_unsigned(task->record.tasks ? task->record.tasks : 1);
	cells[TOP_CPU] = part_of(task, STATS_CPU_RUN_VIRTUAL);
	cells[TOP_CPU_WAIT] = part_of(task, STATS_CPU_DELAY);
	cells[TOP_IO_WAIT] = part_of(task, STATS_BLKIO_DELAY);
	cells[TOP_STORAGE_WAIT] = part(task, waits, wait);
	cells[TOP_READ_RATE] = rate(task, STATS_READ_BYTES);
	cells[TOP_WRITE_RATE] = rate(task, STATS_WRITE_BYTES);
	cells[TOP_READ] = known(stats, STATS_READ_BYTES);
	cells[TOP_WRITE] = known(stats, STATS_WRITE_BYTES);
	cells[TOP_RESIDENT] = known(stats, STATS_HIWATER_RSS);
	cells[TOP_CPU_TIME] = stats->present[STATS_CPU_RUN_VIRTUAL] ? cell_unsigned(task->cpu_ns) :
								      cell_absent();
	cells[TOP_CGROUP] = text_cell(task->cgroup);
	cells[TOP_INTERVAL] = cell_unsigned(top->interval);
	cells[TOP_HISTORY] = task->history_count ? cell_list(task->history, task->history_count) :
						   cell_absent();
	cells[TOP_COMMAND] = command_cell(task);
	cells[TOP_ARGUMENTS] = arguments_cell(task);
}

void top_select(struct top *top)
{
	struct selection *selection = &top->selection;
	bool sum = is_sum(top);

	if (top->named)
		return;
	*selection = (struct selection){ .columns = top_columns, .count = TOP_COLUMNS };
	for (size_t column = 0; column < TOP_COLUMNS; column++) {
		bool show = top_columns[column].standard;

		if (column == TOP_PID || column == TOP_USER || column == TOP_STATE)
			show = !sum;
		else if (column == TOP_TASKS)
			show = sum;
		else if (column == TOP_COMMAND)
			show = sum || !top->arguments;
		else if (column == TOP_ARGUMENTS)
			show = !sum && top->arguments;
		else if (column == TOP_READ_RATE || column == TOP_WRITE_RATE)
			show = !top->accumulated;
		else if (column == TOP_READ || column == TOP_WRITE)
			show = top->accumulated;
		if (show)
			selection->shown[selection->shown_count++] = column;
	}
	for (size_t i = 0; i < top->more_count; i++)
		selection_show(selection, top->more[i]);
}

unsigned int top_parts(const struct top *top)
{
	unsigned int parts = LIVING_PROCESSES;

	if (wanted_cgroups(&top->wanted) || top->sort == TOP_CGROUP ||
	    selection_shows(&top->selection, TOP_CGROUP))
		parts |= LIVING_CGROUPS;
	if (top->sort == TOP_ARGUMENTS || selection_shows(&top->selection, TOP_ARGUMENTS))
		parts |= LIVING_ARGUMENTS;
	return parts;
}
