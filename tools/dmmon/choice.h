/* SPDX-License-Identifier: MIT */
/*
 * Options that choose among the regions of a device: --region, --program, --all, --all-programs.
 *
 * Who only looks and says nothing sees the regions of all programs; who changes something
 * reaches those of one program, dmmon's own unless --program names another, and has to say
 * which.  The regions of other people's watches belong to a program of their own.
 */
#ifndef DMMON_CHOICE_H
#define DMMON_CHOICE_H

#include "command_line.h"
#include "regions.h"

struct choice {
	int region;		/* -1: not given */
	const char *program;	/* NULL: not given; of the command line */
	bool all;		/* of the program */
	bool all_programs;
};

/* Nothing chosen yet. */
#define CHOICE_NONE { .region = -1 }

/* About a struct choice. */
extern const struct option_table choice_options;

/* Was any of them given? */
bool choice_made(const struct choice *choice);

/* The program whose regions are chosen among; NULL: all.  @changes: as below. */
const char *choice_program(const struct choice *choice, bool changes);

/*
 * The device's regions that are chosen.  @changes: they are to be changed.
 * Return: EXIT_PASS, and dms_regions_free() is due; else an exit code, having complained.
 */
int choice_regions(const struct choice *choice, const struct device *device, bool changes,
		   struct dms_regions *list);

#endif
