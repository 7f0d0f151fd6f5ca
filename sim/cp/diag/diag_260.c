/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'260': where the guest's storage is. */
#include "diag_private.h"
#include "bytes.h"
#include "smaller.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"

#define SUBCODE_HIGHEST 0x0c
#define SUBCODE_EXTENTS 0x10
#define ENTRY_SIZE 16u	/* first byte, last byte */

/* Rx: highest byte of storage; Ry: highest byte that can be addressed, segments included. */
static struct cp_result highest(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				unsigned int r3)
{
	diag_set(insn, r1, storage_last(cp));
	/* Without a loaded segment the second is 0. */
	diag_set(insn, r3, larger(storage_last(cp), storage_overlay_last(cp)));
	return cp_cc(0);
}

/* Rx: list; Rx+1: its length.  Ry becomes the number of extents there are. */
static struct cp_result extents(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				unsigned int r3)
{
	uint8_t list[CP_MAX_EXTENTS * ENTRY_SIZE];
	uint64_t addr = diag_address(insn, r1), len;
	size_t used = cp->config.extents * ENTRY_SIZE;
	uint16_t pgm;

	assert(cp->config.extents > 0 && used <= sizeof(list));
	if (r1 % 2 != 0 || addr % ENTRY_SIZE != 0)
		return cp_program(PGM_SPECIFICATION);
	len = diag_operand(insn, r1 + 1);
	if (len == 0 || len % ENTRY_SIZE != 0)
		return cp_program(PGM_SPECIFICATION);
	for (unsigned int i = 0; i < cp->config.extents; i++) {
		const struct cp_extent *extent = &cp->config.extent[i];

		put_be64(list + i * ENTRY_SIZE, extent->start);
		put_be64(list + i * ENTRY_SIZE + 8, extent->start + extent->size - 1);
	}
	pgm = storage_write(cp, (int)insn->cpu, addr, list, smaller(len, used));
	if (pgm != 0)
		return cp_program(pgm);
	diag_set(insn, r3, cp->config.extents);
	return cp_cc(len < used ? 1 : 0);
}

static struct cp_result fail(const struct cp_insn *insn, unsigned int r3,
			     const struct fault_action *action)
{
	if (action->kind == FAULT_CC)
		return cp_cc((uint8_t)action->value);
	if (action->kind == FAULT_PGM)
		return cp_program((uint16_t)action->value);
	if (action->kind == FAULT_DROP)
		return cp_cc(0);
	assert(action->kind == FAULT_RC);
	diag_set(insn, r3, action->value);
	return cp_cc(3);
}

struct cp_result diag_260_storage(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				  unsigned int r3)
{
	uint64_t subcode = diag_operand(insn, r3);
	struct fault_action action;

	if (subcode != SUBCODE_HIGHEST && subcode != SUBCODE_EXTENTS)
		return cp_program(PGM_SPECIFICATION);
	action = fault_of_guest(cp, subcode == SUBCODE_HIGHEST ? FAULT_DIAG260_HIGHEST :
								 FAULT_DIAG260_EXTENTS, "");
	if (action.kind != FAULT_NONE)
		return fail(insn, r3, &action);
	return subcode == SUBCODE_HIGHEST ? highest(cp, insn, r1, r3) : extents(cp, insn, r1, r3);
}
