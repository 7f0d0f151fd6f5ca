/* SPDX-License-Identifier: MIT */
/*
 * Logical addresses: dynamic address translation as the PoP has it in chapter 3.
 *
 * An address that no table entry leads to is an addressing exception, where a CPU
 * would have presented a translation exception with the address.
 */
#include "cp_private.h"
#include "bytes.h"
#include "zvmlab/storage.h"

/* Address-space-control element. */
#define ASCE_REAL UINT64_C(0x20)
#define ASCE_LEVEL(asce) ((asce) >> 2 & 3)
/* Entries of region and segment tables. */
#define ENTRY_FRAME UINT64_C(0x400)	/* the region or segment is one large page */
#define ENTRY_PROTECTED UINT64_C(0x200)
#define ENTRY_INVALID UINT64_C(0x20)
#define ENTRY_LEVEL(entry) ((entry) >> 2 & 3)
#define ENTRY_FIRST(entry) ((entry) >> 6 & 3)
/* In both; in units of 512 entries. */
#define TABLE_LAST(designation) ((designation) & 3)
#define TABLE_ORIGIN (~UINT64_C(0xfff))
#define PAGE_TABLE_ORIGIN (~UINT64_C(0x7ff))
/* Page-table entry. */
#define PAGE_RESERVED UINT64_C(0x800)
#define PAGE_INVALID UINT64_C(0x400)
#define PAGE_PROTECTED UINT64_C(0x200)

enum level { SEGMENT = 0, REGION_THIRD = 1, REGION_FIRST = 3 };

/* Bits of an address below those that select an entry of the table. */
static unsigned int shift_of(unsigned int level)
{
	assert(level <= REGION_FIRST);
	return 20 + 11 * level;
}

struct walk {
	struct cp *cp;
	int cpu;
	uint64_t addr;
	bool store;
	uint64_t real;
};

static uint16_t entry_at(const struct walk *walk, uint64_t table, uint64_t index, uint64_t *entry)
{
	uint8_t bytes[8] = { 0 };
	uint16_t pgm;

	assert(table % 2048 == 0 && index < 2048);
	pgm = storage_read_entry(walk->cp, walk->cpu, table + index * 8, bytes, 8);
	*entry = get_be64(bytes);
	return pgm;
}

/* The page or large page of @bits bits at @frame. */
static uint16_t found(struct walk *walk, uint64_t frame, unsigned int bits, bool protected)
{
	const uint64_t within = (UINT64_C(1) << bits) - 1;

	assert(bits >= 12 && bits <= 31);
	walk->real = (frame & ~within) | (walk->addr & within);
	return protected && walk->store ? PGM_PROTECTION : 0;
}

static uint16_t page(struct walk *walk, uint64_t table, bool protected)
{
	uint64_t entry = 0;
	uint16_t pgm = entry_at(walk, table, walk->addr >> 12 & 0xff, &entry);

	if (pgm != 0)
		return pgm;
	if (entry & (PAGE_INVALID | PAGE_RESERVED))
		return PGM_ADDRESSING;
	return found(walk, entry, 12, protected || entry & PAGE_PROTECTED);
}

static uint16_t translate(struct walk *walk, uint64_t asce)
{
	unsigned int level = ASCE_LEVEL(asce), first = 0;
	uint64_t designation = asce, entry = 0;
	bool protected = false;
	uint16_t pgm;

	if (asce & ASCE_REAL)
		return found(walk, walk->addr, 12, false);
	if (level != REGION_FIRST && walk->addr >> (shift_of(level) + 11) != 0)
		return PGM_ADDRESSING;
	for (;; level--) {
		const uint64_t index = walk->addr >> shift_of(level) & 0x7ff;

		if (index >> 9 < first || index >> 9 > TABLE_LAST(designation))
			return PGM_ADDRESSING;
		pgm = entry_at(walk, designation & TABLE_ORIGIN, index, &entry);
		if (pgm != 0)
			return pgm;
		if (entry & ENTRY_INVALID || ENTRY_LEVEL(entry) != level)
			return PGM_ADDRESSING;
		protected |= (entry & ENTRY_PROTECTED) != 0;
		if (level <= REGION_THIRD && entry & ENTRY_FRAME)
			return found(walk, entry, shift_of(level), protected);
		if (level == SEGMENT)
			return page(walk, entry & PAGE_TABLE_ORIGIN, protected);
		designation = entry;
		first = ENTRY_FIRST(entry);
	}
}

static uint64_t wrap(const struct cp_insn *insn, uint64_t addr)
{
	assert(insn->amode == 24 || insn->amode == 31 || insn->amode == 64);
	return insn->amode == 64 ? addr : addr & ((UINT64_C(1) << insn->amode) - 1);
}

/* One page's part: where it is, and whether the guest may use it so. */
static uint16_t part_at(struct cp *cp, const struct cp_insn *insn, uint64_t addr, size_t len,
			bool store, uint64_t *real)
{
	struct walk walk = {
		.cp = cp, .cpu = (int)insn->cpu, .addr = wrap(insn, addr), .store = store,
	};
	uint16_t pgm = 0;

	assert(len > 0 && cp_in_page(addr, len) == len);
	assert(insn->cpu < cp->config.cpus);
	if (insn->dat)
		pgm = translate(&walk, insn->asce);
	else
		walk.real = walk.addr;
	*real = walk.real;
	return pgm != 0 ? pgm : storage_check(cp, walk.cpu, walk.real, len, store);
}

static uint16_t check(struct cp *cp, const struct cp_insn *insn, uint64_t addr, size_t len,
		      bool store)
{
	uint64_t real;
	uint16_t pgm = 0;

	for (size_t part; len > 0 && pgm == 0; addr += part, len -= part) {
		part = cp_in_page(addr, len);
		pgm = part_at(cp, insn, addr, part, store, &real);
	}
	return pgm;
}

/* To the guest if @to is NULL, else from it. */
static uint16_t move(struct cp *cp, const struct cp_insn *insn, uint64_t addr, uint8_t *to,
		     const uint8_t *from, size_t len)
{
	uint16_t pgm = check(cp, insn, addr, len, !to);
	uint64_t real;

	assert(!to != !from);
	for (size_t done = 0, part; done < len && pgm == 0; done += part) {
		part = cp_in_page(addr + done, len - done);
		pgm = part_at(cp, insn, addr + done, part, !to, &real);
		if (pgm != 0)
			break;
		pgm = to ? storage_read(cp, (int)insn->cpu, real, to + done, part) :
			   storage_write(cp, (int)insn->cpu, real, from + done, part);
	}
	return pgm;
}

uint16_t logical_read(struct cp *cp, const struct cp_insn *insn, uint64_t addr, void *to,
		      size_t len)
{
	return move(cp, insn, addr, to, NULL, len);
}

uint16_t logical_write(struct cp *cp, const struct cp_insn *insn, uint64_t addr,
		       const void *from, size_t len)
{
	return move(cp, insn, addr, NULL, from, len);
}
