/* SPDX-License-Identifier: MIT */
/* START and STOP, configuration, sample intervals. */
#include "monitor_records.h"

enum { SAMPLE_CONFIG = 0xe2c30000u, SAMPLE_DATA = 0xe2c40000u };

static void two_cpus(void)
{
	static const char *const options[] = { "cpus", "2", NULL };

	fx_setup_with(options);
}

CASE("interval", two_cpus, fx_teardown);

static void set_interval(uint32_t seconds)
{
	monitor_settings(fx.cp, false)->pending_interval_seconds = seconds;
}

static void at(uint64_t seconds)
{
	fx.tod = UINT64_C(0xd000000000000000) + seconds * SECOND;
	cp_timer(fx.cp);
}

TEST(pending_until_somebody_connects)
{
	struct peer *p = peer_create(0);

	set_interval(600);
	ck_assert_int_eq(monitor_start(fx.cp, false), 1);
	ck_assert_int_eq(monitor_start(fx.cp, false), 1);
	ck_assert_uint_eq(fx.timer, fx.tod + 600 * SECOND);
	at(300);
	/* START 10:00, connected 10:05: configuration at 10:05, data at 10:10. */
	peer_connect(p, WANT_SAMPLE, "MONDCSS", 255);
	ck_assert_uint_eq(p->ipuser[STATE_SAMPLE], 1);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_last(p)->trgcls, SAMPLE_CONFIG);
	at(599);
	ck_assert_uint_eq(p->messages, 1);
	at(600);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_last(p)->trgcls, SAMPLE_DATA);
	ck_assert_uint_eq(fx.timer, UINT64_C(0xd000000000000000) + 1200 * SECOND);
	ck_assert_int_eq(monitor_start(fx.cp, false), 0);
}

TEST(first_data_at_start)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	set_interval(600);
	at(300);
	ck_assert_int_eq(monitor_start(fx.cp, false), 0);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(p->message[0].trgcls, SAMPLE_CONFIG);
	ck_assert_uint_eq(p->message[1].trgcls, SAMPLE_DATA);
	at(899);
	ck_assert_uint_eq(p->messages, 2);
	at(900);
	ck_assert_uint_eq(p->messages, 3);
}

/* Intervals in which the machine stood still are left out; the anchor stays. */
TEST(standstill)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	set_interval(60);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	at(60 * 7 + 30);
	ck_assert_uint_eq(p->messages, 3);
	ck_assert_uint_eq(fx.timer, UINT64_C(0xd000000000000000) + 480 * SECOND);
	ck_assert_uint_eq(peer_info(p).lost, 0);
}

TEST(interval_changed)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	set_interval(1);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(monitor_settings(fx.cp, false)->interval_seconds, 6);
	set_interval(100000);
	at(5);
	ck_assert_uint_eq(p->messages, 2);
	at(6);
	ck_assert_uint_eq(p->messages, 3);
	ck_assert_uint_eq(monitor_settings(fx.cp, false)->interval_seconds, 3600);
	ck_assert_uint_eq(fx.timer, UINT64_C(0xd000000000000000) + 3606 * SECOND);
	monitor_stop(fx.cp, false);
	ck_assert_uint_eq(fx.timer, 0);
	ck_assert_uint_eq(monitor_settings(fx.cp, false)->interval_seconds, 0);
	at(10000);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
}

/* The TOD clock wraps in 2042. */
TEST(clock_wraps)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	fx.tod = UINT64_MAX - 10 * SECOND;
	set_interval(60);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	fx.tod += 59 * SECOND;
	cp_timer(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	fx.tod += SECOND;
	cp_timer(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
}

TEST(manual)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(fx.timer, 0);
	at(10000);
	ck_assert_uint_eq(p->messages, 2);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
	monitor_set_manual(fx.cp, false);
	ck_assert_uint_eq(fx.timer, UINT64_C(0xd000000000000000) + 60 * SECOND);
	at(10001);
	ck_assert_uint_eq(p->messages, 4);
}

/* An interval that is larger than the area is lost as a whole. */
TEST(too_large_for_the_area)
{
	struct peer *p = peer_create(0);
	char name[9];

	for (unsigned int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "USER%u", i);
		ck_assert_ptr_nonnull(iucv_user_create(fx.cp, name, 1, NULL, NULL));
	}
	monitor_settings(fx.cp, true)->partition_pages = 508;
	peer_connect(p, WANT_SAMPLE, "MONDCSS", 10);
	ck_assert_uint_eq(area_size(MON_SAMPLE), 4096);
	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	/* The configuration, of the same size, is postponed: then so is the data. */
	ck_assert_uint_eq(p->messages, 0);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(peer_info(p).lost, 2);
}

TEST(lost_intervals)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 3), *fast = peer_user(1, WANT_SAMPLE, 255);

	fast->automatic = true;
	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	for (unsigned int i = 0; i < 10; i++)
		monitor_tick(fx.cp);
	/* Configuration and two intervals of eleven. */
	ck_assert_uint_eq(p->messages, 3);
	ck_assert_uint_eq(peer_info(p).lost, 9);
	ck_assert_uint_eq(fast->messages, 12);
	ck_assert_uint_eq(peer_info(fast).lost, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_LOST], 9);
	peer_reply(p);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 4);
	ck_assert_uint_eq(peer_info(p).lost, 9);
}

/* Configuration waits for a user that cannot take it, and comes before data. */
TEST(configuration_postponed)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 1);

	monitor_set_manual(fx.cp, true);
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	peer_reply(p);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_last(p)->trgcls, SAMPLE_CONFIG);
	peer_reply(p);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(peer_last(p)->trgcls, SAMPLE_DATA);
	peer_reply(p);
	peer_call(p, IUCV_QUIESCE);
	monitor_stop(fx.cp, false);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
	peer_call(p, IUCV_RESUME);
	ck_assert_uint_eq(p->messages, 4);
	ck_assert_uint_eq(peer_last(p)->trgcls, SAMPLE_CONFIG);
}

/* A quiesced user waits for its configuration; the others get it. */
TEST(configuration_of_one_postponed)
{
	struct peer *ready = peer_user(0, WANT_SAMPLE, 255), *late = peer_user(1, WANT_SAMPLE, 255);

	monitor_set_manual(fx.cp, true);
	peer_call(late, IUCV_QUIESCE);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(ready->messages, 2);
	ck_assert_uint_eq(late->messages, 0);
	peer_call(late, IUCV_RESUME);
	ck_assert_uint_eq(ready->messages, 2);
	ck_assert_uint_eq(late->messages, 1);
	ck_assert_uint_eq(peer_last(late)->trgcls, SAMPLE_CONFIG);
}

/* The area has no room for it: the newcomer waits, and only the newcomer. */
TEST(configuration_without_room)
{
	struct peer *first = peer_user(0, WANT_SAMPLE, 255), *late;

	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	peer_reply(first);
	peer_reply(first);
	deliver(MON_SAMPLE_CONFIG, (uint32_t)area_size(MON_SAMPLE_CONFIG), 0, 1, MON_DELIVERED);
	late = peer_user(1, WANT_SAMPLE, 255);
	ck_assert_uint_eq(late->messages, 0);
	peer_reply(first);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(late->message[0].trgcls, SAMPLE_CONFIG);
	ck_assert_uint_eq(peer_last(late)->trgcls, SAMPLE_DATA);
	/* Configuration and data, what filled the area, and data. */
	ck_assert_uint_eq(first->messages, 4);
	ck_assert_uint_eq(peer_last(first)->trgcls, SAMPLE_DATA);
	ck_assert_uint_eq(late->messages, 2);
}

/* The same of as many users as there can be. */
TEST(many_configurations_without_room)
{
	struct peer *first = peer_user(0, WANT_SAMPLE, 255);

	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	peer_reply(first);
	peer_reply(first);
	deliver(MON_SAMPLE_CONFIG, (uint32_t)area_size(MON_SAMPLE_CONFIG), 0, 1, MON_DELIVERED);
	for (unsigned int i = 1; i < MON_MAX_USERS; i++)
		ck_assert_uint_eq(peer_user(i, WANT_SAMPLE, 255)->messages, 0);
	peer_reply(first);
	monitor_tick(fx.cp);
	for (unsigned int i = 1; i < MON_MAX_USERS; i++) {
		ck_assert_uint_eq(peers[i].messages, 2);
		ck_assert_uint_eq(peers[i].message[0].trgcls, SAMPLE_CONFIG);
		peer_reply(&peers[i]);
		peer_reply(&peers[i]);
	}
	peer_reply(first);
	/* And then an interval that all of them lose. */
	deliver(MON_SAMPLE, (uint32_t)area_size(MON_SAMPLE), 0, 1, MON_DELIVERED);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		ck_assert_uint_eq(peer_info(&peers[i]).lost, 0);
	monitor_tick(fx.cp);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		ck_assert_uint_eq(peer_info(&peers[i]).lost, 1);
}

/* An interval without room is lost by those who want it. */
TEST(interval_without_room)
{
	struct peer *sample = peer_user(0, WANT_SAMPLE, 255), *event = peer_user(1, WANT_EVENT, 255);

	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	peer_reply(sample);
	peer_reply(sample);
	deliver(MON_SAMPLE, (uint32_t)area_size(MON_SAMPLE), 0, 1, MON_DELIVERED);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(peer_info(sample).lost, 1);
	ck_assert_uint_eq(peer_info(event).lost, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_LOST], 1);
}

/* The newcomer is configured; the others are not told again. */
TEST(second_user)
{
	struct peer *a = peer_user(0, WANT_BOTH, 255), *b;

	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(a->messages, 2);
	b = peer_user(1, WANT_BOTH, 255);
	ck_assert_uint_eq(a->messages, 2);
	ck_assert_uint_eq(b->messages, 1);
	ck_assert_uint_eq(peer_last(b)->trgcls, SAMPLE_CONFIG);
	/* Event data has not been started. */
	ck_assert_uint_eq(b->ipuser[STATE_EVENT], 0);
	ck_assert_uint_eq(b->ipuser[STATE_SAMPLE], 1);
}

/* PARTITION is given with START: it holds at once while the segment is empty. */
TEST(layout_at_start)
{
	peer_user(0, WANT_BOTH, 255);
	monitor_settings(fx.cp, true)->partition_pages = 64;
	monitor_start(fx.cp, true);
	ck_assert_uint_eq(area_size(MON_EVENT_CONFIG), 31 * 4096);
	monitor_settings(fx.cp, true)->partition_pages = 128;
	monitor_start(fx.cp, false);
	ck_assert_uint_eq(area_size(MON_EVENT_CONFIG), 31 * 4096);
}

TEST(fault_interval)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255), *e = peer_user(1, WANT_EVENT, 255);

	monitor_set_manual(fx.cp, true);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	arm(FAULT_MONITOR_INTERVAL, FAULT_DROP, 0, 0, "");
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_info(p).lost, 0);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
	arm(FAULT_MONITOR_INTERVAL, FAULT_SEVER, 0x2c, 0, "");
	monitor_tick(fx.cp);
	ck_assert(p->severed && !e->severed);
	ck_assert_uint_eq(p->code, 0x2c);
	/* Nobody is left: the interval goes on. */
	monitor_tick(fx.cp);
	peer_connect(p, WANT_SAMPLE, "MONDCSS", 10);
	ck_assert_uint_eq(p->messages, 1);
}
