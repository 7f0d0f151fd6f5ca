/* SPDX-License-Identifier: MIT */
#include "row.h"

#include <string.h>
#include <sys/wait.h>

const struct column row_columns[] = {
	[ROW_KIND] = { "kind", COLUMN_TEXT, UNIT_NONE, 7, true,
		       "task, or process: sums over a thread group" },
	[ROW_ID] = { "id", COLUMN_UNSIGNED, UNIT_NONE, 7, true, "pid of the task, or tgid" },
	[ROW_COMM] = { "comm", COLUMN_TEXT, UNIT_NONE, 15, true, "name of the program" },
	[ROW_CPU] = { "cpu", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "where it exited" },
	[ROW_NUMBER] = { "number", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			 "of the message, in this CPU's sequence" },
	[ROW_TIME] = { "time_ns", COLUMN_UNSIGNED, UNIT_NONE, 19, false,
		       "when the message was read, ns since 1970" },
	[ROW_STATUS] = { "status", COLUMN_UNSIGNED, UNIT_NONE, 0, true,
			 "exit status, if it has exited" },
	[ROW_SIGNAL] = { "signal", COLUMN_UNSIGNED, UNIT_NONE, 0, false,
			 "signal that ended it, if one did" },
	[ROW_SIZE] = { "size_bytes", COLUMN_UNSIGNED, UNIT_BYTES, 0, false,
		       "of struct taskstats, as the kernel sent it" },
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, meaning)      \
	[ROW_FIELDS + STATS_##id] = { name, STATS_##id == STATS_NICE ? COLUMN_SIGNED :      \
				      COLUMN_UNSIGNED, unit, width, standard, meaning },
#include "fields.def"
#undef FIELD
};

_Static_assert(sizeof(row_columns) / sizeof(row_columns[0]) == ROW_COLUMNS, "one for each");
_Static_assert(ROW_COLUMNS <= COLUMNS_MAX, "a tool may have so many");

static const bool of_process[STATS_FIELDS] = {
#define FIELD(id, name, unit, width, standard, offset, bytes, since, process, meaning) \
	[STATS_##id] = process,
#include "fields.def"
#undef FIELD
};

static void put_fields(const struct rows *rows, struct cell *cells,
		       const struct stats_record *record)
{
	const struct stats *stats = &record->stats;

	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		if (!rows_show(rows, ROW_FIELDS + field) || !stats->present[field])
			continue;
		if (record->kind == STATS_PROCESS && !of_process[field] && !stats->value[field])
			continue;
		cells[ROW_FIELDS + field] = field == STATS_NICE ?
					    cell_signed((int64_t)stats->value[field]) :
					    cell_unsigned(stats->value[field]);
	}
}

/* The wait status is 0 while a task lives, too: it tells something of exited ones alone. */
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
	static const char *const kinds[] = { [STATS_TASK] = "task", [STATS_PROCESS] = "process" };
	struct cell cells[ROW_COLUMNS] = { 0 };
	const struct stats *stats = &record->stats;

	cells[ROW_KIND] = cell_text(kinds[record->kind], strlen(kinds[record->kind]));
	cells[ROW_ID] = cell_unsigned(record->id);
	cells[ROW_SIZE] = cell_unsigned(stats->size);
	/* Thread groups have no name of their own. */
	if (stats->has_comm && (stats->comm_len || record->kind == STATS_TASK))
		cells[ROW_COMM] = cell_text(stats->comm, stats->comm_len);
	put_fields(rows, cells, record);
	if (origin) {
		cells[ROW_CPU] = cell_unsigned(origin->cpu);
		cells[ROW_NUMBER] = cell_unsigned(origin->number);
		cells[ROW_TIME] = cell_unsigned(origin->time_ns);
	}
	if (record->kind == STATS_TASK)
		put_end(cells, stats);
	return rows_put(rows, cells);
}
