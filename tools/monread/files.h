/* SPDX-License-Identifier: MIT */
/*
 * monread: several files that are one recording, such as those of --rotate-size and --rotate-time.
 *
 * They are read in the order of the times of their first records.
 */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "command_line.h"
#include "input.h"

/* What the first set with a record tells; zeros: it does not. */
struct file {
	const char *name;
	dev_t device;
	ino_t inode;
	enum monrec_format format;
	uint64_t tod;			/* of the first record */
	uint8_t system[8];		/* EBCDIC */
	uint32_t releases;
};

struct files {
	struct file file[WORD_LIST_MAX];
	unsigned int count, at;		/* @at: that is open */
};

/*
 * Looks at the files and puts them in order; says so if that is not the order in which they are
 * given.  False, having told the user why, if they are not one recording.
 */
bool files_open(struct files *files, const struct word_list *names, bool monwrite);
/* Opens the one after that which is open, of which there has to be one.  False, having told why. */
bool files_next(struct files *files, struct input *input, bool monwrite);

#endif
