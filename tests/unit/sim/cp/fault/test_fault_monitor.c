/* SPDX-License-Identifier: MIT */
/* Faults of *MONITOR and of what it stores: every kind at every point. */
#include "fault_pairs.h"
#include "monitor_peer.h"

#define SEVER_CODE 0x99
#define LIMIT 3

static const char *const prefixes[] = { "monitor.", "segment.content", NULL };

/* First byte of the records of the @index-th message. */
static uint8_t content(const struct peer *p, unsigned int index)
{
	ck_assert_uint_lt(index, p->messages);
	return *fx_at(peer_start(&p->message[index], 0), 1);
}

static void ck_severed(const struct peer *p)
{
	ck_assert(p->severed);
	ck_assert_uint_eq(p->code, SEVER_CODE);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

static void connect_pair(int i)
{
	struct peer *p = peer_create(0);

	arm_pair(i, pair[i].kind == FAULT_SEVER ? SEVER_CODE :
		 pair[i].kind == FAULT_LIMIT ? LIMIT : 0, 0);
	peer_connect(p, WANT_BOTH, "MONDCSS", 255);
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_DROP:
		ck_assert(!p->complete && !p->severed);
		break;
	case FAULT_SEVER:
		ck_severed(p);
		break;
	case FAULT_LIMIT:
		ck_assert_uint_eq(p->msglim, LIMIT);
		ck_assert_uint_eq(peer_info(p).limit, LIMIT);
		break;
	default:
		ck_no_test(i);
	}
}

static const char *const expected[FAULT_KINDS] = {
	[FAULT_DROP] = "23", [FAULT_DELAY] = "231", [FAULT_DUPLICATE] = "1123",
	[FAULT_REORDER] = "213", [FAULT_CORRUPT] = "123",
};

static void message_pair(int i)
{
	const enum fault_kind kind = pair[i].kind;
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	char found[8] = "";

	arm_pair(i, kind == FAULT_SEVER ? SEVER_CODE : kind == FAULT_DELAY ? 2 :
		 kind == FAULT_CORRUPT ? 0x0f : 0, kind == FAULT_CORRUPT ? 12 : 0);
	if (kind == FAULT_SEVER) {
		deliver(MON_SAMPLE, 10, 0, '1', MON_NO_USER);
		ck_severed(p);
		return;
	}
	if (!expected[kind])
		ck_no_test(i);
	deliver(MON_SAMPLE, 10, 0, '1', MON_DELIVERED);
	ck_fired();
	deliver(MON_SAMPLE, 10, 0, '2', MON_DELIVERED);
	deliver(MON_SAMPLE, 10, 0, '3', MON_DELIVERED);
	for (unsigned int n = 0; n < p->messages; n++)
		found[n] = (char)content(p, n);
	ck_assert_str_eq(found, expected[kind]);
	/* One element of 12 bytes: offset 12 is its first. */
	ck_assert_uint_eq(peer_mce(&p->message[0], 0)[MCE_TYPE],
			  kind == FAULT_CORRUPT ? MCE_SAMPLE ^ 0x0f : MCE_SAMPLE);
}

static void reply_pair(int i)
{
	struct peer *p = peer_user(0, WANT_BOTH, 10);

	arm_pair(i, pair[i].kind == FAULT_SEVER ? SEVER_CODE : 0, 0);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	peer_reply(p);
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_DROP:
		ck_assert_uint_eq(peer_info(p).outstanding, 1);
		ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
		break;
	case FAULT_SEVER:
		ck_severed(p);
		break;
	default:
		ck_no_test(i);
	}
}

static void sever_pair(int i)
{
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	struct mon_user_info info;

	if (pair[i].kind != FAULT_DROP)
		ck_no_test(i);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	arm_pair(i, 0, 0);
	peer_call(p, IUCV_SEVER);
	ck_fired();
	/* Still a user, with its set; what comes is lost for it. */
	ck_assert_uint_eq(peer_info(p).outstanding, 1);
	deliver(MON_SAMPLE, 10, 0, 1, MON_LOST_LIMIT);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	/* It can connect again, as a second user. */
	peer_connect(p, WANT_BOTH, "MONDCSS", 10);
	ck_assert(p->complete);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	ck_assert(monitor_user(fx.cp, 1, &info));
	ck_assert_uint_eq(monitor_sever(fx.cp, NULL, 1), 2);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

static void interval_pair(int i)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 10);

	ck_assert_int_eq(monitor_start(fx.cp, false), 0);
	iucv_dispatch(fx.cp);
	/* Configuration and the sample of START. */
	ck_assert_uint_eq(p->messages, 2);
	arm_pair(i, pair[i].kind == FAULT_SEVER ? SEVER_CODE : 0, 0);
	monitor_tick(fx.cp);
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_DROP:
		ck_assert_uint_eq(p->messages, 2);
		ck_assert_uint_eq(peer_info(p).lost, 0);
		break;
	case FAULT_DUPLICATE:
		ck_assert_uint_eq(p->messages, 4);
		break;
	case FAULT_SEVER:
		ck_severed(p);
		return;
	default:
		ck_no_test(i);
	}
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, pair[i].kind == FAULT_DROP ? 3 : 5);
}

static void event_pair(int i)
{
	struct peer *p = peer_user(0, WANT_EVENT, 10);
	uint8_t record[100] = { 0 };

	monitor_settings(fx.cp, true)->domains = 0xffff;
	ck_assert_int_eq(monitor_start(fx.cp, true), 0);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 1);
	put_be16(record, sizeof(record));
	record[HEADER_DOMAIN] = MON_USER;
	put_be16(record + HEADER_RECORD, 1);
	ck_assert(monitor_event(fx.cp, MON_USER, record, sizeof(record)));
	arm_pair(i, pair[i].kind == FAULT_SEVER ? SEVER_CODE : 0, 0);
	monitor_tick(fx.cp);
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_DROP:
		ck_assert_uint_eq(p->messages, 1);
		break;
	case FAULT_SEVER:
		ck_severed(p);
		return;
	default:
		ck_no_test(i);
	}
	/* The records that were in the block are gone; those that follow are not. */
	record[HEADER_SIZE] = 0x77;
	ck_assert(monitor_event(fx.cp, MON_USER, record, sizeof(record)));
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(fx_at(peer_start(peer_last(p), 0), 100)[HEADER_SIZE], 0x77);
}

static void content_pair(int i)
{
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	const uint8_t *data;

	arm_pair(i, pair[i].kind == FAULT_CORRUPT ? 0x0f : 0,
		 pair[i].kind == FAULT_CORRUPT ? 13 : 0);
	deliver(MON_SAMPLE, 10, 0, 0x55, MON_DELIVERED);
	ck_fired();
	data = fx_at(peer_start(peer_last(p), 0), 10);
	switch (pair[i].kind) {
	case FAULT_DROP:
		for (unsigned int n = 0; n < 10; n++)
			ck_assert_uint_eq(data[n], 0);
		break;
	case FAULT_CORRUPT:
		for (unsigned int n = 0; n < 10; n++)
			ck_assert_uint_eq(data[n], n == 3 ? 0x5a : 0x55);
		break;
	default:
		ck_no_test(i);
	}
}

CASE("monitor", fx_setup, fx_teardown);

TEST_LOOP(pairs, 0, pairs_of(prefixes))
{
	static void (*const test[FAULT_POINTS])(int i) = {
		[FAULT_MONITOR_CONNECT] = connect_pair, [FAULT_MONITOR_MESSAGE] = message_pair,
		[FAULT_MONITOR_REPLY] = reply_pair, [FAULT_MONITOR_SEVER] = sever_pair,
		[FAULT_MONITOR_INTERVAL] = interval_pair, [FAULT_MONITOR_EVENT] = event_pair,
		[FAULT_SEGMENT_CONTENT] = content_pair,
	};

	if (!test[pair[_i].point])
		ck_no_test(_i);
	test[pair[_i].point](_i);
}

TEST(others)
{
	ck_others_refused(pairs_of(prefixes));
}
