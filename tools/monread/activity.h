/* SPDX-License-Identifier: MIT */
/*
 * monread: what a system did over time, out of its monitor records.
 *
 * An interval ends with D1R11.  Intervals are gathered in a fixed number of buckets:
 * when all are full, each two become one, so that any length of time fits.  All of it
 * is one object without a pointer: a copy is a copy, and its size is its limit.
 *
 *	processors	D0R2: PFXUTIME and PFXTMSYS against the time passed, by PFXCPUTY
 *	paging		D3R2: PLSPGDRD, PLSPGDWT
 *	devices		D6R24 DSKXFERS, D3R4 SCGSSCH, and D6R3 of 60 bytes as this project
 *			has it (docs/choices.md); the first one that a device is seen in
 *	users		VMDTTIME of any record with VMDUSER; D10R2 of 92 bytes as this
 *			project has it, if a user ID stands in it
 *
 * Counters are taken as differences of two records; one that has fallen by more than
 * a wrap of 4 bytes would explain has begun anew.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "monrec.h"

#define TOD_SECOND UINT64_C(4096000000)

#define FIGURES_TYPES 8u	/* of processors; PFXCPUTY above counts as the last */
#define FIGURES_BUCKETS 240u
#define FIGURES_CPUS 128u
#define FIGURES_DEVICES 1024u
#define FIGURES_USERS 4096u	/* virtual processors of users */
#define FIGURES_EVENTS 200u	/* that are listed one by one */

enum event_kind {
	EVENT_LOGON, EVENT_LOGOFF, EVENT_PROCESSOR, EVENT_DEVICE, EVENT_COMMAND, EVENT_SUSPENDED,
	EVENT_KINDS
};

struct bucket {
	uint64_t first, last;		/* TOD: begin of its first interval, end of its last */
	uint64_t busy[FIGURES_TYPES], elapsed[FIGURES_TYPES];	/* TOD units, all processors */
	uint64_t page_reads, page_writes, starts;
	uint64_t time;			/* TOD units in which these were counted */
	uint32_t events[EVENT_KINDS];
	uint32_t lost, overflows, suspended;	/* sets; times; records */
};

struct cpu_figures {
	bool used;
	uint8_t type;
	uint16_t address;
	uint64_t tod, user_time, system_time;
	uint64_t interval;		/* that these were seen in */
	bool paging;			/* these two are there: */
	uint32_t page_reads, page_writes;
};

struct device_figures {
	uint16_t number, source;	/* 0: the entry is free */
	uint32_t last;
	uint64_t starts;
};

struct user_figures {
	uint8_t name[8];		/* EBCDIC; all zeros: the entry is free */
	uint16_t address, source;
	bool counted;			/* @last is there */
	uint64_t last, time;		/* TOD units */
};

struct event_figures {
	uint64_t tod;
	enum event_kind kind;
	char text[96];			/* UTF-8, of whatever the record says */
};

struct figures {
	unsigned int release;
	uint64_t sets, records, intervals, events;
	unsigned int merged;		/* intervals that a bucket has room for */
	unsigned int in_last;		/* of them in the last bucket */
	unsigned int buckets;
	struct bucket bucket[FIGURES_BUCKETS], now, last;	/* the last interval alone */
	struct cpu_figures cpu[FIGURES_CPUS];
	struct device_figures device[FIGURES_DEVICES];
	struct user_figures user[FIGURES_USERS];
	unsigned int users;		/* entries in use */
	uint64_t left_out;		/* records of users and devices for which there was no room */
	struct event_figures event[FIGURES_EVENTS];
	unsigned int listed;
};

void figures_init(struct figures *f, unsigned int release);
void figures_item(struct figures *f, const struct monrec_item *item);
/* What came behind the last interval becomes one, too. */
void figures_end(struct figures *f);

/* Words for PFXCPUTY. */
extern const char *const figures_type_names[FIGURES_TYPES];
/* "LINUX001", of further virtual processors "LINUX001, processor 3"; UTF-8. */
#define FIGURES_NAME_SIZE 48u
const char *figures_user_name(const struct user_figures *user, char name[FIGURES_NAME_SIZE]);

/* Figures of complete sets: what came of the one at hand can still go. */
struct figures_track {
	struct figures now, kept;
};

void track_init(struct figures_track *track, unsigned int release);
/* Of a set that is lost nothing is left but that it is missing. */
void track_item(struct figures_track *track, const struct monrec_item *item);
void track_keep(struct figures_track *track);
void track_drop(struct figures_track *track);

/* A bucket that takes in another one behind it. */
void bucket_add(struct bucket *to, const struct bucket *more);

/* activity_take.c: what a record adds */
void figures_record(struct figures *f, const struct monrec_record *record);
/* activity_event.c: the same of records about events */
void figures_event(struct figures *f, const struct monrec_record *record);

/* A field's value by its name; false if the release or the record has it not. */
bool figures_number(const struct figures *f, const struct monrec_record *record, const char *name,
		    uint64_t *value);

#endif
