/* SPDX-License-Identifier: MIT */
#include "top.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "scale.h"

#define NS_PER_S 1e9
#define PER_CENT 100.0

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
	[TOP_COMMAND] = { "command", COLUMN_TEXT, UNIT_NONE, 15, true,
			  "name of the program, the user or the cgroup" },
};

_Static_assert(sizeof(top_columns) / sizeof(top_columns[0]) == TOP_COLUMNS, "one for each");

void top_free(struct top *top)
{
	snapshot_free(&top->first);
	snapshot_free(&top->before);
	snapshot_free(&top->now);
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

/* The number that a column sorts by. */
static double value_of(const struct snapshot_task *task, enum top_column column)
{
	const struct stats *stats = &task->record.stats;
	uint64_t sum;

	switch (column) {
	case TOP_TASKS:
		return (double)task->record.tasks;
	case TOP_CPU:
		return (double)stats->value[STATS_CPU_RUN_VIRTUAL];
	case TOP_CPU_WAIT:
		return (double)stats->value[STATS_CPU_DELAY];
	case TOP_IO_WAIT:
		return (double)stats->value[STATS_BLKIO_DELAY];
	case TOP_STORAGE_WAIT:
		storage_wait(stats, &sum);
		return (double)sum;
	case TOP_READ_RATE:
	case TOP_READ:
		return (double)stats->value[STATS_READ_BYTES];
	case TOP_WRITE_RATE:
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
			top->tasks++;
			continue;
		}
		add(&top->cpu, stats, STATS_CPU_RUN_VIRTUAL);
		add(&top->read, stats, STATS_READ_BYTES);
		add(&top->write, stats, STATS_WRITE_BYTES);
	}
}

int top_arrange(struct top *top)
{
	const struct snapshot *base = top->accumulated ? &top->first : &top->before;
	enum snapshot_by by = top->wanted.by;
	struct snapshot since = { 0 };
	int ret = snapshot_since(&since, base, &top->now);

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

int top_take(struct top *top, struct snapshot *now)
{
	int ret = 0;

	if (!top->now.time_ns) {
		ret = take_first(top, now);
	} else {
		snapshot_free(&top->before);
		top->before = top->now;
		top->interval++;
	}
	top->now = *now;
	*now = (struct snapshot){ 0 };
	return ret ? ret : top_arrange(top);
}

/* Cells. */

static struct cell part(const struct top *top, bool known, uint64_t time_ns)
{
	if (!top->length_ns || !known)
		return cell_absent();
	return cell_real(PER_CENT * (double)time_ns / (double)top->length_ns);
}

static struct cell part_of(const struct top *top, const struct stats *stats, enum stats_field field)
{
	return part(top, stats->present[field], stats->value[field]);
}

static struct cell rate(const struct top *top, const struct stats *stats, enum stats_field field)
{
	if (!top->length_ns || !stats->present[field])
		return cell_absent();
	return cell_real((double)stats->value[field] * NS_PER_S / (double)top->length_ns);
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
	cells[TOP_CPU] = part_of(top, stats, STATS_CPU_RUN_VIRTUAL);
	cells[TOP_CPU_WAIT] = part_of(top, stats, STATS_CPU_DELAY);
	cells[TOP_IO_WAIT] = part_of(top, stats, STATS_BLKIO_DELAY);
	cells[TOP_STORAGE_WAIT] = part(top, waits, wait);
	cells[TOP_READ_RATE] = rate(top, stats, STATS_READ_BYTES);
	cells[TOP_WRITE_RATE] = rate(top, stats, STATS_WRITE_BYTES);
	cells[TOP_READ] = known(stats, STATS_READ_BYTES);
	cells[TOP_WRITE] = known(stats, STATS_WRITE_BYTES);
	cells[TOP_RESIDENT] = known(stats, STATS_HIWATER_RSS);
	cells[TOP_CPU_TIME] = stats->present[STATS_CPU_RUN_VIRTUAL] ? cell_unsigned(task->cpu_ns) :
								      cell_absent();
	cells[TOP_CGROUP] = text_cell(task->cgroup);
	cells[TOP_INTERVAL] = cell_unsigned(top->interval);
	cells[TOP_COMMAND] = command_cell(task);
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
		else if (column == TOP_READ_RATE || column == TOP_WRITE_RATE)
			show = !top->accumulated;
		else if (column == TOP_READ || column == TOP_WRITE)
			show = top->accumulated;
		if (show)
			selection->shown[selection->shown_count++] = column;
	}
}
