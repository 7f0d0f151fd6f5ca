/* SPDX-License-Identifier: MIT */
/* Shared by the commands that look at regions for a time: watch, histogram. */
#ifndef DMMON_WATCHING_H
#define DMMON_WATCHING_H

#include "command_line.h"
#include "devices.h"
#include "interval.h"
#include "output.h"
#include "watched.h"

/* Their common options; the first member of their arguments. */
struct watching {
	struct devices_named devices;
	struct watched_options options;
	struct output output;
};

/* Parts with the options, and the words, that are about it. */
#define WATCHING_PARTS \
	{ &choice_options, offsetof(struct watching, options.choice), .group = 3 }, \
	{ &range_options, offsetof(struct watching, options.range), .group = 5 }, \
	{ &output_options, offsetof(struct watching, output), .group = 9 }, \
	{ &devices_need, offsetof(struct watching, devices), .group = 2 }
extern const struct word_row watching_words[];

/* The row of --keep; @watching: the member of @type. */
#define WATCHING_KEEP(type, watching) \
	{ "keep", '\0', NULL, "keep the region that the command makes", \
	  TO_FLAG(type, watching.options.keep), .group = 1 }

/* Why a region is made, for the help. */
#define WATCHING_OWN_REGION \
	"Without --region, --program, --all or --all-programs the command makes a region with " \
	"precise times, and removes it in the end."

/* The regions to look at, by device. */
struct watching_all {
	struct watched *watched;
	size_t count;
};

/*
 * Shows in @rows what comes.  @arguments: the command's.  One of several devices may be lost on the
 * way: then its member lost is set, and the exit code is to be another one than EXIT_PASS.
 * Return: an exit code.
 */
typedef int watching_show(const void *arguments, struct rows *rows, struct watching_all *all,
			  struct interval *interval);

/*
 * Has @show run with the regions that @watching chooses or has made, their first look taken and
 * signals held back; removes afterwards what was made, and frees @watching.
 * Return: an exit code.
 */
int watching_run(struct watching *watching, watching_show *show, const void *arguments);

#endif
