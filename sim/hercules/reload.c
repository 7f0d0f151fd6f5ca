/* SPDX-License-Identifier: MIT */
/*
 * Loading, and DIAGNOSE X'308' from a guest that was loaded from a .ins file: it
 * is loaded from that file again.  Hercules itself can repeat a load from a
 * device only.
 */
#include "port.h"

#include <stdlib.h>
#include <string.h>

enum { LOAD_CLEAR = 3, LOAD_DUMP = 4, LOAD_NORMAL = 7 };

static struct {
	char *path;		/* of the last load; NULL: none, or from a device */
	int cpu;
	int clear;		/* of the load that was asked for */
	bool wanted;
} load;

int (*hercules_load_hmc)(char *path, int cpu, int clear);

int reload_load_hmc(char *path, int cpu, int clear)
{
	char *copy = path ? strdup(path) : NULL;
	int result;

	free(load.path);
	load.path = copy;
	load.cpu = cpu;
	if (port && port->cp)
		storage_open();
	result = hercules_load_hmc(path, cpu, clear);
	if (port && port->cp)
		storage_close();
	return result;
}

static void stop_all(void)
{
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		REGS *regs = sysblk.regs[i];

		if (!regs || regs->cpustate != CPUSTATE_STARTED)
			continue;
		regs->opinterv = 0;
		regs->cpustate = CPUSTATE_STOPPING;
		ON_IC_INTERRUPT(regs);
		WAKEUP_CPU(regs);
	}
}

bool reload_request(REGS *regs, uint64_t subcode)
{
	if (!load.path ||
	    (subcode != LOAD_CLEAR && subcode != LOAD_DUMP && subcode != LOAD_NORMAL))
		return false;
	port_lock(regs);
	load.clear = subcode == LOAD_CLEAR;
	load.wanted = true;
	stop_all();
	port_unlock();
	service_cpu_stops();
	return true;
}

bool reload_wanted(void)
{
	return load.wanted;
}

void reload_now(void)
{
	char *path = strdup(load.path);

	load.wanted = false;
	if (!path || load_hmc(path, load.cpu, load.clear) != 0)
		logmsg("zvmlab-cp: %s cannot be loaded again\n", load.path);
	free(path);
}
