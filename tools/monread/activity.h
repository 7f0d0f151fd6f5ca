/* SPDX-License-Identifier: MIT */
/*
 * monread: what a system did over time, out of its monitor records.
 *
 * An interval ends with the D1R11 of sample data.  Intervals are gathered in a fixed number of buckets:
 * when all are full, each two become one, so that any length of time fits.  All of it
 * is one object without a pointer: a copy is a copy, and its size is its limit.
 *
 *	processors	D0R2: PFXUTIME and PFXTMSYS against the time passed, by PFXCPUTY
 *	paging		D3R2: PLSPGDRD, PLSPGDWT
 *	devices		D6R24 DSKXFERS, D3R4 SCGSSCH, else D6R3 SCGSSCH or SCMSSCH
 *	users		D4R3 VMDTTIME; as long as none was understood, VMDTTIME of any record
 *			with VMDUSER; D10R2 of 92 bytes as this project has it, if a user ID
 *			stands in it
 *	states		D4R4 of a user, else D4R10; D0R12 of all: high-frequency samples that
 *			found them running, waiting, idle
 *	paging		D4R3 of a user, else D4R9; D3R4 of a volume
 *	response	of all I/O: samples of D0R12 that found users waiting for it, times what
 *			D1R9 says is between two samples, by the I/Os of all devices but paging
 *			volumes; of a device: D6R3, else D6R14: the times of its measurement
 *			block, by its samples
 *	partition	D1R4, D0R15
 *
 * Counters are taken as differences of two records.  One of 4 bytes wraps, unless it would then
 * have counted more than half of what it can: it has begun anew.  So have a user's counters when
 * it has logged on since the sample before (CALTODON, D4R1), or when its CPU time has fallen.  Of
 * a user that a complete sample did not have nothing is known until then.
 *
 * A record whose fields are not known in the release counts nothing; it is counted, and what
 * would have been the sum of its kind is unknown.
 */
#ifndef ACTIVITY_H
#define ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "monrec.h"

#define TOD_SECOND UINT64_C(4096000000)

#define ACTIVITY_TYPES 9u	/* of processors: PFXCPUTY and, behind its values, these: */
enum { TYPE_OTHER = 7, TYPE_UNKNOWN = 8 };
#define ACTIVITY_BUCKETS 240u
#define ACTIVITY_CPUS 128u
#define ACTIVITY_DEVICES 1024u
#define ACTIVITY_USERS 4096u	/* virtual processors of users */
#define ACTIVITY_EVENTS 200u	/* that are listed one by one */

#define ACTIVITY_HF_RATE 200u	/* 1/100 s between high-frequency samples, until D1R9 says */

/* Of a user, as a high-frequency sample finds it. */
enum user_state {
#define STATE(id, key, what, threshold) STATE_##id,
#include "quantities.def"
	USER_STATES
};

/* States in which a user waits follow each other. */
#define WAIT_STATES (STATE_PAGE_WAIT - STATE_CPU_WAIT + 1u)

enum event_kind {
	EVENT_LOGON, EVENT_LOGOFF, EVENT_PROCESSOR, EVENT_DEVICE, EVENT_COMMAND, EVENT_SUSPENDED,
	EVENT_KINDS
};

/* What there is of each interval. */
enum system_value {
	SYSTEM_BUSY,			/* per cent, of the processors of each type */
	SYSTEM_READS = SYSTEM_BUSY + ACTIVITY_TYPES,	/* a second */
	SYSTEM_WRITES, SYSTEM_STARTS,
	SYSTEM_STATES,			/* per cent of the samples of all users */
	SYSTEM_VALUES = SYSTEM_STATES + USER_STATES
};

struct bucket {
	uint64_t first, last;		/* TOD: begin of its first interval, end of its last */
	uint64_t busy[ACTIVITY_TYPES], elapsed[ACTIVITY_TYPES];	/* TOD units, all processors */
	uint64_t page_reads, page_writes, starts;
	uint64_t time;			/* TOD units in which these were counted */
	uint32_t paging_records, device_records;	/* that they were counted from */
	uint32_t devices_unknown;	/* records of devices that were not understood */
	uint64_t found[USER_STATES];	/* high-frequency samples, of all users */
	uint32_t events[EVENT_KINDS];
	uint32_t lost, overflows, suspended;	/* sets; times; records */
	float most[SYSTEM_VALUES];	/* of its intervals; below 0: there is no such value */
};

/* Why a record is in no table and no chart. */
enum record_use {
	RECORD_USED,
	RECORD_NOT_UNDERSTOOD,		/* the release is not known to have the fields, or they are cut off */
	RECORD_ELSEWHERE,		/* samples have the same, and count */
	RECORD_NOT_SHOWN,		/* there is no table for it */
	RECORD_USES
};

#define ACTIVITY_DOMAINS 16u
#define ACTIVITY_NUMBERS 64u		/* those above count as the last */

/* High-frequency samples by what they found. */
struct state_counts {
	bool counted;			/* the last ones are there: */
	uint32_t last[USER_STATES];
	uint64_t found[USER_STATES];
};

/*
 * Values of a user and of a paging volume (activity_fields.def): the growth of a counter since the
 * first record, or the latest value.
 */
struct user_pages {
	bool counted;			/* the last ones are there: */
#define USER_VALUE(member, way, name) uint32_t last_##member; uint64_t member;
#include "activity_fields.def"
};

struct volume_pages {
	bool counted;			/* the last ones are there: */
#define VOLUME_VALUE(member, way, name) uint32_t last_##member; uint64_t member;
#include "activity_fields.def"
};

struct cpu_activity {
	bool used;
	uint8_t type;
	uint16_t address;
	uint64_t tod, user_time, system_time;
	uint64_t interval;		/* that these were seen in */
	bool paging;			/* these two are there: */
	uint32_t page_reads, page_writes;
	uint64_t users, system, elapsed;	/* TOD units, in all intervals */
	double most;			/* per cent busy, of the busiest interval, which ended: */
	uint64_t most_at;		/* TOD */
};

struct device_activity {
	uint16_t number;
	uint32_t source;		/* the kind of record; 0: the entry is free */
	uint32_t last;
	uint64_t starts;
	uint64_t starts_before;		/* at the end of the last interval */
	double most;			/* starts a second, of the busiest interval, which ended: */
	uint64_t most_at;		/* TOD */
	uint64_t pages_before;		/* read and written, at the end of the last interval */
	double most_pages;		/* a second, of the interval with the most, which ended: */
	uint64_t most_pages_at;		/* TOD */
	struct measurement {
		bool counted;		/* these are there: */
		uint32_t samples, short_samples;
#define DEVICE_TIME(member, name) uint32_t member;
#include "activity_fields.def"
	} block;			/* of D6R3 */
	uint32_t last_short;		/* SCMSSCH, of 2 bytes */
	uint64_t measured;		/* I/Os, and their times in units of 128 microseconds: */
#define DEVICE_TIME(member, name) uint64_t member;
#include "activity_fields.def"
	bool sampled;			/* these are of D6R3, from one to the next */
	uint64_t measured_before, times_before;	/* at the end of the last interval */
	uint64_t slowest_measured, slowest_times;	/* of the slowest interval, which ended: */
	uint64_t slowest_at;		/* TOD */
	bool is_paging;			/* a paging volume, with: */
	uint8_t volume[6];		/* EBCDIC */
	struct volume_pages pages;
	double fullest;			/* per cent of its slots that were ever used, at: */
	uint64_t fullest_at;		/* TOD */
};

struct user_activity {
	uint8_t name[8];		/* EBCDIC; all zeros: the entry is free */
	uint16_t address;
	bool counted;			/* these are there: */
	uint32_t source;		/* the kind of record */
	uint64_t last, time;		/* TOD units */
	uint64_t time_before;		/* at the end of the last interval */
	double most;			/* per cent of a processor, of the busiest interval, which ended: */
	uint64_t most_at;		/* TOD; 0: records do not come in each interval */
	struct user_times { bool counted; uint64_t total, virtual; } times;	/* the last ones */
	uint64_t total, virtual;	/* TOD units, of the same records */
	struct state_counts states;
	struct user_sample { bool any; uint64_t number; } activity, interaction;	/* D4R3, D4R4 */
	uint64_t logon;			/* TOD; 0: no record has told */
	struct user_pages pages;
	uint32_t pages_before;		/* read and written, at the end of the last interval */
	float most_pages;		/* a second, of the interval with the most, which ended: */
	uint64_t most_pages_at;		/* TOD; 0: records do not come in each interval */
	uint32_t samples_before, waits_before[WAIT_STATES];	/* at the end of the last interval */
	float most_waits[WAIT_STATES];	/* per cent of the samples of an interval, which ended: */
	uint64_t most_waits_at[WAIT_STATES];	/* TOD; 0: none */
};

struct system_most {
	double value;
	uint64_t at;			/* TOD: end of the interval; 0: no interval had a value */
};

/* Slots of all paging volumes. */
struct space_activity {
	double used, fullest;		/* per cent: in the last interval; in the fullest one, which ended: */
	uint64_t slots, fullest_at;	/* 0: not known; TOD */
};

/* Names as records have them, EBCDIC; zeros: none has come. */
struct system_activity {
	uint8_t name[8], partition[8];
	bool has_partition;		/* these are there: */
	uint16_t number, machine, configured, standby, shared, dedicated;	/* processors */
	uint32_t hf_rate;		/* 1/100 s between high-frequency samples */
	struct state_counts states;	/* of all users */
};

/* Fields that are looked up once. */
enum activity_field {
#define FIELD(id, domain, number, name) FIELD_##id,
#include "activity_fields.def"
	ACTIVITY_FIELDS
};

struct field_place {
	uint16_t offset;		/* in the record */
	uint16_t len;			/* 0: the release has no such field */
};

struct event_activity {
	uint64_t tod;
	enum event_kind kind;
	char text[96];			/* UTF-8, of whatever the record says */
};

struct activity {
	uint32_t releases;		/* that the data are of; 0: not known */
	struct field_place field[MONREC_RELEASES][ACTIVITY_FIELDS];
	struct system_activity system;
	uint64_t sets, records, intervals, events;
	uint64_t unused[ACTIVITY_DOMAINS][ACTIVITY_NUMBERS][RECORD_USES];	/* but for USED */
	uint64_t user_samples;		/* complete ones that had D4R3 or D4R4 */
	uint64_t sampled_until;		/* TOD of the last of them */
	bool users_sampled;		/* in the sample at hand */
	unsigned int merged;		/* intervals that a bucket has room for */
	unsigned int in_last;		/* of them in the last bucket */
	unsigned int buckets;
	struct bucket bucket[ACTIVITY_BUCKETS], now, last;	/* the last interval alone */
	struct cpu_activity cpu[ACTIVITY_CPUS];
	struct device_activity device[ACTIVITY_DEVICES];
	struct user_activity user[ACTIVITY_USERS];
	unsigned int users;		/* entries in use */
	struct space_activity space;
	struct system_most most[SYSTEM_VALUES];	/* of the intervals */
	struct system_most slowest;	/* milliseconds that users waited for an I/O on the average */
	uint64_t left_out;		/* records of users and devices for which there was no room */
	struct event_activity event[ACTIVITY_EVENTS];
	unsigned int listed;
};

void activity_init(struct activity *f);
void activity_item(struct activity *f, const struct monrec_item *item);
/* Is it of the configuration, which comes before all samples? */
bool activity_is_of_system(const struct monrec_record *record);
/* What such a record says; it is not counted. */
void activity_earlier(struct activity *f, const struct monrec_record *record);
/* What came behind the last interval becomes one, too. */
void activity_end(struct activity *f);

/* Words for PFXCPUTY. */
extern const char *const activity_type_names[ACTIVITY_TYPES];
/* Words for enum user_state. */
extern const char *const activity_state_names[USER_STATES];
/* "LINUX001", of further virtual processors "LINUX001, processor 3"; UTF-8. */
#define ACTIVITY_NAME_SIZE 48u
const char *activity_user_name(const struct user_activity *user, char name[ACTIVITY_NAME_SIZE]);
/* EBCDIC, without the blanks at its end; at most 8 bytes.  UTF-8; "" if it is all zeros. */
const char *activity_text(const uint8_t *ebcdic, uint8_t len, char name[ACTIVITY_NAME_SIZE]);
/* So many in a TOD clock's @time, by the second; 0 where no time has passed. */
double activity_rate(uint64_t count, uint64_t time);
/* Below 0: the bucket has no such value. */
double activity_system_value(const struct bucket *bucket, enum system_value value);
/* I/Os of all devices but paging volumes: those that users wait for as I/O. */
uint64_t activity_user_starts(const struct activity *f);
/* Milliseconds that users waited for an I/O on the average; below 0: it is not known. */
double activity_io_wait(const struct activity *f, uint64_t found, uint64_t starts);

/* Activity of complete sets: what came of the one at hand can still go. */
struct activity_track {
	struct activity now, kept;
};

void track_init(struct activity_track *track);
/* Of a set that is lost nothing is left but that it is missing. */
void track_item(struct activity_track *track, const struct monrec_item *item);
void track_earlier(struct activity_track *track, const struct monrec_record *record);
void track_keep(struct activity_track *track);
void track_drop(struct activity_track *track);

/* A bucket that takes in another one behind it. */
void bucket_add(struct bucket *to, const struct bucket *more);

/* How many records of the kind were not used for that reason; NUMBER may be above all. */
uint64_t activity_unused(const struct activity *f, unsigned int domain, unsigned int number,
			 enum record_use use);

/* activity_take.c: what a record adds */
enum record_use activity_record(struct activity *f, const struct monrec_record *record);
/* What a counter of 4 bytes has counted since it was @last. */
uint32_t activity_grown(uint32_t now, uint32_t last);
/* activity_counts.c: states, paging, responses and the partition; where their fields are */
void activity_find_fields(struct activity *f);
enum record_use activity_system(struct activity *f, const struct monrec_record *record);
/* D4R9, D4R10 */
enum record_use activity_user_event(struct activity *f, struct user_activity *user,
				    const struct monrec_record *record);
/* How a user's counters go on from the record before. */
enum going { GOES_ON, BEGINS_ANEW, BEGINS };
/* Does a record of the user come in each interval? */
bool activity_is_sampled(const struct user_activity *user);
/* Total and virtual time of a D4R9 or D4R3, for their ratio. */
void activity_take_times(struct activity *f, struct user_activity *user,
			 const struct monrec_record *record, enum going going);
/* D4R3, D4R4: activity_sample.c */
enum record_use activity_user_sample(struct activity *f, struct user_activity *user,
				     const struct monrec_record *record);
enum record_use activity_volume(struct activity *f, struct device_activity *device,
				const struct monrec_record *record);
/* D6R14, which counts from its beginning on; D6R3, which is compared with the one before. */
enum record_use activity_response(struct activity *f, struct device_activity *device,
				  const struct monrec_record *record);
void activity_measured(struct activity *f, struct device_activity *device,
		       const struct monrec_record *record);
/* As if no I/O had been measured. */
void activity_no_times(struct device_activity *device);
/* The values of a D4R9 or D4R3; false if they are not there. */
bool activity_take_pages(struct activity *f, struct user_activity *user,
			 const struct monrec_record *record, enum going going);
/* The states that the record has counted, from @first on; false if they are not there. */
bool activity_states(const struct activity *f, const struct monrec_record *record,
		     enum activity_field first, uint32_t now[USER_STATES]);
/* One that has fallen: all have begun anew, as at a logon. */
bool states_begun_anew(const struct state_counts *states, const uint32_t now[USER_STATES]);
/* @anew: they count from 0; else they wrap.  @more: where the growth is added, too; or NULL. */
void states_add(struct state_counts *states, const uint32_t now[USER_STATES], bool anew,
		uint64_t more[USER_STATES]);
/* Of field_place: false if the record's release or the record has it not. */
bool activity_value(const struct activity *f, const struct monrec_record *record,
		    enum activity_field field, uint64_t *value);
/* activity_event.c: the same of records about events; false: it is none of those that are shown */
bool activity_event(struct activity *f, const struct monrec_record *record);

/* A field's value by its name; false if the record's release or the record has it not. */
bool activity_number(const struct monrec_record *record, const char *name, uint64_t *value);

#endif
