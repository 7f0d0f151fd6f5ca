/* SPDX-License-Identifier: MIT */
/*
 * Who made a region for a time, and whether that process is gone.
 *
 * The auxiliary data are "watch-PID-TIME-NAMESPACE": the process by its number, when it made the
 * region (nanoseconds of CLOCK_MONOTONIC), and the PID namespace in which it has that number, by
 * its inode.  A process that lives longer than the region, and has the number, is the one.
 */
#ifndef DMS_OWNER_H
#define DMS_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dms_owner {
	uint64_t pid;
	uint64_t made_ns;
	uint64_t pid_namespace;	/**< 0: not known */
};

/** Room for the auxiliary data of an owner. */
#define DMS_OWNER_SIZE sizeof("watch-18446744073709551615-18446744073709551615-18446744073709551615")

void dms_owner_write(const struct dms_owner *owner, char *aux, size_t size);

/** False, @owner untouched, if these auxiliary data are of nobody who makes regions for a time. */
bool dms_owner_read(const char *aux, struct dms_owner *owner);

/** The process that has the number now. */
struct dms_process {
	uint64_t pid_namespace;	/**< of who looks; 0: not known */
	bool there;
	bool ended;		/**< there is only its status left */
	bool is_dmmon;		/**< by its name */
	uint64_t begin_ns;	/**< of CLOCK_MONOTONIC, not later than it began */
};

enum dms_owner_state {
	DMS_OWNER_LIVES,	/**< or somebody who cannot be told from it */
	DMS_OWNER_GONE,
	DMS_OWNER_UNKNOWN,	/**< of another namespace, or it is not known of which */
};

enum dms_owner_state dms_owner_judge(const struct dms_owner *owner,
				     const struct dms_process *process);

#endif
