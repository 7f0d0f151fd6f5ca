/* SPDX-License-Identifier: MIT */
/* This machine, as far as the memory for statistics is concerned. */
#ifndef DMMON_MACHINE_H
#define DMMON_MACHINE_H

#include "dms_memory.h"
#include "dms_owner.h"

/* Asks sysfs and /proc.  Return: false if they do not say all of it. */
bool machine_read(struct dms_machine *machine);

/* The PID namespace of this process, by its inode; 0 if it is not known. */
uint64_t machine_pid_namespace(void);

/* Read /proc about the process of this number.  Return: false if there is no /proc. */
bool machine_process(uint64_t pid, struct dms_process *process);

/* Nanoseconds since the machine was started, by the clock that the kernel times I/Os with. */
uint64_t machine_now(void);

#endif
