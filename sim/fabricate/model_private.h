/* SPDX-License-Identifier: MIT */
/*
 * What the files of the model share.
 *
 * Time is in milliseconds since the beginning.  What records show of a subject
 * (the system, a processor, a device, a user) are its uint64_t members: tables of
 * rows (model_rows_*.c) bind them to fields of the catalogue.
 */
#ifndef MODEL_PRIVATE_H
#define MODEL_PRIVATE_H

#include <assert.h>
#include <string.h>

#include "model.h"
#include "monrec_catalogue.h"
#include "record.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* Bit 51 of the TOD clock is a microsecond. */
#define TOD_MILLISECOND (UINT64_C(1000) << 12)
/* Load is in 1/1024 of what the workload calls 100 %. */
#define LOAD_ONE 1024u
/* The longest time that the model goes on in one step. */
#define STEP_MAX 15000u
#define MAX_OUTSTANDING 255u	/* sets that *MONITOR has unanswered at most */
#define DOMAIN_BIT(domain) (0x8000u >> (domain))

/* Flags of subjects: what they are … */
enum {
	IS_ON = 0x01,		/* logged on, varied on */
	HAS_NETWORK = 0x02, HAS_APPLICATION = 0x04,	/* users */
	IS_SCSI = 0x02, IS_OSA = 0x04, IS_PAGING = 0x08,	/* devices */
	IS_ACTIVE = 0x10,	/* user on the dispatch list */
	IS_RUNAWAY = 0x20,
	IS_CUT = 0x40,		/* user got less CPU than half of what it wanted */
};

/* … and what has happened to them that event records tell. */
enum {
	CAME = 0x01, WENT = 0x02,	/* logon, logoff; vary on, off */
	LINK_UP = 0x04, LINK_DOWN = 0x08,
	CHANGED = 0x10,		/* device: its paths */
	DISPATCHED = 0x20, DORMANT = 0x40, ELIGIBLE = 0x80,
	TRANSACTION = 0x100, INTERACTION = 0x200,
};

/* Every subject begins with it. */
struct subject {
	uint32_t flags;
	uint32_t events;	/* not yet recorded */
};

struct cpu {
	struct subject s;
	uint64_t address, type;
	uint64_t user_time, emulation, system_time, wait;	/* TOD units */
	uint64_t diagnose, dg08, dg0c, dg44, dg9c, dg258;
	uint64_t simulated, externals, sigp, starts, dispatches, samples;
	uint64_t page_reads, page_writes;
	/* Not in any record: TOD units of the step for the system, and for users. */
	uint64_t step_system, step_user;
};

struct device {
	struct subject s;
	uint64_t number, subchannel, volume, chpids, installed, available;
	uint64_t starts, blocks_read, blocks_written, block_size;
	uint64_t pending, connect, disconnect;	/* of these starts, units of 128 us */
	uint64_t slots, slots_used, page_reads, page_writes;
	uint64_t buffers_out, bytes_out, buffers_in, bytes_in;
	uint64_t wanted, granted;	/* starts of the step */
};

struct user {
	struct subject s;
	uint64_t name, address, type, adapter, mac, lan, lan_owner, switched, share, logon;
	uint64_t total_time, virtual_time;	/* TOD units */
	uint64_t resident, slots, page_reads, page_writes, starts;
	uint64_t packets_out, packets_in, bytes_out, bytes_in;
	uint64_t samples, idle, io_wait, page_wait, cpu_wait, running, dormant;
	/* Not in any record: what was asked for in the step and had; what is left for the next. */
	uint64_t wanted, granted, wanted_io, step_reads, step_packets, step_bytes;
	uint64_t rest_io, rest_paging, rest_packets, rest_transactions;
	uint32_t load, percent, cpu, device, index;
};

struct system {
	struct subject s;
	uint64_t elapsed;	/* milliseconds */
	uint64_t now;		/* TOD */
	uint64_t users, dormant_users, active_users, eligible_users;
	uint64_t pageable, available, used_frames, slots_free, slots_used;
	uint64_t idle, io_wait, page_wait, cpu_wait, running, dormant;
	uint64_t cpu_count, cpu_online, cpu_standby;
	uint64_t name, partition, partition_number, ipl, machine, bytes;
	uint64_t interval, rate, sample_domains, event_domains, sample_config, event_config;
	uint64_t profile, domain;	/* of D1R14 */
	uint64_t seek_subchannel, seek_device, seek_user, cylinder, next_cylinder;
	uint64_t lost;		/* event records, since the suspension */
};

/* The place of a subject's member in a record. */
struct put {
	uint16_t offset, from;
	uint8_t width;
};

#define MAX_PUTS 40u

/* A kind of record: of what, and where its values go, in the release of the model. */
struct plan {
	uint8_t domain;
	uint8_t each;		/* enum each */
	uint16_t number, len;
	uint32_t need;		/* flags of the subject; of events: bits of its events */
	uint32_t puts;
	struct put put[MAX_PUTS];
};

enum each { EACH_SYSTEM, EACH_CPU, EACH_DEVICE, EACH_USER, EACH_PROCESSOR, EACH_DOMAIN };

/* A member for a field, by its name; without a name for the offset that is given. */
struct binding {
	const char *field;
	uint16_t from;
	uint16_t offset;
	uint8_t width;
	bool of_page;		/* left out if no source tells of it */
};

struct row {
	uint8_t domain, number, each;
	uint8_t need;		/* flags of the subject */
	uint16_t event;		/* bit of its events that the record tells */
	uint16_t len;		/* if no source tells; else what follows the known length */
	const struct binding *binding;
	uint32_t bindings;
};

struct rows {
	const struct row *row;
	uint32_t count;
};

extern const struct rows rows_sample, rows_sample_config, rows_event_config, rows_event;

#define MAX_ROWS 32u

struct plans {
	uint32_t count;
	struct plan plan[MAX_ROWS];
};

/* One set that whoever reads has not replied to yet. */
struct unread {
	uint32_t kind, start, frames, bytes;
};

struct ring {
	uint32_t base;		/* page in the segment */
	uint32_t size, next, used;	/* pages */
	uint32_t mca;		/* page in the segment of the area's control elements */
	uint32_t elements, next_element;	/* units of AREA_CONTROL_UNIT */
};

struct segment {
	uint8_t *bytes;		/* the whole of it */
	uint64_t address;
	struct ring ring[AREA_KINDS];
	struct unread queue[MAX_OUTSTANDING];	/* oldest at head */
	uint32_t head, outstanding;
	uint32_t rate;		/* KB a second, MODEL_AT_ONCE */
	uint64_t budget;	/* thousandths of a byte that have been read of the oldest */
	uint64_t drained;	/* until when, milliseconds */
};

/* Event recording. */
struct events {
	struct record_writer block;
	uint8_t *buffer;
	uint64_t due;		/* TOD at which the block is delivered; 0: it is empty */
	uint64_t lost;
	bool suspended;
};

/* How far the events of a step have been recorded. */
struct cursor {
	uint32_t group;		/* enum cursor_group in model_event.c */
	uint32_t index, row;
};

enum model_state { AT_SAMPLE_CONFIG, AT_EVENT_CONFIG, AT_SAMPLE, AT_STEP, AT_EVENTS, AT_CHANGE, AT_FLUSH,
	     AT_END };

struct model {
	struct model_config config;
	uint64_t random;
	uint64_t now, before;	/* milliseconds: end and begin of the step */
	uint64_t due;		/* end of the interval */
	uint32_t action;	/* next one */
	const struct model_action *change;	/* MONITOR command to be recorded, NULL */
	enum model_state state;
	struct system system;
	struct cpu *cpu;
	struct device *device;
	struct user *user;
	uint32_t *disk;		/* devices that users' I/O goes to, by number */
	uint32_t disks, osa;	/* osa: index, or devices */
	uint32_t storm;		/* events a second */
	uint64_t storm_left, storm_count;
	uint32_t pattern_load[MODEL_MAX_PATTERNS];
	uint64_t step_starts, step_reads, step_writes;	/* of all devices in the step */
	struct plans sample, sample_config, event_config, event;
	struct segment segment;
	struct events events;
	struct cursor cursor;
	struct model_totals total;
	uint64_t numbers;
};

/* model_layout.c */
void plans_make(struct plans *plans, const struct rows *rows, unsigned int release);
/* Put the members of @subject into the row's record at @record. */
void plan_fill(uint8_t *record, const struct plan *plan, const void *subject);

/* model_record.c: all records of a set; what does not fit shows in the writer. */
void model_write(struct model *m, struct record_writer *w, const struct plans *plans,
		 uint32_t domains);
/* model_event.c: one record after the other until a block is to be delivered: true. */
bool model_record_events(struct model *m, struct model_set *set);
/* Return the contents of the block, if any. */
bool model_flush(struct model *m, struct model_set *set);
void model_events_begin(struct model *m);
/* D1R2 of m->change; true: a block is to be delivered first. */
bool model_record_change(struct model *m, struct model_set *set);

/* model_segment.c */
bool segment_open(struct model *m, char *err, size_t errlen);
/* The reader has gone on until @ms. */
void segment_drain(struct segment *s, uint64_t ms);
/* First page of a free run of @frames in the area; false: there is none now. */
bool segment_find(const struct segment *s, uint32_t kind, uint32_t frames, uint32_t *start);
/* Longest run from where the next set begins, or, @again, from the area's low end. */
uint32_t segment_run(const struct segment *s, uint32_t kind, bool again, uint32_t *start);
uint8_t *segment_at(const struct segment *s, uint32_t kind, uint32_t start);
/* Deliver what has been stored at @start; false: 255 sets are unread, it is lost. */
bool segment_deliver(struct model *m, uint32_t kind, uint32_t start,
		     const struct record_writer *w, struct model_set *set);

/* model_step.c: to the end of the next step. */
void model_step(struct model *m);
/* model_action.c: what happens now, up to the next MONITOR command, which m->change is then. */
void model_act(struct model *m);
/* Flags of the user once it is logged on. */
uint32_t model_user_flags(const struct model_user *config);
void model_log_on(struct model *m, struct user *user);

/* model_random.c: the next number of the model's own sequence (random.h). */
uint64_t model_random(struct model *m);
/* model_load.c: what users want of processors and what they get, in TOD units. */
void model_load(struct model *m, uint64_t ms);
/* model_cpu.c: what they got, spread over processors. */
void model_cpu(struct model *m, uint64_t ms);
/* How much of a step of @ms a processor has for users; the rest goes to the system. */
uint64_t model_capacity(struct model *m, uint64_t ms);
/* model_io.c, model_storage.c, model_network.c */
void model_io(struct model *m, uint64_t ms);
void model_storage(struct model *m, uint64_t ms);
void model_network(struct model *m, uint64_t ms);
/* model_wait.c: what high-frequency samples find users at; sums of the system. */
void model_wait(struct model *m, uint64_t ms);
void model_observe(struct model *m);

/* @rate thousandths a second, at @load, for @ms; what is left over goes to *@rest. */
static inline uint64_t amount(uint64_t rate, uint64_t load, uint64_t ms, uint64_t *rest)
{
	const uint64_t unit = UINT64_C(1000) * 1000 * LOAD_ONE;
	const uint64_t sum = rate * load * ms + *rest;

	*rest = sum % unit;
	return sum / unit;
}

/*
 * Shares of @total by weight, each from the sums of weights before and with it, so
 * that they add up to it.  Where nobody has a weight, nobody has a share.
 */
static inline uint64_t portion(uint64_t total, uint64_t before, uint64_t with, uint64_t all)
{
	assert(before <= with && with <= all);
	if (all == 0)
		return 0;
	return (uint64_t)((unsigned __int128)total * with / all) -
	       (uint64_t)((unsigned __int128)total * before / all);
}

/* CP's work for a user is the 20th part of its CPU time. */
static inline uint64_t emulated(uint64_t time)
{
	return time - time / 20;
}

static inline uint64_t model_tod(const struct model *m, uint64_t ms)
{
	return m->config.start + ms * TOD_MILLISECOND;
}

#endif
