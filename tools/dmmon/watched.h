/* SPDX-License-Identifier: MIT */
/* The regions that a command looks at for a time: those chosen, or one made for that time. */
#ifndef DMMON_WATCHED_H
#define DMMON_WATCHED_H

#include "choice.h"
#include "dms_delta.h"
#include "look.h"
#include "range.h"

struct watched {
	struct device *device;
	const char *program;	/* whose regions these are; NULL: not only of one */
	struct dms_regions regions;
	bool own;		/* the only one was made here */
	bool lost;		/* device or regions are not what they were */
	uint64_t oldest;	/* machine_now(): no I/O can have begun before; 0: not known */
	struct look *before, *after;	/* two looks at each region; @before comes first */
};

/* The options that choose the regions. */
struct watched_options {
	struct choice choice;
	struct range range;
	bool keep;		/* do not remove a region made here */
};

/*
 * Takes the chosen regions, or makes one with precise times if no choice was made, and the first
 * look at each.  Signals should be held back already, so that watched_close() is reached.
 * Return: EXIT_PASS; else an exit code, having complained, and nothing is left.
 */
int watched_open(struct watched *watched, struct device *device,
		 const struct watched_options *options);

/*
 * Takes the second look at each.  Before and after it makes sure that the device and all regions
 * are what they were, so that nothing else's counters are taken for theirs.  Return: as above.
 */
int watched_look(struct watched *watched);

/* The second look becomes the first. */
void watched_turn(struct watched *watched);

/* The interval between looks at region @index: for dms_delta(), and for rates. */
struct dms_span watched_span(const struct watched *watched, size_t index, uint64_t *elapsed);

/* Removes a region made here, unless it is to be kept.  Return: an exit code. */
int watched_close(struct watched *watched, const struct watched_options *options);

#endif
