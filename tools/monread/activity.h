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
#ifndef ACTIVITY_H
#define ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "monrec.h"

#define TOD_SECOND UINT64_C(4096000000)

#define ACTIVITY_TYPES 8u	/* of processors; PFXCPUTY above counts as the last */
#define ACTIVITY_BUCKETS 240u
#define ACTIVITY_CPUS 128u
#define ACTIVITY_DEVICES 1024u
#define ACTIVITY_USERS 4096u	/* virtual processors of users */
#define ACTIVITY_EVENTS 200u	/* that are listed one by one */

enum event_kind {
	EVENT_LOGON, EVENT_LOGOFF, EVENT_PROCESSOR, EVENT_DEVICE, EVENT_COMMAND, EVENT_SUSPENDED,
	EVENT_KINDS
};

struct bucket {
	uint64_t first, last;		/* TOD: begin of its first interval, end of its last */
	uint64_t busy[ACTIVITY_TYPES], elapsed[ACTIVITY_TYPES];	/* TOD units, all processors */
	uint64_t page_reads, page_writes, starts;
	uint64_t time;			/* TOD units in which these were counted */
	uint32_t events[EVENT_KINDS];
	uint32_t lost, overflows, suspended;	/* sets; times; records */
};

struct cpu_activity {
	bool used;
	uint8_t type;
	uint16_t address;
	uint64_t tod, user_time, system_time;
	uint64_t interval;		/* that these were seen in */
	bool paging;			/* these two are there: */
	uint32_t page_reads, page_writes;
};

struct device_activity {
	uint16_t number;
	uint32_t source;		/* the kind of record; 0: the entry is free */
	uint32_t last;
	uint64_t starts;
};

struct user_activity {
	uint8_t name[8];		/* EBCDIC; all zeros: the entry is free */
	uint16_t address;
	bool counted;			/* these are there: */
	uint32_t source;		/* the kind of record */
	uint64_t last, time;		/* TOD units */
};

struct event_activity {
	uint64_t tod;
	enum event_kind kind;
	char text[96];			/* UTF-8, of whatever the record says */
};

struct activity {
	unsigned int release;
	uint64_t sets, records, intervals, events;
	unsigned int merged;		/* intervals that a bucket has room for */
	unsigned int in_last;		/* of them in the last bucket */
	unsigned int buckets;
	struct bucket bucket[ACTIVITY_BUCKETS], now, last;	/* the last interval alone */
	struct cpu_activity cpu[ACTIVITY_CPUS];
	struct device_activity device[ACTIVITY_DEVICES];
	struct user_activity user[ACTIVITY_USERS];
	unsigned int users;		/* entries in use */
	uint64_t left_out;		/* records of users and devices for which there was no room */
	struct event_activity event[ACTIVITY_EVENTS];
	unsigned int listed;
};

void activity_init(struct activity *f, unsigned int release);
void activity_item(struct activity *f, const struct monrec_item *item);
/* What came behind the last interval becomes one, too. */
void activity_end(struct activity *f);

/* Words for PFXCPUTY. */
extern const char *const activity_type_names[ACTIVITY_TYPES];
/* "LINUX001", of further virtual processors "LINUX001, processor 3"; UTF-8. */
#define ACTIVITY_NAME_SIZE 48u
const char *activity_user_name(const struct user_activity *user, char name[ACTIVITY_NAME_SIZE]);

/* Activity of complete sets: what came of the one at hand can still go. */
struct activity_track {
	struct activity now, kept;
};

void track_init(struct activity_track *track, unsigned int release);
/* Of a set that is lost nothing is left but that it is missing. */
void track_item(struct activity_track *track, const struct monrec_item *item);
void track_keep(struct activity_track *track);
void track_drop(struct activity_track *track);

/* A bucket that takes in another one behind it. */
void bucket_add(struct bucket *to, const struct bucket *more);

/* activity_take.c: what a record adds */
void activity_record(struct activity *f, const struct monrec_record *record);
/* activity_event.c: the same of records about events */
void activity_event(struct activity *f, const struct monrec_record *record);

/* A field's value by its name; false if the release or the record has it not. */
bool activity_number(const struct activity *f, const struct monrec_record *record, const char *name,
		    uint64_t *value);

#endif
