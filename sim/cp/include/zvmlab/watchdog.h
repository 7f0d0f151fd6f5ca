/* SPDX-License-Identifier: MIT */
/* The time bomb of DIAGNOSE X'288': a CP command that comes unless the guest puts it off. */
#ifndef ZVMLAB_WATCHDOG_H
#define ZVMLAB_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "zvmlab/command.h"

struct cp;

/** Shortest interval in seconds (Linux, drivers/watchdog/diag288_wdt.c). */
#define WATCHDOG_MIN_SECONDS 15u

struct watchdog {
	bool active;
	bool conceal;		/**< CONCEAL was asked for */
	uint32_t seconds;	/**< interval */
	uint64_t due;		/**< TOD at which it goes off */
	uint8_t length;		/**< of the command */
	char command[CPCMD_MAX_COMMAND + 1];
};

const struct watchdog *watchdog_of(const struct cp *cp);

/** It goes off now.  Return: false if none is set. */
bool watchdog_expire(struct cp *cp);

#endif
