/* SPDX-License-Identifier: MIT */
/* The core's questions to the emulator, struct cp_host; all with the lock held. */
#include "hold.h"

#include <sys/mman.h>

#include "zvmlab/host.h"

uint64_t host_absolute(const struct cp_port *own, int cpu, uint64_t addr)
{
	const REGS *regs = cpu == CP_ABSOLUTE ? NULL : sysblk.regs[cpu];

	(void)own;
	return regs ? APPLY_PREFIXING(addr, regs->PX) : addr;
}

static bool host_window(void *opaque, const struct cp_window *window)
{
	(void)opaque;
	return storage_window(window);
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	const uint64_t first = cp_port_stored(opaque, cpu, addr, len);

	for (uint64_t at = first & ~(uint64_t)(CP_PAGE_SIZE - 1); at < first + len;
	     at += STORAGE_KEY_UNITSIZE)
		STORAGE_KEY(at, &sysblk) |= STORKEY_REF | STORKEY_CHANGE;
}

/* The page of the file that is the guest's storage, at all places where it is mapped. */
static bool host_release(void *opaque, int cpu, uint64_t addr)
{
	const uint64_t at = cp_port_stored(opaque, cpu, addr, CP_PAGE_SIZE);

	return madvise(port->own.ram + at, CP_PAGE_SIZE, MADV_REMOVE) == 0;
}

static uint64_t now(void)
{
	return hold_tod() << 8;
}

static uint64_t guest_tod(void *opaque)
{
	(void)opaque;
	return now();
}

static void host_kick(void *opaque, unsigned int cpu)
{
	(void)opaque;
	interrupt_kick(cpu);
}

static void host_set_timer(void *opaque, uint64_t at)
{
	(void)opaque;
	service_set_timer(now(), at);
}

static void host_storage_changed(void *opaque)
{
	(void)opaque;
	storage_apply();
}

static void host_machine(void *opaque, enum cp_machine_request what)
{
	(void)opaque;
	service_request(what);
}

void host_init(struct cp_host *host)
{
	cp_port_host(&port->own, host);
	host->window = host_window;
	host->dirty = host_dirty;
	host->release = host_release;
	host->tod = guest_tod;
	host->kick = host_kick;
	host->set_timer = host_set_timer;
	host->storage_changed = host_storage_changed;
	host->machine = host_machine;
}
