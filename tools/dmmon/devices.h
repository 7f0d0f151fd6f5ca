/* SPDX-License-Identifier: MIT */
/* The devices of a command: those that its words name, or all. */
#ifndef DMMON_DEVICES_H
#define DMMON_DEVICES_H

#include "command_line.h"
#include "device.h"

/* The devices on the command line. */
struct devices_named {
	struct word_list names;
	bool all;
};

/* --all-devices, about a struct devices_named; @devices_need: and there has to be a device. */
extern const struct option_table devices_options, devices_need;

/* The row of the words, for the command's arguments @type. */
#define DEVICES_WORDS(type, member) { TO_WORDS(type, member.names) }
#define DEVICES_HELP "DEVICE... | --all-devices"

struct devices {
	struct device *device;
	size_t count;
};

/*
 * Opens them, each once; all, if @named says so or nothing.
 * Return: EXIT_PASS, and devices_close() is due; else an exit code, having complained.
 */
int devices_open(struct devices *devices, const struct devices_named *named);
void devices_close(struct devices *devices);

#endif
