/* SPDX-License-Identifier: MIT */
/*
 * A system: one CP, and a socket at which emulators make their machines members of it
 * (cp_member.h).  One thread; nothing here waits for a machine.
 */
#ifndef SYSTEM_PROCESS_H
#define SYSTEM_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"

struct sys;

/** The host's time of day as a TOD clock. */
uint64_t sys_time_of_day(void);

/**
 * Create the system, which nobody can connect to yet.
 *
 * @config: as for cp_system_create().  @tod: CP's own clock, which no machine's has to agree with.
 * @starts: as for sys_add_user(); it stays the caller's.  @turn_ns: machines take turns of so many ns
 * of their own time, when orders ask for it (turns.c); 0: they run as they like.
 * Return: NULL with one sentence in @err.
 */
struct sys *sys_open(const struct cp_config *config, uint64_t (*tod)(void), int starts,
		     uint64_t turn_ns, char *err, size_t errlen);

/**
 * Create the system's socket, of mode 0600, once.  Whoever sees it may start a machine: what can be
 * refused has been by then.
 *
 * Return: 0, or -1 with one sentence in @err.
 */
int sys_listen(struct sys *sys, const char *path, char *err, size_t errlen);

/**
 * The directory has one more user, who need not be logged on.  XAUTOLOG of one who is not writes a
 * line "start NAME" to the descriptor @starts of sys_open(): whoever reads it starts the machine.
 *
 * @machine: lines KEY=VALUE as the machine's CP will be given them, or NULL: what is wrong there is
 * found before anybody logs on.
 * Return: 0, or -1 with one sentence in @err.
 */
int sys_add_user(struct sys *sys, const char *userid, const char *machine, char *err, size_t errlen);
/**
 * Take orders from @fd (orders.c), which stays the caller's; they are answered at @starts.
 *
 * Return: 0, or -1 with errno: nobody can give any there.
 */
int sys_take_orders(struct sys *sys, int fd);
/** Serve whoever has something, one at a time, until @stop is readable.  Return: 0, or -1 with errno. */
int sys_run(struct sys *sys, int stop);
/** Machines that are logged on. */
unsigned int sys_machines(const struct sys *sys);
/** Remove the socket; members learn of it, and end. */
void sys_close(struct sys *sys);

#endif
