/* SPDX-License-Identifier: MIT */
/*
 * How many exit messages of one CPU came, and how many were lost.
 *
 * The kernel numbers the messages of each CPU, and a socket that listens to one CPU alone should
 * see every number; it also counts what it could not queue for the socket (SK_MEMINFO_DROPS).
 * That counter is exact and is what "lost" means.  The numbers show where the loss was and are a
 * second opinion: a task that moves to another CPU while it exits, and that happens, has the
 * number of one CPU and goes to the listeners of another.  Such a number is a stranger at one
 * socket and, as soon as a later one comes, missing at another.  Where all CPUs are listened to,
 *
 *	missing - strangers <= lost
 *
 * with less on the left only for what comes last on a CPU.  A number that drops do not explain is
 * held until the next one tells what it is.  Whatever is taken for the sequence, and even if that
 * turns out to have been another CPU's,
 *
 *	missing - strangers = numbers from the first to the last of the sequence - messages
 *
 * Pure; used while listening and when a recording is replayed.
 */
#ifndef TASKMON_MESSAGE_COUNT_H
#define TASKMON_MESSAGE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

struct message_count {
	uint64_t received;	/* messages, without the tool's own probe */
	uint64_t own;		/* exits of the tool's own probe */
	uint64_t dropped;	/* by the kernel's counter of the socket */
	bool has_dropped;	/* false: this kernel does not tell (before Linux 4.12) */
	uint64_t missing;	/* numbers that never came */
	uint64_t strangers;	/* numbers that are not of this CPU's sequence */
	uint64_t overflows;	/* ENOBUFS seen: once for each time that the queue ran over */
	uint64_t seen;		/* messages, the tool's own and a held one included */
	uint64_t span;		/* numbers of the sequence, from its first one up to @next */
	uint32_t next;		/* number of the next message */
	bool started;		/* next is known */
	bool holds;		/* held is a number that may or may not be a stranger */
	uint32_t held;
};

/* Whether a message of this number is neither late nor early; if it is not, set dropped first. */
bool message_count_is_next(const struct message_count *account, uint32_t number);

/* A message came.  received or own is the caller's to count; dropped is what the kernel has now. */
void message_count_number(struct message_count *account, uint32_t number);

/* Nothing comes any more: a number that is held is a stranger. */
void message_count_end(struct message_count *account);

/* The losses: dropped if the kernel tells, missing if not. */
uint64_t message_count_lost(const struct message_count *account);

/* Adds up; next and started stay as they are.  The sum tells drops only if both do. */
void message_count_add(struct message_count *sum, const struct message_count *account);

#endif
