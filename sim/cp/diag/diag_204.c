/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'204': use of the CPUs, by partition.
 *
 * CP has the simple format only, with the guest in the place of a partition and
 * "PHYSICAL" for CP itself.  Linux probes for it before it asks for X'2FC', and
 * goes without both if it meets an exception.
 */
#include "bytes.h"
#include "clock.h"
#include "diag_private.h"
#include "ebcdic.h"
#include "zvmlab/storage.h"

#define SUBCODE_SIMPLE 4
/* In Ry for any other subcode; Linux goes on with the simple format. */
#define RC_NOT_SUPPORTED 4

/* Blocks of the simple format; what is not listed is zero. */
enum {
	INFO_PARTITIONS = 0,	/* 1: without PHYSICAL */
	INFO_FLAGS = 1,		/* 1 */
	INFO_CPUS = 4,		/* 2: of the machine */
	INFO_THIS = 6,		/* 2: number of this partition */
	INFO_TOD = 8,		/* 8 */
	INFO_SIZE = 16,
	PARTITION_NUMBER = 0,	/* 1 */
	PARTITION_CPUS = 1,	/* 1 */
	PARTITION_NAME = 8,	/* 8 */
	PARTITION_SIZE = 16,
	CPU_ADDRESS = 0,	/* 2 */
	CPU_ELAPSED = 8,	/* 8: microseconds dispatched, hypervisor included */
	CPU_OWN = 16,		/* 8: microseconds of the partition itself */
	CPU_SIZE = 24,
};

#define FLAG_PHYSICAL 0x80
#define THIS_PARTITION 1

_Static_assert(INFO_SIZE + 2 * (PARTITION_SIZE + CP_MAX_CPUS * CPU_SIZE) <= CP_PAGE_SIZE,
	       "one page holds all");

static uint8_t *put_partition(uint8_t *to, uint8_t number, const char *name, unsigned int cpus,
			      uint64_t used)
{
	assert(cpus > 0 && cpus <= CP_MAX_CPUS);
	to[PARTITION_NUMBER] = number;
	to[PARTITION_CPUS] = (uint8_t)cpus;
	ebcdic_name(to + PARTITION_NAME, name);
	to += PARTITION_SIZE;
	for (unsigned int i = 0; i < cpus; i++, to += CPU_SIZE) {
		put_be16(to + CPU_ADDRESS, (uint16_t)i);
		put_be64(to + CPU_ELAPSED, used);
		put_be64(to + CPU_OWN, used);
	}
	return to;
}

struct cp_result diag_204_cpu_use(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				  unsigned int r3)
{
	uint64_t addr = diag_address(insn, r1);
	unsigned int cpus = cp_cpu_count(cp);
	uint8_t page[CP_PAGE_SIZE] = { [INFO_PARTITIONS] = 1, [INFO_FLAGS] = FLAG_PHYSICAL };
	uint8_t *end;
	struct fault_action action;
	uint16_t pgm;

	if (r3 % 2 != 0)
		return cp_program(PGM_SPECIFICATION);
	if (diag_operand(insn, r3) != SUBCODE_SIMPLE) {
		diag_set(insn, r3, RC_NOT_SUPPORTED);
		return cp_done();
	}
	if (addr % CP_PAGE_SIZE != 0)
		return cp_program(PGM_SPECIFICATION);
	action = diag_fault(cp, FAULT_DIAG204);
	if (action.kind == FAULT_PGM)
		return cp_program((uint16_t)action.value);
	if (action.kind != FAULT_NONE) {
		diag_set(insn, r3, action.kind == FAULT_RC ? action.value : 0);
		return cp_done();
	}
	put_be16(page + INFO_CPUS, (uint16_t)cp->system->config.cpus);
	put_be16(page + INFO_THIS, THIS_PARTITION);
	put_be64(page + INFO_TOD, cp_tod(cp));
	end = put_partition(page + INFO_SIZE, THIS_PARTITION, cp->config.userid, cpus,
			    clock_connected(cp));
	end = put_partition(end, 0, "PHYSICAL", cp->system->config.cpus, 0);
	assert(end > page && (size_t)(end - page) <= sizeof(page));
	pgm = storage_write(cp, (int)insn->cpu, addr, page, (size_t)(end - page));
	if (pgm != 0)
		return cp_program(pgm);
	diag_set(insn, r3, 0);
	return cp_done();
}
