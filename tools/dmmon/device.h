/* SPDX-License-Identifier: MIT */
/*
 * A device-mapper device, and messages to it, by libdevmapper.
 *
 * A device is found by its name once, and spoken to by its number from then on: it may be
 * renamed.  When it goes, its number and its name may be another's.
 */
#ifndef DMMON_DEVICE_H
#define DMMON_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "tool_text.h"

struct device {
	char *name;		/* as device-mapper had it at the last look; owned */
	char *uuid;		/* "" if it has none; owned */
	uint32_t major, minor;
	uint64_t sequence;	/* no other disk since the machine was started has it; 0 before 5.15 */
	uint64_t sectors;	/* of its table; 0 without one */
	bool request_based;	/* its times are wrong on kernels to 7.2 */
};

/*
 * Finds the device of this name, of this node ("/dev/mapper/vol", "/dev/dm-0"), or, if there is
 * none, of this number ("253:0") or UUID ("uuid:LVM-…").
 * Return: EXIT_PASS, and device_close() is due; or another exit code, having complained.
 */
int device_open(struct device *device, const char *name);

/* The same of the device with this number, on which the file @path is. */
int device_open_of_file(struct device *device, const char *path, uint32_t major, uint32_t minor);

/* A segment of a device: one line of its table. */
struct device_segment {
	uint64_t start, length;		/* sectors */
};

/*
 * The segments of a device, in their order; *@segments is to be freed.
 * Return: EXIT_PASS, or another exit code, having complained.
 */
int device_segments(const struct device *device, struct device_segment **segments, size_t *count);
void device_close(struct device *device);

/* A device of its own, the same.  Return: false without memory. */
bool device_copy(struct device *copy, const struct device *device);

/*
 * Is it there, and the same as when it was opened?  If it has another name, that is said, and
 * taken over.
 * Return: EXIT_PASS; another exit code, having complained.
 */
int device_check(struct device *device);

/*
 * Calls @each with all devices until one call returns another code than EXIT_PASS.  A device
 * that goes meanwhile is left out.
 * Return: that code, or EXIT_PASS; another one, having complained, if there is no list.
 */
int device_each(int (*each)(const struct device *device, void *context), void *context);

/*
 * Sends a message made by dms_message_*(), and empties it.  libdevmapper asks again with a
 * larger buffer for as long as the answer does not fit; the kernel clears nothing before.
 * @answer: NULL, or where to put the answer, to be freed; "" if there is none.
 * Return: 0 or -errno.
 */
int device_send(const struct device *device, struct text *message, char **answer);

/*
 * Complains that the kernel answered @error (-errno) when it was to @what ("list its regions").
 * Return: the exit code that fits.
 */
int device_failed(const struct device *device, const char *what, int error);

#endif
