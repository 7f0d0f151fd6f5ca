/* SPDX-License-Identifier: MIT */
/*
 * A checkpoint: the machine as it stands between two instructions, saved to a
 * file and restored into a Hercules that has not run anything yet.
 *
 * Each part describes itself once, by a function that serves both directions
 * (zvmlab/state.h).  Loading fills structures like these, and only when all of
 * them are known to be good does a part become Hercules' own.
 */
#ifndef ZVMLAB_HERCULES_CHECKPOINT_H
#define ZVMLAB_HERCULES_CHECKPOINT_H

#include "port.h"
#include "zvmlab/state.h"

/** A CPU; its names are those of Hercules' REGS. */
struct saved_cpu {
	bool started;		/**< or stopped */
	bool cr0_shadow;
	uint64_t px, gr[16], cr[16], mc, ea, clkc, cpu_timer, bear, peradr;
	uint32_t ar[16], fpr[32], fpc, dxc, todpr, ints_state, ints_mask;
	uint16_t monclass, extccpu, perc;
	uint8_t psw[16], excarid, opndrid, peraid;
	uint8_t malfcpu[MAX_CPUS], emercpu[MAX_CPUS];
	bool permode;
};

/** State that exists once; the names are those of SYSBLK. */
struct saved_machine {
	uint64_t tod;		/**< TOD clock of the guest, bits 0-55 */
	uint64_t program_parameter, addrlimval;
	uint32_t servparm, ints_state, iplcpu, topology, topchnge;
	uint32_t sclp_receive, sclp_send;	/**< masks of the service processor's events */
	uint32_t load_cpu;
	char load_path[256];	/**< empty: the guest was loaded from a device */
};

/** The console's subchannel; the names are those of DEVBLK. */
struct saved_console {
	uint16_t devnum;
	ORB orb;
	PMCW pmcw;
	SCSW scsw, pciscsw, attnscsw;
	ESW esw;
	BYTE ecw[32], sense[256], pgid[11], pgstat;
};

/* checkpoint_cpu.c, with the lock held; the CPU is held, or stopped. */
void saved_cpu_state(struct state *s, struct saved_cpu *saved);
void saved_cpu_take(struct saved_cpu *saved, REGS *regs);
/** Would Hercules accept it? */
bool saved_cpu_valid(const struct saved_cpu *saved, const REGS *regs);
void saved_cpu_apply(const struct saved_cpu *saved, REGS *regs);

/* checkpoint_machine.c, with the lock held. */
void saved_machine_state(struct state *s, struct saved_machine *saved);
void saved_console_state(struct state *s, struct saved_console *saved);
/**
 * Return: NULL, or why this cannot be saved: something is going on that takes a
 * moment, or is not known how to save.
 */
const char *saved_machine_take(struct saved_machine *saved);
const char *saved_console_take(struct saved_console *saved);
bool saved_machine_valid(const struct saved_machine *saved);
bool saved_console_valid(const struct saved_console *saved);
/** The clock first: what the CP loads counts on it. */
void saved_machine_apply_clock(const struct saved_machine *saved);
void saved_machine_apply(const struct saved_machine *saved);
void saved_console_apply(const struct saved_console *saved);

/* checkpoint_sclp.c: the service processor's event masks, which only Hercules itself can reach. */
/** Return: NULL, or why they cannot be saved. */
const char *sclp_masks_take(uint32_t *receive, uint32_t *send);
/** Return: 0, or -1. */
int sclp_masks_apply(uint32_t receive, uint32_t send);

/* checkpoint.c */
/**
 * A command of the panel: "zvmcp hold", "zvmcp go", "zvmcp save FILE", "zvmcp
 * restore FILE".  What goes wrong is said on standard error, in one line that
 * begins with "zvmcp: ", or with "zvmcp: not now: " if another moment may be better.
 * Return: false if it is none of these.
 */
bool checkpoint_command(const char *command);

#endif
