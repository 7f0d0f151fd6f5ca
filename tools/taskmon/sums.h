/* SPDX-License-Identifier: MIT */
/*
 * What tasks used, those that live and those that have exited, added up by command, by user or by
 * rules, as families of values.
 *
 * What a task has used since the last look at it is added when it is looked at, and when the message
 * about its exit comes.  So no sum falls when a task exits or a message is lost, and nothing counts
 * twice.
 *
 * The command is the program's: a thread may have any name, and counts for its process.  Its message
 * has the number of the process alone, so that somebody must know the name, or the message of
 * the first thread must come.  Until then what it used is kept apart, in no value.
 *
 * There is room for SUMS_MAX of them; all further ones are one more, "(other)".  One that got
 * nothing for SUMS_IDLE_NS leaves its place to a new one, and is added to "(other)": no sum over
 * all falls.  The kernel's own tasks, whose names change all the time, are one more, "(kernel)".
 * Pure.
 */
#ifndef TASKMON_SUMS_H
#define TASKMON_SUMS_H

#include "collector.h"
#include "metrics.h"
#include "rules.h"
#include "snapshot.h"
#include "stats.h"

#define SUMS_MAX 500u
#define SUMS_WAITING 256u	/* processes whose name is not known yet */
#define SUMS_EXITED 1024u	/* processes whose first thread has exited: some may exit after it */

enum sums_by { SUMS_BY_COMMAND, SUMS_BY_USER, SUMS_BY_RULE };

struct sums {
	enum sums_by by;
	struct rules *rules;	/* of SUMS_BY_RULE */
	/* The name of a process that lives.  Return: false if there is none.  NULL: nobody knows. */
	bool (*program_of)(uint32_t process, char name[STATS_COMM_MAX + 1]);
	size_t count;
	struct sum {
		char name[STATS_COMM_MAX + 1];
		uint64_t exits, uncounted, living;
		struct stats stats;
		bool changed;		/* since values were asked for … */
		uint64_t used_ns;	/* … the last time that it had */
	} sum[SUMS_MAX + 1];	/* the last one is "(other)" */
	uint64_t values_ns;		/* when values were asked for last; 0: never */
	uint64_t folded;		/* that left their places */
	uint64_t without_place;		/* exits that found none */
	struct sum_waiting {
		uint32_t process;	/* 0: none */
		uint64_t asked_ns;	/* when values were first asked for meanwhile; 0: never */
		struct sum sum;		/* with the name of the first of its threads that exited */
	} waiting[SUMS_WAITING];
	struct sum_exited {
		uint32_t process;
		char name[STATS_COMM_MAX + 1];
	} exited[SUMS_EXITED];
	size_t next_waiting, next_exited;	/* the oldest ones, whose places are used next */
	/* Tasks as they were at the last look, by number; owned. */
	struct sum_seen {
		uint32_t id;
		uint64_t begin;
		bool exited;		/* the message has come */
		uint64_t missing_ns;	/* since when it is not there, without a message; 0: it is there */
		struct stats stats;
		char *cgroup, *arguments;	/* of its process; NULL: not known; owned */
	} *seen;
	size_t seen_count;
	bool has_looked;
	uint64_t looks_failed;
	/* While somebody looks, numbers of those that exit: they may be in it. */
	bool looking;
	uint32_t *gone;			/* owned */
	size_t gone_count, gone_room;
	bool gone_lost;			/* there was no memory for one */
};

/*
 * All zero but for @by, @rules and @program_of: none yet.  The record of a task that has exited; of other
 * kinds nothing is taken.  What is absent from it is not in the sum; a sum that no task had is
 * absent.
 */
void sums_take(struct sums *sums, const struct stats_record *record);

/*
 * To be called before and after a look at all tasks that live, during which records may be taken.
 * @tasks: sorted; NULL: the look has failed.  What its tasks own may be taken over.
 * Without memory the look is one that has failed.
 */
void sums_look(struct sums *sums);
void sums_looked(struct sums *sums, struct snapshot *tasks, uint64_t now_ns);

void sums_free(struct sums *sums);

enum sums_family {
	SUMS_EXITS, SUMS_UNCOUNTED, SUMS_CPU, SUMS_MODES, SUMS_DELAY, SUMS_DELAYS, SUMS_FAULTS, SUMS_IO,
	SUMS_SWITCHES, SUMS_RESIDENT, SUMS_RECEIVED, SUMS_LOST, SUMS_MISSING, SUMS_STRANGERS,
	SUMS_OVERFLOWS, SUMS_MALFORMED, SUMS_UNKNOWN, SUMS_FOLDED, SUMS_WITHOUT_PLACE,
	SUMS_LIVING, SUMS_LOOKS_FAILED, SUMS_FAMILIES
};

/* The families; those of sums have the label "command", "user" or "group". */
void sums_families(enum sums_by by, struct metric_family *families);

/*
 * Adds all values: the sums, and what of messages came and was lost.  Whatever still waits SUMS_PATIENCE_NS
 * after it was first left out counts under the name of its thread: the message about its process
 * was lost.  @now_ns: by any clock, not 0.
 */
#define SUMS_PATIENCE_NS UINT64_C(10000000000)
#define SUMS_IDLE_NS UINT64_C(600000000000)
void sums_values(struct sums *sums, const struct collector *collector, uint64_t now_ns,
		 struct metrics *metrics);

/* Nothing comes any more: all that still waits counts under the names of its threads. */
void sums_end(struct sums *sums);

#endif
