// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: a message about tasks, or a recording of such, that somebody has made up.
 * Read in either byte order; what is found must be within what there is, and a recording must be
 * counted as it says.
 *
 * The first byte says what the rest is: bit 0 the byte order, bit 1 a recording.
 */
#include "fuzz_target.h"
#include "taskmon/collector.h"
#include "taskmon/cpus.h"
#include "taskmon/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                         \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "taskstats: not so: %s\n", #condition);    \
			abort();                                                   \
		}                                                                  \
	} while (0)

static void check_record(void *count, const struct stats_record *record)
{
	const struct stats *stats = &record->stats;

	++*(unsigned int *)count;
	REQUIRE(record->kind == STATS_TASK || record->kind == STATS_PROCESS);
	REQUIRE(stats->layout < STATS_LAYOUTS && stats->comm_len <= STATS_COMM_MAX);
	REQUIRE(memchr(stats->comm, '\0', stats->comm_len) == NULL);
	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		if (!stats->present[field])
			REQUIRE(stats->value[field] == 0);
		else
			REQUIRE(stats_offset(stats->layout, field) < stats->size);
	}
}

static void read_message(const uint8_t *data, size_t size, enum stats_order order)
{
	unsigned int count = 0;
	struct stats_message found = stats_parse(data, size, order, check_record, &count);

	REQUIRE(found.records == count);
	/* A record takes an id of 8 bytes and a header of 4. */
	REQUIRE((size_t)found.records * 12 <= size);
}

static struct rows *nowhere(FILE *out)
{
	struct selection selection;
	char error[64];

	selection_standard(&selection, row_columns, ROW_COLUMNS);
	REQUIRE(selection_parse(&selection, "all", error, sizeof(error)));
	return rows_open(out, ROWS_JSON, false, &selection);
}

static void read_recording(const uint8_t *data, size_t size)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	static char text[1 << 20];
	FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct recording_header header;
	struct recording_frame frame;
	struct collector collector;
	uint64_t messages = 0, counted = 0;

	if (!file || !out || !collector_init(&collector))
		abort();
	collector.rows = nowhere(out);
	if (recording_read_header(file, &header) == RECORDING_FRAME) {
		collector.order = header.order;
		while (recording_read_frame(file, &header, &frame, buffer) == RECORDING_FRAME) {
			REQUIRE(frame.cpu < CPUS_MAX && frame.size <= RECORDING_PAYLOAD_MAX);
			if (frame.type == RECORDING_MESSAGE) {
				collector_message(&collector, &frame);
				messages++;
			} else if (frame.type == RECORDING_COUNTERS) {
				collector_counters(&collector, &frame);
			} else {
				collector_own(&collector, &frame);
			}
		}
	}
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (collector.accounts[cpu].received)
			REQUIRE(collector.is_counted[cpu]);
		counted += collector.accounts[cpu].received;
	}
	REQUIRE(counted == messages);
	rows_close(collector.rows);
	collector_free(&collector);
	fclose(file);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 2)
		read_recording(data + 1, size - 1);
	else
		read_message(data + 1, size - 1, data[0] & 1 ? STATS_BIG : STATS_LITTLE);
	return 0;
}
