/* SPDX-License-Identifier: MIT */
#include "dms_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_DECIMALS 9u
#define AREA_LABELS "device", "region", "area"

const struct metric_family dms_families[DMS_VALUE_FAMILIES] = {
	[DMS_VALUE_IOS] = { "dmmon_ios", METRIC_COUNTER, NULL, "I/Os completed",
			    { AREA_LABELS, "direction" } },
	[DMS_VALUE_MERGED] = { "dmmon_ios_merged", METRIC_COUNTER, NULL,
			       "I/Os that were merged with another", { AREA_LABELS, "direction" } },
	[DMS_VALUE_BYTES] = { "dmmon_io_bytes", METRIC_COUNTER, "bytes",
			      "Bytes read and written", { AREA_LABELS, "direction" } },
	[DMS_VALUE_DURATION] = { "dmmon_io_duration_seconds", METRIC_COUNTER, "seconds",
				 "Durations of the I/Os, added up", { AREA_LABELS, "direction" } },
	[DMS_VALUE_IN_FLIGHT] = { "dmmon_ios_in_flight", METRIC_GAUGE, NULL, "I/Os under way",
				  { AREA_LABELS } },
	[DMS_VALUE_BUSY] = { "dmmon_busy_seconds", METRIC_COUNTER, "seconds",
			     "Time with an I/O under way", { AREA_LABELS } },
	[DMS_VALUE_WEIGHTED] = { "dmmon_queue_seconds", METRIC_COUNTER, "seconds",
				 "Time with an I/O under way, for each I/O", { AREA_LABELS } },
	[DMS_VALUE_DIRECTION_BUSY] = { "dmmon_direction_busy_seconds", METRIC_COUNTER, "seconds",
				       "Time with a read, or a write, under way",
				       { AREA_LABELS, "direction" } },
	[DMS_VALUE_LATENCY] = { "dmmon_io_latency_seconds", METRIC_HISTOGRAM, "seconds",
				"Durations of I/Os, where the region has a histogram",
				{ AREA_LABELS } },
	[DMS_VALUE_DOUBT] = { "dmmon_areas_in_doubt", METRIC_GAUGE, NULL,
			      "Areas whose times cannot be believed, and are left out", { NULL } },
	[DMS_VALUE_LEFT_OUT] = { "dmmon_areas_left_out", METRIC_GAUGE, NULL,
				 "Areas beyond those that there is room for", { NULL } },
	[DMS_VALUE_ERRORS] = { "dmmon_read_errors", METRIC_COUNTER, NULL,
			       "Devices and regions that could not be read, each time that they "
			       "should have been", { NULL } },
};

struct area {
	struct metrics *metrics;
	const struct dms_region *region;
	const char *labels[METRIC_LABELS_MAX];
};

/* A counter of each direction. */
static void add_both(struct area *area, enum dms_family family, uint64_t reads, uint64_t writes,
		     unsigned int decimals)
{
	area->labels[3] = "read";
	metrics_decimal(area->metrics, family, area->labels, reads, decimals);
	area->labels[3] = "write";
	metrics_decimal(area->metrics, family, area->labels, writes, decimals);
}

static uint64_t bytes_of(uint64_t sectors)
{
	return sectors > UINT64_MAX / DMS_SECTOR_SIZE ? UINT64_MAX : sectors * DMS_SECTOR_SIZE;
}

static void add_time(struct area *area, enum dms_family family, uint64_t time)
{
	metrics_decimal(area->metrics, family, area->labels, dms_time_ns(area->region, time),
			NS_DECIMALS);
}

static void add_latency(struct area *area, const uint64_t *row)
{
	const struct dms_region *r = area->region;
	uint64_t *bounds = calloc(r->bound_count, sizeof(*bounds));

	if (!bounds) {
		area->metrics->samples[DMS_VALUE_LATENCY].failed = true;
		return;
	}
	for (size_t i = 0; i < r->bound_count; i++)
		bounds[i] = dms_time_ns(r, r->bounds[i]);
	metrics_histogram(area->metrics, DMS_VALUE_LATENCY, area->labels, bounds, r->bound_count,
			  row + DMS_COUNTERS,
			  dms_time_ns(r, row[DMS_READ_TIME] + row[DMS_WRITE_TIME]));
	free(bounds);
}

static void add_times(struct area *area, const uint64_t *row)
{
	const struct dms_region *r = area->region;

	add_both(area, DMS_VALUE_DURATION, dms_time_ns(r, row[DMS_READ_TIME]),
		 dms_time_ns(r, row[DMS_WRITE_TIME]), NS_DECIMALS);
	add_both(area, DMS_VALUE_DIRECTION_BUSY, dms_time_ns(r, row[DMS_READING_TIME]),
		 dms_time_ns(r, row[DMS_WRITING_TIME]), NS_DECIMALS);
	add_time(area, DMS_VALUE_BUSY, row[DMS_IO_TIME]);
	add_time(area, DMS_VALUE_WEIGHTED, row[DMS_QUEUE_TIME]);
	if (r->bound_count)
		add_latency(area, row);
}

void dms_values_add(struct metrics *metrics, const char *device, const struct dms_region *r,
		    uint64_t index, const uint64_t *row, unsigned int doubt)
{
	char region[sizeof("-2147483648")], number[sizeof("18446744073709551615")];
	struct area area = { .metrics = metrics, .region = r, .labels = { device, region, number } };

	snprintf(region, sizeof(region), "%d", r->id);
	snprintf(number, sizeof(number), "%" PRIu64, index);
	add_both(&area, DMS_VALUE_IOS, row[DMS_READS], row[DMS_WRITES], 0);
	add_both(&area, DMS_VALUE_MERGED, row[DMS_READS_MERGED], row[DMS_WRITES_MERGED], 0);
	add_both(&area, DMS_VALUE_BYTES, bytes_of(row[DMS_READ_SECTORS]),
		 bytes_of(row[DMS_WRITE_SECTORS]), 0);
	metrics_signed(metrics, DMS_VALUE_IN_FLIGHT, area.labels, dms_in_flight(row));
	if (!(doubt & (DMS_TIME_WRAPPED | DMS_TIME_IMPOSSIBLE)))
		add_times(&area, row);
}
