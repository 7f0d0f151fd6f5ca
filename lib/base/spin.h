/* SPDX-License-Identifier: MIT */
/*
 * Look again for a while before waiting: to wake a thread on a processor that has gone idle takes
 * ten times as long as what it was woken for.
 */
#ifndef SPIN_H
#define SPIN_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Looks at what another processor writes, before the caller asks for the next one by spin_on(): less
 * than a system call takes.
 */
#define SPIN_LOOKS 16u

/** Between two of these looks. */
static inline void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/** One place that waits; all but @limit zero at first. */
struct spin {
	uint64_t limit;		/**< ns after which it waits; nothing is kept from running for longer */
	uint64_t begun;		/**< ns of the host's clock; 0: it does not look for anything */
	unsigned int fails;	/**< how often in a row nothing came, at most SPIN_FAILS … */
	unsigned int skips;	/**< … for which so many waits are not put off */
};

/** The host's clock. */
uint64_t spin_now_ns(void);

/** After so many failures in a row one in 2^SPIN_FAILS waits is put off. */
#define SPIN_FAILS 6u

/**
 * Nothing is there.  Return: true if the caller is to look again, others have had the processor
 * meanwhile; false if it is to wait.
 */
bool spin_on(struct spin *spin);
/** Something is there, and the next time that nothing is is another one. */
void spin_found(struct spin *spin);

#endif
