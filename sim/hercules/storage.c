/* SPDX-License-Identifier: MIT */
/*
 * Guest storage, and what the guest may do with each page of it.
 *
 * Hercules reaches guest storage through host pointers that it keeps in its TLB,
 * so rights are given to the host's pages: a page that the guest may not touch,
 * or not store into, is protected by the host, and the signal becomes the program
 * interruption.  The core uses a second mapping of the same memory.
 */
#define _GNU_SOURCE /* memfd_create, F_ADD_SEALS, REG_ERR */
#include "port.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* Bit of the page-fault error code on x86: the access was a store. */
#define FAULT_STORE 2

/* Translation-exception identification: protection of the page, not of low addresses. */
#define TEID_PAGE UINT64_C(0x4)

static struct sigaction before;
static unsigned int opened;	/* storage_open() without storage_close() */

static int protection(enum cp_access access)
{
	switch (access) {
	case CP_ACCESS_NONE:
		return PROT_NONE;
	case CP_ACCESS_READ:
		return PROT_READ;
	case CP_ACCESS_WRITE:
		break;
	}
	return PROT_READ | PROT_WRITE;
}

static void set_rights(uint64_t first, uint64_t end, int rights)
{
	if (mprotect(sysblk.mainstor + first, end - first, rights) == 0)
		return;
	/* Without its rights a segment would be no segment: better no guest. */
	perror("zvmlab-cp: guest storage cannot be protected");
	abort();
}

/* Return: the end of the pages that are like the one at @at; CP is asked once for all of them. */
static uint64_t note_access(uint64_t at, enum cp_access *access)
{
	const struct cp_port_page page = port->own.calls->page(&port->own, at);

	assert(page.end > at);
	*access = page.access;
	for (; at < page.end && at < port->own.ram_size; at += CP_PAGE_SIZE)
		__atomic_store_n(&port->access[at / CP_PAGE_SIZE], page.access, __ATOMIC_RELEASE);
	return at;
}

void storage_apply(void)
{
	uint64_t first = 0;
	int rights, last = -1;

	if (opened > 0)
		return;
	for (uint64_t at = 0, end; at < port->own.ram_size; at = end) {
		enum cp_access access;

		/* Before the rights: whoever meets the new ones looks there. */
		end = note_access(at, &access);
		rights = protection(access);
		if (rights == last)
			continue;
		if (at > first)
			set_rights(first, at, last);
		first = at;
		last = rights;
	}
	set_rights(first, port->own.ram_size, last);
}

void storage_open(void)
{
	if (opened++ == 0)
		set_rights(0, port->own.ram_size, PROT_READ | PROT_WRITE);
}

void storage_close(void)
{
	opened--;
	storage_apply();
}

int storage_clear_all(void)
{
	memset(sysblk.storkeys, 0, port->own.ram_size / STORAGE_KEY_UNITSIZE);
	return madvise(port->own.ram, port->own.ram_size, MADV_REMOVE);
}

/* For CP, and for Hercules, whose rights come with storage_apply(). */
bool storage_window(const struct cp_window *window)
{
	struct cp_port theirs = port->own;

	theirs.ram = sysblk.mainstor;
	if (!cp_port_window(&port->own, window))
		return false;
	if (cp_port_window(&theirs, window))
		return true;
	/* Half of a machine's storage would be worse than none. */
	perror("zvmlab-cp: guest storage cannot be mapped");
	abort();
}

enum cp_access storage_access(uint64_t addr)
{
	if (addr >= port->own.ram_size)
		return CP_ACCESS_NONE;
	return __atomic_load_n(&port->access[addr / CP_PAGE_SIZE], __ATOMIC_ACQUIRE);
}

static REGS *own_regs(void)
{
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		if (sysblk.regs[i] && pthread_equal(sysblk.cputid[i], pthread_self()))
			return sysblk.regs[i];
	return NULL;
}

/*
 * The address that the guest knows a page by: Hercules has looked it up for this
 * very store, so the TLB has it.  Its right to store is taken away again, so that
 * no entry of an earlier attempt is mistaken for the one of a later attempt.
 */
static uint64_t virtual_page(REGS *regs, const uint8_t *host)
{
	for (uint64_t i = 0; i < TLBN; i++) {
		uint64_t id = regs->tlb.TLB_VADDR(i);
		uint64_t addr = (id & TLBID_PAGEMASK) | i << TLB_PAGESHIFT;

		if ((id & TLBID_BYTEMASK) != regs->tlbID || !(regs->tlb.acc[i] & ACC_WRITE) ||
		    MAINADDR(regs->tlb.main[i], addr) != host)
			continue;
		regs->tlb.acc[i] &= (BYTE)~(ACC_WRITE | ACC_CHECK);
		return addr;
	}
	return 0;
}

/* In the thread of a CPU that may not do what it has just tried; does not return. */
static void refuse(REGS *regs, uint64_t page, enum cp_access access)
{
	uint8_t *host = sysblk.mainstor + page;

	if (access == CP_ACCESS_READ) {
		regs->TEA = virtual_page(regs, host) | TEID_PAGE | regs->dat.stid;
		regs->excarid = 0;
		regs->program_interrupt(regs, PGM_PROTECTION_EXCEPTION);
	}
	/* An instruction that cannot be fetched has no length. */
	if (regs->aip == host && regs->ip >= host && regs->ip < host + CP_PAGE_SIZE) {
		regs->instinvalid = 1;
		regs->psw.ilc = 2;
	}
	regs->program_interrupt(regs, PGM_ADDRESSING_EXCEPTION);
}

/*
 * The guest's channel programs run in threads of their own that cannot be told
 * of an exception; the page is the guest's from then on, and the log says so.
 */
static void give_way(uint64_t page)
{
	logmsg("zvmlab-cp: a channel program, or a CPU's prefix, used the protected page at 0x%"
	       PRIx64 "\n", page);
	set_rights(page, page + CP_PAGE_SIZE, PROT_READ | PROT_WRITE);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(number);
	else
		signal(number, SIG_DFL);	/* and the instruction is tried again */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *ucontext = context;
	bool store = ucontext->uc_mcontext.gregs[REG_ERR] & FAULT_STORE;
	uint64_t at = (uint64_t)((uint8_t *)info->si_addr - sysblk.mainstor);
	uint64_t page = at & ~(uint64_t)(CP_PAGE_SIZE - 1);
	enum cp_access access = storage_access(at);
	REGS *regs;

	if (at >= port->own.ram_size) {
		pass_on(number, info, context);
		return;
	}
	/* The rights have just been extended by another CPU: try again. */
	if (access == CP_ACCESS_WRITE || (access == CP_ACCESS_READ && !store))
		return;
	regs = own_regs();
	/* An interruption needs the prefix area: one because of that would find no end. */
	if (regs && page - (regs->PX & ~(uint64_t)(CP_PAGE_SIZE - 1)) >= PREFIX_AREA)
		refuse(regs, page, access);
	give_way(page);
}

static int catch_faults(void)
{
	struct sigaction action = { .sa_sigaction = on_fault };

	/* The handler is left by longjmp: the signal must not stay blocked. */
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigemptyset(&action.sa_mask);
	return sigaction(SIGSEGV, &action, &before);
}

int storage_create(char *err, size_t errlen)
{
	const int rw = PROT_READ | PROT_WRITE;
	size_t size = sysblk.mainsize;
	bool done;

	port->own.ram_fd = memfd_create("zvmlab-storage", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	port->own.ram_size = size;
	port->access = malloc(size / CP_PAGE_SIZE);
	/* Nothing has been stored yet: the file's zeros take the place of Hercules' own. */
	done = port->access && port->own.ram_fd >= 0 && ftruncate(port->own.ram_fd, (off_t)size) == 0 &&
	       /* Or no system takes it. */
	       fcntl(port->own.ram_fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0 &&
	       mmap(sysblk.mainstor, size, rw, MAP_SHARED | MAP_FIXED, port->own.ram_fd, 0) !=
		       MAP_FAILED;
	if (done)
		memset(port->access, CP_ACCESS_WRITE, size / CP_PAGE_SIZE);
	if (done)
		port->own.ram = mmap(NULL, size, rw, MAP_SHARED, port->own.ram_fd, 0);
	if (!done || port->own.ram == MAP_FAILED || catch_faults() != 0) {
		snprintf(err, errlen, "guest storage of %zu MiB cannot be mapped: %s", size >> 20,
			 strerror(errno));
		done = false;
	}
	return done ? 0 : -1;
}
