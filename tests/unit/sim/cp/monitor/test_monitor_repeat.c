/* SPDX-License-Identifier: MIT */
/* The same set again and again. */
#include "monitor_peer.h"

static char err[256];
static const uint8_t data[84] = { 1, 2, 3 };
static const struct mon_element element = {
	.type = MCE_SAMPLE, .domains = 0x8000, .data = data, .len = sizeof(data),
};

static int repeat(uint32_t outstanding, uint64_t times)
{
	const size_t before = fx.trace_len;
	int rc = monitor_repeat(fx.cp, MON_SAMPLE, &element, 1, outstanding, times, err, sizeof(err));
	const char *call = strstr(fx.trace + before, "\"monitor.repeat\"");

	ck_assert_ptr_nonnull(call);
	ck_assert_ptr_nonnull(strstr(call, rc == 0 ? "\"refused\":0" : "\"refused\":1"));
	return rc;
}

CASE("repeat", fx_setup, fx_teardown);

TEST(automatic)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	p->automatic = true;
	ck_assert_int_eq(repeat(10, 500), 0);
	ck_assert_uint_eq(p->messages, 500);
	ck_assert_uint_eq(peer_info(p).delivered, 500);
	ck_assert_uint_eq(peer_info(p).replied, 500);
	ck_assert_uint_eq(peer_info(p).lost, 0);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	/* Single messages are not worth an event; the end is, as the last reply. */
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_MESSAGE], 0);
	ck_assert_uint_le(fx.events[CP_EVENT_MONITOR_REPLIED], 10);
	ck_assert_uint_ge(fx.events[CP_EVENT_MONITOR_REPLIED], 1);
}

TEST(by_hand)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 3), *slow = peer_user(1, WANT_SAMPLE, 255);
	struct mon_set_info set;

	ck_assert_int_eq(repeat(5, 12), 0);
	ck_assert_uint_eq(p->messages, 3);
	ck_assert_uint_eq(slow->messages, 5);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	ck_assert(monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(set.waiting, 2);
	for (unsigned int i = 0; i < 3; i++)
		peer_reply(p);
	ck_assert_uint_eq(p->messages, 6);
	peer_reply(slow);
	ck_assert_uint_eq(slow->messages, 6);
	/* All twelve are sent: nothing follows a reply any more. */
	while (p->replied < p->messages)
		peer_reply(p);
	ck_assert_uint_eq(p->messages, 6);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	while (slow->replied < slow->messages)
		peer_reply(slow);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert(!monitor_set(fx.cp, 1, &set));
}

TEST(stopped)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 3);

	ck_assert_int_eq(repeat(0, 0), 0);
	ck_assert_int_eq(repeat(2, UINT64_MAX), 0);
	ck_assert_int_eq(repeat(2, 5), -1);
	ck_assert_str_eq(err, "a data set is being repeated already; stop that first (times 0)");
	ck_assert_int_eq(repeat(0, 0), 0);
	peer_reply(p);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	peer_reply(p);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert_int_eq(repeat(2, 1), 0);
	ck_assert_uint_eq(p->messages, 3);
}

TEST(refused)
{
	ck_assert_int_eq(repeat(2, 1), -1);
	ck_assert_str_eq(err, "no user is connected to *MONITOR, so no segment is in use");
	peer_user(0, WANT_EVENT, 3);
	ck_assert_int_eq(repeat(2, 1), -1);
	ck_assert_str_eq(err, "no user is connected to *MONITOR for sample data");
	ck_assert_int_eq(repeat(0, 1), -1);
	ck_assert_str_eq(err, "at least 1 message must be outstanding to repeat a data set, not 0");
	peer_user(1, WANT_SAMPLE, 3);
	deliver(MON_SAMPLE, (uint32_t)area_size(MON_SAMPLE), 0, 1, MON_DELIVERED);
	ck_assert_int_eq(repeat(1, 1), -1);
	ck_assert_str_eq(err, "the area has no room for the data set until users reply to others");
}

TEST(users_come_and_go)
{
	struct peer *a = peer_user(0, WANT_SAMPLE, 3), *b;

	ck_assert_int_eq(repeat(2, UINT64_MAX), 0);
	b = peer_user(1, WANT_SAMPLE, 3);
	ck_assert_uint_eq(b->messages, 2);
	peer_user(2, WANT_EVENT, 3);
	ck_assert_uint_eq(peers[2].messages, 0);
	peer_call(a, IUCV_SEVER);
	peer_reply(b);
	ck_assert_uint_eq(b->messages, 3);
	/* Nobody wants it any more: that is the end. */
	peer_call(b, IUCV_SEVER);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert_int_eq(repeat(0, 0), 0);
	peer_connect(a, WANT_SAMPLE, "MONDCSS", 3);
	ck_assert_uint_eq(a->messages, 0);
}

TEST(quiesced)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 3);

	peer_call(p, IUCV_QUIESCE);
	ck_assert_int_eq(repeat(2, 10), 0);
	ck_assert_uint_eq(p->messages, 0);
	peer_call(p, IUCV_RESUME);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_info(p).lost, 0);
}

TEST(severed_by_a_fault)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 3);

	ck_assert_int_eq(repeat(2, 10), 0);
	arm(FAULT_MONITOR_MESSAGE, FAULT_SEVER, 7, 0, "");
	peer_reply(p);
	ck_assert(p->severed);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	peer_connect(p, WANT_SAMPLE, "MONDCSS", 3);
	ck_assert_int_eq(repeat(1, 1), 0);
	ck_assert_uint_eq(p->messages, 1);
}

/* Dropped messages count: the repetition comes to its end although nobody replies. */
TEST(dropped_by_a_fault)
{
	peer_user(0, WANT_SAMPLE, 3);
	ck_arm(FAULT_MONITOR_MESSAGE, FAULT_DROP);
	ck_assert_int_eq(repeat(2, 10), 0);
	ck_assert_uint_eq(peer_info(&peers[0]).delivered, 10);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

static void few_messages(void)
{
	fx_messages = 4;
	fx_setup();
}

static void enough_messages(void)
{
	fx_teardown();
	fx_messages = 0;
}

CASE("few messages", few_messages, enough_messages);

/* IUCV takes no more: one set is lost, and it goes on when a message is replied to. */
TEST(no_message_left)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	ck_assert_int_eq(repeat(200, 20), 0);
	ck_assert_uint_eq(p->messages, 4);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	peer_reply(p);
	ck_assert_uint_eq(p->messages, 5);
	while (p->replied < p->messages)
		peer_reply(p);
	ck_assert_uint_eq(peer_info(p).delivered, p->messages);
	ck_assert_uint_eq(peer_info(p).delivered + peer_info(p).lost, 20);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}
