/* SPDX-License-Identifier: MIT */
/*
 * Other virtual machines, as a test describes them: they do not run, but CP reports on them.
 * One that is logged off stands in the user directory, and that is all.
 *
 * Whoever may ask is told of them by DIAGNOSE X'2FC' and QUERY NAMES; messages to them go to
 * their consoles.  Their times go on with CP's clock.
 */
#ifndef ZVMLAB_GUESTS_H
#define ZVMLAB_GUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"

struct cp;

/** Most guests that can be described. */
#define GUESTS_MAX 64u
/** Largest share of a CPU, relative. */
#define GUESTS_SHARE_MAX 10000u
/** The states of a sampled guest, in the order of X'2FC'; the last is their sum. */
enum { GUESTS_CPU_USE, GUESTS_CPU_DELAY, GUESTS_PAGE_WAIT, GUESTS_IDLE, GUESTS_OTHER, GUESTS_TOTAL,
       GUESTS_SAMPLES };

/** CP's facts on a guest. */
struct guest_data {
	char name[CP_NAME_LEN + 1];
	char group[CP_NAME_LEN + 1];	/**< of access control, "": none */
	uint64_t cpu_us, online_us;	/**< CPU time of all its CPUs, time since it logged on */
	uint64_t storage_min, storage_max, storage_share, storage_used;	/**< KiB */
	uint32_t physical, logical;	/**< CPUs of the machine, of CP's partition */
	uint32_t cpus, operating;	/**< virtual ones, those that are not stopped */
	uint32_t share_max, share;
	uint8_t capped;			/**< 0 no, 1 soft, 2 hard */
	bool dedicated;
	uint32_t sample[GUESTS_SAMPLES];
};

/** A guest that a test describes, with its times as they are now. */
struct guest_description {
	const char *name;		/**< a user ID, not the guest's own */
	const char *group;		/**< of access control; NULL or "": none */
	uint64_t cpu_us, online_us;
	uint32_t cpu_percent;		/**< how fast its CPU time goes on; 100: one CPU */
	uint64_t storage_min, storage_max, storage_share, storage_used;
	uint32_t cpus, operating, share_max, share;
	uint8_t capped;
	bool dedicated;
	uint32_t cpu_use, cpu_delay, page_wait, idle, other;
	bool logged_off;		/**< in the directory only, until XAUTOLOG logs it on */
};

/**
 * Describe a guest, or describe it anew.
 * Return: 0, or -1 with one sentence in @err; then nothing has changed.
 */
int guests_describe(struct cp *cp, const struct guest_description *description, char *err,
		    size_t errlen);
/** Return: was there a guest of that name? */
bool guests_forget(struct cp *cp, const char *name);

/** Has a guest of that name been described, and is it logged on? */
bool guests_described(const struct cp *cp, const char *name);
/** … and is it logged off? */
bool guests_logged_off(const struct cp *cp, const char *name);
/**
 * Is there an entry of the user directory: of a user who is logged on, or has been described, or of
 * whom the system's host says so?
 */
bool guests_in_directory(struct cp *cp, const char *name);
/** Log a described user on that is not; in a record of the trace. */
void guests_log_on(struct cp *cp, const char *name);
/** Log a described user off that is logged on; in a record of the trace. */
void guests_log_off(struct cp *cp, const char *name);
/** Name of the @index-th, NULL past the last. */
const char *guests_name(const struct cp *cp, unsigned int index);

/**
 * What CP says of a user that is logged on, at present: of a machine, of a guest that is
 * described, and of a user without a virtual machine, whose values are zero.
 */
void guests_data(struct cp *cp, const char *name, struct guest_data *data);
/** Calls @each with the name of every user that is logged on, once, the machines' first. */
void guests_all(struct cp *cp, void (*each)(void *opaque, const char *name), void *opaque);

#endif
