// SPDX-License-Identifier: MIT
#include "area_columns.h"

#include <errno.h>
#include <string.h>

#include "command.h"

static struct cell time_cell(const struct dms_region *r, uint64_t time)
{
	return cell_unsigned(dms_time_ns(r, time));
}

static struct cell doubt_cell(const struct device *device, const uint64_t *row,
			      unsigned int doubt)
{
	const char *text = NULL;

	if (doubt & DMS_CLEARED)
		text = "cleared";
	else if (doubt & DMS_TIME_WRAPPED)
		text = "time-wrapped";
	else if (doubt & DMS_TIME_IMPOSSIBLE)
		text = "time-impossible";
	else if (device->request_based && (row[DMS_READS] || row[DMS_WRITES]))
		text = "request-based";
	return text ? cell_text_toned(text, strlen(text), TONE_BAD) : cell_absent();
}

void area_cells(struct cell *cells, const struct device *device, const struct dms_region *r,
		uint64_t index, const uint64_t *row, unsigned int doubt)
{
	size_t buckets = dms_buckets(r);
	const struct cell found[AREA_COLUMN_COUNT] = {
		cell_text(device->name, strlen(device->name)),
		cell_unsigned((uint64_t)r->id),
		cell_unsigned(index),
		cell_unsigned(dms_area_start(r, index)),
		cell_unsigned(dms_area_length(r, index)),
		cell_unsigned(row[DMS_READS]),
		cell_unsigned(row[DMS_READS_MERGED]),
		cell_unsigned(row[DMS_READ_SECTORS]),
		time_cell(r, row[DMS_READ_TIME]),
		cell_unsigned(row[DMS_WRITES]),
		cell_unsigned(row[DMS_WRITES_MERGED]),
		cell_unsigned(row[DMS_WRITE_SECTORS]),
		time_cell(r, row[DMS_WRITE_TIME]),
		cell_signed(dms_in_flight(row)),
		time_cell(r, row[DMS_IO_TIME]),
		time_cell(r, row[DMS_QUEUE_TIME]),
		time_cell(r, row[DMS_READING_TIME]),
		time_cell(r, row[DMS_WRITING_TIME]),
		buckets ? cell_list(row + DMS_COUNTERS, buckets) : cell_absent(),
		doubt_cell(device, row, doubt),
	};

	memcpy(cells, found, sizeof(found));
}

void area_warn(const struct device *device)
{
	if (device->request_based)
		complain("%s is request-based: kernels to 7.2 count the durations of its I/Os "
			 "wrongly", device->name);
}

int area_put(struct writer *writer, const struct cell *cells)
{
	int error = cells ? writer_put(writer, cells) : writer_flush(writer);

	if (!error)
		return EXIT_PASS;
	if (error != -EPIPE)
		complain("standard output cannot be written: %s", strerror(-error));
	return EXIT_FAILED;
}
