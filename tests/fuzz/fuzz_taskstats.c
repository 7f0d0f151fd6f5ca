// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: a message about tasks, or a recording of such, that somebody has made up.
 * Read in either byte order; what is found must be within what there is, and a recording must be
 * counted as it says.
 *
 * The first byte says what the rest is: bit 0 the byte order, bit 1 a recording.
 */
#include "fuzz_target.h"
#include "collector.h"
#include "cpus.h"
#include "row.h"

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

/* Made once, because a million times it would be what all the time goes to. */
static struct collector collector;

static void make_collector(void)
{
	FILE *nowhere = fopen("/dev/null", "w");
	struct selection selection;
	char error[64];

	if (!nowhere || !collector_init(&collector))
		abort();
	selection_standard(&selection, row_columns, ROW_COLUMNS);
	REQUIRE(selection_parse(&selection, "all", error, sizeof(error)));
	collector.writer = writer_open(nowhere, WRITER_CSV, false, &selection);
	collector.recording = nowhere;
	if (!collector.writer)
		abort();
}

/* CPUs of this input: the next one begins where there is nothing. */
static uint32_t seen[256];
static unsigned int seen_count;

static void forget(uint64_t messages)
{
	struct message_count sum = { .has_dropped = true };

	while (seen_count) {
		struct message_count *account = &collector.accounts[seen[--seen_count]];

		message_count_add(&sum, account);
		REQUIRE(message_count_lost(account) == account->dropped || !account->has_dropped);
		*account = (struct message_count){ 0 };
	}
	REQUIRE(sum.received == messages);
}

static void take(const struct recording_frame *frame)
{
	struct message_count *account = &collector.accounts[frame->cpu];
	uint64_t received = account->received;

	REQUIRE(frame->cpu < CPUS_MAX && frame->size <= RECORDING_PAYLOAD_MAX);
	/* A frame has 32 bytes, an input of libFuzzer at most 4096: there are not more. */
	if (seen_count < sizeof(seen) / sizeof(seen[0]))
		seen[seen_count++] = frame->cpu;
	if (frame->type == RECORDING_MESSAGE) {
		collector_message(&collector, frame);
		REQUIRE(account->received == received + 1 && collector.is_counted[frame->cpu]);
	} else if (frame->type == RECORDING_COUNTERS) {
		collector_counters(&collector, frame);
		REQUIRE(!account->holds);
	} else {
		collector_own(&collector, frame);
		REQUIRE(account->received == received);
	}
}

static void read_recording(const uint8_t *data, size_t size)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
	struct recording_header header;
	struct recording_frame frame;
	uint64_t messages = 0;

	if (!file)
		abort();
	if (!collector.writer)
		make_collector();
	if (recording_read_header(file, &header) == RECORDING_FRAME) {
		collector.order = header.order;
		REQUIRE(recording_write_header(collector.recording, &header) == 0);
		while (recording_read_frame(file, &header, &frame, buffer) == RECORDING_FRAME) {
			take(&frame);
			messages += frame.type == RECORDING_MESSAGE;
		}
	}
	fclose(file);
	forget(messages);
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
