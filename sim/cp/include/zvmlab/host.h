/* SPDX-License-Identifier: MIT */
/*
 * What the core asks of the emulator.
 *
 * The core has no thread and no clock of its own, and no storage but the pages of
 * saved segments: a port fills in this structure and holds one lock around every
 * call into the core.  The callbacks run with that lock held and must not call
 * back into the core.
 */
#ifndef ZVMLAB_HOST_H
#define ZVMLAB_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_event;

/** Instead of a CPU number in cp_host.map: the address is guest absolute. */
#define CP_ABSOLUTE (-1)

/** Size of a page (frame) of guest storage in bytes. */
#define CP_PAGE_SIZE 4096u

/** A CP command's request to the machine. */
enum cp_machine_request {
	CP_MACHINE_RESTART,	/**< restart interruption of CPU 0 (PoP, "Restart") */
	CP_MACHINE_SHUTDOWN,	/**< the signal to shut down, which SCLP passes on */
	CP_MACHINE_LOGOFF,	/**< the machine ends */
	CP_MACHINE_REQUESTS
};

/** Where a saved segment's pages lie in guest storage. */
struct cp_window {
	uint64_t addr, len;	/**< absolute address and bytes, whole pages */
	int fd;			/**< file of the pages; -1: what was there before */
	uint64_t offset;	/**< of the first page in the file */
	bool stored;		/**< stores are for all who have the file; without: CP's are, and the
				     guest makes none */
};

/** What STORE STATUS stores (PoP, ch. 4). */
struct cp_registers {
	uint64_t psw[2], gr[16], cr[16], fr[16];
	uint32_t ar[16];
	uint64_t cpu_timer, comparator;
	uint32_t prefix, fpc, todpr;
};

struct cp_host {
	/** Handed to every callback; owned by the port. */
	void *opaque;

	/**
	 * Host pointer to guest storage.
	 *
	 * @cpu:  CPU whose prefix turns the real address into an absolute one,
	 *        or CP_ABSOLUTE.  A real range never crosses a page; an absolute
	 *        one may have any length.
	 * @addr: first byte; @len: number of bytes, at least 1.
	 * Return: pointer valid until the entry point of the core returns, or
	 * NULL if any byte is no storage of the emulator, or if prefixing leads to
	 * a page that the guest may not store into (cp_page_access): the core
	 * knows the rights of the real address only.
	 */
	void *(*map)(void *opaque, int cpu, uint64_t addr, uint64_t len);

	/**
	 * From now on these pages are in guest storage; none that is the guest's own (an extent) is
	 * among them, and map() has found all.  The descriptor is the core's, and need not stay open:
	 * duplicate it, or map it now.  storage_changed() follows.
	 * Return: false if the emulator cannot; then nothing has changed.
	 */
	bool (*window)(void *opaque, const struct cp_window *window);

	/**
	 * Bytes of guest storage at a real (@cpu) or absolute address that map()
	 * reaches, from somewhere else than there: what a trace has recorded.
	 * NULL: the core copies them from map().
	 */
	void (*fetch)(void *opaque, int cpu, uint64_t addr, void *to, size_t len);

	/** The core has stored into [addr, addr + len); same address rules. */
	void (*dirty)(void *opaque, int cpu, uint64_t addr, uint64_t len);

	/**
	 * The guest does not need the page at real address @addr any more: make it zero, and
	 * give its memory back to the system the emulator runs on; dirty() follows.
	 * Return: false if that cannot be done: then the core stores zeros.  NULL: as false.
	 */
	bool (*release)(void *opaque, int cpu, uint64_t addr);

	/**
	 * Copy @len bytes within a page at a virtual address of the home space, in which the
	 * guest's kernel runs.  Return: false if it has none there.  NULL: the emulator cannot.
	 */
	bool (*home_read)(void *opaque, uint64_t addr, void *to, size_t len);

	/** TOD clock as the guest's STCK shows it. */
	uint64_t (*tod)(void *opaque);

	/** CPU @cpu may have gained an IUCV interruption it is enabled for. */
	void (*kick)(void *opaque, unsigned int cpu);

	/**
	 * Call cp_timer() when the guest's TOD clock reaches @tod; replaces an
	 * earlier request; 0 withdraws it.
	 */
	void (*set_timer)(void *opaque, uint64_t tod);

	/**
	 * Which real pages the guest may use, or may store into, has changed
	 * (segment loaded or purged, storage defined): forget translations.
	 */
	void (*storage_changed)(void *opaque);

	/**
	 * The page at absolute address @addr has gone out, or is in again: for accesses of the
	 * guest's instructions to a page that is out, call cp_page_fault().  NULL: the emulator
	 * cannot intercept them, and no page ever goes out.
	 */
	void (*page_changed)(void *opaque, uint64_t addr, bool out);

	/**
	 * CPU @cpu may have gained an external interruption (cp_external_take()), or need no
	 * longer wait (cp_page_held()).  NULL if page_changed is.
	 */
	void (*external)(void *opaque, unsigned int cpu);

	/**
	 * Do this with the machine, after the entry point of the core has returned; NULL: the
	 * emulator cannot, and observers alone learn of the request.
	 */
	void (*machine)(void *opaque, enum cp_machine_request what);

	/**
	 * The guest has these CPUs of the machine's, bit n is CPU n; the others are not operational
	 * and stopped.  First from cp_create().  NULL: the emulator cannot, and the directory must
	 * have no CPU statements.
	 */
	void (*cpus)(void *opaque, uint64_t defined);

	/**
	 * The registers of CPU @cpu, which a dump has.  A CPU that runs shows what it had a moment
	 * ago.  NULL: the emulator cannot, and there are no dumps.
	 */
	void (*registers)(void *opaque, unsigned int cpu, struct cp_registers *to);

	/**
	 * Devices have come or gone: cp_has_device() says which the guest has.  NULL: the emulator
	 * has none of CP's.
	 */
	void (*devices_changed)(void *opaque);

	/**
	 * A file has come for the guest's reader, which has none: device end at each of its readers,
	 * by which the guest may learn of it.  NULL: the emulator has none of CP's.
	 */
	void (*reader_ready)(void *opaque);

	/** Does cp_sclp() have what the guest asks SCLP about storage?  If not, none can be standby. */
	bool sclp;

	/** One line of trace, NUL-terminated, without a newline; may be NULL. */
	void (*trace)(void *opaque, const char *line, size_t len);

	/** Something an observer of the machine wants to know; may be NULL. */
	void (*event)(void *opaque, const struct cp_event *event);

	/** Text that the guest's 3215 shows (zvmlab/console.h); may be NULL. */
	void (*console)(void *opaque, const char *text, size_t len);
};

/** The same for what machines of a system share. */
struct cp_system_host {
	/** Handed to every callback; owned by the port. */
	void *opaque;

	/** CP's own clock, as a TOD clock: that of *MONITOR, messages, accounting and files. */
	uint64_t (*tod)(void *opaque);

	/** Call cp_system_timer() when that clock reaches @tod; as cp_host.set_timer. */
	void (*set_timer)(void *opaque, uint64_t tod);

	/** Has the user directory an entry of that name?  NULL: of nobody who is not logged on. */
	bool (*in_directory)(void *opaque, const char *userid);

	/**
	 * Start a machine for a user who is in the directory and not logged on; it logs on later.
	 * Return: false if the user's last machine has not ended yet.  NULL if in_directory is.
	 */
	bool (*start)(void *opaque, const char *userid);
};

#endif
