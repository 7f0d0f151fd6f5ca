/* SPDX-License-Identifier: MIT */
/* STSI: the guest runs on level 3, and level 3 is z/VM. */
#include <string.h>

#include "cp_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "zvmlab/input.h"

/* GR0: function code in bits 32-35, selector 1 in 56-63; GR1: selector 2 in 48-63. */
#define GR0_FUNCTION UINT64_C(0xf0000000)
#define GR0_RESERVED UINT64_C(0x0fffff00)
#define GR1_RESERVED UINT64_C(0xffff0000)
#define LOW_HALF UINT64_C(0xffffffff)

enum { STSI_CURRENT_LEVEL = 0, STSI_VM = 3 };

/* SYSIB 3.2.2: one descriptor of 64 bytes at 32; what is not listed is zero. */
enum {
	SYSIB_COUNT = 31,		/* low four bits: descriptors */
	SYSIB_CPUS = 32 + 4,		/* 2 */
	SYSIB_CONFIGURED = 32 + 6,	/* 2 */
	SYSIB_NAME = 32 + 12,		/* 8 */
	SYSIB_CAPABILITY = 32 + 20,	/* 4: thousandths of the level below */
	SYSIB_PROGRAM = 32 + 24,	/* 16: control-program identifier */
	SYSIB_SIZE = 4096,
};

bool cp_stsi_stores(uint64_t gr0)
{
	return (gr0 & GR0_FUNCTION) >> 28 != STSI_CURRENT_LEVEL;
}

static void build_sysib(const struct cp *cp, uint8_t sysib[SYSIB_SIZE])
{
	assert(cp->config.cpus > 0 && cp->config.cpus <= CP_MAX_CPUS);
	memset(sysib, 0, SYSIB_SIZE);
	sysib[SYSIB_COUNT] = 1;
	put_be16(sysib + SYSIB_CPUS, (uint16_t)cp->config.cpus);
	put_be16(sysib + SYSIB_CONFIGURED, (uint16_t)cp->config.cpus);
	ebcdic_name(sysib + SYSIB_NAME, cp->config.userid);
	put_be32(sysib + SYSIB_CAPABILITY, 1000);
	assert(strlen(cp->config.level) == 16);
	ebcdic_encode(sysib + SYSIB_PROGRAM, cp->config.level, 16);
}

static struct cp_result stsi(struct cp *cp, const struct cp_insn *insn, uint8_t sysib[SYSIB_SIZE])
{
	if (insn->gr[0] & GR0_RESERVED || insn->gr[1] & GR1_RESERVED)
		return cp_program(PGM_SPECIFICATION);
	if (!cp_stsi_stores(insn->gr[0])) {
		insn->gr[0] = (insn->gr[0] & ~LOW_HALF) | (uint64_t)STSI_VM << 28;
		return cp_cc(0);
	}
	build_sysib(cp, sysib);
	return cp_cc(0);
}

struct cp_result cp_stsi(struct cp *cp, const struct cp_insn *insn, uint8_t sysib[SYSIB_SIZE])
{
	uint64_t function = (insn->gr[0] & GR0_FUNCTION) >> 28;
	bool vm = function == STSI_VM && (insn->gr[0] & 0xff) == 2 && (insn->gr[1] & 0xffff) == 2;
	struct cp_result result;
	uint64_t operands[2];

	assert(insn->cpu < cp->config.cpus && !cp->recording);
	if (cp_stsi_stores(insn->gr[0]) && !vm)
		return cp_pass();
	/* The upper halves are no operands: what a program left there is not CP's to tell. */
	operands[0] = insn->gr[0] & LOW_HALF;
	operands[1] = insn->gr[1] & LOW_HALF;
	TRACE_INPUT(cp, stsi, .cpu = insn->cpu, .gr = operands);
	result = stsi(cp, insn, sysib);
	if (result.how == CP_CC && vm)
		trace_bytes(cp, "sysib", sysib, SYSIB_SIZE);
	trace_end_result(cp, &result);
	return result;
}
