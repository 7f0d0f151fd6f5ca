/* SPDX-License-Identifier: MIT */
/* Records as rows: one column for each field of struct taskstats, and what is around it. */
#ifndef TASKMON_ROW_H
#define TASKMON_ROW_H

#include "column.h"
#include "writer.h"
#include "stats.h"

enum row_column {
	ROW_KIND,
	ROW_ID,
	ROW_COMM,
	ROW_NAME,
	ROW_CPU,
	ROW_NUMBER,
	ROW_TIME,
	ROW_STATUS,
	ROW_SIGNAL,
	ROW_SIZE,
	ROW_TASKS,
	ROW_TASKS_ETIME,
	ROW_INTERVAL,
	ROW_INTERVAL_TIME,
	ROW_CPU_PERCENT,
	ROW_READ_RATE,
	ROW_WRITE_RATE,
	ROW_FIELDS,		/* columns of the fields begin here, in their order */
	ROW_COLUMNS = ROW_FIELDS + STATS_FIELDS
};

/* ROW_COLUMNS of them. */
extern const struct column row_columns[];

/* Fields of an exit message; NULL for an answer, which has none. */
struct row_origin {
	uint32_t cpu;
	uint32_t number;
	uint64_t time_ns;	/* since 1970 */
};

/*
 * Writes a record.  Not known, rather than 0, is: a status of a task that lives; of a thread group
 * what the kernel does not sum up, and that is all once its only task has exited.
 * Return: as writer_put().
 */
int row_put(struct writer *writer, const struct stats_record *record,
	    const struct row_origin *origin);

/* Fields of a row about a living task beyond its record. */
struct row_more {
	const char *name;	/* of a user or cgroup; NULL: none */
	uint64_t interval;	/* number of the interval that the record is of; 0: none */
	uint64_t length_ns;	/* of the interval */
};

/* row_put() with that. */
int row_put_living(struct writer *writer, const struct stats_record *record,
		   const struct row_more *more);

#endif
