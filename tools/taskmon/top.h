/* SPDX-License-Identifier: MIT */
/*
 * What 'taskmon top' shows, and what keys make of it.  Pure, but for names of users: tasks and keys
 * in, text out.
 */
#ifndef TASKMON_TOP_H
#define TASKMON_TOP_H

#include <stdio.h>

#include "column.h"
#include "tool_text.h"
#include "wanted.h"

enum top_column {
	TOP_PID,
	TOP_USER,
	TOP_STATE,
	TOP_TASKS,
	TOP_CPU,
	TOP_CPU_WAIT,
	TOP_IO_WAIT,
	TOP_STORAGE_WAIT,
	TOP_READ_RATE,
	TOP_WRITE_RATE,
	TOP_READ,
	TOP_WRITE,
	TOP_RESIDENT,
	TOP_CPU_TIME,
	TOP_CGROUP,
	TOP_INTERVAL,
	TOP_HISTORY,
	TOP_COMMAND,
	TOP_ARGUMENTS,
	TOP_COLUMNS
};

/* TOP_COLUMNS of them. */
extern const struct column top_columns[];

#define TOP_TYPED_MAX 255u

struct top {
	struct wanted wanted;
	enum top_column sort;
	bool reverse;
	bool accumulated;	/* since the first look, not since the last one */
	bool forest;		/* processes below their parents */
	bool arguments;		/* command lines in place of names of programs */
	bool paused;
	bool help;
	struct selection selection;
	bool named;		/* the selection is somebody's, and stays */
	size_t more[TOP_COLUMNS], more_count;	/* columns that somebody added to it */
	size_t scrolled;	/* rows above the first one shown */
	size_t page;		/* rows that there is room for; by top_draw() */

	enum { TOP_NO_PROMPT, TOP_ASK_USER, TOP_ASK_NAME, TOP_ASK_CGROUP, TOP_ASK_TREE } prompt;
	char typed[TOP_TYPED_MAX + 1];
	size_t typed_len;
	char name[TOP_TYPED_MAX + 1], cgroup[TOP_TYPED_MAX + 1];	/* that were typed */
	char note[TOP_TYPED_MAX + 64];	/* a sentence about the last key; "" if there is none */

	struct snapshot first, before, now;
	struct snapshot exited;	/* tasks that did since the look before; taken with the next one */
	struct snapshot gone;	/* they and their processes, and what they did in the interval */
	uint64_t lost;		/* exits that nothing is known of */
	struct snapshot shown;	/* chosen, in order */
	struct top_total {
		uint64_t value;
		size_t known, unknown;	/* processes that it is of, and that it lacks */
	} cpu, read, write;	/* of all processes, shown or not */
	size_t tasks;		/* of these */
	uint64_t interval;	/* looks after the first one */
	uint64_t length_ns;	/* that rates are of; 0: not known yet */
};

/* Nothing is shown yet. */
#define TOP_DEFAULT { .wanted = { .by = BY_PROCESS }, .sort = TOP_CPU }

void top_free(struct top *top);

/* Takes a look, sorted, which becomes empty, and arranges what is shown.  Return: 0 or -ENOMEM. */
int top_take(struct top *top, struct snapshot *now);

/* Chooses and sorts again, after a change of what is wanted.  Return: as above. */
int top_arrange(struct top *top);

enum top_action {
	TOP_DRAW,	/* arrange and draw again */
	TOP_LOOK,	/* the same after another look */
	TOP_QUIT,
};

/* A key was pressed; see keys.h. */
enum top_action top_key(struct top *top, int key);

/* The cells of a row; texts are good until the next call. */
void top_cells(const struct top *top, const struct snapshot_task *task, struct cell *cells);

/*
 * The two lines above the table, without line breaks; totals say what they lack.  @now: the local
 * time, as text.
 */
void top_title(const struct top *top, const char *now, struct text *line);
void top_totals(const struct top *top, struct text *line);

/* A line below them about waits that are not known, and what to do.  Return: false if all are. */
bool top_notice(const struct top *top, struct text *line);

/* What has to be known of each task, as enum living_parts has it. */
unsigned int top_parts(const struct top *top);

/* Columns that suit what is shown, and those that were added, unless somebody named them. */
void top_select(struct top *top);

/*
 * Appends what makes a terminal of @rows lines with @columns characters show all of it.
 * Return: 0 or -errno.
 */
int top_draw(struct top *top, const char *now, unsigned int rows, unsigned int columns,
	     struct text *screen);

#endif
