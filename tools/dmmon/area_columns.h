/* SPDX-License-Identifier: MIT */
/* Columns of an area that all commands of dmmon have, and their cells. */
#ifndef DMMON_AREA_COLUMNS_H
#define DMMON_AREA_COLUMNS_H

#include "column.h"
#include "device.h"
#include "dms_delta.h"
#include "writer.h"

/* The columns; @shown: whether the counters are standard.  area_cells() fills their cells. */
#define AREA_COLUMNS(shown)                                                                       \
	{ "device", COLUMN_TEXT, UNIT_NONE, 8, true, "name of the device" },                      \
	{ "region", COLUMN_UNSIGNED, UNIT_NONE, 6, true, "number of the region" },                \
	{ "area", COLUMN_UNSIGNED, UNIT_NONE, 4, true, "index of the area in its region" },       \
	{ "start_sector", COLUMN_UNSIGNED, UNIT_SECTORS, 12, true, "where the area begins" },     \
	{ "sectors", COLUMN_UNSIGNED, UNIT_SECTORS, 8, true, "length of the area" }, \
	{ "reads", COLUMN_UNSIGNED, UNIT_NONE, 8, true, "reads completed" },                      \
	{ "reads_merged", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "reads merged with another" },    \
	{ "read_sectors", COLUMN_UNSIGNED, UNIT_SECTORS, 0, shown, "sectors read" },              \
	{ "read_time_ns", COLUMN_UNSIGNED, UNIT_NS, 13, shown, "sum of the reads' durations" },   \
	{ "writes", COLUMN_UNSIGNED, UNIT_NONE, 8, true, "writes completed" },                    \
	{ "writes_merged", COLUMN_UNSIGNED, UNIT_NONE, 0, false, "writes merged with another" },   \
	{ "write_sectors", COLUMN_UNSIGNED, UNIT_SECTORS, 0, shown, "sectors written" },          \
	{ "write_time_ns", COLUMN_UNSIGNED, UNIT_NS, 13, shown, "sum of the writes' durations" }, \
	{ "in_flight", COLUMN_SIGNED, UNIT_NONE, 0, shown, "I/Os under way" },                    \
	{ "io_time_ns", COLUMN_UNSIGNED, UNIT_NS, 13, shown, "time with I/O under way" },         \
	{ "queue_time_ns", COLUMN_UNSIGNED, UNIT_NS, 13, false, "the same for each I/O" },        \
	{ "reading_time_ns", COLUMN_UNSIGNED, UNIT_NS, 0, false, "time with a read under way" },  \
	{ "writing_time_ns", COLUMN_UNSIGNED, UNIT_NS, 0, false, "time with a write under way" }, \
	{ "histogram", COLUMN_LIST, UNIT_NONE, 0, false, "I/Os by duration, between the bounds" }, \
	{ "doubt", COLUMN_TEXT, UNIT_NONE, 0, shown, "why the counters cannot be trusted" }
#define AREA_COLUMN_COUNT 20
/* Columns of the area alone: a group has none. */
enum { AREA_COLUMN_INDEX = 2, AREA_COLUMN_START = 3 };

/*
 * Fills the cells of area @index, which is among the region's, from a row or a delta.
 * @doubt: flags of enum dms_doubt.  Texts and lists are those of the arguments.
 */
void area_cells(struct cell *cells, const struct device *device, const struct dms_region *r,
		uint64_t index, const uint64_t *row, unsigned int doubt);

/* Writes to standard error, once for a device, what is known of its times. */
void area_warn(const struct device *device);

/*
 * writer_put(), or writer_flush() if @cells is NULL.
 * Return: EXIT_PASS; else EXIT_FAILED, having complained, unless the reader has just gone.
 */
int area_put(struct writer *writer, const struct cell *cells);

#endif
