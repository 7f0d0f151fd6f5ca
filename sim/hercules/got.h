/* SPDX-License-Identifier: MIT */
/*
 * Functions of Hercules' library that are called through its procedure linkage
 * table, redirected.  Nothing of the library's code is changed: only the table's
 * entry, which the dynamic linker fills in at run time as well.
 */
#ifndef ZVMLAB_GOT_H
#define ZVMLAB_GOT_H

#include <stddef.h>

/** A redirection; @original is filled in by got_redirect(). */
struct got_hook {
	const char *symbol;
	void *replacement;
	void **original;	/**< receives the address of the library's own function */
};

/**
 * Redirect @count functions of the loaded library with the file name @library.
 *
 * All of them or, if one is not called through the table exactly once, none.
 * Return: 0, or -1 with one sentence in @err.
 */
int got_redirect(const char *library, const struct got_hook *hooks, size_t count, char *err,
		 size_t errlen);

#endif
