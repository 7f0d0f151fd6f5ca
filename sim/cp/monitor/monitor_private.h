/* SPDX-License-Identifier: MIT */
/*
 * What the files of *MONITOR share.
 *
 * A set occupies a slot while any message about it is unanswered; the slot's
 * index travels as message tag, so that a reply finds its set without a search.
 */
#ifndef MONITOR_PRIVATE_H
#define MONITOR_PRIVATE_H

#include "area.h"
#include "cp_private.h"
#include "record.h"
#include "zvmlab/appldata.h"
#include "zvmlab/dcss.h"
#include "zvmlab/fault.h"
#include "zvmlab/input.h"
#include "zvmlab/iucv.h"
#include "zvmlab/monitor.h"

/* Every set that is outstanding has at least one of the messages that can be. */
#define MON_MAX_SETS 4096u
static_assert(MON_MAX_SETS >= MON_MAX_USERS * MON_MAX_MSGLIM, "a slot for every message");
/* Paths of the service: users, and connections left unanswered by a fault. */
#define MON_MAX_PATHS 256u
#define MON_NO_SET 0xffffu
#define MON_CONTROL_UNIT AREA_CONTROL_UNIT
#define MON_ALL_USERS 0xffffu

#define MON_MAX_BLOCK 64u	/* pages of an event block */
/* One interval at most: half a MiB, and for each machine a frame for each buffer of its data. */
#define MON_RECORDS_SIZE(machines) (512u * 1024u + (machines) * (APPLDATA_MAX_BUFFERS * 4096u))
#define MON_MIN_INTERVAL 6u
#define MON_MAX_INTERVAL 3600u
#define MON_EVENT_DELAY 1u	/* seconds that a block waits for more records */
/* Bit 51 of the TOD clock is a microsecond. */
#define MON_TOD_SECOND (UINT64_C(1000000) << 12)

#define MON_EVENT_CONFIG_PAGES AREA_EVENT_CONFIG_PAGES
#define MON_SAMPLE_CONFIG_PAGES AREA_SAMPLE_CONFIG_PAGES
static_assert(MON_KINDS == (int)AREA_KINDS && MON_SAMPLE == (int)AREA_SAMPLE &&
	      MON_EVENT == (int)AREA_EVENT, "an area for every kind");

/* IPUSER byte 0 of a refusal; only X'2C' is documented (docs/choices.md). */
enum mon_refusal {
	MON_ACCEPTED = 0x00,
	MON_BAD_IPUSER = 0x04,
	MON_NO_SEGMENT = 0x08,
	MON_NOT_ACTIVE = 0x0c,
	MON_BAD_SEGMENT = 0x10,	/* not SC throughout, or above 2 GiB */
	MON_OTHER_SEGMENT = 0x14,
	MON_TOO_SMALL = 0x18,
	MON_TOO_MANY_USERS = 0x1c,
	MON_NO_PARMDATA = 0x20,
	MON_CONFIG_TOO_LARGE = 0x2c,
};

/* A part of the segment that is given out piece by piece. */
struct mon_ring {
	uint64_t base;		/* offset in the segment */
	uint32_t unit;		/* bytes */
	uint32_t size;		/* units */
	uint32_t next;		/* where the next search begins */
	uint32_t used;		/* units given out */
	uint16_t after;		/* slot whose piece lies before next, MON_NO_SET: all is free */
};

/* A piece; linked with its neighbours in the order of addresses, in a circle. */
struct mon_piece {
	uint32_t start, len;	/* units; len 0: none */
	uint16_t prev, next;
};

enum { MON_CONTROL, MON_DATA, MON_RINGS };

struct mon_area {
	struct mon_ring ring[MON_RINGS];
};

struct mon_set {
	uint64_t number;	/* 0: slot is free */
	enum mon_kind kind;
	uint32_t mca_start, mca_end;	/* guest absolute, inclusive */
	uint32_t pending;	/* messages not answered, over all users */
	bool held;		/* in use without a message: being filled or repeated */
	uint8_t unanswered[MON_MAX_USERS];
	struct mon_piece piece[MON_RINGS];
};

struct mon_user {
	bool used;
	char name[9];
	uint16_t path, user_path;
	bool wants[2];		/* sample, event */
	bool configure[2];	/* configuration not yet delivered */
	bool quiesced;
	uint32_t limit, outstanding;
	uint64_t delivered, replied, lost;
};

/* Event recording: the block that is being filled, and suspension. */
struct mon_events {
	bool recording;
	bool suspended;
	uint32_t lost;		/* records, since suspension */
	uint16_t set;		/* slot reserved for the block, MON_NO_SET */
	bool closed;		/* ends in D1R12 and waits for the path to be resumed */
	uint64_t due;		/* TOD at which the block is delivered; 0: no record yet */
	struct record_writer block;
};

struct mon_repeat {
	uint16_t set;		/* MON_NO_SET: none */
	uint32_t outstanding;
	uint64_t left;
};

/* Counters of the modelled system; they only grow, and wrap as CP's do. */
struct mon_cpu {
	uint64_t user_time, system_time, wait_time;	/* TOD units */
	uint32_t diagnoses, externals, io;
};

struct mon_model {
	uint64_t updated;	/* TOD */
	uint32_t page_reads, page_writes;
	struct mon_cpu cpu[CP_MAX_CPUS];
};

struct monitor {
	struct iucv_user *service;
	struct dcss *segment;	/* NULL: none chosen */
	struct mon_area area[MON_KINDS];
	struct mon_user user[MON_MAX_USERS];
	struct mon_set set[MON_MAX_SETS];
	uint64_t last_number;
	struct mon_settings settings[2];
	bool manual;
	uint64_t interval_due;	/* TOD; 0: no interval runs */
	struct mon_events events;
	struct mon_repeat repeat;
	struct mon_model model;
	uint8_t *block_buffer;	/* MON_MAX_BLOCK frames */
	uint8_t *records;	/* MON_RECORDS_SIZE of records_for, or NULL */
	unsigned int records_for;	/* the most machines that have been logged on */
};

/* Application data: what is declared, in that order; room for a copy and for a record. */
struct appldata {
	struct appldata_info declared[APPLDATA_MAX_BUFFERS];
	uint32_t count;
	uint8_t copy[APPLDATA_MAX_LENGTH];
	uint8_t frame[RECORD_FRAME_SIZE];
};

/* The fault due in a decision about @user. */
static inline struct fault_action mon_fault(struct cp *cp, enum fault_point point,
					    const struct mon_user *user)
{
	const struct fault_call call = {
		.path = user->user_path, .user = user->name, .name = MON_SERVICE,
	};

	return fault_check(cp, point, &call);
}

/* The same for decisions that concern all users. */
static inline struct fault_action mon_fault_all(struct cp *cp, enum fault_point point)
{
	const struct fault_call call = {
		.path = FAULT_ANY_PATH, .user = "", .name = MON_SERVICE,
	};

	return fault_check(cp, point, &call);
}

static inline bool mon_is_event(enum mon_kind kind)
{
	return kind == MON_EVENT || kind == MON_EVENT_CONFIG;
}

static inline enum mon_kind mon_config_kind(bool event)
{
	return event ? MON_EVENT_CONFIG : MON_SAMPLE_CONFIG;
}

/* monitor.c */
bool mon_has_user(const struct monitor *m, bool event);
/* Is it in records?  A peer is a user for its machine only: among several it is none. */
bool mon_is_user(const struct cp *cp, const struct iucv_user *user);
/* Has the TOD clock reached @due?  Right across its wrap. */
bool mon_reached(uint64_t now, uint64_t due);
void mon_arm_timer(struct cp *cp);

/* monitor_area.c: layout of the segment, pieces of it */
enum mon_refusal mon_layout(struct cp *cp, const struct dcss *segment);
bool mon_idle(const struct monitor *m);
bool mon_piece_take(struct monitor *m, struct mon_set *set, unsigned int which, uint32_t units);
void mon_piece_trim(struct monitor *m, struct mon_set *set, unsigned int which, uint32_t units);
void mon_piece_give(struct monitor *m, struct mon_set *set, unsigned int which);
uint32_t mon_data_capacity(const struct monitor *m, enum mon_kind kind);
/* Lists from start and length of the pieces; false if they contradict. */
bool mon_rings_rebuild(struct monitor *m, enum mon_kind kind);

/* monitor_set.c: sets and their contents */
struct mon_set *mon_set_new(struct monitor *m, enum mon_kind kind);
/* Room for @frames of data and @mces elements; NULL if there is none now. */
struct mon_set *mon_set_reserve(struct monitor *m, enum mon_kind kind, uint32_t frames,
				unsigned int mces);
bool mon_set_store(struct cp *cp, struct mon_set *set, const struct mon_element *elements,
		   unsigned int count);
/* Frames that the elements occupy. */
uint64_t mon_set_frames(const struct mon_element *elements, unsigned int count);
void mon_set_release(struct cp *cp, struct mon_set *set);
static inline uint16_t mon_set_index(const struct monitor *m, const struct mon_set *set)
{
	return (uint16_t)(set - m->set);
}

/* monitor_send.c: messages about sets, and users that go */
/* Users in @mask that could be told about a @kind now; the others lose it if @count. */
uint16_t mon_ready(struct cp *cp, enum mon_kind kind, uint16_t mask, bool count,
		   enum mon_fate *fate);
void mon_lose(struct cp *cp, struct mon_user *user);
bool mon_send_one(struct cp *cp, struct mon_set *set, struct mon_user *user, enum mon_fate *fate);
void mon_announce(struct cp *cp, struct mon_set *set, uint16_t mask, enum mon_fate *fate);
/* Deliver one stream of whole records; false if it was not delivered for want of room. */
bool mon_deliver_records(struct cp *cp, enum mon_kind kind, const struct record_writer *w,
			 uint16_t mask);
void mon_replied(struct cp *cp, struct mon_user *user, uint32_t tag);
void mon_repeat_go_on(struct cp *cp, struct mon_user *user);
/* No more messages of the repeated set will be sent; the area goes with the last reply. */
void mon_repeat_end(struct cp *cp);
void mon_sever_path(struct cp *cp, uint16_t path, uint8_t code);
void mon_tell_severed(struct cp *cp, const char *name, uint16_t path, uint8_t code);
void mon_drop_user(struct cp *cp, struct mon_user *user, bool severing, uint8_t code);
/* Fault: sever all users that want sample or event data. */
void mon_drop_users(struct cp *cp, bool event, uint8_t code);

/* monitor_deliver.c */
/** Room for what a record has of a data set. */
struct mon_parts {
	struct trace_part part[2 * MON_MAX_MCES];
	struct mon_head head[MON_MAX_MCES];
};
/**
 * Of each element the head and, if @whole, its data.  None without trace_full, and of elements
 * that nobody looks at.
 */
struct input_parts mon_parts(const struct cp *cp, const struct mon_element *elements,
			     unsigned int count, bool whole, struct mon_parts *parts);
#define MON_PARTS_IF(condition, parts) ((condition) ? (parts) : (struct input_parts){ .part = NULL })
/** Can the elements ever be delivered?  0, or -1 with @err. */
int mon_elements_check(const struct cp *cp, enum mon_kind kind,
		       const struct mon_element *elements, unsigned int count, char *err,
		       size_t errlen);

/* monitor_user.c: connections */
extern const struct iucv_user_ops mon_service_ops;

/* monitor_interval.c: sample intervals, configuration */
bool monitor_timer(struct cp *cp);
/* Configuration to every user that waits for it and can take it. */
void mon_configure(struct cp *cp);
/* A configuration buffer that is declared later than the configuration was delivered. */
void mon_configure_more(struct cp *cp, struct appldata_info *info);

/* monitor_event.c: event recording */
void mon_events_begin(struct cp *cp);
void mon_events_end(struct cp *cp);
void mon_events_flush(struct cp *cp);
void mon_events_suspend(struct cp *cp);
void mon_events_resume(struct cp *cp);
bool mon_event_record(struct cp *cp, unsigned int domain, const uint8_t *record, uint32_t len);

/* monitor_records.c: what records contain */
void mon_model_update(struct cp *cp);
void mon_write_sample_config(struct cp *cp, struct record_writer *w);
void mon_write_event_config(struct cp *cp, struct record_writer *w);
void mon_write_sample(struct cp *cp, struct record_writer *w);
void mon_write_sample_change(struct cp *cp, struct record_writer *w, const char *command);
uint32_t mon_write_event_change(struct cp *cp, uint8_t *record, const char *command);

/* monitor_logon.c: a user logs on, or off */
void monitor_logon(struct cp *cp, const char *userid);
void monitor_logoff(struct cp *cp, const char *userid);

/* appldata_records.c: D10R2 of all buffers of a kind, or of one, if they are enabled */
void appldata_write(struct cp *cp, struct record_writer *w, enum appldata_kind kind);
void appldata_write_one(struct cp *cp, struct record_writer *w, struct appldata_info *info);

#endif
