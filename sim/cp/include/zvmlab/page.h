/* SPDX-License-Identifier: MIT */
/*
 * Pages of the guest that CP has paged out, and what it tells the guest about them
 * (DIAGNOSE X'258', external interruption X'2603').
 *
 * A test says which pages are out, and when they come in.  A guest that has established the
 * handshake on a CPU is told when that CPU meets a page that is out (initial interruption), and
 * once more when the page is there (completion); both carry the token that the CPU's program
 * named.  Whoever is not to be told simply waits for the page: here CP brings it in at once.
 *
 * A page that is out keeps its contents, and CP's own accesses, channel programs and DAT's
 * fetches of tables go on as if it were in: only accesses of the guest's instructions count.
 */
#ifndef ZVMLAB_PAGE_H
#define ZVMLAB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/config.h"
#include "zvmlab/external.h"

struct cp;

/** Most pages that are out at a time, and most faults for which the guest waits. */
#define PAGE_MAX_OUT 1024u
#define PAGE_MAX_FAULTS 1024u
/** Instead of a CPU number: any CPU may be told. */
#define PAGE_ANY_CPU UINT16_MAX

/** External-interruption subcodes, which stand where a CPU address may stand. */
enum { PAGE_EXT_INITIAL = 0x0600, PAGE_EXT_COMPLETION = 0x0680 };

/** A CPU's settings by DIAGNOSE X'258'. */
struct page_handshake {
	bool established;
	uint64_t token;			/**< real address of the token, a doubleword */
	uint64_t select, compare;	/**< of the PSW's first half */
};

enum page_initial { PAGE_INITIAL_HELD, PAGE_INITIAL_PENDING, PAGE_INITIAL_TAKEN };
enum page_completion { PAGE_COMPLETION_WAITS, PAGE_COMPLETION_PENDING, PAGE_COMPLETION_TAKEN };

/** A fault of which the guest is, or was, told. */
struct page_fault {
	uint32_t id;			/**< from 1 */
	uint64_t addr;			/**< of the page, guest absolute */
	uint64_t token;			/**< whose it is; … */
	uint64_t initial_token, completion_token;	/**< … what the interruptions carry */
	uint16_t cpu;			/**< that has met the page */
	uint16_t to;			/**< CPU that takes the completion, or PAGE_ANY_CPU */
	enum page_initial initial;
	enum page_completion completion;
	uint32_t delay;			/**< completions that are presented before this one */
	uint32_t copies;		/**< further completions like this one */
	uint64_t order;			/**< of pending completions: the lowest comes first */
};

/** A page that is out, or takes turns. */
struct page_out {
	uint64_t addr;
	bool out;
	bool hold;			/**< its next fault's initial interruption is held */
	bool turns;			/**< it goes out again while page_thrash() lasts */
};

/** Since CP was made or reset. */
struct page_counts {
	uint64_t initial, completion;	/**< interruptions presented */
	uint64_t resolved;		/**< faults of which the guest was not told */
};

/** The action of a CPU that is about to access a page that is out. */
enum cp_paging {
	CP_PAGE_IN,		/**< go on: the page is in */
	CP_PAGE_INITIAL,	/**< nullify the instruction; an interruption is pending */
	CP_PAGE_HELD,		/**< nullify it, then wait without taking interruptions (cp_page_held()) */
};

/* For ports: with cp_host.page_changed and .external. */

/** Is the page that contains absolute address @addr out? */
bool cp_page_is_out(const struct cp *cp, uint64_t addr);
/**
 * CPU @cpu is about to access the page at absolute address @addr, which is out.
 *
 * @psw: first half of its PSW.  @enabled: PSW and CR0 let it take X'2603' now.
 */
enum cp_paging cp_page_fault(struct cp *cp, unsigned int cpu, uint64_t addr, uint64_t psw,
			     bool enabled);
/** Must this CPU wait, until cp_host.external is called for it? */
bool cp_page_held(const struct cp *cp, unsigned int cpu);

/* For DIAGNOSE X'258'. */

/** Return: 0, or 8 if it is established already, and stays as it was. */
uint64_t page_establish(struct cp *cp, unsigned int cpu, const struct page_handshake *handshake);
/** Return: 0, or 4 if there is none.  Completions of this CPU's faults no longer come. */
uint64_t page_cancel(struct cp *cp, unsigned int cpu);

/* For the control socket. */

/**
 * @pages pages from absolute address @addr on go out.
 * @hold: the CPU that meets one waits, with its initial interruption, for page_release().
 * Return: 0, or -1 with one sentence in @err; then nothing has changed.
 */
int page_out(struct cp *cp, uint64_t addr, uint64_t pages, bool hold, char *err, size_t errlen);
/**
 * They come in, as far as they are out, and whoever waits is told.
 * @to: the CPU that is told, or PAGE_ANY_CPU.
 * Return: number of faults that are completed by that.
 */
unsigned int page_in(struct cp *cp, uint64_t addr, uint32_t pages, uint16_t to);
/** Present the initial interruption that is held.  Return: is there one of that number? */
bool page_release(struct cp *cp, uint32_t fault);
/**
 * Until the guest has been told of @faults faults, the pages that are out now take turns: of more
 * than @depth faults that wait, one drawn by chance is completed, and its page goes out again at
 * a later fault.  In the end all pages are in.  @faults 0: they come in now.
 */
void page_thrash(struct cp *cp, uint32_t faults, uint32_t depth);
/** Faults that are still to come of page_thrash(). */
uint32_t page_thrashing(const struct cp *cp);

/** The handshake of a CPU that exists. */
const struct page_handshake *page_handshake(const struct cp *cp, unsigned int cpu);
/** The @index-th page by address, fault by number; NULL past the last. */
const struct page_out *page_at(const struct cp *cp, unsigned int index);
const struct page_fault *page_fault_at(const struct cp *cp, unsigned int index);
const struct page_counts *page_counts(const struct cp *cp);

#endif
