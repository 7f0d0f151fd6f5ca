/* SPDX-License-Identifier: MIT */
/* What the core asks of the emulator, struct cp_host; all with the lock held. */
#include "port.h"

#include <string.h>

#include "zvmlab/host.h"

static uint64_t absolute(int cpu, uint64_t addr)
{
	const REGS *regs = cpu == CP_ABSOLUTE ? NULL : sysblk.regs[cpu];

	return regs ? APPLY_PREFIXING(addr, regs->PX) : addr;
}

static void *host_map(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	const uint64_t at = absolute(cpu, addr);

	(void)opaque;
	if (len > port->ram_size || at > port->ram_size - len)
		return NULL;
	if (at != addr && cp_page_access(port->cp, at) != CP_ACCESS_WRITE)
		return NULL;
	return port->ram + at;
}

static void host_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	uint64_t first = absolute(cpu, addr);

	(void)opaque;
	for (uint64_t at = first & ~(uint64_t)(CP_PAGE_SIZE - 1); at < first + len;
	     at += STORAGE_KEY_UNITSIZE)
		STORAGE_KEY(at, &sysblk) |= STORKEY_REF | STORKEY_CHANGE;
}

static uint64_t now(void)
{
	return tod_clock(sysblk.regs[0] ? sysblk.regs[0] : &sysblk.dummyregs) << 8;
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

static void host_trace(void *opaque, const char *line, size_t len)
{
	(void)opaque;
	ctl_trace_line(port->ctl, port->trace, line, len);
}

static void host_event(void *opaque, const struct cp_event *event)
{
	(void)opaque;
	ctl_event(port->ctl, event);
}

void host_init(struct cp_host *host)
{
	*host = (struct cp_host){
		.opaque = port,
		.map = host_map,
		.dirty = host_dirty,
		.tod = guest_tod,
		.kick = host_kick,
		.set_timer = host_set_timer,
		.storage_changed = host_storage_changed,
		.trace = port->trace ? host_trace : NULL,
		.event = host_event,
	};
}
