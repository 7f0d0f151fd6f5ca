/* SPDX-License-Identifier: MIT */
/*
 * The *MONITOR system service: areas in the DCSS, data sets, users.
 *
 * Layout of the segment (docs/choices.md): EVENT partition low, SAMPLE
 * partition high; in each the configuration area, then the data area.  Each
 * area begins with the control areas (arrays of monitor control elements, so
 * that they never follow the records they describe), then come 4 KiB frames
 * that are given out as a ring.  A set's frames are used again only when every
 * user has replied or is severed.
 */
#ifndef ZVMLAB_MONITOR_H
#define ZVMLAB_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;
struct state;

#define MON_SERVICE "*MONITOR"
#define MCE_SIZE 12u
/** Most control elements in one control area (a MONWRITE control block holds 338). */
#define MON_MAX_MCES 338u
#define MON_MAX_USERS 16u
/** Highest message limit *MONITOR grants. */
#define MON_MAX_MSGLIM 255u

/** Kinds of data; each has its own area. */
enum mon_kind { MON_SAMPLE_CONFIG, MON_SAMPLE, MON_EVENT_CONFIG, MON_EVENT, MON_KINDS };

/** MCE byte 0 (EBCDIC). */
enum { MCE_SAMPLE = 0xe2, MCE_EVENT = 0xc5 };

/** Monitor domains by number; MCE bytes 1 and 2 are bit vectors over them. */
enum mon_domain {
	MON_SYSTEM, MON_MONITOR, MON_SCHEDULER, MON_STORAGE, MON_USER, MON_PROCESSOR, MON_IO,
	MON_SEEKS, MON_NETWORK, MON_ISFC, MON_APPLDATA, MON_SSI, MON_DOMAINS
};
/** Bit of a domain in a 16-bit vector: byte 1 of the MCE is the high half. */
#define MON_DOMAIN_BIT(domain) ((uint16_t)(0x8000u >> (domain)))

/** One element of a data set that somebody wants delivered. */
struct mon_element {
	uint8_t type;		/**< MCE byte 0 */
	uint16_t domains;	/**< MCE bytes 1 and 2 */
	uint8_t byte3;
	const uint8_t *data;	/**< records; copied into the area */
	uint32_t len;		/**< 1 … size of the data area */
	uint32_t phase;		/**< offset of the first byte in its frame, 0 to 4095 */
};

/** In the trace an element is type, domains, byte 3, phase and len in these bytes; then its data. */
#define MON_TRACE_HEAD 12u
struct mon_head {
	uint8_t bytes[MON_TRACE_HEAD];
};
struct mon_head monitor_head_encode(const struct mon_element *element);
/** @element->data: NULL. */
void monitor_head_decode(const uint8_t head[MON_TRACE_HEAD], struct mon_element *element);

/** Why a set was not delivered to a user. */
enum mon_fate { MON_DELIVERED, MON_LOST_LIMIT, MON_LOST_SPACE, MON_LOST_QUIESCED, MON_NO_USER };

/**
 * Deliver one data set to every connected user that wants its kind.
 *
 * The records are stored into the area of @kind, the control area is built,
 * one message per user is sent (IPRMDATA, MCA start, MCA last byte).
 * A user at its message limit loses the set; if the area has no room, all do.
 *
 * Return: number of the set (from 1), or -1 with one sentence in @err if the
 * set can never be delivered (too large, bad kind, no segment).  @fate, if not
 * NULL, receives the best fate over all users.
 */
int64_t monitor_deliver(struct cp *cp, enum mon_kind kind, const struct mon_element *elements,
			unsigned int count, enum mon_fate *fate, char *err, size_t errlen);

/**
 * Send a message with any two addresses to every connected user, for tests of
 * malformed control areas; nothing is stored.  Same return.
 */
int64_t monitor_message_raw(struct cp *cp, enum mon_kind kind, uint32_t mca_start, uint32_t mca_end,
			    enum mon_fate *fate, char *err, size_t errlen);

/**
 * Deliver the same set again at once whenever a user has fewer than
 * @outstanding messages, @times messages over all users (0: stop).  For rates.
 * The data is stored once and not again; the observer is not told of single
 * messages and replies.  Return: 0 or -1 with @err.
 */
int monitor_repeat(struct cp *cp, enum mon_kind kind, const struct mon_element *elements,
		   unsigned int count, uint32_t outstanding, uint64_t times, char *err,
		   size_t errlen);

/** End the sample interval now: collect what is enabled, deliver it. */
void monitor_tick(struct cp *cp);
/** With true, intervals come only from monitor_tick(). */
void monitor_set_manual(struct cp *cp, bool manual);
/**
 * Record an event if event recording runs and the domain is enabled.
 * @record: complete, header included; length and domain in it must agree, and
 * it is at most 4076 bytes long.  Records gather in a block that is delivered
 * when it is full, one second old, or by monitor_tick().
 *
 * Return: false if it is not recorded (while suspended: counted as lost).
 */
bool monitor_event(struct cp *cp, enum mon_domain domain, const uint8_t *record, uint32_t len);

/** Sever the paths of one user (name, or NULL for all) with IPUSER byte 0 = @code.  Return: paths. */
unsigned int monitor_sever(struct cp *cp, const char *user, uint8_t code);
/**
 * QUIESCE the paths of one user (name, or NULL for all), or RESUME them: the user
 * cannot send any more; sets and replies, of which alone *MONITOR makes use, go on.
 */
unsigned int monitor_quiesce(struct cp *cp, const char *user, bool quiesce);

/** Users that a domain is enabled for: those in the list, or all except those. */
#define MON_MAX_SELECTED 16u
struct mon_selection {
	bool except;
	uint8_t count;
	char name[MON_MAX_SELECTED][9];
};

/** MONITOR SAMPLE|EVENT settings, changed by CP commands. */
struct mon_settings {
	bool active;			/**< START given */
	uint16_t domains;		/**< enabled, MON_DOMAIN_BIT() */
	uint32_t interval_seconds;	/**< sample only; 6 s to 60 min */
	uint32_t pending_interval_seconds;
	uint32_t rate_hundredths;	/**< sample only; high-frequency rate, 0: STOP */
	uint32_t config_pages;		/**< size of the configuration area */
	uint32_t config_limit_seconds;
	uint32_t block;			/**< event only: pages per block */
	uint32_t partition_pages;	/**< event only: 0 = half of the segment */
	struct mon_selection appldata;	/**< while that domain is enabled */
};
bool monitor_selected(const struct mon_selection *selection, const char *user);
/** @event: false for SAMPLE. */
struct mon_settings *monitor_settings(struct cp *cp, bool event);
/** START: 0 recording, 1 pending because nobody is connected. */
int monitor_start(struct cp *cp, bool event);
void monitor_stop(struct cp *cp, bool event);
/**
 * A MONITOR command has changed what is enabled or how (not START and STOP):
 * D1R10 or D1R2 with the text of the command, if recording runs.
 */
void monitor_settings_changed(struct cp *cp, bool event, const char *command);

/** One connected user, for QUERY MONITOR and the control socket. */
struct mon_user_info {
	const char *name;
	uint16_t path;			/**< on the user's side */
	bool sample, event;
	uint32_t limit, outstanding;
	uint64_t delivered, replied, lost;
};
bool monitor_user(const struct cp *cp, unsigned int index, struct mon_user_info *out);
/** Name of the segment in use, "" if none is chosen yet. */
const char *monitor_segment(const struct cp *cp);

/** A set that is still in the segment; addresses are guest absolute, ends inclusive. */
struct mon_set_info {
	uint64_t number;
	enum mon_kind kind;
	uint32_t mca_start, mca_end;
	uint32_t waiting;		/**< users that have not replied yet */
};
/** Return: false once the set's area has been given up. */
bool monitor_set(const struct cp *cp, uint64_t number, struct mon_set_info *out);

struct mon_area_info { uint64_t start, size, used; };
/** Guest absolute address, size and bytes in use of an area; false if no segment. */
bool monitor_area(const struct cp *cp, enum mon_kind kind, struct mon_area_info *out);

#endif
