/* SPDX-License-Identifier: MIT */
/* IUCV: SEVER, QUIESCE and RESUME. */
#include "iucv_check.h"

static struct note a, b;

static void setup(void)
{
	fx_setup();
	note_user(&a, "ALPHA", 8);
	note_user(&b, "BETA", 2);
	fx_declare(0);
}

CASE("sever", setup, fx_teardown);

/* Nobody has heard of the path: nothing of it remains. */
TEST(sever_before_the_interruption)
{
	struct iucv_parm q = { .vmid = "LINUX001" };

	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	ck_call(peer_path(&a, IUCV_SEVER, q.path, 0), 0, 0);
	ck_assert_ptr_null(fx_take(0));
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
}

TEST(refusal)
{
	struct iucv_parm q = { 0 };

	ck_cc(connect_to("ALPHA", 0, 0), 0);
	memset(q.ipuser, 0x2c, 16);
	ck_call(iucv_call(fx.cp, a.user, IUCV_SEVER, &q), 0, 0);
	ck_assert_uint_eq(take(IUCV_SEVERED, 0)[16], 0x2c);
	ck_assert_uint_eq(iucv_path_count(a.user), 0);
	ck_cc(on_path(IUCV_SEVER, 0, 0), 0);
	ck_assert_uint_eq(a.count, 1);
}

/* An id comes back only when its own side has severed; the lowest comes first. */
TEST(path_ids)
{
	struct iucv_path_info info;

	open_path(&a, 0, 0, 0);
	open_path(&a, 0, 0, 0);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	ck_assert(iucv_path_info(iucv_user_guest(fx.cp), 0, &info));
	ck_assert_uint_eq(info.state, IUCV_PATH_SEVERED);
	ck_assert_str_eq(info.partner, "ALPHA");
	ck_assert_uint_eq(info.msglim_receive, 0);
	take(IUCV_SEVERED, 0);
	ck_cc(connect_to("ALPHA", 0, 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), 2);
	/* The peer has severed: its side of the new path has the old number. */
	ck_assert_uint_eq(last(&a, IUCV_PENDING)->path, 0);
	ck_rc(send(0, 0, DATA, 4, 4), IUCV_INVALID_PATH);
	ck_cc(on_path(IUCV_SEVER, 0, 0), 0);
	ck_cc(connect_to("ALPHA", 0, 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), 0);
}

/* What a kernel asks about a path that is not its own is counted, whatever CP says to it. */
TEST(calls_for_no_path_are_counted)
{
	enum iucv_function function;

	open_path(&a, 0, 0, 0);
	ck_cc(send(0, 0, DATA, 4, 4), 0);
	ck_assert_uint_eq(iucv_stray_calls(fx.cp, &function), 0);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	/* The path is there until its own side severs. */
	ck_rc(send(0, 0, DATA, 4, 4), IUCV_INVALID_PATH);
	ck_cc(on_path(IUCV_SEVER, 0, 0), 0);
	ck_assert_uint_eq(iucv_stray_calls(fx.cp, &function), 0);
	ck_rc(on_path(IUCV_SEVER, 0, 0), IUCV_INVALID_PATH);
	ck_assert_uint_eq(iucv_stray_calls(fx.cp, &function), 1);
	ck_assert_uint_eq(function, IUCV_SEVER);
	ck_rc(send(7, 0, DATA, 4, 4), IUCV_INVALID_PATH);
	ck_assert_uint_eq(iucv_stray_calls(fx.cp, &function), 2);
	ck_assert_uint_eq(function, IUCV_SEND);
	/* All paths: none is named. */
	ck_cc(on_path(IUCV_SEVER, 0, IPALL), 0);
	ck_assert_uint_eq(iucv_stray_calls(fx.cp, &function), 2);
}

TEST(sever_takes_events_along)
{
	uint16_t path = open_path(&a, IPRMDATA, IPRMDATA, 0);

	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	peer_path(&a, IUCV_QUIESCE, 0, 0);
	peer_path(&a, IUCV_RESUME, 0, 0);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 3);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 1);
	take(IUCV_SEVERED, path);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 4), 2);
}

TEST(sever_all)
{
	for (int i = 0; i < 3; i++)
		open_path(&a, 0, 0, 0);
	memset(parm_zero() + IPUSER, 0xee, 16);
	parm()[IPFLAGS1] = IPALL;
	ck_cc(guest(IUCV_SEVER), 0);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
	ck_assert_uint_eq(a.event[a.count - 3].type, IUCV_SEVERED);
	ck_assert_uint_eq(last(&a, IUCV_SEVERED)->ipuser[0], 0xee);
}

/* The guest's messages are lost, but it can still ask what became of them. */
TEST(sever_ends_messages)
{
	uint16_t path = open_path(&a, 0, 0, 0);
	uint32_t first, second;

	ck_cc(send(path, 0, DATA, 4, 4), 0);
	first = get_be32(parm() + IPMSGID);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	second = get_be32(parm() + IPMSGID);
	ck_call(peer_path(&a, IUCV_REJECT, 0, IPFGPID), 0, 0);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	take(IUCV_SEVERED, path);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(guest(IUCV_TEST_MESSAGE), 2);
	ck_cc(message(IUCV_TEST_COMPLETION, path, IPFGMID | IPFGPID, second, 0, 0, 0), 3);
	ck_assert_uint_eq(get_be32(parm() + IPAUDIT) >> 8, IUCV_AUDIT_SEVERED);
	ck_cc(message(IUCV_TEST_COMPLETION, path, IPFGPID, 0, 0, 0, 0), 3);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), first);
	ck_assert_uint_eq(get_be32(parm() + IPAUDIT) >> 8, IUCV_AUDIT_REJECTED);
	ck_cc(message(IUCV_TEST_COMPLETION, path, IPFGPID, 0, 0, 0, 0), 2);
}

TEST(quiesce_and_resume)
{
	uint16_t path = open_path(&a, 0, 0, 0);
	struct iucv_path_info info;
	struct iucv_parm q = { 0 };

	memset(q.ipuser, 0x44, 16);
	ck_call(iucv_call(fx.cp, a.user, IUCV_QUIESCE, &q), 0, 0);
	ck_assert_uint_eq(take(IUCV_PATH_QUIESCED, path)[31], 0x44);
	ck_rc(send(path, 0, DATA, 4, 4), IUCV_QUIESCED);
	ck_assert(iucv_path_info(iucv_user_guest(fx.cp), path, &info));
	ck_assert(!info.quiesced_here && info.quiesced_there);
	ck_call(iucv_call(fx.cp, a.user, IUCV_QUIESCE, &q), 0, 0);
	ck_assert_ptr_null(fx_take(0));
	ck_call(iucv_call(fx.cp, a.user, IUCV_RESUME, &q), 0, 0);
	take(IUCV_PATH_RESUMED, path);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	ck_cc(on_path(IUCV_QUIESCE, path, 0), 0);
	ck_assert_uint_eq(last(&a, IUCV_PATH_QUIESCED)->path, 0);
	ck_call(peer_path(&a, IUCV_SEND, 0, 0), 1, IUCV_QUIESCED);
	ck_cc(on_path(IUCV_RESUME, path, 0), 0);
	last(&a, IUCV_PATH_RESUMED);
	ck_rc(on_path(IUCV_QUIESCE, 9, 0), IUCV_INVALID_PATH);
	ck_cc(connect_to("ALPHA", 0, 0), 0);
	ck_rc(on_path(IUCV_RESUME, 1, 0), IUCV_INVALID_PATH);
}

/* Only the last quiesce and the last resume wait, in their order. */
TEST(quiesce_again_and_again)
{
	uint16_t path = open_path(&a, 0, 0, 0);

	for (int i = 0; i < 5; i++) {
		peer_path(&a, IUCV_QUIESCE, 0, 0);
		peer_path(&a, IUCV_RESUME, 0, 0);
	}
	peer_path(&a, IUCV_QUIESCE, 0, 0);
	take(IUCV_PATH_RESUMED, path);
	take(IUCV_PATH_QUIESCED, path);
	ck_assert_ptr_null(fx_take(0));
}

TEST(quiesce_all)
{
	open_path(&a, 0, 0, 0);
	ck_cc(connect_to("BETA", 0, 0), 0);
	open_path(&a, 0, 0, 0);
	ck_cc(on_path(IUCV_QUIESCE, 0, IPALL), 0);
	ck_assert_uint_eq(a.count, 4);
	ck_assert_uint_eq(b.count, 1);
	ck_cc(on_path(IUCV_RESUME, 0, IPALL), 0);
	ck_assert_uint_eq(a.count, 6);
	ck_assert_uint_eq(a.event[4].type, IUCV_PATH_RESUMED);
}
