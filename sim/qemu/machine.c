/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interruptions, access rights and resets: the machine's side of changes/port. */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/zvmlab.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"
#include "zvmlab/page.h"

/* The address at which a guest waits that was told to end. */
#define QUIESCED 0xfff

ZvmlabCp *zvmlab_cp;

bool zvmlab_take_ext_int(CPUS390XState *env, LowCore *lowcore)
{
	bool more, taken = zvmlab_cp->port.calls->interrupt_take(&zvmlab_cp->port, env->core_id, &more);

	if (!more)
		env->pending_int &= ~INTERRUPT_EXT_IUCV;
	if (!taken) {
		unmap_lowcore(env, lowcore);
		return false;
	}
	lowcore->ext_int_code = cpu_to_be16(EXT_IUCV);
	lowcore->cpu_addr = 0;
	return true;
}

/* With the BQL held.  Return: what is known of the page now. */
static uint8_t learn(ZvmlabCp *s, uint64_t addr)
{
	const struct cp_port_page page = s->port.calls->page(&s->port, addr);
	const uint8_t known = (page.access + 1) | (page.out ? ZVMLAB_OUT : 0);

	for (uint64_t at = addr; at < MIN(page.end, s->port.ram_size); at += CP_PAGE_SIZE)
		qatomic_set(&s->access[at / CP_PAGE_SIZE], known);
	return known;
}

/*
 * Called on every TLB miss, usually without the BQL, by all CPUs: the core is
 * asked once per page and change of storage.
 */
static uint8_t page_known(uint64_t addr)
{
	ZvmlabCp *s = zvmlab_cp;
	bool locked = bql_locked();
	uint8_t known;

	if (!s || addr >= s->port.ram_size)
		return CP_ACCESS_WRITE + 1;
	known = qatomic_read(&s->access[addr / CP_PAGE_SIZE]);
	if (known)
		return known;
	if (!locked)
		bql_lock();
	known = learn(s, addr);
	if (!locked)
		bql_unlock();
	return known;
}

static enum cp_access page_access(uint64_t addr)
{
	return (page_known(addr) & ~ZVMLAB_OUT) - 1;
}

bool zvmlab_page_out(uint64_t addr)
{
	return page_known(addr) & ZVMLAB_OUT;
}

bool zvmlab_addressable(uint64_t addr)
{
	return page_access(addr) != CP_ACCESS_NONE;
}

bool zvmlab_reachable(uint64_t addr, uint64_t len, bool store)
{
	const enum cp_access needed = store ? CP_ACCESS_WRITE : CP_ACCESS_READ;

	for (uint64_t page = addr / CP_PAGE_SIZE; page * CP_PAGE_SIZE < addr + len; page++)
		if (page_access(page * CP_PAGE_SIZE) < needed)
			return false;
	return true;
}

bool zvmlab_protected(uint64_t addr, bool store, int *flags)
{
	if (page_access(addr) != CP_ACCESS_READ)
		return false;
	*flags &= ~PAGE_WRITE;
	return store;
}

/* Once: a guest can go on from there by SIGNAL PROCESSOR, and come again for ever. */
void zvmlab_wait(const CPUS390XState *env)
{
	const uint64_t interruptible = PSW_MASK_IO | PSW_MASK_EXT | PSW_MASK_MCHECK;
	const bool locked = bql_locked();

	if (!zvmlab_cp || env->psw.mask & interruptible || env->psw.addr == QUIESCED ||
	    qatomic_xchg(&zvmlab_cp->wait_told, true))
		return;
	error_report("zvmlab-cp: CPU%04X: Disabled wait state PSW=%016" PRIX64 " %016" PRIX64,
		     env->core_id, env->psw.mask, env->psw.addr);
	if (!locked)
		bql_lock();
	zvmlab_cp->port.calls->cpu_waits(&zvmlab_cp->port, env->core_id, env->psw.mask,
					 env->psw.addr);
	if (!locked)
		bql_unlock();
}

void zvmlab_reset(void)
{
	ZvmlabCp *s = zvmlab_cp;

	if (!s)
		return;
	/*
	 * Translated code of the kernel that is gone makes every store into its
	 * pages slow: the next kernel would unpack itself for minutes.
	 */
	queue_tb_flush(first_cpu);
	zvmlab_end_holds(s);
	s->port.calls->reset(&s->port);
	s->ipled = runstate_is_running();
	if (s->ipled)
		s->port.calls->ipl(&s->port);
}

void zvmlab_reset_cpu(const CPUS390XState *env)
{
	if (!zvmlab_cp)
		return;
	zvmlab_cpu_is_reset(zvmlab_cp, env->core_id);
	zvmlab_cp->port.calls->reset_cpu(&zvmlab_cp->port, env->core_id);
}
