/* SPDX-License-Identifier: MIT */
/* IUCV: the end of a message: REPLY, REJECT, PURGE and TEST COMPLETION. */
#include "iucv_check.h"

#define CLASS 0x44444444u
#define SOURCE 0x22222222u
#define ALL_IDS (IPFGMID | IPFGPID | IPFGMCL)

static struct note a;
static uint16_t path;

static void setup(void)
{
	path = path_to_alpha(&a, "1", 4);
}

CASE("reply", setup, fx_teardown);

/* A reply to what has been received in part ends it. */
TEST(partial_receive_and_reply)
{
	uint32_t id = peer_send(&a, 0, 0, "abcdefghij", 10, NULL, 0);

	ck_cc(message(IUCV_REPLY, path, 0, id, CLASS, DATA, 0), 2);
	ck_rc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 4), IUCV_SHORT_BUFFER);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), id);
	ck_cc(message(IUCV_REPLY, path, 0, id, CLASS, DATA, 0), 0);
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->audit, 0);
}

TEST(reply_codes)
{
	uint16_t plain = open_path(&a, 0, 0, 4);
	char answer[4] = "...";
	uint32_t id = peer_send(&a, 1, 0, "text", 4, answer, 3);

	ck_cc(message(IUCV_RECEIVE, plain, IPFGPID, 0, 0, DATA, 4), 0);
	ck_rc(message(IUCV_REPLY, 50, 0, id, CLASS, DATA, 4), IUCV_INVALID_PATH);
	ck_rc(message(IUCV_REPLY, path, 0, id, CLASS, DATA, 4), IUCV_WRONG_CLASS);
	ck_rc(message(IUCV_REPLY, plain, 0, id, CLASS + 1, DATA, 4), IUCV_WRONG_CLASS);
	ck_rc(message(IUCV_REPLY, plain, 0, id, CLASS, DATA, 0xffffffff), IUCV_BAD_LENGTH);
	ck_rc(message(IUCV_REPLY, plain, IPRMDATA, id, CLASS, DATA, 4), IUCV_NO_RMDATA);
	ck_cc(message(IUCV_REPLY, plain, 0, id ^ 0x80000000, CLASS, DATA, 4), 2);
	ck_pgm(message(IUCV_REPLY, plain, IPBUFLST, id, CLASS, DATA + 1, 4), PGM_SPECIFICATION);
	ck_pgm(message(IUCV_REPLY, plain, 0, id, CLASS, HOLE, 4), PGM_ADDRESSING);
	/* One byte does not fit: both sides hear of it. */
	ck_rc(message(IUCV_REPLY, plain, 0, id, CLASS, DATA, 4), IUCV_SHORT_BUFFER);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN1F), 1);
	ck_assert_str_eq(answer, "tex");
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->audit, 0x800000);
	ck_assert_uint_eq(a.event[a.count - 1].answer_length, 0);
	ck_cc(message(IUCV_REPLY, plain, 0, id, CLASS, DATA, 4), 2);
}

/* A service takes every answer in the list. */
TEST(reply_to_a_service)
{
	struct note s;
	uint32_t id;

	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV *SERV", NULL });
	note_user(&s, "*SERV", 8);
	fx_declare(0);
	path = open_path(&s, IPRMDATA, 0, 255);
	id = peer_send(&s, 0, IPRMDATA, "12345678", 8, NULL, 0);
	take(IUCV_MSG_PENDING, path);
	ck_cc(message(IUCV_REPLY, path, IPRMDATA, id, CLASS, 0, 0), 0);
	ck_assert_uint_eq(last(&s, IUCV_MSG_COMPLETE)->flags, IPRMDATA);
}

TEST(reject)
{
	const uint8_t *i;
	uint32_t id;

	ck_cc(send(path, IPPRTY, DATA, 4, 8), 0);
	id = get_be32(parm() + IPMSGID);
	ck_call(iucv_call(fx.cp, a.user, IUCV_REJECT,
			  &(struct iucv_parm){ .flags = IPFGMID | IPFGPID, .msgid = id }), 0, 0);
	i = take(IUCV_PRIO_COMPLETE, path);
	ck_assert_uint_eq(i[2], IPPRTY);
	ck_assert_uint_eq(get_be32(i + 8), 0x04000000);
	ck_assert_uint_eq(get_be32(i + 32), 8);
	ck_rc(message(IUCV_REJECT, 9, IPFGPID, 0, 0, 0, 0), IUCV_INVALID_PATH);
	ck_cc(message(IUCV_REJECT, path, IPFGPID, 0, 0, 0, 0), 2);
	/* Also after it has been received, by its id. */
	id = peer_send(&a, 0, 0, "text", 4, NULL, 0);
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 4), 0);
	ck_cc(message(IUCV_REJECT, 0, 0, 0, 0, 0, 0), 2);
	ck_rc(message(IUCV_REJECT, path, ALL_IDS, id, CLASS + 1, 0, 0), IUCV_WRONG_CLASS);
	ck_cc(message(IUCV_REJECT, path, ALL_IDS, id, CLASS, 0, 0), 0);
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->audit, IUCV_AUDIT_REJECTED);
	ck_cc(message(IUCV_REJECT, path, ALL_IDS, id, CLASS, 0, 0), 2);
}

TEST(purge_codes)
{
	uint16_t plain = open_path(&a, 0, 0, 4);
	uint32_t first, second;

	ck_cc(send(path, 0, DATA, 4, 4), 0);
	first = get_be32(parm() + IPMSGID);
	ck_cc(send(path, IPPRTY, DATA, 4, 4), 0);
	second = get_be32(parm() + IPMSGID);
	ck_rc(message(IUCV_PURGE, 0, 0, 0, 0, 0, 0), IUCV_INVALID_PATH);
	ck_rc(message(IUCV_PURGE, 9, IPFGPID, 0, 0, 0, 0), IUCV_INVALID_PATH);
	ck_rc(message(IUCV_PURGE, plain, ALL_IDS, first, SOURCE, 0, 0), IUCV_WRONG_CLASS);
	ck_rc(message(IUCV_PURGE, path, ALL_IDS, first, SOURCE + 1, 0, 0), IUCV_WRONG_CLASS);
	ck_cc(message(IUCV_PURGE, plain, IPFGPID, 0, 0, 0, 0), 2);
	ck_cc(message(IUCV_PURGE, path, IPFGPID | IPFGMCL, 0, SOURCE + 1, 0, 0), 2);
	ck_cc(message(IUCV_PURGE, path, IPFGPID | IPFGMCL, 0, SOURCE, 0, 0), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), second);
	ck_assert_uint_eq(get_be32(parm() + IPAUDIT) >> 8, IUCV_AUDIT_PURGED);
	ck_assert_uint_eq(get_be32(parm() + IPMSGTAG), 0x33333333);
	ck_cc(message(IUCV_PURGE, path, ALL_IDS, first, SOURCE, 0, 0), 0);
	ck_cc(message(IUCV_PURGE, path, IPFGPID, 0, 0, 0, 0), 2);
	ck_assert_ptr_null(fx_take(0));
}

/* The target knows the id: it is told once what has become of the message. */
TEST(purge_after_the_interruption)
{
	static const enum iucv_function ask[] = { IUCV_RECEIVE, IUCV_REPLY, IUCV_REJECT };

	for (int n = 0; n < 3; n++) {
		struct iucv_parm q = { .flags = IPFGMID };
		uint32_t id = peer_send(&a, 0, 0, "text", 4, NULL, 0);

		take(IUCV_MSG_PENDING, path);
		q.msgid = id;
		ck_call(iucv_call(fx.cp, a.user, IUCV_PURGE, &q), 0, 0);
		ck_assert_uint_eq(q.audit, IUCV_AUDIT_PURGED);
		ck_call(iucv_call(fx.cp, a.user, IUCV_PURGE, &q), 2, 0);
		ck_rc(message(ask[n], path, ALL_IDS, id, CLASS + 1, DATA, 4), IUCV_WRONG_CLASS);
		ck_rc(message(ask[n], path, ALL_IDS, id, CLASS, DATA, 4), IUCV_PURGED);
		ck_cc(message(ask[n], path, ALL_IDS, id, CLASS, DATA, 4), 2);
	}
}

/* Before the interruption there is nobody to be told. */
TEST(purge_before_the_interruption)
{
	struct iucv_parm q = { .flags = IPFGMID,
			       .msgid = peer_send(&a, 0, 0, "text", 4, NULL, 0) };

	ck_call(iucv_call(fx.cp, a.user, IUCV_PURGE, &q), 0, 0);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, q.msgid, CLASS, DATA, 4), 2);
}

/* No more than 255 purged messages of a path are remembered. */
TEST(purged_are_forgotten)
{
	uint32_t id[260];

	for (int n = 0; n < 260; n++) {
		struct iucv_parm q = { .flags = IPFGMID };

		id[n] = q.msgid = peer_send(&a, 0, 0, "text", 4, NULL, 0);
		take(IUCV_MSG_PENDING, path);
		ck_call(iucv_call(fx.cp, a.user, IUCV_PURGE, &q), 0, 0);
	}
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, id[4], CLASS, DATA, 4), 2);
	for (int n = 5; n < 260; n++)
		ck_rc(message(IUCV_RECEIVE, path, ALL_IDS, id[n], CLASS, DATA, 4), IUCV_PURGED);
}

TEST(purge_of_a_finished_message)
{
	uint32_t id;

	ck_cc(send(path, 0, DATA, 4, 4), 0);
	id = get_be32(parm() + IPMSGID);
	ck_call(peer_path(&a, IUCV_REJECT, 0, IPFGPID), 0, 0);
	ck_cc(message(IUCV_PURGE, path, IPFGPID, 0, 0, 0, 0), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), id);
	ck_assert_uint_eq(get_be32(parm() + IPAUDIT) >> 8, IUCV_AUDIT_REJECTED);
	ck_assert_ptr_null(fx_take(0));
}

static void finish(bool rmdata)
{
	const struct iucv_event *e = last(&a, IUCV_MSG_PENDING);
	struct iucv_parm q = { .flags = rmdata ? IPRMDATA : 0, .trgcls = 0x11111111,
			       .rmmsg = "answers", .path = e->path, .msgid = e->msgid };
	struct iucv_parm r = { .flags = IPFGMID, .msgid = q.msgid,
			       .buffer = { .host = true, .ptr = (char[4]){ 0 }, .len = 4 } };

	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &r), 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 0, 0);
}

TEST(test_completion)
{
	uint16_t plain = open_path(&a, 0, 0, 4);
	uint32_t first, second;

	ck_cc(message(IUCV_TEST_COMPLETION, 0, 0, 0, 0, 0, 0), 2);
	ck_rc(message(IUCV_TEST_COMPLETION, 9, IPFGPID, 0, 0, 0, 0), IUCV_INVALID_PATH);
	ck_cc(send(path, 0, DATA, 4, 9), 0);
	first = get_be32(parm() + IPMSGID);
	ck_cc(message(IUCV_TEST_COMPLETION, 0, IPFGMID, first, 0, 0, 0), 2);
	finish(true);
	ck_cc(send(plain, 0, DATA, 4, 4), 0);
	second = get_be32(parm() + IPMSGID);
	finish(false);
	ck_cc(guest(IUCV_TEST_MESSAGE), 2);
	ck_rc(message(IUCV_TEST_COMPLETION, plain, ALL_IDS, first, SOURCE, 0, 0),
	      IUCV_WRONG_CLASS);
	ck_rc(message(IUCV_TEST_COMPLETION, path, ALL_IDS, first, 1, 0, 0), IUCV_WRONG_CLASS);
	ck_cc(message(IUCV_TEST_COMPLETION, 0, IPFGMCL, 0, 1, 0, 0), 2);
	ck_cc(message(IUCV_TEST_COMPLETION, plain, IPFGPID | IPFGMCL, 0, SOURCE, 0, 0), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), second);
	ck_assert_uint_eq(parm()[IPFLAGS1], IPFGPID | IPFGMCL);
	ck_cc(message(IUCV_TEST_COMPLETION, 0, 0, 0, 0, 0, 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), path);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), first);
	ck_assert_uint_eq(parm()[IPFLAGS1], IPRMDATA);
	ck_assert_uint_eq(get_be32(parm() + IPTRGCLS), 0);
	ck_assert_mem_eq(parm() + IPRMMSG, "answers", 8);
	ck_assert_uint_eq(get_be32(parm() + IPSRCCLS), SOURCE);
	ck_assert_uint_eq(get_be32(parm() + IPMSGTAG), 0x33333333);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN2F), 9);
	ck_assert_ptr_null(fx_take(0));
}
