/* SPDX-License-Identifier: MIT */
/*
 * A CP and all that is around it, for fuzz targets: an emulator that checks what it is asked for,
 * CPUs with prefixes, peers with storage of their own, and the model of IUCV beside it.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "held.h"
#include "model_iucv.h"
#include "zvmlab/cp.h"
#include "zvmlab/event.h"

#define WORLD_STORAGE 0x200000u
#define WORLD_STORAGE_OWN 0x100000u	/* the guest's */
#define WORLD_PEERS (MODEL_USERS - 1)
#define WORLD_CPUS MODEL_CPUS
#define WORLD_HEAD 8		/* bytes of an input */
/* Where parameter lists of the guest's CPUs are put. */
#define WORLD_PARM 0x1000u

/* What a peer does by itself with what it is told. */
enum {
	PEER_ACCEPTS = 1, PEER_SEVERS = 2, PEER_RECEIVES = 4, PEER_REPLIES = 8, PEER_REJECTS = 16,
	PEER_SEVERS_BACK = 32, PEER_ANSWERS = 64,
};

struct world_peer {
	struct iucv_user *user;		/* NULL: not logged on */
	unsigned int index;		/* in the model */
	uint8_t policy;
	uint8_t length;			/* of its own areas */
	struct ctl_held_list held;
};

/* A virtual machine: the guest, or its neighbour in the same system. */
struct world_machine {
	struct cp *cp;			/* NULL: not logged on */
	uint8_t *storage;		/* from WORLD_STORAGE_OWN on the guest's: segments */
	bool *stored;			/* pages: the CP or an input has stored there */
	uint64_t cpus;			/* bit n: it has CPU n */
	uint64_t prefix[WORLD_CPUS];
	bool kicked[WORLD_CPUS], could[WORLD_CPUS];
};

struct world {
	struct cp *cp;			/* of @machine[0], but for world_neighbour() */
	struct cp_system *system;	/* NULL: the guest is alone */
	struct world_machine machine[2], *of;
	struct cp_config config_of_neighbour;
	struct cp_host host;
	uint64_t system_timer;
	struct cp_config config;
	unsigned int cpus;
	bool keep;			/* only what the model knows is done */
	bool whole;			/* all of storage is compared in the end */
	bool spool;			/* the directory has SPOOL statements: 00C, 00D, 00E */
	uint64_t gr[16];
	uint64_t tod, timer;
	void (*observe)(const struct cp_event *event);	/* or NULL */
	unsigned int calls;		/* of peers, from within events */
	unsigned int loads;
	struct world_peer peer[WORLD_PEERS];
	struct model model, saved_model;
	uint8_t *image;			/* saved, or NULL */
	size_t image_len;
	unsigned int saved_users;
	uint32_t saved_paths[WORLD_PEERS];	/* of peers, when it was saved */
	uint32_t ids[8];		/* of messages, the last that were seen */
	unsigned int seen;
};

extern struct world world;
extern const char *const world_peer_names[WORLD_PEERS];

/** Create it, by the head of an input. */
void world_start(const uint8_t head[WORLD_HEAD]);
void world_end(void);
/** One sentence on standard error, and abort. */
__attribute__((noreturn, format(printf, 1, 2))) void world_fail(const char *format, ...);

/** Storage of the guest, absolute; what is put there is taken away in the end. */
void world_poke(uint32_t addr, const void *bytes, uint32_t len);
const uint8_t *world_at(uint32_t addr);

/** A function of the guest with a decoded parameter list; with the model beside it. */
void world_guest_call(unsigned int cpu, enum iucv_function function, const struct iucv_parm *parm);
/** The same for a peer, whose areas have these lengths; @seed: its bytes. */
void world_peer_call(struct world_peer *peer, enum iucv_function function,
		     const struct iucv_parm *parm, uint32_t len, uint32_t answer_len, uint8_t seed);
/** One of the CPUs that the machine has, chosen by any number. */
unsigned int world_cpu(unsigned int any);
/** An interruption is taken, if one is pending. */
void world_take(unsigned int cpu);
void world_logon(unsigned int peer, unsigned int max_paths);
void world_logoff(unsigned int peer);
void world_save(void);
/** Load what was saved; with @tampered bytes of it changed by @changes: offset, value. */
void world_load(const uint8_t *changes, unsigned int tampered, bool cut);

/** The neighbour is there: from now on the guest is meant by nothing, and it by all; or back. */
bool world_neighbour(bool on);
/** It logs on, or off. */
void world_neighbour_logon(void);
void world_neighbour_logoff(void);

/** After every step. */
void world_check(void);

/* world_check.c: the core's tables agree with each other.  @deep: those of *MONITOR, too. */
void check_tables(struct cp *cp, bool deep);

#endif /* WORLD_H */
