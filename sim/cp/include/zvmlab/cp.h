/* SPDX-License-Identifier: MIT */
/*
 * The control program of a system of virtual machines: entry points for a port.
 *
 * A struct cp is one virtual machine.  It belongs to a struct cp_system, which has what there is
 * once.  A guest that is alone is a system with one machine.
 *
 * Everything that varies comes in from outside (configuration, clock, seed,
 * order of calls); the same inputs give the same trace, byte for byte.
 */
#ifndef ZVMLAB_CP_H
#define ZVMLAB_CP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"
#include "zvmlab/host.h"

struct cp;
struct cp_system;

/** Virtual machines that can be logged on at a time. */
#define CP_MAX_MACHINES 64u

/**
 * User ID that the harness plays to reach its agent in the guest.  It is no user of the modelled
 * system: the guest may always connect to it, and is told of it nowhere.
 */
#define CP_AGENT_USERID "ZVMLAB"

/**
 * User ID of a machine that is alone until it has been saved: others go on as it, each under a name
 * of its own (cp_load_machine()).
 */
#define CP_BASE_USERID "ZVMBASE"

/** Bytes that an IUCV interruption stores: IUCV_EVENT_SIZE. */
#define CP_INTERRUPTION_SIZE 40u

/** Program-interruption codes the core can ask for (z/Architecture PoP, ch. 6). */
enum cp_pgm {
	PGM_OPERATION = 0x0001,
	PGM_PRIVILEGED = 0x0002,
	PGM_PROTECTION = 0x0004,
	PGM_ADDRESSING = 0x0005,
	PGM_SPECIFICATION = 0x0006,
};

/** The port's action after it offered an instruction to the core. */
enum cp_disposition {
	CP_PASS,	/**< not ours: run the emulator's own */
	CP_DONE,	/**< done, condition code unchanged */
	CP_CC,		/**< done, set the condition code */
	CP_PROGRAM,	/**< suppressed or completed with a program interruption */
};

struct cp_result {
	enum cp_disposition how;
	uint8_t cc;	/**< CP_CC: 0 to 3 */
	uint16_t pgm;	/**< CP_PROGRAM: enum cp_pgm */
};

/** The instruction's surroundings, as the port finds them in the CPU. */
struct cp_insn {
	unsigned int cpu;	/**< CPU address, below cp_config.cpus */
	uint64_t *gr;		/**< the 16 general registers, read and written */
	bool problem;		/**< PSW problem state */
	uint8_t amode;		/**< addressing mode: 24, 31 or 64 */
	/** PSW bit 5: logical addresses are virtual, and ... */
	bool dat;
	/** ... this address-space-control element (PoP, ch. 3) translates them: that of CR1, CR7
	 * or CR13, whichever the PSW's address-space control names. */
	uint64_t asce;
};

/**
 * Create a system without machines.
 *
 * @config: copied; of it count the level, the real machine with its CPUs and its console, segments,
 * the number of messages, and the seed for what is no machine's.
 * @host: copied.
 * @err: receives one sentence if NULL is returned.
 */
struct cp_system *cp_system_create(const struct cp_config *config,
				   const struct cp_system_host *host, char *err, size_t errlen);
/** It ends with all its machines, none of which logs off. */
void cp_system_destroy(struct cp_system *system);
struct cp_system *cp_system_of(const struct cp *cp);

/**
 * Create a machine.  Allocates all it will ever need; entry points never allocate,
 * except for a new peer, a new segment, and a state that is loaded.
 *
 * @system: NULL: one of the machine's own, with the same configuration, which ends with it.
 * @config: copied; what a system's configuration has is the system's.  @host: copied.
 * @err: receives one sentence if NULL is returned.
 */
struct cp *cp_create(struct cp_system *system, const struct cp_config *config,
		     const struct cp_host *host, char *err, size_t errlen);
/** A machine of a system logs on, which is the next after it has been created. */
void cp_logon(struct cp *cp);
/** It logs off: it has been reset, its peers are gone, and next it is destroyed. */
void cp_logoff(struct cp *cp);
/** It ends, whatever it was doing, and logs off first; not from within a call of the core's. */
void cp_destroy(struct cp *cp);
/** The time asked for by cp_system_host.set_timer has come. */
void cp_system_timer(struct cp_system *system);

/** B2F0: GR0 = function, GR1 = real address of the parameter list. */
struct cp_result cp_iucv(struct cp *cp, const struct cp_insn *insn);

/** DIAGNOSE (83) with first and third operand registers and the code. */
struct cp_result cp_diagnose(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			     unsigned int r3, uint16_t code);

/** The number that STIDP stores on CPU @cpu: a virtual CPU of the machine's type. */
uint64_t cp_cpu_id(const struct cp *cp, unsigned int cpu);

/**
 * STSI: the port has validated the operand (alignment, privilege).
 *
 * @sysib: 4096 bytes to be stored at the operand address if CP_CC with cc 0 is
 * returned and the function code in GR0 is not 0.
 */
struct cp_result cp_stsi(struct cp *cp, const struct cp_insn *insn, uint8_t sysib[4096]);

/** Storage as SCLP's READ SCP INFO has it: so many increments of so many megabytes. */
struct cp_increments {
	uint32_t count;		/**< standby and reserved ones, too; 0: there are none of these */
	uint32_t megabytes;
};
struct cp_increments cp_increments(const struct cp *cp);

/** SERVICE CALL: is the command one for storage elements or increments? */
bool cp_sclp_knows(uint32_t command);
/**
 * Such a command, if cp_increments() has any.
 *
 * @sccb: the block, of which only the length that its header gives is the guest's, at least 8
 * and at most all; response and data are put there.
 */
void cp_sclp(struct cp *cp, unsigned int cpu, uint32_t command, uint8_t sccb[4096]);

/**
 * STHYI (B256) with its operand registers, in problem state as well.
 *
 * @response: 4096 bytes that the port stores at the logical address in general register R2,
 * if CP_CC with cc 0 is returned.
 *
 * If that store ends with an exception, the instruction is nullified or suppressed: the port
 * gives the core a copy of the registers, and takes it over when all is stored.
 */
struct cp_result cp_sthyi(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			  unsigned int r2, uint8_t response[4096]);

/** Does STSI with this GR0 store at its operand?  Function code 0 only asks for the level. */
bool cp_stsi_stores(uint64_t gr0);

/** Could CPU @cpu take an IUCV interruption, its PSW and CR0 permitting? */
bool cp_interrupt_pending(const struct cp *cp, unsigned int cpu);

/**
 * Take one IUCV interruption on @cpu: the 40 bytes are stored into the CPU's
 * declared buffer; the port then presents external interruption 0x4000.
 *
 * Return: false if there is none any more (another CPU took it).
 */
bool cp_interrupt_take(struct cp *cp, unsigned int cpu);

/** What cp_interrupt_take() will do next. */
struct cp_interruption {
	uint64_t address;	/**< real, of the CPU's buffer; all of it lies in one page */
	uint8_t image[CP_INTERRUPTION_SIZE];	/**< what is stored there */
	bool more;		/**< another one is pending for the CPU then */
};

/**
 * The interruption that CPU @cpu would take now; nothing changes.
 *
 * Return: false if there is none, or if its buffer is not within one page of the guest's that it
 * may store into: cp_interrupt_take() says then what becomes of it.
 */
bool cp_interrupt_first(const struct cp *cp, unsigned int cpu, struct cp_interruption *first);

/** System reset: paths, buffers, masks and loaded segments of the guest go. */
void cp_reset(struct cp *cp);

/** Reset of one CPU: its buffer and masks go. */
void cp_reset_cpu(struct cp *cp, unsigned int cpu);

/** Orders of SIGNAL PROCESSOR by which CPUs begin to run (RESTART, too), or do not run. */
enum cp_order { CP_ORDER_START, CP_ORDER_STOP, CP_ORDER_INITIAL_RESET, CP_ORDERS };

/** CPU @from has given @cpu the order, and it was accepted. */
void cp_cpu_ordered(struct cp *cp, unsigned int cpu, unsigned int from, enum cp_order order);

/** CPU @cpu has loaded a PSW (its two halves) that waits, and that no interruption ends. */
void cp_cpu_waits(struct cp *cp, unsigned int cpu, uint64_t mask, uint64_t address);

/** The guest has been IPLed: its storage can no longer be redefined. */
void cp_ipl(struct cp *cp);

/** The time asked for by cp_host.set_timer has come. */
void cp_timer(struct cp *cp);

/** The guest's access to a page of its absolute storage. */
enum cp_access { CP_ACCESS_NONE, CP_ACCESS_READ, CP_ACCESS_WRITE };

/** Access allowed to the page that contains absolute address @addr; a port's callbacks may ask. */
enum cp_access cp_page_access(const struct cp *cp, uint64_t addr);

/**
 * Highest absolute address that the CP's storage extents and segments need,
 * so that the port can check it against what the emulator has.
 */
uint64_t cp_highest_address(const struct cp *cp);

/** The configuration in force (storage may have been redefined since creation). */
const struct cp_config *cp_config_of(const struct cp *cp);

#endif
