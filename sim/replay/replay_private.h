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

struct replay {
	FILE *in, *out;
	enum replay_result result;
	bool stopped;		/* the result is known */

	/* The record that the core has to write next. */
	char *line;
	size_t len, capacity;
	uint64_t number;	/* of the line */
	json_t *record;		/* NULL: the next line has not been read */
	size_t reads;		/* of its "in" that the core has done */
	bool ended;		/* there is no further line */
	bool limited;		/* … because the trace had reached its limit */
	char same[TRACE_SAME_MAX];	/* the line from its CPU on, for those that repeat it */
	size_t same_len;	/* 0: too long for that */
	uint64_t again;		/* how often it has still to come */
	uint64_t seq, tod;	/* of the line; while it repeats: of the last of them */
	uint64_t matched;

	struct cp *cp;
	uint8_t *storage;
	uint64_t stored;	/* bytes since storage was forgotten */
	struct replay_peer peer[IUCV_MAX_USERS];
};

/* line.c */
/** Have the next record in @r->record; false at the end, or if replay has stopped. */
bool replay_need(struct replay *r);
/** The core has written the record that was needed. */
void replay_next(struct replay *r);
/**
 * Let @give give the core the input of the record that is needed: the core
 * writes it, and then the records of what it does about it.
 */
void replay_step(struct replay *r, void (*give)(struct replay *r, const json_t *record));

/* verdict.c */
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
bool replay_host(struct replay *r, struct cp_host *host);
void replay_host_end(struct replay *r);

/* read.c */
const char *replay_call_name(const json_t *record);
/** INPUTS: it is the record of none. */
enum input replay_input_of(const json_t *record);
/** Gives the core an input; its members have been read and checked. */
typedef void replay_give(struct replay *r, const json_t *record, const union input_args *in);
/** Read the members of @input, and @give it; what is missing or wrong ends the replay instead. */
void replay_read(struct replay *r, const json_t *record, enum input input, replay_give *give);

/* configuration.c: make the CP. */
void replay_configuration(struct replay *r, const json_t *record);

/* input.c: give the core what the record says has come from outside. */
void replay_input(struct replay *r, const json_t *record);

/* input_peer.c: @in has been read from @record and checked. */
replay_give replay_logon, replay_logoff, replay_attach, replay_call;
/** A saved state has been loaded: its users take the place of those before. */
void replay_peers_loaded(struct replay *r);
void replay_peers_end(struct replay *r);

/* input_monitor.c */
replay_give replay_timer, replay_tick, replay_manual, replay_deliver, replay_repeat,
	replay_message, replay_event, replay_quiesce, replay_sever;

#endif
