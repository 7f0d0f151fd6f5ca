/* SPDX-License-Identifier: MIT */
/* Messages and contents that are not as they should be; segments out of reach. */
#include "monitor_peer.h"

#include "zvmlab/dcss.h"

static char err[256];

CASE("faults", fx_setup, fx_teardown);

TEST(raw)
{
	struct peer *p = peer_user(0, WANT_BOTH, 2);
	struct mon_set_info set;
	enum mon_fate fate;

	ck_assert_int_eq(monitor_message_raw(fx.cp, MON_EVENT, 0xffffffff, 7, &fate, err,
					     sizeof(err)), 1);
	ck_assert_int_eq(fate, MON_DELIVERED);
	ck_assert_uint_eq(get_be32(peer_last(p)->rmmsg), 0xffffffff);
	ck_assert_uint_eq(get_be32(peer_last(p)->rmmsg + MCA_END), 7);
	ck_assert(monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(set.mca_start, 0xffffffff);
	ck_assert_uint_eq(area_used(MON_EVENT), 0);
	/* A fault has no control area of ours to corrupt: it takes the message's bytes. */
	arm(FAULT_MONITOR_MESSAGE, FAULT_CORRUPT, 0xff, 8, "");
	ck_assert_int_eq(monitor_message_raw(fx.cp, MON_EVENT, 0, 0, &fate, err, sizeof(err)), 2);
	ck_assert_uint_eq(get_be32(peer_last(p)->rmmsg), 0xff000000);
	ck_assert_int_eq(monitor_message_raw(fx.cp, MON_EVENT, 0, 0, &fate, err, sizeof(err)), 3);
	ck_assert_int_eq(fate, MON_LOST_LIMIT);
	peer_reply(p);
	peer_reply(p);
	ck_assert(!monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(peer_info(p).replied, 2);
}

TEST(rejected)
{
	struct peer *p = peer_user(0, WANT_BOTH, 2);
	struct iucv_parm parm = { .path = p->path, .flags = IPFGPID | IPFGMID | IPFGMCL };

	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	parm.msgid = peer_last(p)->msgid;
	parm.trgcls = peer_last(p)->trgcls;
	ck_assert_int_eq(iucv_call(fx.cp, p->user, IUCV_REJECT, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert_uint_eq(peer_info(p).replied, 1);
}

TEST(fault_message)
{
	struct peer *a = peer_user(0, WANT_BOTH, 3), *b = peer_user(1, WANT_BOTH, 3);
	struct mon_set_info set;

	arm(FAULT_MONITOR_MESSAGE, FAULT_DROP, 0, 0, "PEER0");
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(a->messages, 0);
	ck_assert_uint_eq(peer_info(a).delivered, 1);
	ck_assert_uint_eq(peer_info(a).outstanding, 0);
	peer_reply(b);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);

	arm(FAULT_MONITOR_MESSAGE, FAULT_DUPLICATE, 0, 0, "PEER0");
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(a->messages, 2);
	ck_assert_mem_eq(a->message[0].rmmsg, a->message[1].rmmsg, 8);
	ck_assert_uint_eq(peer_info(a).outstanding, 2);
	peer_reply(b);
	peer_reply(a);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	peer_reply(a);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);

	arm(FAULT_MONITOR_MESSAGE, FAULT_CORRUPT, 0x0f, MCE_SIZE + MCE_DOMAINS, "PEER1");
	ck_assert(monitor_set(fx.cp, deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED), &set));
	/* The message itself is as it should be. */
	ck_assert_uint_eq(get_be32(peer_last(b)->rmmsg), set.mca_start);
	ck_assert_uint_eq(get_be32(peer_last(b)->rmmsg + 4), set.mca_end);
	ck_assert_uint_eq(peer_mce(peer_last(b), 0)[MCE_DOMAINS], 0x8f);
	ck_assert_uint_eq(peer_mce(peer_last(b), 0)[MCE_TYPE], MCE_SAMPLE);

	arm(FAULT_MONITOR_MESSAGE, FAULT_SEVER, 0x99, 0, "PEER0");
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	ck_assert(a->severed);
	ck_assert_uint_eq(a->code, 0x99);
	arm(FAULT_MONITOR_MESSAGE, FAULT_SEVER, 0x98, 0, "PEER1");
	deliver(MON_SAMPLE, 10, 0, 1, MON_NO_USER);
	ck_assert(b->severed);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

TEST(duplicate_at_limit)
{
	struct peer *p = peer_user(0, WANT_BOTH, 1);

	arm(FAULT_MONITOR_MESSAGE, FAULT_DUPLICATE, 0, 0, "");
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_info(p).lost, 0);
}

TEST(fault_reply)
{
	struct peer *p = peer_user(0, WANT_BOTH, 3);

	arm(FAULT_MONITOR_REPLY, FAULT_DROP, 0, 0, "");
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	peer_reply(p);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	ck_assert_uint_eq(peer_info(p).outstanding, 1);
	ck_assert_uint_eq(peer_info(p).replied, 0);
	arm(FAULT_MONITOR_REPLY, FAULT_SEVER, 0x42, 0, "");
	deliver(MON_SAMPLE, 10, 0, 1, MON_DELIVERED);
	peer_reply(p);
	ck_assert(p->severed);
	ck_assert_uint_eq(p->code, 0x42);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

TEST(fault_content)
{
	struct peer *p = peer_user(0, WANT_BOTH, 3);
	const uint8_t *data;

	arm(FAULT_SEGMENT_CONTENT, FAULT_CORRUPT, 0x80, 105, "MONDCSS");
	deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	data = fx_at(peer_start(peer_last(p), 0), 100);
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_uint_eq(data[i], i == 5 ? 0x81 : 1);
	arm(FAULT_SEGMENT_CONTENT, FAULT_DROP, 0, 0, "MONDCSS");
	deliver(MON_SAMPLE, 100, 0, 2, MON_DELIVERED);
	data = fx_at(peer_start(peer_last(p), 0), 100);
	ck_assert_uint_eq(data[0], 0);
	ck_assert_uint_eq(p->messages, 2);
}

/* 31-bit addresses only. */
TEST(segment_too_high)
{
	struct peer *p = peer_create(0);

	dcss_find(fx.cp, "MONDCSS")->config.range[0].first = 0x7ff00;
	dcss_find(fx.cp, "MONDCSS")->config.range[0].last = 0x80000;
	peer_connect(p, WANT_BOTH, "MONDCSS", 10);
	ck_assert(p->severed);
	ck_assert_uint_eq(p->code, 0x10);
}

/* The segment lies in the guest's storage, and has no contents: lost for want of room, no harm. */
TEST(segment_unreachable)
{
	static const uint8_t data[1];
	const struct mon_element element = { .type = MCE_SAMPLE, .domains = 1, .data = data,
					     .len = 1 };
	struct peer *p = peer_create(0);

	dcss_find(fx.cp, "MONDCSS")->config.range[0].first = 0x100;
	dcss_find(fx.cp, "MONDCSS")->config.range[0].last = 0x1ff;
	peer_connect(p, WANT_BOTH, "MONDCSS", 10);
	ck_assert(p->complete);
	deliver(MON_SAMPLE, 1, 0, 1, MON_LOST_SPACE);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
	ck_assert_int_eq(monitor_repeat(fx.cp, MON_SAMPLE, &element, 1, 1, 1, err,
					sizeof(err)), -1);
	ck_assert_str_eq(err, "the area has no room for the data set until users reply to others");
	ck_assert_int_eq(monitor_start(fx.cp, false), 0);
	ck_assert_uint_eq(p->messages, 0);
	ck_assert_int_eq(monitor_start(fx.cp, true), 0);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, 0);
}
