/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <string.h>
#include <sys/wait.h>

#include "taskmon.h"

#define NS_PER_S 1e9
#define PER_CENT 100.0

const struct option_part output_parts[] = {
	{ &output_options, 0, .group = 9, .heading = "Output:" }, { 0 }
};

const struct column row_columns[] = {
	[ROW_KIND] = { "kind", COLUMN_TEXT, UNIT_NONE, 7, true,
		       "task; process: sums over its tasks; tree: sums over all that was run; user, "
		       "cgroup, command: sums over its tasks that live" },
	[ROW_ID] = { "id", COLUMN_UNSIGNED, UNIT_NONE, 7, true,
		     "pid of the task, or tgid; of a tree that of the program" },
	[ROW_COMM] = { "comm", COLUMN_TEXT, UNIT_NONE, 15, true, "name of the program" },
	[ROW_NAME] = { "name", COLUMN_TEXT, UNIT_NONE, 15, false, "of the user or the cgroup" },
	[ROW_CPU] = { "cpu", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "where it exited" },
	[ROW_NUMBER] = { "number", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			 "of the message, in this CPU's sequence" },
	[ROW_TIME] = { "time_ns", COLUMN_UNSIGNED, UNIT_NONE, 19, false,
		       "when the message was read, ns since 1970" },
	[ROW_STATUS] = { "status", COLUMN_UNSIGNED, UNIT_NONE, 0, true,
			 "exit status; none while it lives" },
	[ROW_SIGNAL] = { "signal", COLUMN_UNSIGNED, UNIT_NONE, 0, true,
			 "signal that ended it, if one did" },
	[ROW_SIZE] = { "size_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 0, false,
		       "of struct taskstats, as the kernel sent it" },
	[ROW_TASKS] = { "tasks", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			"number of tasks in the sums" },
	[ROW_TASKS_ETIME] = { "tasks_etime_us", COLUMN_UNSIGNED, UNIT_US, 0, false,
			      "of a process: the times since its tasks began, added up" },
	[ROW_INTERVAL] = { "interval", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			   "number of the interval, from 1" },
	[ROW_INTERVAL_TIME] = { "interval_ns", COLUMN_UNSIGNED, UNIT_NS, 0, false, "its length" },
	[ROW_CPU_PERCENT] = { "cpu_percent", COLUMN_REAL, UNIT_PERCENT, 0, false,
			      "CPU time in the interval, of one CPU" },
	[ROW_READ_RATE] = { "read_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 0, false,
			    "bytes fetched from storage devices a second, in the interval" },
	[ROW_WRITE_RATE] = { "write_bytes_per_s", COLUMN_REAL, UNIT_BYTES_PER_S, 0, false,
			     "bytes sent to storage devices a second, in the interval" },
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, needs, \
	      meaning) \
	[ROW_FIELDS + STATS_##id] = { name, STATS_##id == STATS_NICE ? COLUMN_SIGNED :      \
				      COLUMN_UNSIGNED, unit, width, standard, meaning },
#include "fields.def"
#undef FIELD
};

_Static_assert(sizeof(row_columns) / sizeof(row_columns[0]) == ROW_COLUMNS, "one for each");
_Static_assert(ROW_COLUMNS <= COLUMNS_MAX, "a tool may have so many");

/* At exit, Linux 6.1 sums up waits and CPU time alone; the times that tasks were there tell. */
static bool is_summed(const struct stats *stats, enum stats_field field)
{
	switch (field) {
	case STATS_UTIME:
	case STATS_STIME:
	case STATS_NVCSW:
	case STATS_NIVCSW:
		return stats->value[STATS_ETIME];
	default:
		return stats_is_of_process(field);
	}
}

static bool has_field(const struct stats_record *record, enum stats_field field)
{
	const struct stats *stats = &record->stats;

	if (!stats->present[field])
		return false;
	if (record->kind != STATS_PROCESS || field == STATS_VERSION || stats->value[field])
		return true;
	/* Sums of the kernel's lack some; those over its tasks do not. */
	if (record->tasks)
		return true;
	return is_summed(stats, field) && stats_has_sums(stats);
}

/* What is a sum over tasks in the kernel's struct of a process is a time here. */
static void put_elapsed(struct cell *cells, const struct stats_record *record)
{
	const struct stats *stats = &record->stats;
	struct cell elapsed = record->has_elapsed ? cell_unsigned(record->elapsed_us) :
						    cell_absent();

	if (record->kind == STATS_TASK)
		return;
	if (stats->value[STATS_ETIME])
		cells[ROW_TASKS_ETIME] = cell_unsigned(stats->value[STATS_ETIME]);
	cells[ROW_FIELDS + STATS_ETIME] = elapsed;
	cells[ROW_FIELDS + STATS_TGETIME] = elapsed;
}

/* The shown fields only: most are not shown, and there may be thousands of records. */
static void put_fields(const struct writer *writer, struct cell *cells,
		       const struct stats_record *record)
{
	const struct selection *selection = writer_selection(writer);

	for (size_t i = 0; i < selection->shown_count; i++) {
		size_t column = selection->shown[i];
		enum stats_field field;

		if (column < ROW_FIELDS)
			continue;
		field = (enum stats_field)(column - ROW_FIELDS);
		if (!has_field(record, field))
			continue;
		cells[column] = field == STATS_NICE ?
				cell_signed((int64_t)record->stats.value[field]) :
				cell_unsigned(record->stats.value[field]);
	}
}

static void put_end(struct cell *cells, const struct stats *stats)
{
	int status = (int)stats->value[STATS_EXITCODE];

	if (!stats->present[STATS_EXITCODE])
		return;
	if (WIFEXITED(status))
		cells[ROW_STATUS] = cell_toned(cell_unsigned((uint64_t)WEXITSTATUS(status)),
					       status ? TONE_BAD : TONE_PLAIN);
	else if (WIFSIGNALED(status))
		cells[ROW_SIGNAL] = cell_toned(cell_unsigned((uint64_t)WTERMSIG(status)), TONE_BAD);
}

/* All fields of a record except how the task ended. */
static void put_record(const struct writer *writer, struct cell *cells,
		       const struct stats_record *record)
{
	static const char *const kinds[] = {
		[STATS_TASK] = "task", [STATS_PROCESS] = "process", [STATS_TREE] = "tree",
		[STATS_USER] = "user", [STATS_CGROUP] = "cgroup", [STATS_COMMAND] = "command",
	};
	const struct stats *stats = &record->stats;

	cells[ROW_KIND] = cell_text(kinds[record->kind], strlen(kinds[record->kind]));
	if (record->kind <= STATS_TREE)
		cells[ROW_ID] = cell_unsigned(record->id);
	if (record->kind >= STATS_TREE || (record->kind == STATS_PROCESS && record->tasks))
		cells[ROW_TASKS] = cell_unsigned(record->tasks);
	else
		cells[ROW_SIZE] = cell_unsigned(stats->size);
	/* Thread groups have no name of their own. */
	if (stats->has_comm && (stats->comm_len || record->kind == STATS_TASK))
		cells[ROW_COMM] = cell_text(stats->comm, stats->comm_len);
	put_fields(writer, cells, record);
	put_elapsed(cells, record);
}

int row_put(struct writer *writer, const struct stats_record *record,
	    const struct row_origin *origin)
{
	struct cell cells[ROW_COLUMNS] = { 0 };

	put_record(writer, cells, record);
	if (origin) {
		cells[ROW_CPU] = cell_unsigned(origin->cpu);
		cells[ROW_NUMBER] = cell_unsigned(origin->number);
		cells[ROW_TIME] = cell_unsigned(origin->time_ns);
	}
	if (record->kind != STATS_PROCESS && (record->exited || origin))
		put_end(cells, &record->stats);
	return writer_put(writer, cells);
}

/* A sum of an interval, a second. */
static struct cell rate(const struct stats_record *record, enum stats_field field, double seconds)
{
	return has_field(record, field) ?
	       cell_real((double)record->stats.value[field] / seconds) : cell_absent();
}

int row_put_living(struct writer *writer, const struct stats_record *record,
		   const struct row_more *more)
{
	struct cell cells[ROW_COLUMNS] = { 0 };
	double seconds = (double)more->length_ns / NS_PER_S;

	put_record(writer, cells, record);
	if (more->name)
		cells[ROW_NAME] = cell_text(more->name, strlen(more->name));
	if (more->interval) {
		cells[ROW_INTERVAL] = cell_unsigned(more->interval);
		cells[ROW_INTERVAL_TIME] = cell_unsigned(more->length_ns);
		/* Of an interval without a length they are not finite, and so not shown. */
		cells[ROW_CPU_PERCENT] = rate(record, STATS_CPU_RUN_VIRTUAL,
					      seconds * NS_PER_S / PER_CENT);
		cells[ROW_READ_RATE] = rate(record, STATS_READ_BYTES, seconds);
		cells[ROW_WRITE_RATE] = rate(record, STATS_WRITE_BYTES, seconds);
	}
	if (record->kind == STATS_TASK && record->exited)
		put_end(cells, &record->stats);
	return writer_put(writer, cells);
}
