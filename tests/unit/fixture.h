/* SPDX-License-Identifier: MIT */
/*
 * A CP on a fake emulator, for unit tests: guest storage is an array, the TOD
 * a variable, kicks and events are counted.  Or a system of several machines,
 * of which the functions and fx mean one at a time (fx_use).
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "ebcdic.h"
#include "unit_test.h"
#include "zvmlab/cp.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"

/*
 * Check writes to a file which assertion it has come to, at each of them: two thirds of
 * the time that these tests would take.  Where a test crashed the sanitizers tell.
 */
#define _mark_point(file, line) ((void)0)

/* Emulator storage: 16 MiB; guest: 0-4 MiB and 12-14 MiB; MONDCSS at 8-10 MiB SC RSTD. */
#define FX_STORAGE (16u << 20)
#define FX_SEGMENT_START 0x800000u
#define FX_SEGMENT_END 0x9fffffu
#define FX_MAX_TRACE 65536

/* A page is held against what the port was told while only CP can have stored into it. */
enum fx_page { FX_UNUSED, FX_CP, FX_TEST };

struct fixture {
	struct cp *cp;
	struct cp_config config;	/* as given to cp_create */
	uint8_t *storage;
	bool shared;			/* segments from FX_SEGMENT_START on are all machines' */
	bool no_windows;		/* the emulator cannot show what is in a segment */
	uint8_t *told;			/* what the port has been told of it */
	uint8_t page[FX_STORAGE / CP_PAGE_SIZE];	/* enum fx_page */
	bool file[FX_STORAGE / CP_PAGE_SIZE];	/* the page is one of a file: a window */
	uint64_t prefix[CP_MAX_CPUS];
	uint64_t tod;
	uint64_t timer;			/* last set_timer */
	uint64_t gr[16];		/* registers used by fx_iucv, fx_diag */
	unsigned int kicks[CP_MAX_CPUS];
	unsigned int externals[CP_MAX_CPUS];	/* the same for cp_host.external */
	unsigned int storage_changes;
	unsigned int page_changes[2];	/* pages that came in, that went out */
	unsigned int released;		/* pages that the emulator took back */
	bool keeps_pages;		/* it cannot */
	uint64_t cpus;		/* that the emulator was told of, bit n is CPU n */
	unsigned int machine[CP_MACHINE_REQUESTS];	/* requests to the emulator */
	unsigned int events[CP_EVENT_KINDS];
	struct cp_event last_event;	/* name and text point into the two below */
	char last_name[64], last_text[256];
	struct {
		char name[64], text[256];
		uint64_t value;
	} last[CP_EVENT_KINDS];		/* the last event of each kind */
	char shown[16384];		/* by its console: cp_host.console */
	size_t shown_len;
	char *head;			/* what cp_create() wrote into the trace */
	char *trace;			/* lines since then, each ended by '\n' */
	size_t trace_len, trace_room;
	FILE *recording;		/* all of the trace, to be replayed */
};

/* The clock of a system, which is no machine's. */
#define FX_CLOCK UINT64_C(0xe000000000000000)
struct fx_clock {
	struct cp_system *system;
	uint64_t tod;
	uint64_t timer;			/* last set_timer */
	char directory[64];		/* user IDs, each between blanks */
	bool busy;			/* the last machines have not ended */
	char started[CP_NAME_LEN + 1];	/* the last that has been started */
};
extern struct fx_clock fx_clock;

extern struct fixture *fx_now;
#define fx (*fx_now)
extern bool fx_replay;
/* Message blocks of the next CP; 0: as configured.  Many cost time where many CPs are made. */
extern uint32_t fx_messages;
/* The next CP's emulator presents no interruption of CP's own. */
extern bool fx_no_external;

/* Checked fixtures.  fx_setup: defaults above, one CPU. */
void fx_setup(void);
void fx_teardown(void);
/* Set up with further options, pairs of key and value ended by NULL. */
void fx_setup_with(const char *const *options);

/*
 * A system without machines, instead of fx_setup; then up to FX_MACHINES that log on, with further
 * options, in any order: @machine is its index.  fx_teardown ends it with those that are left.
 */
#define FX_MACHINES 3
void fx_system(const char *const *options);
void fx_logon(unsigned int machine, const char *userid, const char *const *options);
void fx_logoff(unsigned int machine);
/* From now on, fx and all functions are those of this machine. */
void fx_use(unsigned int machine);

/* B2F0 on @cpu: GR0 = function, GR1 = address of the parameter list. */
struct cp_result fx_iucv(unsigned int cpu, uint32_t function, uint64_t parm);
/* DIAGNOSE r1,r3,code in AMODE 64, supervisor state; uses fx.gr. */
struct cp_result fx_diag(unsigned int r1, unsigned int r3, uint16_t code);

/*
 * Guest storage, real = absolute, or what a segment has there that the guest has not loaded; fail
 * the test outside the array, and if CP has stored something there that it has not told the port of
 * (cp_host.dirty).
 */
uint8_t *fx_at(uint64_t addr, size_t len);
void fx_put_name(uint64_t addr, const char *name);

/* Arm a rule, which CP must accept; return: its number. */
int fx_arm(const struct fault_rule *rule);
/* The same for each call at @at on any path, or for those that the members after @what say. */
#define ck_arm(at, what, ...) \
	fx_arm(&(const struct fault_rule){ .point = (at), .path = FAULT_ANY_PATH, .kind = (what), \
					   __VA_ARGS__ })

/* The CP's image, to be freed; load one, which CP must accept. */
uint8_t *fx_save(size_t *len);
void fx_load(const uint8_t *image, size_t len);

/* Declare a buffer on @cpu at 0x2000 + cpu * 64 and open all masks. */
void fx_declare(unsigned int cpu);
/* Take an interruption on @cpu: its 40 bytes, or NULL if none is pending. */
const uint8_t *fx_take(unsigned int cpu);

/* With FX_REPLAY_TRACES: the trace of the @index-th machine that has logged on, to be freed. */
char *fx_recorded(unsigned int index);
/* What was recorded so far is not replayed, and nothing more of these machines is recorded. */
void fx_drop_recordings(void);

/*
 * The tests of this file run with trace-data=full; after each of them sim/replay gets its trace and
 * must find no difference.  For tests that use the CP's entry points only.
 */
#define FX_REPLAY_TRACES \
	__attribute__((constructor)) static void fx_replay_traces(void) \
	{ \
		fx_replay = true; \
	} \
	extern bool fx_replay

#define ck_cc(result, expected) \
	do { \
		struct cp_result ck_r = (result); \
		ck_assert_int_eq(ck_r.how, CP_CC); \
		ck_assert_int_eq(ck_r.cc, (expected)); \
	} while (0)
#define ck_pgm(result, expected) \
	do { \
		struct cp_result ck_r = (result); \
		ck_assert_int_eq(ck_r.how, CP_PROGRAM); \
		ck_assert_int_eq(ck_r.pgm, (expected)); \
	} while (0)

#endif
