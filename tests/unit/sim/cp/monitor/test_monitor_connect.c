/* SPDX-License-Identifier: MIT */
/* Connections to *MONITOR: who is let in, on which terms, and how it ends. */
#include "iucv_fields.h"
#include "monitor_peer.h"

#include "zvmlab/dcss.h"

static const uint8_t linux_ipuser[16] = {
	0x01, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xd4, 0xd6, 0xd5, 0xc4, 0xc3, 0xe2, 0xe2, 0x40,	/* MONDCSS */
};

/* Several segments to choose from. */
static void setup(void)
{
	static const char *const options[] = {
		"segment",
		"MONDCSS 800-8FF SC RSTD;OTHER 900-9FF SC;SHARED A00-A0F SN;"
		"MIXED A10-A1F SC A20-A2F SN;TINY A30-A36 SC;SMALL A40-A47 SC;"
		"TWO A50-A57 SC A58-A5F SC;GAP A60-A67 SC A69-A6F SC",
		NULL,
	};

	fx_setup_with(options);
}

CASE("connect", setup, fx_teardown);

static void ck_refused(struct peer *p, uint8_t code)
{
	ck_assert(p->severed);
	ck_assert(!p->complete);
	ck_assert_uint_eq(p->code, code);
	ck_assert_uint_eq(iucv_path_count(p->user), 0);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, MON_SERVICE)), 0);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_SEVERED], 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_CONNECTED], 0);
	ck_assert_uint_eq(fx.last_event.value, code);
}

/* Asked for a path, it connects to *MONITOR and severs at once, before *MONITOR hears of it. */
static void hasty(struct cp *cp, struct iucv_user *user, void *opaque,
		  const struct iucv_event *event)
{
	struct iucv_parm parm = { .flags = IPRMDATA, .msglim = 255, .vmid = MON_SERVICE };
	unsigned int *answers = opaque;

	if (event->type != IUCV_PENDING) {
		++*answers;
		return;
	}
	memcpy(parm.ipuser, linux_ipuser, sizeof(parm.ipuser));
	ck_assert_int_eq(iucv_call(cp, user, IUCV_CONNECT, &parm).cc, 0);
	ck_assert_int_eq(iucv_call(cp, user, IUCV_SEVER, &parm).cc, 0);
}

/* Nothing stays of one who is not there any more when it would be let in. */
TEST(gone_before_it_is_let_in)
{
	static const struct iucv_user_ops ops = { .event = hasty };
	struct peer *p = peer_create(0);
	struct iucv_parm parm = { .vmid = "HASTY" };
	struct mon_user_info info;
	unsigned int answers = 0;

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "HASTY", 8, &ops, &answers));
	ck_assert_int_eq(iucv_call(fx.cp, p->user, IUCV_CONNECT, &parm).cc, 0);
	ck_assert_uint_eq(answers, 0);
	ck_assert(!monitor_user(fx.cp, 0, &info));
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, MON_SERVICE)), 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_CONNECTED], 0);
	peer_connect_user(p, linux_ipuser, IPRMDATA, 255);
	ck_assert(p->complete);
}

TEST(accepted)
{
	struct peer *p = peer_create(0);
	struct mon_user_info info;

	peer_connect_user(p, linux_ipuser, IPRMDATA, 255);
	ck_assert(p->complete);
	ck_assert_uint_eq(p->msglim, 255);
	ck_assert_uint_eq(p->ipuser[STATE_VERSION], 1);
	ck_assert_uint_eq(p->ipuser[STATE_EVENT], 0);
	ck_assert_uint_eq(p->ipuser[STATE_SAMPLE], 0);
	ck_assert_str_eq(monitor_segment(fx.cp), "MONDCSS");
	ck_assert_uint_eq(dcss_find(fx.cp, "MONDCSS")->users, 1);
	ck_assert(monitor_user(fx.cp, 0, &info));
	ck_assert(!monitor_user(fx.cp, 1, &info));
	ck_assert_str_eq(info.name, "PEER0");
	ck_assert_uint_eq(info.path, p->path);
	ck_assert(info.sample && info.event);
	ck_assert_uint_eq(info.limit, 255);
	ck_assert_uint_eq(info.outstanding, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_CONNECTED], 1);
	ck_assert_uint_eq(fx.last_event.value, 255);
	ck_assert_str_eq(fx.last_event.name, "PEER0");
}

TEST(kinds_wanted)
{
	struct peer *s = peer_user(0, WANT_SAMPLE, 10), *e = peer_user(1, WANT_EVENT, 10);

	ck_assert(peer_info(s).sample && !peer_info(s).event);
	ck_assert(!peer_info(e).sample && peer_info(e).event);
	deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(s->messages, 1);
	ck_assert_uint_eq(e->messages, 0);
	deliver(MON_EVENT, 100, 0, 1, MON_DELIVERED);
	ck_assert_uint_eq(s->messages, 1);
	ck_assert_uint_eq(e->messages, 1);
}

TEST(limits)
{
	static const uint16_t wanted[] = { 0, 1, 10, 255, 1000 };
	static const uint16_t granted[] = { 10, 1, 10, 255, 255 };

	for (unsigned int i = 0; i < 5; i++) {
		struct peer *p = peer_user(i, WANT_SAMPLE, wanted[i]);

		ck_assert_uint_eq(p->msglim, granted[i]);
		ck_assert_uint_eq(peer_info(p).limit, granted[i]);
	}
}

TEST_LOOP(refused_ipuser, 0, 2)
{
	uint8_t ipuser[16];

	memcpy(ipuser, linux_ipuser, sizeof(ipuser));
	ipuser[_i] = 0;
	peer_connect_user(peer_create(0), ipuser, IPRMDATA, 255);
	ck_refused(&peers[0], 0x04);
}

TEST_LOOP(refused_segment, 0, 6)
{
	static const struct {
		const char *name;
		uint8_t code;
	} refused[] = {
		{ "NOWHERE", 0x08 }, { "", 0x08 }, { "SHARED", 0x10 }, { "MIXED", 0x10 },
		{ "GAP", 0x10 }, { "TINY", 0x18 },
	};

	peer_connect(peer_create(0), WANT_BOTH, refused[_i].name, 255);
	ck_refused(&peers[0], refused[_i].code);
}

TEST_LOOP(smallest_segments, 0, 2)
{
	struct peer *p = peer_create(0);

	peer_connect(p, WANT_BOTH, _i ? "TWO" : "SMALL", 255);
	ck_assert(p->complete);
	ck_assert_uint_eq(area_size(MON_SAMPLE), _i ? 3 * 4096 : 4096);
}

TEST(refused_skeleton)
{
	const struct cp_segment_config config = {
		.name = "FRESH", .ranges = 1, .range = { { 0xa70, 0xa7f, DCSS_SC } },
	};
	char err[256];

	ck_assert_msg(dcss_define(fx.cp, &config, err, sizeof(err)) == 0, "%s", err);
	peer_connect(peer_create(0), WANT_BOTH, "FRESH", 255);
	ck_refused(&peers[0], 0x0c);
	ck_assert_int_eq(dcss_save(fx.cp, "FRESH", err, sizeof(err)), 0);
	peer_connect(&peers[0], WANT_BOTH, "FRESH", 255);
	ck_assert(peers[0].complete);
}

TEST(refused_without_parmdata)
{
	peer_connect_user(peer_create(0), linux_ipuser, 0, 255);
	ck_refused(&peers[0], 0x20);
}

TEST_LOOP(refused_config_size, 0, 2)
{
	/* 256 pages: 128 each; a size that was asked for must leave 2 pages for data. */
	monitor_settings(fx.cp, _i)->config_pages = 127;
	peer_connect(peer_create(0), WANT_BOTH, "MONDCSS", 255);
	ck_refused(&peers[0], 0x2c);
	monitor_settings(fx.cp, _i)->config_pages = 126;
	peer_connect(&peers[0], WANT_BOTH, "MONDCSS", 255);
	ck_assert(peers[0].complete);
	ck_assert_uint_eq(area_size(_i ? MON_EVENT : MON_SAMPLE), 4096);
	ck_assert_uint_eq(area_size(_i ? MON_EVENT_CONFIG : MON_SAMPLE_CONFIG), 123 * 4096);
}

TEST(one_segment_for_all)
{
	struct peer *first = peer_user(0, WANT_BOTH, 10), *second = peer_create(1);

	peer_connect(second, WANT_BOTH, "OTHER", 10);
	ck_assert(second->severed);
	ck_assert_uint_eq(second->code, 0x14);
	peer_connect(second, WANT_BOTH, "MONDCSS", 10);
	ck_assert(second->complete);
	ck_assert_uint_eq(dcss_find(fx.cp, "MONDCSS")->users, 1);
	peer_call(first, IUCV_SEVER);
	ck_assert_str_eq(monitor_segment(fx.cp), "MONDCSS");
	peer_call(second, IUCV_SEVER);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	ck_assert_uint_eq(dcss_find(fx.cp, "MONDCSS")->users, 0);
	peer_connect(second, WANT_BOTH, "OTHER", 10);
	ck_assert(second->complete);
	ck_assert_str_eq(monitor_segment(fx.cp), "OTHER");
}

/* Purged while in use: it goes when the last user goes. */
TEST(segment_purged_in_use)
{
	struct peer *first = peer_user(0, WANT_BOTH, 10), *second = peer_create(1);
	char err[256];

	ck_assert_int_eq(dcss_purge(fx.cp, "MONDCSS", err, sizeof(err)), 0);
	ck_assert_str_eq(monitor_segment(fx.cp), "MONDCSS");
	deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	peer_connect(second, WANT_BOTH, "MONDCSS", 10);
	ck_assert(second->complete);
	peer_call(first, IUCV_SEVER);
	peer_call(second, IUCV_SEVER);
	peer_connect(first, WANT_BOTH, "MONDCSS", 10);
	ck_assert(first->severed);
	ck_assert_uint_eq(first->code, 0x08);
}

TEST(too_many_users)
{
	struct peer *extra;

	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		peer_user(i, WANT_SAMPLE, 1);
	extra = peer_create(MON_MAX_USERS);
	peer_connect(extra, WANT_SAMPLE, "MONDCSS", 1);
	ck_assert(extra->severed);
	ck_assert_uint_eq(extra->code, 0x1c);
	peer_call(&peers[7], IUCV_SEVER);
	peer_connect(extra, WANT_SAMPLE, "MONDCSS", 1);
	ck_assert(extra->complete);
}

TEST(same_user_twice)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 5);
	struct mon_user_info info;

	peer_connect(p, WANT_EVENT, "MONDCSS", 6);
	ck_assert(p->complete);
	ck_assert(monitor_user(fx.cp, 1, &info));
	ck_assert_uint_eq(info.limit, 6);
	ck_assert_uint_eq(monitor_sever(fx.cp, "PEER0", 9), 2);
	ck_assert(!monitor_user(fx.cp, 0, &info));
}

/* Unreplied messages are purged, their area is free again; the notification carries the code. */
TEST(severed_by_user)
{
	struct peer *a = peer_user(0, WANT_SAMPLE, 5), *b = peer_user(1, WANT_SAMPLE, 5);
	struct iucv_parm parm = { .path = a->path, .ipuser = { 0xff } };
	uint64_t number = deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	struct mon_set_info set;

	ck_assert(monitor_set(fx.cp, number, &set));
	ck_assert_uint_eq(set.waiting, 2);
	iucv_call(fx.cp, a->user, IUCV_SEVER, &parm);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_SEVERED], 1);
	ck_assert_uint_eq(fx.last_event.value, 0xff);
	ck_assert(monitor_set(fx.cp, number, &set));
	ck_assert_uint_eq(set.waiting, 1);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, MON_SERVICE)), 1);
	peer_reply(b);
	ck_assert(!monitor_set(fx.cp, number, &set));
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

TEST(logged_off)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 5);

	deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	iucv_user_destroy(fx.cp, p->user);
	iucv_dispatch(fx.cp);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

TEST_LOOP(fault_sever, 0, 2)
{
	arm(FAULT_MONITOR_CONNECT, FAULT_SEVER, _i, 0, "PEER0");
	peer_connect(peer_create(0), WANT_BOTH, "MONDCSS", 255);
	ck_refused(&peers[0], (uint8_t)_i);
	peer_user(1, WANT_BOTH, 255);
}

/* No answer at all: the connection stays pending until the user gives up. */
TEST(fault_drop)
{
	struct peer *p = peer_create(0);

	arm(FAULT_MONITOR_CONNECT, FAULT_DROP, 0, 0, "");
	peer_connect(p, WANT_BOTH, "MONDCSS", 255);
	ck_assert(!p->complete && !p->severed);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, MON_SERVICE)), 1);
	peer_call(p, IUCV_SEVER);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, MON_SERVICE)), 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_SEVERED], 0);
	peer_connect(p, WANT_BOTH, "MONDCSS", 255);
	ck_assert(p->complete);
}

TEST_LOOP(fault_limit, 0, 3)
{
	static const uint32_t value[] = { 0, 3, 1000 };
	static const uint16_t granted[] = { 1, 3, 255 };
	struct peer *p = peer_create(0);

	arm(FAULT_MONITOR_CONNECT, FAULT_LIMIT, value[_i], 0, "");
	peer_connect(p, WANT_BOTH, "MONDCSS", 255);
	ck_assert_uint_eq(p->msglim, granted[_i]);
	ck_assert_uint_eq(peer_info(p).limit, granted[_i]);
}

/* The guest, by the instruction and with Linux's parameter list. */
TEST(guest)
{
	uint8_t *parm = fx_at(0x1000, IUCV_PARM_SIZE);
	const uint8_t *event;
	struct mon_user_info info;

	fx_declare(0);
	memset(parm, 0, IUCV_PARM_SIZE);
	parm[IPFLAGS1] = IPRMDATA;
	put_be16(parm + IPMSGLIM, 255);
	ebcdic_name(parm + IPVMID, MON_SERVICE);
	memcpy(parm + IPUSER, linux_ipuser, 16);
	ck_cc(fx_iucv(0, IUCV_CONNECT, 0x1000), 0);
	event = fx_take(0);
	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event[IPTYPE], IUCV_COMPLETE);
	ck_assert(monitor_user(fx.cp, 0, &info));
	ck_assert_str_eq(info.name, "LINUX001");
	deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	event = fx_take(0);
	ck_assert_ptr_nonnull(event);
	ck_assert_uint_eq(event[IPTYPE], IUCV_MSG_PENDING);
	ck_assert_uint_eq(event[IPFLAGS1], IPRMDATA);
	ck_assert_uint_eq(get_be32(event + IPRMMSG + MCA_END) -
			  get_be32(event + IPRMMSG + MCA_START), 11);
	cp_reset(fx.cp);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
	ck_assert_ptr_null(fx_take(0));
}

/* The service rejects messages that users send to it. */
TEST(messages_to_monitor)
{
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	struct iucv_parm parm = { .path = p->path, .flags = IPRMDATA };
	struct iucv_path_info info;

	ck_assert_int_eq(iucv_call(fx.cp, p->user, IUCV_SEND, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	ck_assert(iucv_path_info(p->user, p->path, &info));
	ck_assert_uint_eq(info.sent, 0);
	ck_assert_uint_eq(peer_info(p).replied, 0);
}
