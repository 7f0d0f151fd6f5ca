/* SPDX-License-Identifier: MIT */
/* The devices of a command: those that its words name, or all. */
#ifndef DMMON_NAMED_DEVICES_H
#define DMMON_NAMED_DEVICES_H

#include "command_line.h"
#include "device.h"

/* The devices on the command line. */
struct device_words {
	struct word_list names;
	bool all;
};

/* --all-devices, about a struct device_words; @device_words_need: and there has to be a device. */
extern const struct option_table device_words_options, device_words_need;

/* The row of the words, for the command's arguments @type. */
#define DEVICE_WORDS(type, member) { TO_WORDS(type, member.names) }
#define DEVICE_WORDS_HELP "DEVICE... | --all-devices"

struct named_devices {
	struct device *device;
	size_t count;
};

/*
 * Opens them, each once; all, if @named says so or nothing.
 * Return: EXIT_PASS, and named_devices_close() is due; else an exit code, having complained.
 */
int named_devices_open(struct named_devices *devices, const struct device_words *named);
void named_devices_close(struct named_devices *devices);

#endif
