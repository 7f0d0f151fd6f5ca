/* SPDX-License-Identifier: MIT */
/* This machine, as far as the memory for statistics is concerned. */
#ifndef DMMON_MACHINE_H
#define DMMON_MACHINE_H

#include "dms_memory.h"

/* Asks sysfs and /proc.  Return: false if they do not say all of it. */
bool machine_read(struct dms_machine *machine);

/* Nanoseconds since the machine was started, by the clock that the kernel times I/Os with. */
uint64_t machine_now(void);

#endif
