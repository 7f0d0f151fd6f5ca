/* SPDX-License-Identifier: MIT */
/*
 * What a port does with its machine at a client's request (the commands machine-…).  None of it is
 * an input of the core, which does not know whether its machine runs.
 */
#ifndef CTL_MACHINE_H
#define CTL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctl;

/** Called within ctl_dispatch(), in no call of the core.  Return: 0, or -1 with one sentence in @err. */
struct ctl_machine {
	/** Stop all CPUs between two instructions, and the guest's clocks; no error if they stand. */
	int (*pause)(void *opaque, char *err, size_t errlen);
	/** Let them run; no error if they do. */
	int (*go_on)(void *opaque, char *err, size_t errlen);
	/** Pause the machine, and put it where it stood when it was saved to @file. */
	int (*restore)(void *opaque, const char *file, char *err, size_t errlen);
	/** The guest's clocks jump over time in which all CPUs wait, by @ns in all; 0: no more. */
	int (*pass)(void *opaque, uint64_t ns, char *err, size_t errlen);
	/** Do the CPUs run? */
	bool (*runs)(void *opaque);
	/** Nanoseconds by which the clocks may still jump. */
	uint64_t (*left)(void *opaque);
};

/** From now on; @machine stays the caller's.  Without it such requests fail. */
void ctl_set_machine(struct ctl *ctl, const struct ctl_machine *machine, void *opaque);

#endif
