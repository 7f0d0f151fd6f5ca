/* SPDX-License-Identifier: MIT */
/*
 * What every port does the same way: options, files and sockets, what is checked of a
 * machine before it has a CP, the guest's storage as the core sees it, and what the core
 * decides about STSI and interruptions.  A port keeps what is its emulator's.
 *
 * @err: receives one sentence, without the emulator's prefix, whenever -1 is returned.
 */
#ifndef CP_PORT_H
#define CP_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"
#include "trace_file.h"
#include "zvmlab/cp.h"
#include "zvmlab/external.h"
#include "zvmlab/page.h"
#include "zvmlab/spool.h"

/** How an emulator calls what a machine consists of. */
struct cp_port_words {
	const char *cpus;	/**< option with the number of CPUs: "-smp" */
	const char *most_cpus;	/**< option with the most there can be, as one gives it … */
	const char *no_more;	/**< … so that there are no more: "without maxcpus" */
	const char *storage;	/**< option with the size of guest storage, up to the number: "-m " */
	const char *megabytes;	/**< what follows a number of megabytes there: "M" */
	/** How guest storage is asked for that another process can see; for members of a system. */
	const char *shared;
	/** The system has ended, and the machine with it: say @why, and end the emulator at once. */
	void (*end)(const char *why);
};

struct cp_port;

/** What the guest may do with a page, and with those behind it. */
struct cp_port_page {
	enum cp_access access;
	bool out;		/**< cp_page_is_out() */
	uint64_t end;		/**< absolute address up to which all pages are like that */
};

/**
 * CP, wherever it is: what a port asks of it once cp_port_create() has made it.  With the
 * emulator's lock held; as the functions of the core that have these names.
 */
struct cp_calls {
	struct cp_result (*iucv)(struct cp_port *port, const struct cp_insn *insn);
	struct cp_result (*diagnose)(struct cp_port *port, const struct cp_insn *insn,
				     unsigned int r1, unsigned int r3, uint16_t code);
	struct cp_result (*stsi)(struct cp_port *port, const struct cp_insn *insn,
				 uint8_t sysib[CP_PAGE_SIZE]);
	struct cp_result (*sthyi)(struct cp_port *port, const struct cp_insn *insn,
				  unsigned int r1, unsigned int r2,
				  uint8_t response[CP_PAGE_SIZE]);
	uint64_t (*cpu_id)(struct cp_port *port, unsigned int cpu);
	struct cp_increments (*increments)(struct cp_port *port);
	void (*sclp)(struct cp_port *port, unsigned int cpu, uint32_t command,
		     uint8_t sccb[CP_PAGE_SIZE]);

	bool (*interrupt_pending)(struct cp_port *port, unsigned int cpu);
	/**
	 * cp_interrupt_take().  @more: another one waits for this CPU; if not, the emulator must
	 * not ask again before the next kick.
	 */
	bool (*interrupt_take)(struct cp_port *port, unsigned int cpu, bool *more);
	/** The same with cp_external_take(). */
	bool (*external_take)(struct cp_port *port, unsigned int cpu,
			      struct cp_external *external, bool *more);

	/** Of the page that contains absolute address @addr. */
	struct cp_port_page (*page)(struct cp_port *port, uint64_t addr);
	enum cp_paging (*page_fault)(struct cp_port *port, unsigned int cpu, uint64_t addr,
				     uint64_t psw, bool enabled);
	bool (*page_held)(struct cp_port *port, unsigned int cpu);

	void (*reset)(struct cp_port *port);
	void (*reset_cpu)(struct cp_port *port, unsigned int cpu);
	void (*cpu_ordered)(struct cp_port *port, unsigned int cpu, unsigned int from,
			    enum cp_order order);
	void (*cpu_waits)(struct cp_port *port, unsigned int cpu, uint64_t mask, uint64_t address);
	void (*ipl)(struct cp_port *port);
	void (*timer)(struct cp_port *port);

	bool (*has_device)(struct cp_port *port, uint16_t device);
	enum cp_unit_way (*unit_way)(struct cp_port *port, uint16_t device, uint8_t command);
	uint32_t (*unit_length)(struct cp_port *port, uint16_t device, uint8_t command);
	void (*unit)(struct cp_port *port, struct cp_unit_io *io);
	size_t (*console_type)(struct cp_port *port, const char *keys, size_t len);
	bool (*console_has_line)(struct cp_port *port);

	uint8_t *(*save)(struct cp_port *port, size_t *len);
	int (*load)(struct cp_port *port, const uint8_t *image, size_t len, char *err,
		    size_t errlen);

	/** The machine runs from now on, or stands still: so do its clocks. */
	void (*running)(struct cp_port *port, bool runs);
	/** The emulator ends, and with it the machine, which does not run any more after this. */
	void (*ends)(struct cp_port *port);
	/** If machines take turns: wait for the machine's.  Return: its length in ns of its clock. */
	uint64_t (*turn)(struct cp_port *port);
	/** Serve clients from now on. */
	void (*attach)(struct cp_port *port);
	/** A descriptor that is readable when dispatch() has work; -1: there will be none. */
	int (*fd)(const struct cp_port *port);
	void (*dispatch)(struct cp_port *port);
	/**
	 * Of a member, without the emulator's lock, by one thread: a CPU has nothing to do.  Look for a
	 * moment whether the process has something to tell, as long as @idle says so of @cpu.  Return:
	 * there is something, and dispatch() is to be called.
	 */
	bool (*look)(struct cp_port *port, bool (*idle)(const void *cpu), const void *cpu);
	/**
	 * Has the guest made events faster than a client of the control socket takes them?  After
	 * an instruction; the CPU calls cp_port_pause() without the lock then.
	 */
	bool (*needs_pause)(struct cp_port *port);
};

/** CP in this process, and in that of a system. */
extern const struct cp_calls cp_calls_local, cp_calls_remote;

/** One machine's CP, with the files and sockets that belong to it. */
struct cp_port {
	const struct cp_calls *calls;
	const struct cp_port_words *words;
	/** Guest absolute address; @cpu: whose prefix counts, or CP_ABSOLUTE. */
	uint64_t (*absolute)(const struct cp_port *port, int cpu, uint64_t addr);

	struct cp_config config;
	bool cpus_given;	/**< by an option of the CP, not only the emulator's */
	char *control_path, *trace_path;	/**< NULL: none; malloc'd */
	char *system_path;	/**< the machine is a member of that system; NULL: it is alone */
	uint64_t trace_limit;	/**< bytes */

	struct cp *cp;		/**< NULL until cp_port_create(), and with a member */
	struct ctl *ctl;	/**< NULL: no control socket */
	struct trace_file *trace;	/**< NULL: no trace */
	struct cp_remote *remote;	/**< of a member: cp_remote.c */
	uint64_t turn_ns;	/**< of a member whose system gives turns: length of one; else 0 */

	uint8_t *ram;		/**< guest storage, set by the port before cp_port_create() */
	uint64_t ram_size;	/**< bytes, whole pages */
	int ram_fd;		/**< of a member: the memfd that ram is mapped from, shared */
};

void cp_port_init(struct cp_port *port, const struct cp_port_words *words,
		  uint64_t (*absolute)(const struct cp_port *port, int cpu, uint64_t addr));
/**
 * Options "control", "trace", "system" (paths), "trace-limit" (MiB), and those of cp_config_set().
 */
int cp_port_set(struct cp_port *port, const char *key, const char *value, char *err,
		size_t errlen);
/** Open the control socket and the trace, if the options name them; or find the system. */
int cp_port_open(struct cp_port *port, char *err, size_t errlen);
/** The machine has @cpus CPUs: the CP has as many, or its options contradict that. */
int cp_port_set_cpus(struct cp_port *port, unsigned int cpus, char *err, size_t errlen);
/** The machine can have at most @most CPUs: not more than it has. */
int cp_port_check_most_cpus(const struct cp_port *port, unsigned int most, char *err,
			    size_t errlen);
/**
 * What of struct cp_host is the same in each port: map, trace, event, and @port as opaque.
 * The port adds all else.  After cp_port_open().
 */
void cp_port_host(struct cp_port *port, struct cp_host *host);
/**
 * Absolute address of what the core has stored into, or says of a page, at a real address of
 * @cpu's or an absolute one.  The machine has all of it: cp_host.map has found it.
 */
uint64_t cp_port_stored(const struct cp_port *port, int cpu, uint64_t addr, uint64_t len);
/**
 * cp_host.window for storage that is mapped once, at port->ram.  Where a segment was there is the
 * machine's own file again, port->ram_fd, or zeros.
 */
bool cp_port_window(const struct cp_port *port, const struct cp_window *window);
/** Make the CP; the machine must have storage for all that the options say. */
int cp_port_create(struct cp_port *port, const struct cp_host *host, char *err, size_t errlen);
/** A millisecond of the host's time, in which clients can read. */
void cp_port_pause(void);
/** Close and destroy what there is. */
void cp_port_fini(struct cp_port *port);

/* cp_remote.c */
/** Connect to the system of port->system_path. */
int cp_remote_open(struct cp_port *port, char *err, size_t errlen);
/** The machine becomes a member, and its CP is ready.  @highest: cp_highest_address(). */
int cp_remote_join(struct cp_port *port, const struct cp_host *host, uint64_t *highest, char *err,
		   size_t errlen);
/** It is a member no more. */
void cp_remote_close(struct cp_port *port);

/**
 * STSI with the operand at the logical address @addr.  CP_PASS also if the emulator's own
 * instruction has an exception to raise.  @stores: @sysib is to be stored at the operand.
 */
struct cp_result cp_port_stsi(struct cp_port *port, const struct cp_insn *insn, uint64_t addr,
			      uint8_t sysib[CP_PAGE_SIZE], bool *stores);

#endif
