/* SPDX-License-Identifier: MIT */
/*
 * Loading, and DIAGNOSE X'308'.  A guest that was loaded from a .ins file is
 * loaded from that file again; Hercules itself can repeat a load from a device
 * only.  A guest that has put a new one in its own place (kexec) has the machine
 * reset, and the CPU begins with the PSW at address 0.
 */
#include "port.h"

#include <stdlib.h>
#include <string.h>

/* Subcodes; those that Hercules has, too, say OK and change the wrong register there. */
enum { RESET_CLEAR = 0, RESET_NORMAL = 1, LOAD_CLEAR = 3, LOAD_DUMP = 4, SET_PARAMETERS = 5,
       STORE_PARAMETERS = 6, LOAD_NORMAL = 7 };

/* There are no IPL parameters: the load was not from a device. */
#define NO_CONFIGURATION 0x0102

/* Hercules' headers declare it for the architecture of the instructions only. */
int s390_common_load_begin(int cpu, int clear);

static struct {
	char *path;		/* of the last load; NULL: none, or from a device */
	int cpu;
	int clear;		/* of the load that was asked for */
	bool wanted;
	bool reset;		/* what is wanted is no load */
	int resetting;		/* by this CPU */
} load;

int (*hercules_load_hmc)(char *path, int cpu, int clear);

int reload_load_hmc(char *path, int cpu, int clear)
{
	char *copy = path ? strdup(path) : NULL;
	int result;

	free(load.path);
	load.path = copy;
	load.cpu = cpu;
	if (port_has_cp())
		storage_open();
	result = hercules_load_hmc(path, cpu, clear);
	if (port_has_cp())
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
	bool reset = subcode == RESET_CLEAR || subcode == RESET_NORMAL;
	bool again = subcode == LOAD_CLEAR || subcode == LOAD_DUMP || subcode == LOAD_NORMAL;

	if (!reset && !(again && load.path))
		return false;
	port_lock(regs);
	load.reset = reset;
	load.resetting = regs->cpuad;
	load.clear = subcode == LOAD_CLEAR;
	load.wanted = true;
	stop_all();
	port_unlock();
	service_cpu_stops();
	return true;
}

bool reload_parameters(uint64_t gr[], unsigned int r1, uint64_t subcode)
{
	if (r1 % 2 != 0 || (subcode != SET_PARAMETERS && subcode != STORE_PARAMETERS))
		return false;
	gr[r1 + 1] = NO_CONFIGURATION;
	return true;
}

const char *reload_path(int *cpu)
{
	*cpu = load.cpu;
	return load.path;
}

void reload_set_path(const char *path, int cpu)
{
	free(load.path);
	load.path = *path ? strdup(path) : NULL;
	load.cpu = cpu;
}

bool reload_wanted(void)
{
	return load.wanted;
}

static void reset_now(int cpu)
{
	storage_open();
	if (s390_common_load_begin(cpu, 0) != 0 || module_load_finish(sysblk.regs[cpu]) != 0)
		logmsg("zvmlab-cp: CPU %d cannot be started again\n", cpu);
	storage_close();
}

void reload_now(void)
{
	char *path;

	load.wanted = false;
	if (load.reset) {
		reset_now(load.resetting);
		return;
	}
	path = strdup(load.path);
	if (!path || load_hmc(path, load.cpu, load.clear) != 0)
		logmsg("zvmlab-cp: %s cannot be loaded again\n", load.path);
	free(path);
}
