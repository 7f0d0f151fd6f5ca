/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGNAL PROCESSOR, whose orders QEMU has the addressed CPU's thread carry out while the
 * signalling CPU waits for it in the midst of translated code.  If a third thread, or the
 * addressed one, wants all CPUs out of translated code at that moment, as purging
 * translations does, each waits for another one for ever.  So the signalling CPU leaves
 * translated code first: the order becomes work that its own thread does before it goes on
 * behind the instruction.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/core/cpu.h"
#include "hw/s390x/zvmlab.h"
#include "qemu/main-loop.h"
#include "versions.h"
#include "s390x-internal.h"

/* An order in the 32 bits that work may be given. */
#define ORDER_SHIFT 8
#define R1_SHIFT 4
#define R_MASK 15

static bool carried_out_by_addressed(uint8_t order)
{
	switch (order) {
	case SIGP_START:
	case SIGP_STOP:
	case SIGP_RESTART:
	case SIGP_STOP_STORE_STATUS:
	case SIGP_INITIAL_CPU_RESET:
	case SIGP_CPU_RESET:
	case SIGP_SET_PREFIX:
	case SIGP_STORE_STATUS_ADDR:
	case SIGP_STORE_ADTL_STATUS:
		return true;
	default:
		return false;
	}
}

/* The address is a CPU's: the order has been accepted. */
static void tell_cp(const CPUS390XState *env, uint8_t order, uint64_t address)
{
	struct cp_port *port = &zvmlab_cp->port;
	const uint16_t cpu = address;

	if (order == SIGP_START || order == SIGP_RESTART)
		port->calls->cpu_ordered(port, cpu, env->core_id, CP_ORDER_START);
	else if (order == SIGP_STOP)
		port->calls->cpu_ordered(port, cpu, env->core_id, CP_ORDER_STOP);
	else if (order == SIGP_INITIAL_CPU_RESET)
		port->calls->cpu_ordered(port, cpu, env->core_id, CP_ORDER_INITIAL_RESET);
}

/* Called with the BQL held, before the CPU executes its next instruction. */
static void carry_out(CPUState *cs, run_on_cpu_data data)
{
	CPUS390XState *env = &S390_CPU(cs)->env;
	const unsigned int order = data.host_int;

	env->cc_op = handle_sigp(env, order >> ORDER_SHIFT, order >> R1_SHIFT & R_MASK,
				 order & R_MASK);
	if (zvmlab_cp && env->cc_op == SIGP_CC_ORDER_CODE_ACCEPTED)
		tell_cp(env, order >> ORDER_SHIFT, env->regs[order & R_MASK]);
}

bool zvmlab_sigp(CPUS390XState *env, uint8_t order, uint32_t r1, uint32_t r3, uintptr_t ra)
{
	CPUState *cs = env_cpu(env);

	/* All CPUs change the architecture, whatever the address is. */
	if (order != SIGP_SET_ARCH && !zvmlab_has_cpu((uint16_t)env->regs[r3]))
		return false;
	if (!carried_out_by_addressed(order))
		return true;
	cpu_restore_state(cs, ra);
	env->psw.addr += env->int_pgm_ilen;
	async_run_on_cpu(cs, carry_out,
			 RUN_ON_CPU_HOST_INT(order << ORDER_SHIFT | r1 << R1_SHIFT | r3));
	/* No interruption can come between: its old PSW would lack the condition code. */
	cs->exception_index = EXCP_INTERRUPT;
	bql_unlock();
	cpu_loop_exit(cs);
}
