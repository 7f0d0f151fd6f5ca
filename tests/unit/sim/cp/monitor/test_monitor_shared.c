/* SPDX-License-Identifier: MIT */
/* Several users of the same sets: limits, slow ones, quiesced ones. */
#include "monitor_peer.h"

CASE("users", fx_setup, fx_teardown);

TEST_LOOP(message_limit, 0, 3)
{
	static const uint16_t limits[] = { 1, 10, 255 };
	const uint16_t limit = limits[_i];
	struct peer *p = peer_user(0, WANT_EVENT, limit);
	uint64_t number = 0;

	monitor_settings(fx.cp, true)->partition_pages = 400;
	peer_call(p, IUCV_SEVER);
	peer_connect(p, WANT_EVENT, "MONDCSS", limit);
	for (unsigned int i = 0; i < limit; i++)
		number = deliver(MON_EVENT, 4096, 0, 1, MON_DELIVERED);
	for (unsigned int i = 1; i <= 5; i++) {
		ck_assert_uint_eq(deliver(MON_EVENT, 4096, 0, 1, MON_LOST_LIMIT), number + i);
		ck_assert_uint_eq(peer_info(p).lost, i);
	}
	ck_assert_uint_eq(p->messages, limit);
	ck_assert_uint_eq(area_used(MON_EVENT), limit * 4096u);
	peer_reply(p);
	deliver(MON_EVENT, 4096, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(peer_info(p).delivered, limit + 1u);
	ck_assert_uint_eq(peer_info(p).outstanding, limit);
}

/* As many as there may be: each is told of every set, and none of them is told twice. */
TEST(all_users)
{
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		peer_user(i, WANT_BOTH, 5);
	for (unsigned int set = 1; set <= 3; set++) {
		deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
		for (unsigned int i = 0; i < MON_MAX_USERS; i++)
			ck_assert_uint_eq(peers[i].messages, set);
	}
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		for (unsigned int set = 1; set <= 3; set++)
			peer_reply(&peers[i]);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

/* The slow user keeps the area, and loses sets by its own limit only. */
TEST(five_users)
{
	static const uint16_t limits[5] = { 255, 10, 3, 1, 100 };
	struct mon_set_info set;
	uint64_t number;

	for (unsigned int i = 0; i < 5; i++)
		peer_user(i, i == 4 ? WANT_EVENT : WANT_BOTH, limits[i]);
	for (unsigned int round = 0; round < 20; round++) {
		number = deliver(MON_SAMPLE, 4096, 0, (uint8_t)round, MON_DELIVERED);
		peer_reply(&peers[0]);
		ck_assert(monitor_set(fx.cp, number, &set) == (round < 10));
	}
	/* 10, 3 and 1 are outstanding for those who never reply. */
	ck_assert_uint_eq(area_used(MON_SAMPLE), 10 * 4096);
	for (unsigned int i = 1; i < 4; i++) {
		ck_assert_uint_eq(peers[i].messages, limits[i]);
		ck_assert_uint_eq(peer_info(&peers[i]).lost, 20u - limits[i]);
	}
	ck_assert_uint_eq(peer_info(&peers[0]).lost, 0);
	ck_assert_uint_eq(peer_info(&peers[0]).replied, 20);
	ck_assert_uint_eq(peers[4].messages, 0);
	ck_assert(monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(set.waiting, 3);
	peer_reply(&peers[1]);
	peer_reply(&peers[3]);
	ck_assert(monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(set.waiting, 1);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 10 * 4096);
	peer_reply(&peers[2]);
	ck_assert(!monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(area_used(MON_SAMPLE), 9 * 4096);
	peer_call(&peers[1], IUCV_SEVER);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 2 * 4096);
	ck_assert_uint_eq(monitor_sever(fx.cp, NULL, 1), 4);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

/* The set is lost for users that are connected for other data only: nobody wants it. */
TEST(nobody_wants_it)
{
	peer_user(0, WANT_EVENT, 10);
	ck_assert_uint_eq(deliver(MON_SAMPLE, 10, 0, 1, MON_NO_USER), 1);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert_uint_eq(peer_info(&peers[0]).lost, 0);
}

TEST(quiesced)
{
	struct peer *a = peer_user(0, WANT_SAMPLE, 10), *b = peer_user(1, WANT_SAMPLE, 10);

	peer_call(a, IUCV_QUIESCE);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	peer_call(b, IUCV_QUIESCE);
	deliver(MON_SAMPLE, 10, 0, 1, MON_LOST_QUIESCED);
	ck_assert_uint_eq(peer_info(a).lost, 2);
	ck_assert_uint_eq(peer_info(b).lost, 1);
	peer_call(a, IUCV_RESUME);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(a->messages, 1);
	ck_assert_uint_eq(b->messages, 1);
	/* Not for want of room, though there is none. */
	deliver(MON_SAMPLE, 122 * 4096, 0, 1, MON_DELIVERED);
	deliver(MON_SAMPLE, 4096, 0, 1, MON_LOST_SPACE);
	peer_call(a, IUCV_QUIESCE);
	peer_call(b, IUCV_QUIESCE);
	deliver(MON_SAMPLE, 4096, 0, 1, MON_LOST_QUIESCED);
}

TEST(severed_by_monitor)
{
	struct peer *a = peer_user(0, WANT_SAMPLE, 5), *b = peer_user(1, WANT_SAMPLE, 5);

	deliver(MON_SAMPLE, 5000, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(monitor_sever(fx.cp, "NOBODY", 3), 0);
	ck_assert_uint_eq(monitor_sever(fx.cp, "PEER0", 0x2c), 1);
	ck_assert(a->severed && !b->severed);
	ck_assert_uint_eq(a->code, 0x2c);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 8192);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_SEVERED], 1);
	ck_assert_uint_eq(monitor_sever(fx.cp, NULL, 0x30), 1);
	ck_assert_uint_eq(b->code, 0x30);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	ck_assert_uint_eq(monitor_sever(fx.cp, NULL, 0), 0);
}

static bool held_up(const struct peer *p)
{
	struct iucv_path_info info;

	ck_assert(iucv_path_info(p->user, p->path, &info));
	ck_assert(!info.quiesced_here);
	return info.quiesced_there;
}

/* It keeps users from sending, which they never do: sets and replies go on. */
TEST(quiesced_by_monitor)
{
	struct peer *a = peer_user(0, WANT_BOTH, 2), *b = peer_user(1, WANT_SAMPLE, 2);

	ck_assert_uint_eq(monitor_quiesce(fx.cp, "NOBODY", true), 0);
	ck_assert_uint_eq(monitor_quiesce(fx.cp, "PEER0", true), 1);
	ck_assert(held_up(a) && !held_up(b));
	ck_assert_uint_eq(a->quiesced, 1);
	ck_assert_uint_eq(monitor_quiesce(fx.cp, NULL, true), 2);
	ck_assert(held_up(a) && held_up(b));
	/* A path that is quiesced already is not told again. */
	ck_assert_uint_eq(a->quiesced, 1);
	ck_assert_uint_eq(b->quiesced, 1);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	peer_reply(a);
	peer_reply(b);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert_uint_eq(monitor_quiesce(fx.cp, NULL, false), 2);
	ck_assert(!held_up(a) && !held_up(b));
	ck_assert_uint_eq(a->resumed, 1);
	ck_assert_uint_eq(peer_info(a).lost, 0);
}
