/* SPDX-License-Identifier: MIT */
/*
 * Where exit messages go, from the kernel or from a recording: counted by CPU, recorded, shown
 * as rows.  Not for two threads at once.
 */
#ifndef TASKMON_COLLECTOR_H
#define TASKMON_COLLECTOR_H

#include "message_count.h"
#include "accounting.h"
#include "recording.h"
#include "writer.h"

struct collector {
	struct writer *writer;		/* NULL: none */
	stats_each *each;		/* called with each record, too; NULL: nobody */
	void *each_context;
	FILE *recording;		/* NULL: none */
	enum stats_order order;		/* of the messages */
	uint64_t rows_max;		/* rows to show; 0: all */
	struct accounting accounting;	/* what the kernel counts; in ns since 1970 */
	uint32_t own_pid;		/* a task whose exit is not to be shown; 0: none */

	bool own_came;
	uint64_t rows_shown;
	uint64_t malformed;		/* messages that could not be read to their end */
	uint64_t unknown;		/* attributes of unknown types, which were ignored */
	int rows_error, recording_error;	/* the first ones, -errno */
	struct message_count *accounts;	/* CPUS_MAX */
	unsigned char is_counted[4096];	/* accounts in use; 0 or 1 */
};

/* Return: false without memory.  rows and what follows it up to own_pid are the caller's to set. */
bool collector_init(struct collector *collector);
void collector_free(struct collector *collector);

/*
 * A message.  @frame: RECORDING_MESSAGE; dropped need be right only if message_count_is_next() says
 * that the number is unexpected.
 */
void collector_message(struct collector *collector, const struct recording_frame *frame);

/* In a recording, in place of a message about the recorder's own task.  @frame: RECORDING_OWN. */
void collector_own(struct collector *collector, const struct recording_frame *frame);

/* Somebody has looked whether delays are accounted, at this time; before the messages of then. */
void collector_look(struct collector *collector, enum delayacct_state state, uint64_t time_ns);

/* Counters of a CPU, in the end.  @frame: RECORDING_COUNTERS. */
void collector_counters(struct collector *collector, const struct recording_frame *frame);

/* The counters of a CPU before the end.  @dropped: RECORDING_NOT_TOLD if the kernel does not tell. */
void collector_losses(struct collector *collector, unsigned int cpu, uint64_t dropped,
		      uint64_t overflows);

/* Whether rows_max rows are shown, or writing has failed. */
bool collector_is_done(const struct collector *collector);

/*
 * Writes to standard error what was received and lost, as a table by CPU with a line for all.
 * Return: what was lost.
 */
uint64_t collector_summary(const struct collector *collector, enum writer_format format);

#endif
