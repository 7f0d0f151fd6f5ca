/* SPDX-License-Identifier: MIT */
/*
 * Guest storage as the CP sees it: checked, traced, page by page.
 *
 * Addresses are guest real unless the CPU is CP_ABSOLUTE.  What the guest may
 * touch are its storage extents and the segments it has loaded; the CP never
 * stores into a page on the guest's behalf that the guest could not store into.
 */
#ifndef ZVMLAB_STORAGE_H
#define ZVMLAB_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;
struct cp_insn;
struct state;

/** Return: 0, or the program-interruption code (enum cp_pgm) of the access. */
uint16_t storage_read(struct cp *cp, int cpu, uint64_t addr, void *to, size_t len);
uint16_t storage_write(struct cp *cp, int cpu, uint64_t addr, const void *from, size_t len);
/** Would storage_read / storage_write succeed?  Nothing is traced. */
uint16_t storage_check(struct cp *cp, int cpu, uint64_t addr, size_t len, bool store);

/**
 * The same at a logical address of the instruction's: through dynamic address
 * translation (PoP, ch. 3) if its PSW has it on.  All of it or nothing.
 */
uint16_t logical_read(struct cp *cp, const struct cp_insn *insn, uint64_t addr, void *to,
		      size_t len);
uint16_t logical_write(struct cp *cp, const struct cp_insn *insn, uint64_t addr,
		       const void *from, size_t len);

/**
 * storage_read() of what a CPU reads by itself: in the trace only if it holds all
 * that a replay needs.
 */
uint16_t storage_read_entry(struct cp *cp, int cpu, uint64_t addr, void *to, size_t len);

/** cp_host.map, traced: NULL if the emulator has no storage there. */
void *storage_map(struct cp *cp, int cpu, uint64_t addr, uint64_t len);

/** Loading: fail unless the emulator has storage at all of these absolute addresses. */
void storage_state_require(struct cp *cp, struct state *state, uint64_t addr, uint64_t len);

/** Total of the storage extents in bytes. */
uint64_t storage_size(const struct cp *cp);
/** Last byte of the highest extent. */
uint64_t storage_last(const struct cp *cp);
/** Does [first, last] overlap an extent, or what may become storage later? */
bool storage_overlaps(const struct cp *cp, uint64_t first, uint64_t last);
/** Is the page of @addr the guest's own storage, and no segment's? */
bool storage_own(const struct cp *cp, uint64_t addr);

#endif
