/* SPDX-License-Identifier: MIT */
/* Event recording: blocks, suspension and resumption, lost records. */
#include "monitor_records.h"

enum { EVENT_CONFIG = 0xc5c30000u, EVENT_DATA = 0xc5c40000u };

static uint8_t event_data[5000];

static bool event(unsigned int domain, uint32_t len)
{
	memset(event_data, 0, HEADER_SIZE);
	put_be16(event_data + HEADER_LENGTH, (uint16_t)len);
	event_data[HEADER_DOMAIN] = (uint8_t)domain;
	put_be16(event_data + HEADER_RECORD, 1);
	return monitor_event(fx.cp, domain, event_data, len);
}

static void at(uint64_t seconds)
{
	fx.tod = UINT64_C(0xd000000000000000) + seconds * SECOND;
	cp_timer(fx.cp);
}

static struct peer *start(unsigned int index, uint16_t limit)
{
	struct peer *p = peer_user(index, WANT_EVENT, limit);

	monitor_settings(fx.cp, true)->domains = 0xffff;
	ck_assert_int_eq(monitor_start(fx.cp, true), 0);
	iucv_dispatch(fx.cp);
	return p;
}

CASE("event", fx_setup, fx_teardown);

TEST(configuration)
{
	struct peer *p;

	ck_assert_int_eq(monitor_start(fx.cp, true), 1);
	monitor_settings(fx.cp, true)->domains |= MON_DOMAIN_BIT(MON_SEEKS);
	p = peer_user(0, WANT_EVENT, 255);
	ck_assert_uint_eq(p->ipuser[STATE_EVENT], 1);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_last(p)->trgcls, EVENT_CONFIG);
	ck_assert_uint_eq(peer_mce(peer_last(p), 0)[MCE_TYPE], MCE_EVENT);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 4);
	ck_record(0, 1, 1, 24);
	ck_assert_uint_eq(get_be16(record[0].at + D1R1_EDOMAINS), 0x4100);
	ck_assert_uint_eq(get_be16(record[0].at + D1R1_CONFIG), 68);
	ck_record(1, 1, 14, 28);
	ck_record(2, 1, 14, 28);
	ck_assert_uint_eq(record[2].at[D1R14_PROFILE], 0xc5);
	ck_assert_uint_eq(record[2].at[D1R14_DMNUMBER], 7);
	/* The last of the initial configuration records (IBM, MRMTREND: "Event and Sample Record"). */
	ck_record(3, 1, 11, 20);
}

TEST(gathered)
{
	struct peer *p = start(0, 255);

	ck_assert(event(MON_USER, 180));
	at(0);
	ck_assert(event(MON_PROCESSOR, 32));
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(fx.timer, UINT64_C(0xd000000000000000) + SECOND);
	at(1);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_last(p)->trgcls, EVENT_DATA);
	ck_assert_uint_eq(fx.timer, 0);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 2);
	ck_record(0, 4, 1, 180);
	ck_record(1, 5, 1, 32);
	ck_assert_uint_eq(get_be16(peer_mce(peer_last(p), 0) + MCE_DOMAINS), 0x0c00);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert(event(MON_USER, 180));
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
	ck_assert(event(MON_USER, 180));
	monitor_stop(fx.cp, true);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 4);
	ck_assert(!event(MON_USER, 180));
	for (unsigned int i = 0; i < 4; i++)
		peer_reply(p);
	ck_assert_uint_eq(area_used(MON_EVENT), 0);
}

TEST(refused)
{
	struct peer *p;

	ck_assert(!event(MON_USER, 180));
	p = start(0, 255);
	monitor_settings(fx.cp, true)->domains = MON_DOMAIN_BIT(MON_USER);
	ck_assert(!event(MON_PROCESSOR, 180));
	ck_assert(!monitor_event(fx.cp, MON_USER, NULL, 20));
	ck_assert(!monitor_event(fx.cp, MON_DOMAINS, event_data, 20));
	ck_assert(!monitor_event(fx.cp, UINT32_MAX, event_data, 20));
	ck_assert(!event(MON_USER, 19));
	ck_assert(!event(MON_USER, 4077));
	ck_assert(!monitor_event(fx.cp, MON_USER, event_data, 4076));
	ck_assert(event(MON_USER, 4076));
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 1);
}

/* BLOCK pages to a block: what does not fit goes into the next. */
TEST(full_block)
{
	struct peer *p;

	monitor_settings(fx.cp, true)->block = 2;
	p = start(0, 255);
	/* Ten records of 400 bytes to a frame. */
	for (unsigned int i = 0; i < 20; i++)
		ck_assert(event(MON_USER, 400));
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(area_used(MON_EVENT), 2 * 4096);
	ck_assert(event(MON_USER, 400));
	ck_assert_uint_eq(p->messages, 2);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 20);
	ck_assert_uint_eq(peer_end(peer_last(p), 0) + 1 -
			  peer_start(peer_last(p), 0), 4096 + 4000);
	ck_assert_uint_eq(area_used(MON_EVENT), 4 * 4096);
	/* A block that is delivered early keeps only the frames it has filled. */
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
	ck_assert_uint_eq(area_used(MON_EVENT), 5 * 4096);
}

TEST(quiesced)
{
	struct peer *p = start(0, 255), *other = peer_user(1, WANT_EVENT, 255);

	ck_assert(event(MON_USER, 100));
	peer_call(p, IUCV_QUIESCE);
	ck_assert(!event(MON_USER, 100));
	ck_assert(!event(MON_USER, 100));
	ck_assert(!event(MON_USER, 100));
	monitor_tick(fx.cp);
	at(5);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(other->messages, 1);
	peer_call(p, IUCV_RESUME);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(other->messages, 2);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 2);
	ck_record(0, 4, 1, 100);
	ck_record(1, 1, 12, 20);
	ck_assert(event(MON_USER, 100));
	monitor_tick(fx.cp);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 2);
	ck_record(0, 1, 3, 24);
	ck_assert_uint_eq(get_be32(record[0].at + D1R3_LOSTRCCT), 3);
	ck_record(1, 4, 1, 100);
}

/* Two users quiesced: recording goes on when the second resumes, or leaves. */
TEST(two_quiesced)
{
	struct peer *a = start(0, 255), *b = peer_user(1, WANT_EVENT, 255);

	peer_call(a, IUCV_QUIESCE);
	peer_call(b, IUCV_QUIESCE);
	ck_assert(!event(MON_USER, 100));
	peer_call(a, IUCV_RESUME);
	ck_assert(!event(MON_USER, 100));
	ck_assert_uint_eq(a->messages, 1);
	peer_call(b, IUCV_SEVER);
	ck_assert_uint_eq(a->messages, 2);
	read_records(peer_last(a));
	ck_assert_uint_eq(records, 1);
	ck_record(0, 1, 12, 20);
	at(1);
	read_records(peer_last(a));
	ck_record(0, 1, 3, 24);
	ck_assert_uint_eq(get_be32(record[0].at + D1R3_LOSTRCCT), 2);
}

TEST(connected_quiesced)
{
	struct peer *p = peer_create(0), *other = start(1, 255);
	uint8_t ipuser[16] = { [WANTED_VERSION] = 0x01, [WANTED_DATA] = WANT_EVENT };

	ebcdic_name(ipuser + WANTED_SEGMENT, "MONDCSS");
	ck_assert(event(MON_USER, 100));
	peer_connect_user(p, ipuser, IPRMDATA | IPQUSCE, 255);
	ck_assert(p->complete);
	ck_assert(!event(MON_USER, 100));
	ck_assert_uint_eq(p->messages, 0);
	peer_call(p, IUCV_RESUME);
	/* Its configuration, then the block that was held back. */
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(p->message[0].trgcls, EVENT_CONFIG);
	ck_assert_uint_eq(p->message[1].trgcls, EVENT_DATA);
	ck_assert_uint_eq(other->messages, 2);
}

TEST(started_quiesced)
{
	struct peer *p = peer_user(0, WANT_EVENT, 255);

	peer_call(p, IUCV_QUIESCE);
	monitor_settings(fx.cp, true)->domains = 0xffff;
	monitor_start(fx.cp, true);
	ck_assert(!event(MON_USER, 100));
	peer_call(p, IUCV_RESUME);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 1);
	ck_record(0, 1, 3, 24);
	ck_assert_uint_eq(get_be32(record[0].at + D1R3_LOSTRCCT), 1);
}

/* No room for another block: D1R12 ends the last, D1R3 begins the next. */
TEST(area_full)
{
	struct peer *p;
	unsigned int blocks;

	monitor_settings(fx.cp, true)->block = 8;
	monitor_settings(fx.cp, true)->partition_pages = 64;
	p = start(0, 255);
	/* 31 pages of data: three blocks of eight and seven pages that are too few. */
	ck_assert_uint_eq(area_size(MON_EVENT), 31 * 4096);
	blocks = 0;
	while (event(MON_USER, 4000))
		blocks++;
	ck_assert_uint_eq(blocks, 24);
	ck_assert_uint_eq(p->messages, 1 + 3);
	read_records(&p->message[2]);
	ck_assert_uint_eq(records, 8);
	read_records(&p->message[3]);
	ck_assert_uint_eq(records, 9);
	ck_record(8, 1, 12, 20);
	ck_assert(!event(MON_USER, 100));
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 4);
	peer_reply(p);
	ck_assert(!event(MON_USER, 100));
	peer_reply(p);
	ck_assert(event(MON_USER, 100));
	monitor_tick(fx.cp);
	/* Seven pages are left behind it: suspended again. */
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 3);
	ck_record(0, 1, 3, 24);
	ck_record(1, 4, 1, 100);
	ck_record(2, 1, 12, 20);
	/* The one that found the area full, and two more. */
	ck_assert_uint_eq(get_be32(record[0].at + D1R3_LOSTRCCT), 3);
}

/* A user at its limit loses the block, the others get it. */
TEST(user_at_limit)
{
	struct peer *p = start(0, 2), *other = peer_user(1, WANT_EVENT, 255);

	for (unsigned int i = 0; i < 4; i++) {
		ck_assert(event(MON_USER, 100));
		monitor_tick(fx.cp);
	}
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_info(p).lost, 3);
	ck_assert_uint_eq(other->messages, 5);
	ck_assert_uint_eq(peer_info(other).lost, 0);
}

TEST(last_user_leaves)
{
	struct peer *p = start(0, 255), *s = peer_user(1, WANT_SAMPLE, 255);

	ck_assert(event(MON_USER, 100));
	peer_call(p, IUCV_SEVER);
	ck_assert_uint_eq(area_used(MON_EVENT), 0);
	ck_assert_uint_eq(fx.timer, 0);
	ck_assert(!event(MON_USER, 100));
	peer_connect(p, WANT_EVENT, "MONDCSS", 10);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert(event(MON_USER, 100));
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(s->messages, 0);
}

TEST(settings_changed)
{
	static const char text[] = "MONITOR EVENT ENABLE SEEKS ALL";
	struct peer *p = start(0, 255);
	uint8_t ebcdic[sizeof(text) - 1];

	monitor_settings_changed(fx.cp, true, text);
	monitor_tick(fx.cp);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 1);
	ck_record(0, 1, 2, 24 + sizeof(ebcdic));
	ck_assert_uint_eq(get_be32(record[0].at + D1R2_LENGTH), sizeof(ebcdic));
	ebcdic_encode(ebcdic, text, sizeof(ebcdic));
	ck_assert_mem_eq(record[0].at + D1R2_COMMAND, ebcdic, sizeof(ebcdic));
}

/* The only user is severed by a fault while its block is delivered. */
TEST(fault_ends_recording)
{
	struct peer *p;

	monitor_settings(fx.cp, true)->block = 1;
	p = start(0, 255);
	ck_assert(event(MON_USER, 4000));
	arm(FAULT_MONITOR_MESSAGE, FAULT_SEVER, 5, 0, "");
	ck_assert(!event(MON_USER, 4000));
	ck_assert(p->severed);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	peer_connect(p, WANT_EVENT, "MONDCSS", 255);
	ck_assert(event(MON_USER, 100));
	peer_call(p, IUCV_QUIESCE);
	arm(FAULT_MONITOR_MESSAGE, FAULT_SEVER, 6, 0, "");
	peer_call(p, IUCV_RESUME);
	ck_assert(p->severed);
	ck_assert_uint_eq(p->code, 6);
	ck_assert(!event(MON_USER, 100));
}

/* A block waits a second from its first record on, however many come meanwhile. */
TEST(block_is_a_second_old)
{
	struct peer *p = start(0, 255);

	for (unsigned int tenth = 0; tenth < 10; tenth++) {
		fx.tod = UINT64_C(0xd000000000000000) + tenth * SECOND / 10;
		cp_timer(fx.cp);
		ck_assert_uint_eq(p->messages, 1);
		ck_assert(event(MON_USER, 100));
		ck_assert_uint_eq(fx.timer, UINT64_C(0xd000000000000000) + SECOND);
	}
	at(1);
	ck_assert_uint_eq(p->messages, 2);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 10);
}

/* Sets have numbers in the order in which they are delivered, and a block is one of them. */
TEST(numbers_of_blocks)
{
	struct peer *p = start(0, 255);
	struct mon_set_info set;
	uint64_t before;

	peer_user(1, WANT_SAMPLE, 255);
	ck_assert(event(MON_USER, 100));
	for (unsigned int i = 0; i < 3; i++) {
		before = deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
		at(i + 1);
		ck_assert_uint_eq(p->messages, 2 + i);
		ck_assert_int_eq(fx.last_event.kind, CP_EVENT_MONITOR_MESSAGE);
		ck_assert_uint_gt(fx.last_event.value, before);
		ck_assert(monitor_set(fx.cp, fx.last_event.value, &set));
		ck_assert_int_eq(set.kind, MON_EVENT);
		ck_assert(event(MON_USER, 100));
	}
}

/* A D1R12 that ends with the last byte of a frame takes no other frame. */
TEST_LOOP(suspended_at_the_end_of_a_frame, 0, 3)
{
	struct peer *p;

	monitor_settings(fx.cp, true)->block = 4;
	p = start(0, 255);
	ck_assert(event(MON_USER, 4076 - (uint32_t)_i));
	peer_call(p, IUCV_QUIESCE);
	ck_assert_uint_eq(area_used(MON_EVENT), 4 * 4096);
	peer_call(p, IUCV_RESUME);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_end(peer_last(p), 0) + 1 - peer_start(peer_last(p), 0),
			  4096 - (uint32_t)_i);
	ck_assert_uint_eq(area_used(MON_EVENT), (1 + 4) * 4096);
}

/* Nobody hears of the block, and nobody loses it: its room is free again. */
TEST(fault_drops_a_block)
{
	struct peer *p = start(0, 255);
	const uint64_t used = area_used(MON_EVENT);

	ck_assert(event(MON_USER, 100));
	arm(FAULT_MONITOR_EVENT, FAULT_DROP, 0, 0, "");
	at(1);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_info(p).lost, 0);
	ck_assert_uint_eq(area_used(MON_EVENT), used);
	ck_assert(event(MON_USER, 100));
	at(2);
	ck_assert_uint_eq(p->messages, 2);
	/* Or all who want events are severed; who wants samples stays. */
	peer_user(1, WANT_SAMPLE, 255);
	ck_assert(event(MON_USER, 100));
	arm(FAULT_MONITOR_EVENT, FAULT_SEVER, 0x3d, 0, "");
	at(3);
	ck_assert(p->severed && !peers[1].severed);
	ck_assert_uint_eq(p->code, 0x3d);
	ck_assert(!event(MON_USER, 100));
}

TEST_LOOP(block_sizes, 0, 4)
{
	static const uint32_t wanted[] = { 0, 1, 64, 100000 }, frames[] = { 1, 1, 64, 64 };

	monitor_settings(fx.cp, true)->block = wanted[_i];
	start(0, 255);
	ck_assert_uint_eq(area_used(MON_EVENT), frames[_i] * 4096);
}

TEST(block_in_small_area)
{
	monitor_settings(fx.cp, true)->partition_pages = 4;
	start(0, 255);
	ck_assert_uint_eq(area_size(MON_EVENT), 4096);
	ck_assert_uint_eq(area_used(MON_EVENT), 4096);
}
