/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that CP executes for its guest: registers in, condition code
 * or program interruption out.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "exec/helper-proto.h"
#include "hw/s390x/zvmlab.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"
#include "tcg/tcg_s390x.h"

/* Facility bit of STHYI. */
#define FACILITY_STHYI	74

/* Voluntary time slice end, directed or not. */
#define DIAG_YIELD	0x44
#define DIAG_YIELD_TO	0x9c

/* KVM's hypercalls, which QEMU carries out, and one that is not for a guest of CP's. */
#define DIAG_KVM		0x500
#define KVM_STORAGE_LIMIT	4

/* The space of logical addresses; without access registers, that is their ALET 0. */
static uint64_t asce_of(const CPUS390XState *env)
{
	switch (env->psw.mask & PSW_MASK_ASC) {
	case PSW_ASC_SECONDARY:
		return env->cregs[7];
	case PSW_ASC_HOME:
		return env->cregs[13];
	default:
		return env->cregs[1];
	}
}

static struct cp_insn insn_of(CPUS390XState *env)
{
	bool is64 = env->psw.mask & PSW_MASK_64;
	bool is31 = env->psw.mask & PSW_MASK_32;

	return (struct cp_insn){
		.cpu = env->core_id,
		.gr = env->regs,
		.problem = env->psw.mask & PSW_MASK_PSTATE,
		.amode = is64 ? 64 : is31 ? 31 : 24,
		.dat = env->psw.mask & PSW_MASK_DAT,
		.asce = asce_of(env),
	};
}

static void G_NORETURN program_interrupt(CPUS390XState *env, uint16_t pgm, uintptr_t ra)
{
	/* The CP's operands have no virtual address that could be reported. */
	if (pgm == PGM_PROTECTION)
		address_space_stq_be(env_cpu(env)->as,
				     env->psa + offsetof(LowCore, trans_exc_code), 0,
				     MEMTXATTRS_UNSPECIFIED, NULL);
	/* The interruption stores it, and asserts that it is its own. */
	env->tlb_fill_exc = pgm;
	env->tlb_fill_tec = 0;
	tcg_s390_program_interrupt(env, pgm, ra);
}

/* Return: false if the instruction is QEMU's. */
static bool finish(CPUS390XState *env, struct cp_result result, uintptr_t ra)
{
	switch (result.how) {
	case CP_PASS:
		return false;
	case CP_DONE:
		return true;
	case CP_CC:
		env->cc_op = result.cc;
		return true;
	case CP_PROGRAM:
		program_interrupt(env, result.pgm, ra);
	}
	g_assert_not_reached();
}

/* Translated code goes on with a static condition code, whatever happens here. */
static void make_cc_static(CPUS390XState *env)
{
	env->cc_op = calc_cc(env, env->cc_op, env->cc_src, env->cc_dst, env->cc_vr);
}

/* Lets the control socket's clients read what the guest has made. */
static void end_call(void)
{
	const bool pause = zvmlab_cp->port.calls->needs_pause(&zvmlab_cp->port);

	bql_unlock();
	if (pause)
		cp_port_pause();
}

void HELPER(zvmlab_iucv)(CPUS390XState *env)
{
	struct cp_insn insn = insn_of(env);
	struct cp_result result = { .how = CP_PASS };

	make_cc_static(env);
	if (zvmlab_cp) {
		bql_lock();
		result = zvmlab_cp->port.calls->iucv(&zvmlab_cp->port, &insn);
		end_call();
	}
	if (!finish(env, result, GETPC()))
		program_interrupt(env, PGM_OPERATION, GETPC());
}

uint32_t zvmlab_diag_code(const CPUS390XState *env, uint32_t operand)
{
	const unsigned int base = extract32(operand, 12, 4);

	return (uint16_t)(extract32(operand, 0, 12) + (base ? env->regs[base] : 0));
}

bool zvmlab_diag(CPUS390XState *env, uint32_t r1, uint32_t r3, uint32_t code, uintptr_t ra)
{
	struct cp_insn insn = insn_of(env);
	struct cp_result result;

	make_cc_static(env);
	if (!zvmlab_cp)
		return false;
	bql_lock();
	result = zvmlab_cp->port.calls->diagnose(&zvmlab_cp->port, &insn, r1, r3, code);
	end_call();
	/* With -icount CPUs take turns: who waits for another one leaves it the rest of its own. */
	if (icount_enabled() && (code == DIAG_YIELD || code == DIAG_YIELD_TO))
		cpu_exit(env_cpu(env));
	if (finish(env, result, ra))
		return true;
	/* QEMU has it, and would tell the guest of storage that is not the guest's. */
	if (code == DIAG_KVM && env->regs[1] == KVM_STORAGE_LIMIT)
		program_interrupt(env, PGM_SPECIFICATION, ra);
	return false;
}

int zvmlab_stsi(CPUS390XState *env, uint64_t addr, uintptr_t ra)
{
	struct cp_insn insn = insn_of(env);
	uint8_t sysib[CP_PAGE_SIZE] = { 0 };
	struct cp_result result;
	bool stores;

	if (!zvmlab_cp)
		return -1;
	bql_lock();
	result = cp_port_stsi(&zvmlab_cp->port, &insn, addr, sysib, &stores);
	bql_unlock();
	if (result.how == CP_PROGRAM)
		program_interrupt(env, result.pgm, ra);
	if (result.how != CP_CC)
		return -1;
	if (stores &&
	    s390_cpu_virt_mem_write(env_archcpu(env), addr, 0, sysib, sizeof(sysib)))
		s390_cpu_virt_mem_handle_exc(env_archcpu(env), ra);
	return result.cc;
}

void zvmlab_facilities(uint8_t *list)
{
	if (zvmlab_cp)
		list[FACILITY_STHYI / 8] |= 0x80 >> FACILITY_STHYI % 8;
}

uint32_t HELPER(zvmlab_sthyi)(CPUS390XState *env, uint32_t r1, uint32_t r2)
{
	const uint64_t addr = wrap_address(env, env->regs[r2]);
	struct cp_insn insn = insn_of(env);
	uint8_t response[CP_PAGE_SIZE];
	struct cp_result result;
	uint64_t gr[16];

	if (!zvmlab_cp)
		program_interrupt(env, PGM_OPERATION, GETPC());
	memcpy(gr, env->regs, sizeof(gr));
	insn.gr = gr;
	bql_lock();
	result = zvmlab_cp->port.calls->sthyi(&zvmlab_cp->port, &insn, r1, r2, response);
	bql_unlock();
	if (result.how == CP_PROGRAM)
		program_interrupt(env, result.pgm, GETPC());
	if (result.cc == 0 && s390_cpu_virt_mem_write(env_archcpu(env), addr, r2, response,
						      sizeof(response)))
		s390_cpu_virt_mem_handle_exc(env_archcpu(env), GETPC());
	memcpy(env->regs, gr, sizeof(gr));
	return result.cc;
}
