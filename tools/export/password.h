/* SPDX-License-Identifier: MIT */
/*
 * Who may read the values: a file of lines "USER:HASH", as "htpasswd -B" writes them.  HASH is of
 * crypt(5): bcrypt ("$2y$", "$2b$"), yescrypt and others that crypt(3) does not call outdated.
 * Empty lines, and those that begin with '#', are left out.
 */
#ifndef TOOLS_PASSWORD_H
#define TOOLS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>

/* Users of a file, bytes of a line, bytes of user and password together. */
#define PASSWORD_USERS_MAX 64u
#define PASSWORD_LINE_MAX 512u
#define PASSWORD_MAX 256u

struct passwords {
	struct password_user {
		char *name, *hash;	/* in one allocation, that of the name */
		/* What was right the last time, so that a scrape costs no computation of a hash. */
		char right[PASSWORD_MAX];
	} user[PASSWORD_USERS_MAX];
	size_t count;
};

/* Return: an exit code; but for EXIT_PASS it has complained.  passwords_free() is due anyway. */
int passwords_read(struct passwords *passwords, const char *file);
void passwords_free(struct passwords *passwords);

/*
 * Is this known to be right?  That takes the same time whatever user and password are: all of what
 * is known is looked at.
 */
bool passwords_known(const struct passwords *passwords, const char *user, const char *password);

/*
 * Is this the password of that user?  It takes the time of a hash.  A user that there is none of takes
 * as long as a wrong password.
 */
bool passwords_compute(const struct passwords *passwords, const char *user, const char *password);

/* It is right. */
void passwords_remember(struct passwords *passwords, const char *user, const char *password);

#endif
