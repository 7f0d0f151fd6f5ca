/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <string.h>
#include <sys/wait.h>

#include "taskmon.h"

const struct option_part output_parts[] = {
	{ &output_options, 0, .group = 9, .heading = "Output:" }, { 0 }
};

const struct column row_columns[] = {
	[ROW_KIND] = { "kind", COLUMN_TEXT, UNIT_NONE, 7, true,
		       "task; process: sums over its tasks; tree: sums over all that was run" },
	[ROW_ID] = { "id", COLUMN_UNSIGNED, UNIT_NONE, 7, true,
		     "pid of the task, or tgid; of a tree that of the program" },
	[ROW_COMM] = { "comm", COLUMN_TEXT, UNIT_NONE, 15, true, "name of the program" },
	[ROW_CPU] = { "cpu", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "where it exited" },
	[ROW_NUMBER] = { "number", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			 "of the message, in this CPU's sequence" },
	[ROW_TIME] = { "time_ns", COLUMN_UNSIGNED, UNIT_NONE, 19, false,
		       "when the message was read, ns since 1970" },
	[ROW_STATUS] = { "status", COLUMN_UNSIGNED, UNIT_NONE, 0, true,
			 "exit status; none while it lives" },
	[ROW_SIGNAL] = { "signal", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			 "signal that ended it, if one did" },
	[ROW_SIZE] = { "size_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 0, false,
		       "of struct taskstats, as the kernel sent it" },
	[ROW_TASKS] = { "tasks", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			"how many tasks the sums of a tree are of" },
	[ROW_TASKS_ETIME] = { "tasks_etime_us", COLUMN_UNSIGNED, UNIT_US, 0, false,
			      "of a process: the times since its tasks began, added up" },
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, meaning) \
	[ROW_FIELDS + STATS_##id] = { name, STATS_##id == STATS_NICE ? COLUMN_SIGNED :      \
				      COLUMN_UNSIGNED, unit, width, standard, meaning },
#include "fields.def"
#undef FIELD
};

_Static_assert(sizeof(row_columns) / sizeof(row_columns[0]) == ROW_COLUMNS, "one for each");
_Static_assert(ROW_COLUMNS <= COLUMNS_MAX, "a tool may have so many");

static const bool of_process[STATS_FIELDS] = {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, several, meaning) \
	[STATS_##id] = process,
#include "fields.def"
#undef FIELD
};

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
		return of_process[field];
	}
}

static bool has_field(const struct stats_record *record, enum stats_field field)
{
	const struct stats *stats = &record->stats;

	if (!stats->present[field])
		return false;
	if (record->kind != STATS_PROCESS || field == STATS_VERSION || stats->value[field])
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

/* Those of the fields that are shown: most are not, and there may be thousands of records. */
static void put_fields(const struct rows *rows, struct cell *cells,
		       const struct stats_record *record)
{
	const struct selection *selection = rows_selection(rows);

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
		cells[ROW_STATUS] = cell_unsigned((uint64_t)WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		cells[ROW_SIGNAL] = cell_unsigned((uint64_t)WTERMSIG(status));
}

int row_put(struct rows *rows, const struct stats_record *record, const struct row_origin *origin)
{
	static const char *const kinds[] = {
		[STATS_TASK] = "task", [STATS_PROCESS] = "process", [STATS_TREE] = "tree",
	};
	struct cell cells[ROW_COLUMNS] = { 0 };
	const struct stats *stats = &record->stats;

	cells[ROW_KIND] = cell_text(kinds[record->kind], strlen(kinds[record->kind]));
	cells[ROW_ID] = cell_unsigned(record->id);
	if (record->kind == STATS_TREE)
		cells[ROW_TASKS] = cell_unsigned(record->tasks);
	else
		cells[ROW_SIZE] = cell_unsigned(stats->size);
	/* Thread groups have no name of their own. */
	if (stats->has_comm && (stats->comm_len || record->kind == STATS_TASK))
		cells[ROW_COMM] = cell_text(stats->comm, stats->comm_len);
	put_fields(rows, cells, record);
	put_elapsed(cells, record);
	if (origin) {
		cells[ROW_CPU] = cell_unsigned(origin->cpu);
		cells[ROW_NUMBER] = cell_unsigned(origin->number);
		cells[ROW_TIME] = cell_unsigned(origin->time_ns);
	}
	if (record->kind != STATS_PROCESS && (record->exited || origin))
		put_end(cells, stats);
	return rows_put(rows, cells);
}
