/* SPDX-License-Identifier: MIT */
/* Records in the attributes of a message. */
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "kernel.h"
#include "taskmon_bytes.h"
#include "unit_test.h"

/* A message that is built attribute by attribute. */
static uint8_t message[4096];
static size_t message_len;

static void begin(void)
{
	message_len = 0;
}

static size_t attribute(unsigned int type, const void *payload, size_t size)
{
	struct nlattr header = { .nla_len = (uint16_t)(4 + size), .nla_type = (uint16_t)type };
	size_t at = message_len;

	memcpy(message + at, &header, 4);
	if (size)
		memcpy(message + at + 4, payload, size);
	message_len += (4 + size + 3) / 4 * 4;
	return at;
}

/* Makes what follows @at the payload of the attribute there. */
static void close_nest(size_t at)
{
	uint16_t len = (uint16_t)(message_len - at);

	memcpy(message + at, &len, sizeof(len));
}

static void put_stats(unsigned int id_type, uint32_t id, bool nest, bool null)
{
	unsigned int aggregate = id_type == TASKSTATS_TYPE_PID ? TASKSTATS_TYPE_AGGR_PID :
				 TASKSTATS_TYPE_AGGR_TGID;
	uint8_t *stats = synthetic(416, 13, STATS_OWN_ORDER);
	size_t at = attribute(aggregate, NULL, 0);

	attribute(id_type, &id, sizeof(id));
	if (null)
		attribute(TASKSTATS_TYPE_NULL, NULL, 0);
	attribute(TASKSTATS_TYPE_STATS, stats, 416);
	if (nest)
		close_nest(at);
	free(stats);
}

static struct stats_record seen[4];
static unsigned int seen_count;

static void see(void *context, const struct stats_record *record)
{
	ck_assert_ptr_eq(context, message);
	ck_assert_uint_lt(seen_count, 4);
	seen[seen_count++] = *record;
}

/* From memory that ends where the message ends. */
static struct stats_message parsed(size_t len)
{
	uint8_t *bytes = malloc(len ? len : 1);
	struct stats_message found;

	memcpy(bytes, message, len);
	seen_count = 0;
	found = stats_parse(bytes, len, STATS_OWN_ORDER, see, message);
	ck_assert_uint_eq(found.records, seen_count);
	free(bytes);
	return found;
}

TEST(both_nests)
{
	struct stats_message found;

	for (int null = 0; null < 2; null++) {
		begin();
		put_stats(TASKSTATS_TYPE_PID, 17, true, null);
		ck_assert_uint_eq(message_len, null ? 436 : 432);
		put_stats(TASKSTATS_TYPE_TGID, 15, true, null);
		found = parsed(message_len);
		ck_assert(!found.malformed && !found.unknown);
		ck_assert_uint_eq(found.records, 2);
		ck_assert(seen[0].kind == STATS_TASK && seen[0].id == 17);
		ck_assert(seen[1].kind == STATS_PROCESS && seen[1].id == 15);
		ck_assert_uint_eq(seen[1].stats.version, 13);
		ck_assert(seen[1].stats.present[STATS_WPCOPY_DELAY]);
	}
}

/* Since when there is a process its own record does not tell; its task's does. */
TEST(since_when_there_is_a_process)
{
	uint8_t *stats = synthetic(416, 13, STATS_OWN_ORDER);
	uint64_t elapsed = 123456789;
	uint32_t process = 15;

	memcpy(stats + 368, &process, sizeof(process));
	memcpy(stats + 376, &elapsed, sizeof(elapsed));
	for (uint32_t id = 15; id <= 16; id++) {
		uint32_t task = 17;

		begin();
		attribute(TASKSTATS_TYPE_AGGR_PID, NULL, 0);
		attribute(TASKSTATS_TYPE_PID, &task, sizeof(task));
		attribute(TASKSTATS_TYPE_STATS, stats, 416);
		put_stats(TASKSTATS_TYPE_TGID, id, true, false);
		ck_assert_uint_eq(parsed(message_len).records, 2);
		ck_assert(seen[0].has_elapsed && seen[0].elapsed_us == elapsed);
		/* That of another process says nothing. */
		ck_assert(seen[1].has_elapsed == (id == process));
		if (seen[1].has_elapsed)
			ck_assert_uint_eq(seen[1].elapsed_us, elapsed);
		ck_assert(!seen[0].exited && !seen[1].exited);
	}
	/* Alone, as the answer to a question. */
	begin();
	put_stats(TASKSTATS_TYPE_TGID, process, true, false);
	parsed(message_len);
	ck_assert(!seen[0].has_elapsed);
	/* Before version 12 the task does not tell it either. */
	begin();
	put_version(stats, 11, STATS_OWN_ORDER);
	attribute(TASKSTATS_TYPE_PID, &process, sizeof(process));
	attribute(TASKSTATS_TYPE_STATS, stats, 368);
	put_stats(TASKSTATS_TYPE_TGID, process, true, false);
	ck_assert_uint_eq(parsed(message_len).records, 2);
	ck_assert(!seen[0].has_elapsed && !seen[1].has_elapsed);
	free(stats);
}

/* A message may end with its header, and before. */
TEST(attributes_after_the_header)
{
	struct {
		struct nlmsghdr header;
		uint8_t rest[8];
	} received = { 0 };
	size_t size = 7;

	for (uint32_t len = 0; len <= sizeof(received); len++) {
		const uint8_t *attributes;

		received.header.nlmsg_len = len;
		attributes = kernel_attributes(&received.header, &size);
		ck_assert_ptr_eq(attributes, len < 20 ? NULL : (uint8_t *)&received + 20);
		ck_assert_uint_eq(size, len < 20 ? 7 : len - 20);
	}
}

TEST(attributes_in_series)
{
	struct stats_message found;

	begin();
	put_stats(TASKSTATS_TYPE_PID, 17, false, false);
	put_stats(TASKSTATS_TYPE_TGID, 15, false, true);
	found = parsed(message_len);
	ck_assert_uint_eq(found.records, 2);
	ck_assert(!found.malformed);
	ck_assert(seen[0].id == 17 && seen[1].id == 15 && seen[1].kind == STATS_PROCESS);
}

TEST(unknown_attributes)
{
	struct stats_message found;
	size_t nest;
	uint32_t id = 9;
	uint8_t *stats = synthetic(432, 14, STATS_OWN_ORDER);

	begin();
	attribute(99, "abc", 3);
	nest = attribute(TASKSTATS_TYPE_AGGR_PID | NLA_F_NESTED, NULL, 0);
	attribute(77, "0123456789", 10);
	attribute(TASKSTATS_TYPE_PID, &id, 4);
	attribute(0, NULL, 0);
	attribute(TASKSTATS_TYPE_STATS, stats, 432);
	attribute(7, "x", 1);
	close_nest(nest);
	attribute(0x3fff, NULL, 0);
	found = parsed(message_len);
	ck_assert_uint_eq(found.records, 1);
	ck_assert_uint_eq(found.unknown, 5);
	ck_assert(!found.malformed && seen[0].id == 9);
	free(stats);
}

TEST(malformed_messages)
{
	static const uint8_t stats[72] = { 0 };
	uint64_t wide = 5;
	uint32_t id = 5;
	size_t nest, len;

	/* Cut at any byte but between attributes and within padding. */
	begin();
	put_stats(TASKSTATS_TYPE_PID, 17, true, false);
	put_stats(TASKSTATS_TYPE_TGID, 17, true, false);
	for (len = 0; len < message_len; len++) {
		struct stats_message found = parsed(len);

		ck_assert(found.malformed == (len != 0 && len != 432));
		ck_assert_uint_eq(found.records, len >= 432);
	}
	begin();
	nest = attribute(TASKSTATS_TYPE_AGGR_PID, NULL, 0);
	attribute(TASKSTATS_TYPE_PID, &wide, sizeof(wide));
	close_nest(nest);
	ck_assert(parsed(message_len).malformed);
	/* Of an id that is too short nothing is read. */
	begin();
	attribute(TASKSTATS_TYPE_TGID, NULL, 0);
	ck_assert(parsed(message_len).malformed && seen_count == 0);
	begin();
	nest = attribute(TASKSTATS_TYPE_AGGR_PID, NULL, 0);
	attribute(TASKSTATS_TYPE_PID, &wide, sizeof(wide));
	/* What follows such an id is nobody's. */
	attribute(TASKSTATS_TYPE_STATS, stats, sizeof(stats));
	close_nest(nest);
	ck_assert(parsed(message_len).malformed && seen_count == 0);
	begin();
	attribute(TASKSTATS_TYPE_STATS, stats, sizeof(stats));
	ck_assert(parsed(message_len).malformed && seen_count == 0);
	begin();
	attribute(TASKSTATS_TYPE_PID, &id, 4);
	attribute(TASKSTATS_TYPE_STATS, stats, sizeof(stats));
	attribute(TASKSTATS_TYPE_STATS, stats, sizeof(stats));
	ck_assert(parsed(message_len).malformed && seen_count == 1);
	/* An id does not go over into a nest. */
	begin();
	attribute(TASKSTATS_TYPE_PID, &id, 4);
	nest = attribute(TASKSTATS_TYPE_AGGR_PID, NULL, 0);
	attribute(TASKSTATS_TYPE_STATS, stats, sizeof(stats));
	close_nest(nest);
	ck_assert(parsed(message_len).malformed && seen_count == 0);
	begin();
	nest = attribute(TASKSTATS_TYPE_AGGR_PID, NULL, 0);
	attribute(TASKSTATS_TYPE_AGGR_PID, NULL, 0);
	close_nest(nest);
	ck_assert(parsed(message_len).malformed);
	begin();
	attribute(TASKSTATS_TYPE_PID, &id, 4);
	message[0] = message[1] = 0;
	ck_assert(parsed(message_len).malformed);
}
