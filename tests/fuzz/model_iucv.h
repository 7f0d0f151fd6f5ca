/* SPDX-License-Identifier: MIT */
/*
 * A model of IUCV's paths and messages: what a function answers, and what waits to be told.
 *
 * Written from docs/choices.md and the fields that Linux reads, not from sim/cp, and built in
 * another way: messages and events are flat arrays, their order is a stamp.  It covers users, all
 * functions, masks and resets; not faults, services, lists of areas, or areas that cannot be used.
 */
#ifndef MODEL_IUCV_H
#define MODEL_IUCV_H

#include <stdbool.h>
#include <stdint.h>

#include "zvmlab/iucv.h"

#define MODEL_USERS 4		/* the guest is 0 */
#define MODEL_PATHS 8
#define MODEL_CPUS 4
#define MODEL_MESSAGES 64
#define MODEL_EVENTS (MODEL_USERS * MODEL_PATHS * 3 + MODEL_MESSAGES)
/* A code that no function gives: the condition code alone. */
#define MODEL_NO_CODE 0

struct model_statement {
	char name[9];		/* ends a list: "" */
	uint16_t msglimit;
	bool priority;
};

struct model_path {
	enum iucv_path_state state;
	unsigned int partner_user, partner_path;
	char partner[9];
	uint8_t flags;
	uint16_t limit;
	bool quiesced;		/* by this side */
	bool asked;		/* the other side has connected, this one has not accepted */
	bool told;		/* connection pending has been presented */
};

struct model_user {
	bool here;
	char name[9];
	unsigned int max_paths;
	struct model_path path[MODEL_PATHS];
};

enum model_stage { MODEL_NONE, MODEL_SENT, MODEL_BEGUN, MODEL_RECEIVED, MODEL_DONE, MODEL_PURGED };

struct model_message {
	enum model_stage stage;
	uint64_t stamp;		/* when it came to this stage */
	uint64_t born;		/* when it was sent: no other message has this */
	bool known;		/* id has been seen */
	bool told, rmreply, orphan;	/* orphan: the target has severed */
	uint32_t id, trgcls, srccls, msgtag;
	unsigned int user, path, to_user, to_path;
	uint8_t flags;
	uint8_t rmmsg[8];
	uint32_t length, received, answer, residual, audit;
	struct iucv_area area;	/* of the sender, as it was given */
};

struct model_event {
	bool here;
	uint64_t stamp;
	unsigned int user;
	enum iucv_type type;
	unsigned int path;	/* control events */
	uint8_t ipuser[16];
	int message;		/* -1: control */
};

struct model_cpu {
	bool declared;
	uint32_t buffer;
	uint8_t mask, control;
};

struct model {
	bool lost;		/* something happened that it does not know: it says nothing */
	unsigned int cpus, blocks;
	const struct model_statement *directory;
	struct model_user user[MODEL_USERS];
	struct model_message message[MODEL_MESSAGES];
	struct model_event event[MODEL_EVENTS];
	struct model_cpu cpu[MODEL_CPUS];
	uint64_t clock;
};

/* What is expected of a call. */
struct model_answer {
	bool modelled;		/* false: nothing is expected */
	uint8_t cc;
	uint64_t codes[4];	/* cc 1: bit for each IPRCODE that would do */
	int message;		/* the message it is about, or -1 */
	uint64_t born;		/* SEND: that message, which may be gone when the call returns */
	struct iucv_parm parm;	/* fields of it that the function fills in */
};

void model_start(struct model *m, unsigned int cpus, unsigned int blocks,
		 const struct model_statement *directory);
void model_logon(struct model *m, unsigned int user, const char *name, unsigned int max_paths);
void model_logoff(struct model *m, unsigned int user);
/** A function is about to be called; @cpu counts for the guest.  The model goes on at once. */
struct model_answer model_call(struct model *m, unsigned int user, unsigned int cpu,
			       enum iucv_function function, const struct iucv_parm *parm);
/** Takes the event that @user is to be told next, of those that @types allow; false: none. */
bool model_take(struct model *m, unsigned int user, uint16_t types, struct iucv_event *event,
		int *message);
/** The id of a message has been seen. */
void model_identify(struct model *m, int message, uint32_t id);
/** Bit n: CPU may take type n. */
uint16_t model_types(const struct model *m, unsigned int cpu);
bool model_pending(const struct model *m, unsigned int user, uint16_t types);
void model_reset(struct model *m);
void model_reset_cpu(struct model *m, unsigned int cpu);
unsigned int model_waiting(const struct model *m, unsigned int user);
/** Messages that @user has sent on @path and that count. */
unsigned int model_outstanding(const struct model *m, unsigned int user, unsigned int path);

#endif /* MODEL_IUCV_H */
