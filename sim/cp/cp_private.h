/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the core share; nothing outside sim/cp includes it.
 *
 * Each part owns one member, whose structure only that part's files define.
 */
#ifndef CP_PRIVATE_H
#define CP_PRIVATE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "smaller.h"
#include "zvmlab/cp.h"
#include "zvmlab/external.h"
#include "zvmlab/input.h"
#include "zvmlab/kasan.h"
#include "zvmlab/recording.h"
#include "zvmlab/spool.h"
#include "zvmlab/watchdog.h"

struct cp_part;
struct state;

/** The name of this system in its configuration file; of its node as well. */
#define CP_SYSTEM_ID "ZVMLAB"
/** The service that passes messages between users on. */
#define MSG_SERVICE "*MSG"
/** The system operator, who is always logged on. */
#define CP_OPERATOR_ID "OPERATOR"

/** What asks to be woken: a machine's host has one timer for all. */
enum cp_timer_user {
	CP_TIMER_SYSTEM,	/**< of a system that has no clock of its own */
	CP_TIMER_WATCHDOG,
	CP_TIMERS
};

/** A file of pages, which emulators map, and CP's own mapping of it; at NULL: none. */
struct cp_pages {
	int fd;
	uint8_t *at;
};

/** The same of what machines share. */
enum cp_system_timer_user {
	CP_SYSTEM_TIMER_MONITOR,
	CP_SYSTEM_TIMER_SHUTDOWN,	/**< SIGNAL SHUTDOWN WITHIN */
	CP_SYSTEM_TIMERS
};

/** Pages from @first to @last of a segment that the guest has loaded. */
struct cp_overlay {
	uint64_t first, last;
	enum cp_access access;
};

/** Storage in increments, of which some are standby or reserved; storage_standby.c. */
struct cp_standby {
	uint64_t increment;	/**< bytes; 0: none is, and there are only extents */
	uint32_t initial;	/**< increments that the guest has after a reset */
	uint32_t count;		/**< and all of them */
	uint32_t assigned;	/**< those that the guest has */
	uint32_t reserved;	/**< how many cannot be assigned */
	bool attached;		/**< the guest has attached the element behind the initial one */
	bool has[CP_MAX_INCREMENTS];
	uint64_t logon_size, logon_most;	/**< bytes at log-on: initial, and all */
};

/** What of the shadow is to be looked at; kasan.c. */
struct kasan {
	bool on;
	struct kasan_shadow shadow;
	uint32_t reports;	/**< so far */
};

/** What there is once, whatever virtual machines are logged on. */
struct cp_system {
	struct cp_config config;	/**< level, real machine and CPUs, segments, messages, seed */
	struct cp_system_host host;	/**< no functions: its one machine's clock is its own */
	const struct cp_part *const *parts;	/**< in the order of parts.def, then NULL */
	struct cp *machine[CP_MAX_MACHINES];	/**< in the order in which they logged on */
	unsigned int machines;
	bool alone;		/**< made for its one machine, and ends with it */
	bool ending;		/**< with all machines: nobody is left to be told */
	uint64_t ipl_tod;	/**< CP's own IPL: first reset or command; 0: not yet (clock.h) */
	struct cp *recording;	/**< the machine whose trace record is open, or NULL … */
	uint64_t record_tod;	/**< … since this time of it … */
	uint64_t record_clock;	/**< … and this of the system */
	uint32_t calls;		/**< calls of any machine that are under way, one within the other … */
	const char *call;	/**< … and the name of the outermost, while there is one */
	uint64_t order;		/**< number of the last record of all traces */
	uint64_t random;	/**< generator state, for what is no machine's */
	uint64_t timer_due[CP_SYSTEM_TIMERS];	/**< of its clock, 0: none */
	struct iucv *iucv;	/**< users, paths and messages */
	struct dcss_table *dcss;
	struct monitor *monitor;
	struct guests *guests;	/**< those that a test describes, guests/ */
	struct iucv_user *msg;	/**< the *MSG service */
	struct recording *recordings;	/**< *LOGREC, *ACCOUNT, *SYMPTOM and their queues */
	struct spool *spool;	/**< files of users */
	struct shared_disk *shared_disks;	/**< contents of disks, disk/ */
	struct cpcmd_file *filed;	/**< who has filed segments: CP_MAX_SEGMENTS of them */
	struct fault *fault;
	uint8_t *tried;		/**< the image that was loaded last (save.c), NULL: none … */
	size_t tried_len;
	uint64_t tried_around;	/**< … and what it had to fit in with */
};

/** A virtual machine. */
struct cp {
	struct cp_system *system;
	struct cp_config config;
	struct cp_host host;
	const struct cp_part *const *parts;	/**< those of the system */
	uint32_t overlays;
	struct cp_overlay overlay[CP_MAX_SEGMENTS * CP_MAX_RANGES];	/**< storage.c */
	uint64_t overlay_first, overlay_last;	/**< pages that all of them lie between */
	struct cp_standby standby;
	struct kasan kasan;
	bool ipled;
	uint64_t cpus;		/**< that are defined: bit n is CPU n; the base is CPU 0 */
	uint64_t started;	/**< of these, by SIGNAL PROCESSOR, and not stopped since */
	uint64_t random;	/**< generator state, advanced by cp_random() */
	uint64_t logon_tod;	/**< of the system's clock: as cp_system.ipl_tod (clock.h) */
	struct iucv_machine *iucv;	/**< its user of IUCV, buffers and masks */
	uint32_t loaded, exclusive;	/**< saved segments: bit n is that of slot n */
	struct cp_pages own[CP_MAX_SEGMENTS];	/**< copies of them, for each slot */
	struct paging *paging;	/**< pages that are out, page/ */
	struct appldata *appldata;
	struct hmc *hmc;	/**< the HMC's drive, hmc/ */
	struct cmsg *msg;	/**< SET SMSG, and its path to *MSG */
	struct spool_device *unit;	/**< unit record devices, as config.unit */
	struct disk_table *disks;	/**< virtual disks in storage, disk/ */
	struct console *console;	/**< the 3215, console/ */
	struct cpcmd *command;
	struct watchdog watchdog;	/**< DIAGNOSE X'288' */
	uint64_t timer_due[CP_TIMERS];	/**< TOD, 0: none */
	struct trace *trace;
};

/**
 * Open the record of an input (zvmlab/inputs.def) with all its members: TRACE_INPUT(cp,
 * monitor_sever, .user = user, .code = code).  What is not given is 0.  The caller adds
 * results and ends the record with trace_end() or trace_end_result().
 */
#define TRACE_INPUT(cp, id, ...) TRACE_INPUT_AS(cp, id, NULL, __VA_ARGS__)
/** The same for a record of a family, whose name is @call. */
#define TRACE_INPUT_AS(cp, id, call, ...) \
	do { \
		if ((cp)->host.trace) \
			trace_input(cp, INPUT_##id, call, \
				    &(const struct input_##id){ __VA_ARGS__ }); \
		else \
			trace_input_begin(cp, INPUT_##id, call); \
	} while (0)

/** Next number of the machine's seeded generator, which depends on no other machine. */
uint64_t cp_random(struct cp *cp);
/** The same for what no machine is the subject of. */
uint64_t cp_system_random(struct cp_system *system);

/** The guest has these CPUs from now on, and the emulator knows. */
void cp_set_cpus(struct cp *cp, uint64_t cpus);

/** How many CPUs the guest has. */
static inline unsigned int cp_cpu_count(const struct cp *cp)
{
	return (unsigned int)__builtin_popcountll(cp->cpus);
}

static inline struct cp_result cp_pass(void)
{
	return (struct cp_result){ .how = CP_PASS };
}

static inline struct cp_result cp_done(void)
{
	return (struct cp_result){ .how = CP_DONE };
}

static inline struct cp_result cp_cc(uint8_t cc)
{
	assert(cc <= 3);
	return (struct cp_result){ .how = CP_CC, .cc = cc };
}

static inline struct cp_result cp_program(uint16_t pgm)
{
	assert(pgm != 0);
	return (struct cp_result){ .how = CP_PROGRAM, .pgm = pgm };
}

/** Is it the harness' own user ID?  The first letter decides for nearly all others. */
static inline bool cp_is_agent(const char *name)
{
	return name[0] == CP_AGENT_USERID[0] && strcmp(name, CP_AGENT_USERID) == 0;
}

/** How many of @len bytes at @addr lie in its page. */
static inline size_t cp_in_page(uint64_t addr, size_t len)
{
	return smaller(len, CP_PAGE_SIZE - (addr & (CP_PAGE_SIZE - 1)));
}

/*
 * Time stands still within a trace record: its TOD is all that a replay knows
 * of the clock.
 */
static inline uint64_t cp_tod(struct cp *cp)
{
	return cp->system->recording ? cp->system->record_tod : cp->host.tod(cp->host.opaque);
}

/** The time of what machines share: *MONITOR, messages, accounting, files. */
static inline uint64_t cp_system_tod(struct cp *cp)
{
	const struct cp_system *system = cp->system;

	if (!system->host.tod)
		return cp_tod(cp);
	return system->recording ? system->record_clock : system->host.tod(system->host.opaque);
}

/** A line on the operator's console: observers of all machines see it, as none of them is his. */
void cp_notify_operator(struct cp *cp, const char *line);
/** The host's functions of these names, traced. */
void cp_kick(struct cp *cp, unsigned int cpu);
/** The host is told the earliest requested time. */
void cp_set_timer(struct cp *cp, enum cp_timer_user user, uint64_t tod);
/** The same for what machines share, in their time. */
void cp_set_system_timer(struct cp *cp, enum cp_system_timer_user user, uint64_t tod);

/** The system's host's in_directory and start, traced; false without. */
bool cp_in_directory(struct cp *cp, const char *userid);
bool cp_start(struct cp *cp, const char *userid);

/** Whichever CPU may take an interruption of zvmlab/external.h looks for one. */
void cp_external_kick(struct cp *cp);

/**
 * What a part of the CP does when the whole is made, reset, saved …; what it
 * does not need is NULL.  parts.def lists all parts and says in which order.
 */
struct cp_part {
	/** The system is made, which has no machine yet: as init. */
	int (*init_system)(struct cp_system *system, char *err, size_t errlen);
	/** It ends, and has no machines any more. */
	void (*fini_system)(struct cp_system *system);
	/**
	 * A machine logs on, which is not in the system's table yet; cp->config is set.
	 * Return: 0, or -1 with one sentence in @err; may allocate.
	 */
	int (*init)(struct cp *cp, char *err, size_t errlen);
	/** It is gone: it has been reset and is in the table no more, or the system is ending. */
	void (*fini)(struct cp *cp);
	/** System reset of the guest. */
	void (*reset)(struct cp *cp);
	/** CPU reset; @cpu exists. */
	void (*reset_cpu)(struct cp *cp, unsigned int cpu);
	/**
	 * Saves or loads: zvmlab/state.h.  On loading, the parts above have been loaded.  First
	 * what the part has of the system, for which any machine is given, then of each machine.
	 */
	void (*state_system)(struct cp *cp, struct state *state);
	void (*state)(struct cp *cp, struct state *state);
	/** Has it an external interruption of zvmlab/external.h for CPU @cpu?  NULL: never. */
	bool (*external_pending)(const struct cp *cp, unsigned int cpu);
	/** Take it: subcode and parameters; in a record of the trace. */
	void (*external_take)(struct cp *cp, unsigned int cpu, struct cp_external *external);
	/** The time asked for by cp_set_timer() has come.  Return: false if the TOD says not yet. */
	bool (*timer)(struct cp *cp);
	/** The same for cp_set_system_timer(); @cp: any machine, which records it. */
	bool (*system_timer)(struct cp *cp);
	/** May CPU @cpu take no interruption of zvmlab/external.h for now? */
	bool (*external_held)(const struct cp *cp, unsigned int cpu);
	/** Is a user of that name, of up to 8 characters, logged on? */
	bool (*logged_on)(const struct cp *cp, const char *name);
	/** A user logs on, or off; in a record of the trace. */
	void (*logon)(struct cp *cp, const char *userid);
	void (*logoff)(struct cp *cp, const char *userid);
	/** The guest is about to lose the storage from @first to @last. */
	void (*purged)(struct cp *cp, uint64_t first, uint64_t last);
	/** Last byte that the part has defined above the guest's storage, 0 without one. */
	uint64_t (*highest)(const struct cp *cp);
	/** A line of CP's on the guest's console; in a record of the trace, not always this machine's. */
	void (*console_line)(struct cp *cp, const char *text);
	/** All fields of a rule, which may be one that is refused, for the trace. */
	void (*trace_rule)(struct cp *cp, const struct fault_rule *rule);
};

/** The machine of that user ID, if it is logged on; else NULL. */
static inline struct cp *cp_machine_of(const struct cp_system *system, const char *userid)
{
	for (unsigned int i = 0; i < system->machines; i++)
		if (strcmp(system->machine[i]->config.userid, userid) == 0)
			return system->machine[i];
	return NULL;
}

/* parts.c: asks or tells all parts, whichever stands above or below. */
bool parts_external_held(const struct cp *cp, unsigned int cpu);
/** Is a user of that name logged on: the guest, a peer, a modelled guest or the operator? */
bool parts_logged_on(const struct cp *cp, const char *name);
void parts_logon(struct cp *cp, const char *userid);
void parts_logoff(struct cp *cp, const char *userid);
void parts_purged(struct cp *cp, uint64_t first, uint64_t last);
uint64_t parts_highest(const struct cp *cp);
void parts_console_line(struct cp *cp, const char *text);
void parts_trace_rule(struct cp *cp, const struct fault_rule *rule);
/** Saves or loads all parts. */
void parts_state(struct cp_system *system, struct state *state);

#define CP_PART(name) extern const struct cp_part name##_part;
#include "parts.def"
#undef CP_PART

/**
 * storage.c: what lies over the guest's own storage.  Clear it, then add a range of pages with
 * what the guest may do there; a page is in one range at most.
 */
void storage_overlay_clear(struct cp *cp);
void storage_overlay_add(struct cp *cp, uint64_t first, uint64_t last, enum cp_access access);
/** The access that the overlay allows at an address; CP_ACCESS_NONE where nothing lies. */
enum cp_access storage_overlay(const struct cp *cp, uint64_t addr);
/** Last byte of the overlay; 0 if it is empty. */
uint64_t storage_overlay_last(const struct cp *cp);

/** The guest has not yet used the page at @host, or needs it no more: it is zero from now on. */
void storage_clear_page(struct cp *cp, int cpu, uint64_t addr, void *host);

/* storage_standby.c: increments, which count from 0. */
/** As the configuration says; the guest has the initial ones. */
void storage_standby_define(struct cp *cp);
void storage_standby_reset(struct cp *cp);
void storage_standby_state(struct cp *cp, struct state *state);
/** How many can be assigned. */
uint32_t storage_standby_left(const struct cp *cp);
/** The guest gets it, or loses it; that can be done. */
void storage_assign(struct cp *cp, uint32_t number);
void storage_unassign(struct cp *cp, uint32_t number);
/** Bytes up to the last that may ever be the guest's. */
uint64_t storage_most(const struct cp *cp);

/* msg.c for commands: MSG, SMSG, MSGNOH and WARNING to a user; 0 or CP's message number. */
enum msg_kind { MSG_PLAIN, MSG_SPECIAL, MSG_NO_HEADER, MSG_WARNING };
int msg_send(struct cp *cp, const char *from, const char *to, const char *text,
	     enum msg_kind kind);
/** SET SMSG OFF|ON|IUCV of the guest: 0, 1, 2. */
void msg_set_smsg(struct cp *cp, unsigned int mode);
unsigned int msg_smsg(const struct cp *cp);
/** SET MSG and SET WNG: does it take messages of that kind, which is MSG_PLAIN or MSG_WARNING? */
void msg_set(struct cp *cp, enum msg_kind kind, bool on);
/** What machine @from of another system has set; @cp has its paths already. */
void msg_take_over(struct cp *cp, const struct cp *from);
bool msg_is_set(const struct cp *cp, enum msg_kind kind);

/*
 * Devices of zvmlab/unit.h: index of one among those of its kind, or -1; what cp_unit_way() and
 * cp_unit_length() answer; what cp_unit() does within its record.
 */
int spool_unit(const struct cp *cp, uint16_t device);
/** Take it from the guest; its file is closed. */
void spool_detach(struct cp *cp, unsigned int unit);
enum cp_unit_way spool_unit_way(const struct cp *cp, unsigned int unit, uint8_t command);
uint32_t spool_unit_length(const struct cp *cp, unsigned int unit);
void spool_unit_io(struct cp *cp, unsigned int unit, struct cp_unit_io *io);
int disk_index(const struct cp *cp, uint16_t device);
enum cp_unit_way disk_way(uint8_t command);
uint32_t disk_length(const struct cp *cp, unsigned int index, uint8_t command);
void disk_channel_io(struct cp *cp, unsigned int index, struct cp_unit_io *io);
bool console_is(const struct cp *cp, uint16_t device);
enum cp_unit_way console_way(uint8_t command);
void console_io(struct cp *cp, struct cp_unit_io *io);

/** Settings of TERMINAL. */
enum cpcmd_term {
	TERM_LINEND, TERM_LINEDEL, TERM_CHARDEL, TERM_ESCAPE, TERM_TABCHAR, TERM_LINESIZE,
	TERM_ATTN, TERM_APL, TERM_TEXT, TERM_MODE, TERM_HILIGHT, TERM_CONMODE, TERM_BREAKIN,
	TERM_BRKKEY, TERM_SCRNSAVE, TERM_AUTOCR, TERM_MORE, TERM_MORE_CLEAR, TERM_HOLD,
	TERM_TIMESTAMP, TERM_SYS3270, TERM_PROMPT, TERM_SETTINGS
};
/** A character, or 0 for OFF; a number, or 0 for OFF; 0 for OFF and 1 for ON. */
uint16_t cpcmd_terminal_value(const struct cp *cp, enum cpcmd_term setting);

/** Changes by RECORDING at the queues of a service. */
struct rec_change {
	enum rec_service service;
	const char *userid;	/**< whose queue; NULL: all */
	bool on, off, purge;
	bool has_limit;
	uint16_t limit;		/**< 0 to REC_MAX_LIMIT */
};
/* recording.c for commands. */
/** Return: number of queues that stay as they are, since records keep them from being on. */
unsigned int recording_switch(struct cp *cp, const struct rec_change *change);
/** Has the user a queue?  Make one; false if there is no room. */
bool recording_known(struct cp *cp, enum rec_service service, const char *userid);
bool recording_make(struct cp *cp, enum rec_service service, const char *userid);
/** Make an accounting record of what a user has used so far. */
void recording_account(struct cp *cp, const char *userid, const char *account);

#endif
