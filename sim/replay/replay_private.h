/* SPDX-License-Identifier: MIT */
/* Shared by the files of the replay. */
#ifndef REPLAY_PRIVATE_H
#define REPLAY_PRIVATE_H

#include <assert.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "held.h"
#include "replay.h"
#include "trace_file.h"
#include "zvmlab/cp.h"
#include "zvmlab/input.h"
#include "zvmlab/iucv.h"
#include "zvmlab/trace.h"

/** Longest line: fields and reads at their most, and all else. */
#define REPLAY_MAX_LINE (2 * TRACE_FULL_MAX + (1u << 20))
#define REPLAY_MAX_VALUES (1u << 20)
#define REPLAY_MAX_DEPTH 4u
/**
 * Guest absolute addresses that there is room for: where the configuration's
 * storage must end (16 TiB).  Reserved, not used: the core's stores are
 * forgotten again, as what it reads comes from the trace.
 */
#define REPLAY_STORAGE (UINT64_C(1) << 44)

struct replay;

/** A user ID that the trace plays. */
struct replay_peer {
	struct replay *replay;
	char name[CP_NAME_LEN + 1];	/* "": free */
	struct iucv_user *user;
	struct ctl_held_list held;
};

/** All traces that are replayed, and what their machines have in common. */
struct replay_all {
	struct replay *replay;
	size_t count;
	FILE *out;
	enum replay_result result;
	bool stopped;		/* the result is known */
	const struct replay *limited;	/* … because this trace had reached its limit */
	struct replay *next;	/* whose record comes next, if that is known */
	uint64_t order;		/* of the last record that came again */
	uint64_t matched;
	unsigned int questions;	/* that the core has asked of the directory in the record */
	const struct replay *reset;	/* whose machine the last input has reset, or NULL */
	struct cp_system *system;	/* NULL: the one machine is alone */
	uint8_t *storage;	/* of all machines */
	uint64_t stored;	/* bytes since storage was forgotten */
};

enum replay_phase { REPLAY_BEGINS, REPLAY_CREATED, REPLAY_LOGGED_ON, REPLAY_LOGGED_OFF };

/** The trace of a machine. */
struct replay {
	struct replay_all *all;
	const struct replay_trace *from;

	/* The record that the core has to write next. */
	char *line;
	size_t len, capacity;
	uint64_t number;	/* of the line */
	json_t *record;		/* NULL: the next line has not been read */
	size_t reads;		/* of its "in" that the core has done */
	bool ended;		/* there is no further line */
	bool limited;		/* … because the trace had reached its limit */
	bool member;		/* its records have the numbers of a system's */
	char same[TRACE_SAME_MAX];	/* the line from its CPU on, for those that repeat it */
	size_t same_len;	/* 0: too long for that */
	uint64_t again;		/* how often it has still to come */
	bool repeating;		/* the record is one of those */
	uint64_t seq;		/* of the last line that is not a repeat, or has come again */
	uint64_t tod, clock, order;	/* of the last of the repeats */

	enum replay_phase phase;
	struct cp *cp;
	char userid[CP_NAME_LEN + 1];
	struct replay_peer peer[IUCV_MAX_USERS];
};

/* line.c */
/** Have the trace's next record in @r->record; false at the end, or if replay has stopped. */
bool replay_need(struct replay *r);
/** The core has written the record that was needed. */
void replay_next(struct replay *r);
/** A repeat that has still to come is the record of this number. */
bool replay_repeat_line(struct replay *r, uint64_t order);

/* order.c */
/** The trace with the record that comes next; NULL at the end of all, or if replay has stopped. */
struct replay *replay_turn(struct replay_all *all);
/** The core looks at the clock of this machine, whose record may be the next. */
void replay_expect(struct replay *r);

/* line.c */
/**
 * Let @give give the core the input of the record that is needed: the core
 * writes it, and then the records of what it does about it.
 */
void replay_step(struct replay *r, void (*give)(struct replay *r, const json_t *record));

/* verdict.c */
/** Begin a sentence about the trace's line. */
void replay_at(const struct replay *r);
/** End with a sentence about the line that is needed; only the first counts. */
__attribute__((format(printf, 2, 3)))
void replay_unusable(struct replay *r, const char *format, ...);
__attribute__((format(printf, 2, 3)))
void replay_differs(struct replay *r, const char *format, ...);

/* member.c: members of a record.  What is missing or wrong ends the replay; then the values are 0. */
uint64_t replay_number(struct replay *r, const json_t *record, const char *name, uint64_t max);
/** The same, but 0 if the member is missing. */
uint64_t replay_number_or_0(struct replay *r, const json_t *record, const char *name,
			    uint64_t max);
uint64_t replay_hex(struct replay *r, const json_t *record, const char *name, uint64_t max);
uint64_t replay_hex_or(struct replay *r, const json_t *record, const char *name, uint64_t max,
		       uint64_t otherwise);
/** ISO 8859-1 of at most @size - 1 characters into @to. */
void replay_text(struct replay *r, const json_t *record, const char *name, char *to, size_t size);
/** malloc'd, at least 1 byte; NULL if it is missing or shortened. */
uint8_t *replay_bytes(struct replay *r, const json_t *record, const char *name, size_t *len);
/** A whole hexadecimal number. */
bool replay_parse_hex(const char *text, uint64_t max, uint64_t *value);
/** General registers of the member "gr". */
void replay_registers(struct replay *r, const json_t *record, uint64_t *gr, size_t count);

/* host.c */
/** Room for what machines store; false if this machine has none. */
bool replay_storage(struct replay_all *all);
void replay_storage_end(struct replay_all *all);
void replay_host(struct replay *r, struct cp_host *host);
void replay_system_host(struct replay_all *all, struct cp_system_host *host);

/* read.c */
const char *replay_call_name(const json_t *record);
/** INPUTS: it is the record of none. */
enum input replay_input_of(const json_t *record);
/** Gives the core an input; its members have been read and checked. */
typedef void replay_give(struct replay *r, const json_t *record, const union input_args *in);
/** Read the members of @input, and @give it; what is missing or wrong ends the replay instead. */
void replay_read(struct replay *r, const json_t *record, enum input input, replay_give *give);

/* configuration.c: make the CP, and the system that the first machine belongs to. */
void replay_configuration(struct replay *r, const json_t *record);

/* input.c: give the core what the record says has come from outside. */
void replay_input(struct replay *r, const json_t *record);

/* input_peer.c: @in has been read from @record and checked. */
replay_give replay_logon, replay_logoff, replay_attach, replay_call;
/** A saved state has been loaded: its users take the place of those before. */
void replay_peers_loaded(struct replay_all *all);
/** They have gone with their machine. */
void replay_peers_gone(struct replay *r);
void replay_peers_end(struct replay *r);

/* input_monitor.c */
replay_give replay_timer, replay_tick, replay_manual, replay_deliver, replay_repeat,
	replay_message, replay_event, replay_quiesce, replay_sever;

#endif
