/* SPDX-License-Identifier: MIT */
/*
 * The CP of a machine that Hercules runs, shared by the files of the port.
 *
 * Hercules' headers compile for one architecture at a time, and lay structures
 * out as the first one sees them.  So they are included twice, as Hercules' own
 * sources do: without _GEN_ARCH for the structures, then for z/Architecture.
 */
#ifndef ZVMLAB_HERCULES_PORT_H
#define ZVMLAB_HERCULES_PORT_H

#include "cp_port.h"

/* Hercules' headers declare static functions for other architectures and define none. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "hstdinc.h"
#include "hercules.h"
#define _GEN_ARCH 900
#include "hercules.h"
#include "devtype.h"
#include "opcode.h"
#include "inline.h"

#include <pthread.h>

/* External-interruption code of IUCV; Hercules names the subclass mask CR0_IUCV. */
#define EXT_IUCV 0x4000

/*
 * An unassigned subclass of z/Architecture (it was TOD-clock synchronisation):
 * Hercules has a pending bit and a mask for it and makes no use of either.
 */
#define IC_IUCV IC_TODSYNC
#define CR0_SHADOW ((uint64_t)BIT(IC_IUCV))

/* Two pages, which Hercules stores into when it presents an interruption. */
#define PREFIX_AREA (2 * CP_PAGE_SIZE)

#define MAX_CPUS 8u
_Static_assert(MAX_CPUS == MAX_CPU_ENGINES, "as many CPUs as Debian's Hercules has");
_Static_assert(sizeof(DW) == sizeof(uint64_t), "general registers are an array of doublewords");

/** The port's state of a CPU beside Hercules' own. */
struct port_cpu {
	bool cr0_shadow;	/**< the guest's own value of the bit CR0_SHADOW */
	bool stopped;		/**< Hercules has dropped this CPU's pending interruptions */
};

/** Everything the module knows, in one place. */
struct port {
	struct cp_port own;	/**< its storage is always accessible: not the guest's view */
	char *log_path, *socket_path;
	bool refused;		/**< the options are wrong, and that has been said */
	bool joined;		/**< CP is that of a system, which the machine is a member of */
	bool used;		/**< something ran since the last reset of the CP */

	struct port_cpu cpu[MAX_CPUS];

	uint8_t *access;	/**< per page: enum cp_access */
};

/** The machine's CP, or NULL: then the module leaves Hercules as it is. */
extern struct port *port;

/** Is there a CP, here or in a system's process? */
bool port_has_cp(void);

/*
 * Hercules' interrupt lock is the lock around the core: interruptions and resets
 * have it already.  @regs: the CPU whose thread this is, or NULL.
 */
void port_lock(REGS *regs);
void port_unlock(void);

/* host.c: the callbacks of the core. */
void host_init(struct cp_host *host);
/** Guest absolute address; @cpu: whose prefix counts, or CP_ABSOLUTE. */
uint64_t host_absolute(const struct cp_port *own, int cpu, uint64_t addr);

/* storage.c */
/** Put storage behind sysblk.mainstor that can be protected page by page. */
int storage_create(char *err, size_t errlen);
/** Ask the core anew what the guest may do with each page. */
void storage_apply(void);
/** All of guest storage is accessible until storage_close(); nests. */
void storage_open(void);
void storage_close(void);
/** cp_host.window. */
bool storage_window(const struct cp_window *window);
/** Fill guest storage with zeros and give the memory back, with the lock held. */
int storage_clear_all(void);
/** The guest's access to the page at an absolute address; needs no lock. */
enum cp_access storage_access(uint64_t addr);

/* interrupt.c */
/** CPU @cpu may have gained an interruption; with the lock held. */
void interrupt_kick(unsigned int cpu);
/** In the place of z900_perform_external_interrupt and z900_process_interrupt. */
void interrupt_external(REGS *regs);
void interrupt_process(REGS *regs);
extern void (*hercules_external)(REGS *regs);
extern void (*hercules_process)(REGS *regs);

/* service.c: the thread that serves sockets and the timer, and notices the end of the machine. */
int service_prepare(char *err, size_t errlen);
int service_start(char *err, size_t errlen);
void service_stop(void);
/** Call @ready, without the lock, whenever @fd is readable.  Return: 0, or -1. */
int service_watch(int fd, void (*ready)(void));
/** Call cp_timer() when the TOD clock, which is at @now, is at @tod; 0: not at all. */
void service_set_timer(uint64_t now, uint64_t tod);
/** A CPU is about to stop: if it is the last, the machine has ended. */
void service_cpu_stops(void);
/** No longer.  A descriptor that is closed needs none of this. */
void service_unwatch(int fd);
/** cp_host.machine; with the lock held. */
void service_request(enum cp_machine_request what);
/** Have console_serve() called, again and again until it has nothing left to do. */
void service_console(void);

/* daemon.c: Hercules without a panel. */
/** To be called before anything of the guest runs.  From then on a signal may end it. */
int daemon_prepare(char *err, size_t errlen);
/** Execute commands from standard input until the end; without a CP, return then. */
void daemon_run(void);
/** The machine is to follow its guest.  Return: false if there is a panel, whose user decides. */
bool daemon_guest_ended(void);
/** A command of the panel.  Return: false if it does not ask for the end, or there is a panel. */
bool daemon_command(const char *command);

/* reload.c */
/** In the place of s390_load_hmc. */
int reload_load_hmc(char *path, int cpu, int clear);
extern int (*hercules_load_hmc)(char *path, int cpu, int clear);
/**
 * DIAGNOSE X'308', subcode @subcode: stop all CPUs, then load the machine again, or
 * reset it and have this CPU begin with the PSW at address 0.
 * Return: false if it was not loaded from a .ins file, or the subcode is another.
 */
bool reload_request(REGS *regs, uint64_t subcode);
/**
 * The same about IPL parameters, of which there are none: @gr[@r1 + 1] says so.
 * Return: false if the subcode is another, or @r1 odd.
 */
bool reload_parameters(uint64_t gr[], unsigned int r1, uint64_t subcode);
/** With the lock held: has it been asked for?  If so, and all CPUs are stopped, do it. */
bool reload_wanted(void);
void reload_now(void);
/** The .ins file of the last load and its CPU; NULL: there was none, or it was from a device. */
const char *reload_path(int *cpu);
/** Behave as if that file, or none if @path is empty, had been loaded. */
void reload_set_path(const char *path, int cpu);

/* options.c: set what the file says in port->own.config and the paths. */
int options_read(const char *path, char *err, size_t errlen);

/* console.c */
extern DEVHND console_handler;
int console_open(char *err, size_t errlen);
/** A command of the panel.  Return: false if it is none for the console. */
bool console_command(const char *command);
/** The console, or NULL if there is none. */
DEVBLK *console_device(void);
/** Has something been typed that the guest has not read?  With the device's lock held. */
bool console_waits(void);
/**
 * A line is there, or the guest has read one: have it told, and take the client's next one.
 * Return: ms until this is to be called again, or -1: when there is something new.
 */
int console_serve(void);

/* module.c */
/** The console is being attached: read its options. */
void module_configure(unsigned int devnum, int argc, char *argv[]);
/** In the place of s390_common_load_finish: the CPU begins with the PSW at address 0. */
int module_load_finish(REGS *regs);
/** Say why there can be no machine; it ends when its configuration has been read. */
void module_refuse(const char *reason);

#endif
