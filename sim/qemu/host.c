/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the core asks of the emulator, struct cp_host; all with the BQL held. */
#include "qemu/osdep.h"
#include "port.h"

#include "exec/cpu-common.h"
#include "exec/exec-all.h"
#include "hw/s390x/tod.h"
#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"
#include "zvmlab/host.h"

static uint64_t absolute(int cpu, uint64_t addr)
{
	if (cpu == CP_ABSOLUTE)
		return addr;
	return mmu_real2abs(&s390_cpu_addr2state(cpu)->env, addr);
}

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	ZvmlabCp *s = opaque;
	const uint64_t at = absolute(cpu, addr);

	if (len > s->ram_size || at > s->ram_size - len)
		return NULL;
	if (at != addr && cp_page_access(s->cp, at) != CP_ACCESS_WRITE)
		return NULL;
	return s->ram + at;
}

/* Mapping and unmapping for writing is QEMU's way to say "stored by a device". */
static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	hwaddr at = absolute(cpu, addr);

	while (len > 0) {
		hwaddr part = len;
		void *p = cpu_physical_memory_map(at, &part, true);

		g_assert(p && part > 0);
		cpu_physical_memory_unmap(p, part, true, part);
		at += part;
		len -= part;
	}
}

/*
 * With -icount, QEMU ends with an error if a CPU asks for the time anywhere but in
 * an instruction that is marked for it: all instructions of a translated block count
 * as executed from its beginning on.  The core wants the time of interruptions and of
 * other instructions, too; theirs is that of the block's end, the same in each run.
 */
static uint32_t allow_time(bool allow)
{
	CPUState *cs = current_cpu;
	uint32_t before = cs ? cs->can_do_io : 0;

	if (cs)
		cs->can_do_io = allow;
	return before;
}

static uint64_t host_tod(void *opaque)
{
	S390TODState *state = s390_get_todstate();
	uint32_t before = allow_time(true);
	S390TOD tod;

	S390_TOD_GET_CLASS(state)->get(state, &tod, &error_abort);
	allow_time(before);
	return tod.low;
}

static int64_t virtual_ns(void)
{
	uint32_t before = allow_time(true);
	int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

	allow_time(before);
	return now;
}

static void host_kick(void *opaque, unsigned int cpu)
{
	S390CPU *target = s390_cpu_addr2state(cpu);

	target->env.pending_int |= INTERRUPT_EXT_IUCV;
	cpu_interrupt(CPU(target), CPU_INTERRUPT_HARD);
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	ZvmlabCp *s = opaque;
	uint64_t now = host_tod(s);
	uint64_t wait = tod > now ? tod2time(tod - now) : 0;

	if (tod == 0)
		timer_del(s->timer);
	else
		timer_mod(s->timer, virtual_ns() + MIN(wait, INT64_MAX / 2));
}

static void host_storage_changed(void *opaque)
{
	ZvmlabCp *s = opaque;
	CPUState *cs;

	/* First forget, then flush: a CPU that still reads the old value flushes after it. */
	memset(s->access, 0, s->ram_size / CP_PAGE_SIZE);
	CPU_FOREACH(cs) {
		tlb_flush(cs);
	}
}

static void host_trace(void *opaque, const char *line, size_t len)
{
	ZvmlabCp *s = opaque;

	ctl_trace_line(s->ctl, s->trace, line, len);
}

static void host_event(void *opaque, const struct cp_event *event)
{
	ZvmlabCp *s = opaque;

	ctl_event(s->ctl, event);
}

void zvmlab_host_init(struct cp_host *host, ZvmlabCp *s)
{
	*host = (struct cp_host){
		.opaque = s,
		.map = host_map,
		.dirty = host_dirty,
		.tod = host_tod,
		.kick = host_kick,
		.set_timer = host_set_timer,
		.storage_changed = host_storage_changed,
		.trace = s->trace ? host_trace : NULL,
		.event = host_event,
	};
}
