/* SPDX-License-Identifier: MIT */
/*
 * Checks of passwords that have not been right yet, which take the time of a hash each: one after the
 * other, in a thread of its own, so that whoever serves goes on.
 *
 * Addresses take turns: who tries many passwords keeps only clients of its own address waiting.  Of one
 * address the newest check is the next one, so that who comes seldom does not wait for those who come
 * again and again; but each fourth time it is the oldest one, so that all come to their end.  There
 * are CHECKS_MAX at a time, and CHECKS_OF_ONE of one address.  A check comes to its end whether its
 * client still waits or not, so that a right password is known from then on.
 *
 * For one thread, but for the one of its own.
 */
#ifndef TOOLS_CHECKS_H
#define TOOLS_CHECKS_H

#include <netinet/in.h>

#include "password.h"

#define CHECKS_MAX 32u
#define CHECKS_OF_ONE 12u

struct checks;
struct check;

/* Return: NULL without memory, threads or files.  @passwords stays the caller's. */
struct checks *checks_open(const struct passwords *passwords);

/* Waits for the check under way; those that were not begun are done, and not right. */
void checks_stop(struct checks *checks);

/* Stops, too.  NULL is none. */
void checks_close(struct checks *checks);

/* Readable when checks_next_done() has one. */
int checks_fd(const struct checks *checks);

/*
 * Begins one.  @from: address of the client, NULL if it is not known.  @context: the caller's.
 * Return: NULL if there are too many.
 */
struct check *checks_begin(struct checks *checks, const struct sockaddr *from, const char *user,
			   const char *password, void *context);

/* One that is done, each once; NULL: none. */
struct check *checks_next_done(struct checks *checks);

void *check_context(const struct check *check);
bool check_is_right(const struct check *check);
const char *check_user(const struct check *check);
const char *check_password(const struct check *check);

/* Nobody is interested in it any more; it has been given by checks_next_done(). */
void check_end(struct checks *checks, struct check *check);

#endif
