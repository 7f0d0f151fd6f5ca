/* SPDX-License-Identifier: MIT */
/* Shared by the commands that look at regions for a time: watch, histogram. */
#ifndef DMMON_WATCH_COMMAND_H
#define DMMON_WATCH_COMMAND_H

#include "command_line.h"
#include "named_devices.h"
#include "interval.h"
#include "output.h"
#include "watched.h"

/* Their common options; the first member of their arguments. */
struct watch_command {
	struct device_words devices;
	struct watched_options options;
	struct output output;
};

/* Parts with the options, and the words, that are about it. */
#define WATCH_COMMAND_PARTS \
	{ &choice_options, offsetof(struct watch_command, options.choice), .group = 3 }, \
	{ &range_options, offsetof(struct watch_command, options.range), .group = 5 }, \
	{ &output_options, offsetof(struct watch_command, output), .group = 9 }, \
	{ &device_words_need, offsetof(struct watch_command, devices), .group = 2 }
extern const struct word_row watch_command_words[];

/* The row of --keep; @command: the member of @type. */
#define WATCH_COMMAND_KEEP(type, command) \
	{ "keep", '\0', NULL, "keep the region that the command makes", \
	  TO_FLAG(type, command.options.keep), .group = 1 }

/* Why a region is made, for the help. */
#define WATCH_COMMAND_OWN_REGION \
	"Without --region, --program, --all or --all-programs the command makes a region with " \
	"precise times, and removes it in the end."

/* The regions to look at, by device. */
struct watch_command_all {
	struct watched *watched;
	size_t count;
};

/*
 * Shows in @rows what comes.  @arguments: the command's.  One of several devices may be lost on the
 * way: then its member lost is set, and the exit code is to be another one than EXIT_PASS.
 * Return: an exit code.
 */
typedef int watch_command_show(const void *arguments, struct writer *writer,
			       struct watch_command_all *all, struct interval *interval);

/*
 * Has @show run with the regions that @command chooses or has made, their first look taken and
 * signals held back; removes afterwards what was made, and frees @command.
 * Return: an exit code.
 */
int watch_command_run(struct watch_command *command, watch_command_show *show,
		      const void *arguments);

#endif
