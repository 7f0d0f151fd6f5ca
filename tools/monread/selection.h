/* SPDX-License-Identifier: MIT */
/*
 * monread: which sets are read: those of a time, and of several files each set once.
 *
 * The time of a set is that of its first record.  Its items wait for this record.
 */
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "hold.h"

/* TOD; 0: there is no such limit. */
struct span {
	uint64_t from;		/* sets from then on */
	uint64_t to;		/* and before then */
};

enum selected {
	SELECTED,		/* the item is wanted, after those that wait */
	SELECTED_LATER,		/* it waits */
	SELECTED_NOT,
	SELECTED_EARLIER,	/* it is not, for it is before the span */
	SELECTED_BEHIND,	/* it is not, nor is what follows in this file */
};

/* Of samples and of events, each by itself: events come later than samples of the same time. */
struct selection_last {
	uint64_t tod, begin;	/* of the last set; of the last one of the files before */
};

struct selection {
	struct span span;
	const char *name;	/* of the file, for messages */
	bool several;		/* files */
	bool saved;		/* elements are sets */
	enum { SELECTION_NONE, SELECTION_WAITS, SELECTION_TAKES, SELECTION_SKIPS } state;
	enum selected skipped;	/* why */
	struct hold waiting;
	struct selection_last last[2];
	uint64_t interval, sample;	/* TOD: between the last two samples of a file; of the last */
	bool new_file;			/* no sample of it has come */
	uint64_t sets, overlap, overlap_until;	/* taken; of the file: left out */
	uint64_t first, end;			/* TOD of any set that was read, taken or not */
};

enum selected selection_item(struct selection *selection, const struct monrec_item *item);
/* Another file follows, or none does: says what is missing between them or was in both. */
void selection_next_file(struct selection *selection, const char *name);
/* False, having told the user, if the span has no set. */
bool selection_end(struct selection *selection);

#endif
