/* SPDX-License-Identifier: MIT */
/* The parts of a device in which a file is, as its file system tells them (FIEMAP). */
#ifndef DMMON_FILE_MAP_H
#define DMMON_FILE_MAP_H

#include <linux/fiemap.h>
#include <stdbool.h>

#include "device.h"

/* All zero: nothing yet. */
struct file_map {
	uint32_t major, minor;		/* of the device */
	struct device_segment *segment;	/* in the order of the file; owned */
	size_t count, room;
	uint64_t left_out;		/* extents that have no place of their own on the device */
};

/*
 * Adds an extent; one that follows the one before on the device becomes a part of it.
 * Return: false without memory.
 */
bool file_map_add(struct file_map *map, const struct fiemap_extent *extent);

/*
 * The map of a file, which is written out before.
 * Return: EXIT_PASS, and file_map_free() is due; else an exit code, having complained.
 */
int file_map_read(struct file_map *map, const char *path);

void file_map_free(struct file_map *map);

#endif
