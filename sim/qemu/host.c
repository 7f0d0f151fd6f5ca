/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the core asks of the emulator, struct cp_host; all with the BQL held. */
#include "qemu/osdep.h"
#include "port.h"

#include "exec/cpu-common.h"
#include "hw/s390x/tod.h"
#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"
#include "zvmlab/host.h"

/* Each may be two mappings more; Linux allows 65,530 unless told otherwise. */
#define REPLACED_MAX 16384u

uint64_t zvmlab_absolute(const struct cp_port *port, int cpu, uint64_t addr)
{
	if (cpu == CP_ABSOLUTE)
		return addr;
	return mmu_real2abs(&s390_cpu_addr2state(cpu)->env, addr);
}

/* What was translated from the pages before is not what they hold. */
void zvmlab_forget_code(const ZvmlabCp *s, uint64_t addr, uint64_t len)
{
	const ram_addr_t ram = memory_region_get_ram_addr(MACHINE(qdev_get_machine())->ram);

	tb_invalidate_phys_range(NULL, ram + addr, ram + addr + len - 1);
}

/* What was there before is the file's if the machine has been restored, and may be put back. */
static bool host_window(void *opaque, const struct cp_window *window)
{
	const ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);
	const bool shared = s->port.system_path && window->fd >= 0 && window->stored;
	struct cp_window shown = *window;

	if (window->fd < 0 && s->mapped) {
		shown.fd = s->mapped_fd;
		shown.offset = s->mapped_offset + window->addr;
		shown.stored = false;
	}
	if (!cp_port_window(&s->port, &shown))
		return false;
	/* First what is to be, then forget: what is translated meanwhile is forgotten, too. */
	for (uint64_t at = window->addr; at < window->addr + window->len; at += CP_PAGE_SIZE)
		qatomic_set(&s->shared[at / CP_PAGE_SIZE], shared);
	zvmlab_forget_code(s, window->addr, window->len);
	return true;
}

bool zvmlab_stored_by_others(uint64_t ram_addr)
{
	const ZvmlabCp *s = zvmlab_cp;
	uint64_t at;

	if (!s || !s->port.system_path)
		return false;
	at = ram_addr - memory_region_get_ram_addr(MACHINE(qdev_get_machine())->ram);
	return at < s->port.ram_size && qatomic_read(&s->shared[at / CP_PAGE_SIZE]);
}

/* Mapping and unmapping for writing is QEMU's way to say "stored by a device". */
static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	hwaddr at = cp_port_stored(opaque, cpu, addr, len);

	while (len > 0) {
		hwaddr part = len;
		void *p = address_space_map(&address_space_memory, at, &part, true,
					    MEMTXATTRS_UNSPECIFIED);

		g_assert(p && part > 0);
		address_space_unmap(&address_space_memory, p, part, true, part);
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
	uint32_t before = cs ? cs->neg.can_do_io : 0;

	if (cs)
		cs->neg.can_do_io = allow;
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

/*
 * Without memory a page of anonymous storage is zero, but a page of a checkpoint has the
 * checkpoint's contents again: another mapping takes its place.  The system allows a process
 * so many mappings, and QEMU ends when it gets no more.
 */
static bool host_release(void *opaque, int cpu, uint64_t addr)
{
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);
	void *page = s->port.ram + cp_port_stored(&s->port, cpu, addr, CP_PAGE_SIZE);

	if (!s->mapped)
		return madvise(page, CP_PAGE_SIZE, MADV_DONTNEED) == 0;
	if (s->replaced >= REPLACED_MAX)
		return false;
	s->replaced++;
	return mmap(page, CP_PAGE_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0) != MAP_FAILED;
}

/* Linux has its kernel in the home space of all CPUs. */
static bool host_home_read(void *opaque, uint64_t addr, void *to, size_t len)
{
	CPUS390XState *env = &S390_CPU(first_cpu)->env;
	const struct cp_port *port = opaque;
	target_ulong real;
	uint64_t tec, at;
	int flags;

	/* As for LOAD REAL ADDRESS: whether DAT is on does not count. */
	if (mmu_translate(env, addr, MMU_S390_LRA, PSW_ASC_HOME, &real, &flags, &tec) != 0)
		return false;
	at = mmu_real2abs(env, real) + addr % CP_PAGE_SIZE;
	if (at > port->ram_size - len)
		return false;
	memcpy(to, port->ram + at, len);
	return true;
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
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);
	S390CPU *target = s390_cpu_addr2state(cpu);

	target->env.pending_int |= INTERRUPT_EXT_IUCV;
	if (s->serving)
		s->kicked |= UINT64_C(1) << cpu;
	else
		cpu_interrupt(CPU(target), CPU_INTERRUPT_HARD);
}

void zvmlab_wake_kicked(ZvmlabCp *s)
{
	const uint64_t kicked = s->kicked;

	s->kicked = 0;
	for (unsigned int cpu = 0; cpu < CP_MAX_CPUS && kicked >> cpu; cpu++)
		if (kicked >> cpu & 1)
			cpu_interrupt(CPU(s390_cpu_addr2state(cpu)), CPU_INTERRUPT_HARD);
}

static void host_set_timer(void *opaque, uint64_t tod)
{
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);
	uint64_t now = host_tod(s);
	uint64_t wait = tod > now ? tod2time(tod - now) : 0;

	if (tod == 0)
		timer_del(s->timer);
	else
		timer_mod(s->timer, virtual_ns() + MIN(wait, INT64_MAX / 2));
}

static void flush(CPUState *cs, run_on_cpu_data unused)
{
	tlb_flush(cs);
}

/* tlb_flush() is for the CPU's own thread: another one would change a TLB in use. */
static void flush_all(void)
{
	CPUState *cs;

	CPU_FOREACH(cs) {
		if (cs->created && !qemu_cpu_is_self(cs))
			async_run_on_cpu(cs, flush, RUN_ON_CPU_NULL);
		else
			tlb_flush(cs);
	}
}

static void host_storage_changed(void *opaque)
{
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);

	/* First forget, then flush: a CPU that still reads the old value flushes after it. */
	memset(s->access, 0, s->port.ram_size / CP_PAGE_SIZE);
	flush_all();
}

static void host_cpus(void *opaque, uint64_t defined)
{
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);

	qatomic_set(&s->no_cpus, ~defined);
}

bool zvmlab_has_cpu(unsigned int address)
{
	return !zvmlab_cp || address >= CP_MAX_CPUS ||
	       !(qatomic_read(&zvmlab_cp->no_cpus) >> address & 1);
}

/* As STORE STATUS has them; those of a CPU that runs are of a moment ago. */
static void host_registers(void *opaque, unsigned int cpu, struct cp_registers *to)
{
	CPUS390XState *env = &s390_cpu_addr2state(cpu)->env;

	to->psw[0] = s390_cpu_get_psw_mask(env);
	to->psw[1] = env->psw.addr;
	memcpy(to->gr, env->regs, sizeof(to->gr));
	memcpy(to->cr, env->cregs, sizeof(to->cr));
	memcpy(to->ar, env->aregs, sizeof(to->ar));
	for (unsigned int i = 0; i < ARRAY_SIZE(to->fr); i++)
		to->fr[i] = *get_freg(env, i);
	to->cpu_timer = env->cputm;
	to->comparator = env->ckc;
	to->prefix = env->psa;
	to->fpc = env->fpc;
	to->todpr = env->todpr;
}

/* A page that is in again is nowhere in a TLB. */
static void host_page_changed(void *opaque, uint64_t addr, bool out)
{
	ZvmlabCp *s = container_of(opaque, ZvmlabCp, port);
	const uint64_t at = cp_port_stored(&s->port, CP_ABSOLUTE, addr, CP_PAGE_SIZE);

	qatomic_set(&s->access[at / CP_PAGE_SIZE], 0);
	if (out)
		flush_all();
}

/* Outside of the CPU's instruction, by which the request may have come. */
static void restart(void *opaque)
{
	s390_cpu_restart(s390_cpu_addr2state(0));
}

static void host_machine(void *opaque, enum cp_machine_request what)
{
	switch (what) {
	case CP_MACHINE_RESTART:
		aio_bh_schedule_oneshot(qemu_get_aio_context(), restart, NULL);
		break;
	case CP_MACHINE_SHUTDOWN:
		/* The event facility tells the guest by its event "signal quiesce". */
		qemu_system_powerdown_request();
		break;
	case CP_MACHINE_LOGOFF:
		qemu_system_shutdown_request(SHUTDOWN_CAUSE_GUEST_SHUTDOWN);
		break;
	case CP_MACHINE_REQUESTS:
		g_assert_not_reached();
	}
}

void zvmlab_host_init(struct cp_host *host, ZvmlabCp *s)
{
	cp_port_host(&s->port, host);
	host->window = host_window;
	host->dirty = host_dirty;
	host->release = host_release;
	host->home_read = host_home_read;
	host->tod = host_tod;
	host->kick = host_kick;
	host->set_timer = host_set_timer;
	host->storage_changed = host_storage_changed;
	host->cpus = host_cpus;
	host->registers = host_registers;
	host->devices_changed = zvmlab_devices_changed;
	host->reader_ready = zvmlab_reader_ready;
	host->sclp = true;
	host->page_changed = host_page_changed;
	host->external = zvmlab_external;
	host->machine = host_machine;
	host->console = zvmlab_console_show;
}
