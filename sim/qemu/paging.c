/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that CP has paged out: accesses to them, CPUs that wait for them, and the external
 * interruptions by which CP tells of them.
 *
 * An access that is not in a TLB comes here, and no TLB has a page that is out.  The instruction
 * is nullified, as for an exception; then the CPU takes its interruption, or waits like one that
 * is halted, so that QEMU can stop, save and reset the machine as usual.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/zvmlab.h"
#include "qapi/qapi-types-machine.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"
#include "zvmlab/page.h"

/* Could an interruption of CP's own be presented to this CPU now? */
static bool enabled(const CPUS390XState *env)
{
	return (env->psw.mask & PSW_MASK_EXT) && (env->cregs[0] & CR0_SERVICE_SC);
}

static enum cp_paging ask(CPUS390XState *env, uint64_t addr, bool probe)
{
	const bool locked = bql_locked();
	ZvmlabCp *s = zvmlab_cp;
	enum cp_paging result;

	if (!locked)
		bql_lock();
	/* Whoever only probes cannot be interrupted: it has to wait. */
	result = s->port.calls->page_fault(&s->port, env->core_id, addr, env->psw.mask,
					   !probe && enabled(env));
	if (result == CP_PAGE_HELD) {
		qatomic_set(&s->held[env->core_id], true);
		/* Before anybody can say that it need no longer wait. */
		env_cpu(env)->halted = 1;
	}
	if (!locked)
		bql_unlock();
	return result;
}

void zvmlab_page(CPUS390XState *env, uint64_t addr, bool probe, uintptr_t ra)
{
	CPUState *cs = env_cpu(env);
	enum cp_paging result;

	if (!zvmlab_page_out(addr))
		return;
	result = ask(env, addr, probe);
	if (result == CP_PAGE_IN)
		return;
	cs->exception_index = result == CP_PAGE_HELD ? EXCP_HALTED : -1;
	cpu_loop_exit_restore(cs, ra);
}

bool zvmlab_held(const CPUS390XState *env)
{
	return zvmlab_cp && (qatomic_read(&zvmlab_cp->held[env->core_id]) ||
			     qatomic_read(&zvmlab_cp->stopped[env->core_id]));
}

bool zvmlab_take_external(CPUS390XState *env, LowCore *lowcore)
{
	struct cp_port *port = &zvmlab_cp->port;
	struct cp_external external;
	bool more, taken = port->calls->external_take(port, env->core_id, &external, &more);

	if (!more)
		env->pending_int &= ~INTERRUPT_EXT_CP;
	if (!taken) {
		unmap_lowcore(env, lowcore);
		return false;
	}
	lowcore->ext_int_code = cpu_to_be16(external.code);
	lowcore->cpu_addr = cpu_to_be16(external.subcode);
	lowcore->ext_params = cpu_to_be32(external.parameter32);
	lowcore->ext_params2 = cpu_to_be64(external.parameter);
	return true;
}

void zvmlab_external(void *opaque, unsigned int cpu)
{
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);
	S390CPU *target = s390_cpu_addr2state(cpu);
	CPUState *cs = CPU(target);

	if (qatomic_read(&s->held[cpu]) && !s->port.calls->page_held(&s->port, cpu)) {
		qatomic_set(&s->held[cpu], false);
		if (s390_cpu_get_state(target) == S390_CPU_STATE_OPERATING)
			cs->halted = 0;
	}
	target->env.pending_int |= INTERRUPT_EXT_CP;
	cpu_interrupt(cs, CPU_INTERRUPT_HARD);
}

/* After a state has been loaded. */
void zvmlab_paging_loaded(ZvmlabCp *s)
{
	for (unsigned int cpu = 0; cpu < s->port.config.cpus; cpu++)
		qatomic_set(&s->held[cpu], s->port.calls->page_held(&s->port, cpu));
}
