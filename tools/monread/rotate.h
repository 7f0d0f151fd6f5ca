/* SPDX-License-Identifier: MIT */
/*
 * monread: a file that makes room for the next one.
 *
 * NAME becomes NAME.1, what was NAME.1 becomes NAME.2, and so on; the oldest one goes.
 */
#ifndef ROTATE_H
#define ROTATE_H

#include <stdbool.h>
#include <stdint.h>

#define ROTATE_KEEP_MOST 1000u

/* When, and how many files beside the one that is written; 0 of both: never. */
struct rotation {
	uint64_t size;		/* bytes */
	uint64_t ns;		/* from the first set of a file, by the TOD clock of the data */
	unsigned int keep;
};

bool rotation_wanted(const struct rotation *rotation);

/*
 * Renames them.  Files that are not regular stay, and nothing is renamed then.  False, having
 * told the user why; what was renamed before stays so.
 */
bool rotate_files(const char *name, unsigned int keep);
/* NAME.1 becomes NAME again, if there is no other one by now. */
void rotate_back(const char *name);

#endif
