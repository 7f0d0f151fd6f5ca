/* SPDX-License-Identifier: MIT */
/* Operands of DIAGNOSE: how wide a register is depends on the addressing mode. */
#ifndef DIAG_PRIVATE_H
#define DIAG_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/diag.h"
#include "zvmlab/fault.h"

static inline uint64_t diag_address(const struct cp_insn *insn, unsigned int r)
{
	assert(r < 16);
	assert(insn->amode == 24 || insn->amode == 31 || insn->amode == 64);
	return insn->amode == 64 ? insn->gr[r] : insn->gr[r] & ((UINT64_C(1) << insn->amode) - 1);
}

/** A count or a length: 64 bits in AMODE 64, otherwise 32. */
static inline uint64_t diag_operand(const struct cp_insn *insn, unsigned int r)
{
	assert(r < 16);
	return insn->amode == 64 ? insn->gr[r] : (uint32_t)insn->gr[r];
}

/** Result; outside AMODE 64 the high half of the register stays as it is. */
static inline void diag_set(const struct cp_insn *insn, unsigned int r, uint64_t value)
{
	assert(r < 16);
	if (insn->amode == 64)
		insn->gr[r] = value;
	else
		insn->gr[r] = (insn->gr[r] & ~UINT64_C(0xffffffff)) | (uint32_t)value;
}

/* A fault that takes the place of a code that names nobody. */
static inline struct fault_action diag_fault(struct cp *cp, enum fault_point point)
{
	const struct fault_call call = {
		.path = FAULT_ANY_PATH, .user = cp->config.userid, .name = "",
	};

	return fault_check(cp, point, &call);
}

#endif
