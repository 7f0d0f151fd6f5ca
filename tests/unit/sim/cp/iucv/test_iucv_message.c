/* SPDX-License-Identifier: MIT */
/* IUCV: SEND, RECEIVE, DESCRIBE, TEST MESSAGE. */
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

CASE("message", setup, fx_teardown);

TEST(two_way)
{
	struct iucv_parm q = { .flags = IPFGMID };
	uint8_t got[8] = "";
	const uint8_t *i;
	uint32_t id;

	memcpy(fx_at(DATA, 5), "hello", 5);
	ck_cc(send(path, 0, DATA, 5, 16), 0);
	id = get_be32(parm() + IPMSGID);
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(last(&a, IUCV_MSG_PENDING)->length, 5);
	ck_assert_uint_eq(a.event[a.count - 1].answer_length, 16);
	ck_assert_uint_eq(a.event[a.count - 1].trgcls, 0x11111111);
	ck_assert_uint_eq(a.event[a.count - 1].flags, 0);
	q.msgid = id;
	q.buffer = (struct iucv_area){ .host = true, .ptr = got, .len = 8 };
	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q), 0, 0);
	ck_assert_str_eq((char *)got, "hello");
	ck_assert_uint_eq(q.residual, 0);
	ck_assert_uint_eq(q.answer.len, 16);
	/* A message is received once. */
	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q), 2, 0);
	ck_assert_ptr_null(fx_take(0));
	q = (struct iucv_parm){ .msgid = id, .trgcls = 0x11111111,
				.buffer = { .host = true, .ptr = (char[]){ "bye" }, .len = 3 } };
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 0, 0);
	i = take(IUCV_MSG_COMPLETE, path);
	ck_assert_uint_eq(i[2], 0);
	ck_assert_uint_eq(get_be32(i + 4), id);
	ck_assert_uint_eq(get_be32(i + 8), 0);
	ck_assert_uint_eq(get_be32(i + 20), SOURCE);
	ck_assert_uint_eq(get_be32(i + 24), 0x33333333);
	ck_assert_uint_eq(get_be32(i + 32), 13);
	ck_assert_mem_eq(fx_at(DATA + 0x1000, 4), "bye", 4);
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 2, 0);
}

/* A one-way message is complete when it has been received. */
TEST(one_way)
{
	struct iucv_parm q = { .flags = IPFGPID,
			       .buffer = { .host = true, .ptr = (char[4]){ 0 }, .len = 4 } };
	const uint8_t *i;

	ck_cc(send(path, IPNORPY, DATA, 4, 99), 0);
	ck_assert_uint_eq(last(&a, IUCV_MSG_PENDING)->flags, IPNORPY);
	ck_assert_uint_eq(a.event[a.count - 1].answer_length, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q), 0, 0);
	ck_assert_uint_eq(q.flags, IPFGPID | IPNORPY);
	i = take(IUCV_MSG_COMPLETE, path);
	ck_assert_uint_eq(i[2], IPNORPY);
	ck_assert_uint_eq(get_be32(i + 8), 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 2, 0);
}

/* The monitor's way: data in the interruption, answer in the list. */
TEST(data_in_the_list)
{
	char answer[8] = "untouch";
	uint32_t id = peer_send(&a, 0, IPRMDATA, "12345678", 8, answer, 8);
	const uint8_t *i = take(IUCV_MSG_PENDING, path);

	ck_assert_uint_eq(i[2], IPRMDATA);
	ck_assert_uint_eq(get_be32(i + 4), id);
	ck_assert_uint_eq(get_be32(i + 8), CLASS);
	ck_assert_mem_eq(i + 12, "12345678", 8);
	ck_assert_uint_eq(get_be32(i + 32), 8);
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, DATA, 8), 2);
	put_be16(parm_zero(), path);
	parm()[IPFLAGS1] = IPRMDATA;
	put_be32(parm() + IPMSGID, id);
	put_be32(parm() + IPTRGCLS, CLASS);
	memcpy(parm() + IPRMMSG, "ABCDEFGH", 8);
	ck_cc(guest(IUCV_REPLY), 0);
	ck_assert_mem_eq(parm() + IPRMMSG, "ABCDEFGH", 8);
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->flags, IPRMDATA);
	ck_assert_mem_eq(a.event[a.count - 1].rmmsg, "ABCDEFGH", 8);
	ck_assert_uint_eq(a.event[a.count - 1].answer_length, 8);
	ck_assert_uint_eq(a.event[a.count - 1].msgtag, 0x66666666);
	ck_assert_str_eq(answer, "untouch");
}

TEST(data_in_the_list_received)
{
	uint32_t id = peer_send(&a, 0, IPRMDATA | IPPRTY, "12345678", 8, NULL, 0);

	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 8), 0);
	ck_assert_uint_eq(parm()[IPFLAGS1], IPRMDATA | IPPRTY);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), id);
	ck_assert_uint_eq(get_be32(parm() + IPTRGCLS), CLASS);
	ck_assert_mem_eq(parm() + IPRMMSG, "12345678", 8);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(message(IUCV_REPLY, path, 0, id, CLASS, DATA, 0), 0);
	last(&a, IUCV_PRIO_COMPLETE);
}

/* Linux's af_iucv counts on it: no completion, and the limit is not used up. */
TEST(data_in_the_list_one_way)
{
	for (int n = 0; n < 20; n++) {
		peer_send(&a, 0, IPRMDATA | IPNORPY, "12345678", 8, NULL, 0);
		ck_assert_uint_eq(take(IUCV_MSG_PENDING, path)[2], IPRMDATA | IPNORPY);
		peer_send(&a, 0, IPRMDATA | IPNORPY, "12345678", 8, NULL, 0);
		ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 8), 0);
	}
	last(&a, IUCV_PENDING);
	peer_send(&a, 0, IPRMDATA | IPNORPY, "12345678", 8, NULL, 0);
	ck_cc(message(IUCV_REJECT, path, IPFGPID, 0, 0, 0, 0), 0);
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->audit, IUCV_AUDIT_REJECTED);
}

/* The longest message there is, from the same bytes over and over again. */
TEST(longest_message)
{
	const uint32_t list = 0x20000, entries = 16384, total = 0x800000;
	uint8_t *const got = unit_large(total);
	struct iucv_parm q = { .flags = IPFGMID,
			       .buffer = { .host = true, .ptr = got, .len = total } };

	for (uint32_t i = 0; i < entries; i++) {
		put_be32(fx_at(list + 8 * i, 4), 0x200000);
		put_be32(fx_at(list + 8 * i + 4, 4), total / entries);
	}
	memset(fx_at(0x200000, total / entries), 0x5a, total / entries);
	ck_cc(send(path, IPBUFLST, list, total, 0), 0);
	q.msgid = last(&a, IUCV_MSG_PENDING)->msgid;
	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q), 0, 0);
	ck_assert_uint_eq(q.received, total);
	ck_assert_uint_eq(got[0], 0x5a);
	ck_assert_mem_eq(got, got + 1, total - 1);
}

TEST(send_codes)
{
	uint16_t plain = open_path(&a, 0, 0, 4);

	ck_rc(send(77, 0, DATA, 4, 4), IUCV_INVALID_PATH);
	ck_rc(send(plain, IPPRTY, DATA, 4, 4), IUCV_NO_PRIORITY);
	ck_rc(send(plain, IPRMDATA, DATA, 4, 4), IUCV_NO_RMDATA);
	ck_rc(send(plain, 0, DATA, 0x80000000, 4), IUCV_BAD_LENGTH);
	ck_rc(send(plain, 0, DATA, 4, 0xffffffff), IUCV_BAD_LENGTH);
	/* What one instruction may have to move is bounded. */
	ck_rc(send(plain, 0, DATA, 0x800001, 4), IUCV_BAD_LENGTH);
	ck_rc(send(plain, IPBUFLST, DATA, 0x7fffffff, 4), IUCV_BAD_LENGTH);
	ck_rc(send(plain, 0, DATA, 4, 0x800001), IUCV_BAD_LENGTH);
	ck_cc(send(path, 0, DATA, 4, 0x800000), 0);
	ck_pgm(send(plain, IPBUFLST, DATA + 4, 4, 4), PGM_SPECIFICATION);
	ck_pgm(send(plain, IPANSLST, DATA + 4, 4, 4), PGM_SPECIFICATION);
	for (int i = 0; i < 4; i++)
		ck_cc(send(plain, IPNORPY, DATA, 0x800000, 0xffffffff), 0);
	ck_rc(send(plain, 0, DATA, 4, 4), IUCV_MSGLIMIT);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	ck_call(peer_path(&a, IUCV_REJECT, 1, IPFGPID), 0, 0);
	/* It counts until its sender has been told. */
	ck_rc(send(plain, 0, DATA, 4, 4), IUCV_MSGLIMIT);
	take(IUCV_MSG_COMPLETE, plain);
	ck_cc(send(plain, 0, DATA, 4, 4), 0);
}

/* The CP has 65,536 message blocks; a path to oneself can use up all but one. */
TEST(message_blocks_run_out)
{
	struct iucv_parm q = { .vmid = "ALPHA", .msglim = 65535 };
	uint32_t blocks = fx.config.max_messages;

	ck_assert_uint_eq(blocks, 65536);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	ck_call(peer_path(&a, IUCV_ACCEPT, last(&a, IUCV_PENDING)->path, 0), 0, 0);
	for (uint32_t n = 0; n < blocks - 1; n++) {
		peer_send(&a, q.path, 0, "", 0, NULL, 0);
		a.count = 0;
		fx.trace_len = 0;
	}
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	ck_rc(send(path, 0, DATA, 4, 4), IUCV_MSGLIMIT);
	ck_call(peer_path(&a, IUCV_SEVER, q.path, 0), 0, 0);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
}

TEST(ids_differ)
{
	uint32_t before = 0;

	for (int n = 0; n < 100; n++) {
		ck_cc(send(path, 0, DATA, 4, 4), 0);
		ck_assert_uint_ne(get_be32(parm() + IPMSGID), before);
		ck_assert_uint_ne(get_be32(parm() + IPMSGID), 0);
		before = get_be32(parm() + IPMSGID);
		ck_cc(message(IUCV_PURGE, path, ALL_IDS, before, SOURCE, 0, 0), 0);
		ck_cc(message(IUCV_PURGE, path, ALL_IDS, before, SOURCE, 0, 0), 2);
		a.count = 1;
	}
}

/* The use counter above the block's index wraps around, past 0. */
TEST(ids_wrap)
{
	uint32_t first = peer_send(&a, 0, 0, "", 0, NULL, 0), id = first;

	for (uint32_t n = 0; n < 65535; n++) {
		struct iucv_parm q = { .flags = IPFGMID, .msgid = id };

		fx.trace_len = 0;
		ck_call(iucv_call(fx.cp, a.user, IUCV_PURGE, &q), 0, 0);
		id = peer_send(&a, 0, 0, "", 0, NULL, 0);
		ck_assert_uint_ne(id >> 16, 0);
		ck_assert((id == first) == (n == 65534));
	}
}

TEST(receive_selects)
{
	uint16_t plain = open_path(&a, 0, 0, 4);
	uint32_t first = peer_send(&a, 0, 0, "1st", 3, NULL, 0);
	uint32_t second = peer_send(&a, 1, 0, "2nd", 3, NULL, 0);
	uint32_t urgent = peer_send(&a, 0, IPPRTY, "3rd", 3, NULL, 0);

	ck_cc(message(IUCV_RECEIVE, 0, IPFGMCL, 0, CLASS + 1, DATA, 3), 2);
	ck_rc(message(IUCV_RECEIVE, 9, IPFGPID, 0, 0, DATA, 3), IUCV_INVALID_PATH);
	ck_rc(message(IUCV_RECEIVE, path, ALL_IDS, first, CLASS + 1, DATA, 3), IUCV_WRONG_CLASS);
	ck_rc(message(IUCV_RECEIVE, plain, ALL_IDS, first, CLASS, DATA, 3), IUCV_WRONG_CLASS);
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, first ^ 0x80000000, CLASS, DATA, 3), 2);
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, 0, CLASS, DATA, 3), 2);
	ck_rc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 0x80000000), IUCV_BAD_LENGTH);
	ck_cc(message(IUCV_RECEIVE, plain, IPFGPID, 0, 0, DATA, 3), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), second);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), plain);
	ck_cc(message(IUCV_RECEIVE, 0, IPFGMCL, 0, CLASS, DATA, 3), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), urgent);
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 3), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), first);
	ck_assert_mem_eq(fx_at(DATA, 3), "1st", 3);
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 3), 2);
	ck_assert_ptr_null(fx_take(0));
}

/* The owner of a message is the only one to find it. */
TEST(messages_of_others)
{
	struct note b;
	struct iucv_parm q = { .flags = IPFGMID };

	note_user(&b, "BETA", 8);
	open_path(&b, 0, 0, 0);
	q.msgid = peer_send(&a, 0, 0, "mine", 4, NULL, 0);
	ck_call(iucv_call(fx.cp, b.user, IUCV_RECEIVE, &q), 2, 0);
	ck_call(iucv_call(fx.cp, b.user, IUCV_REJECT, &q), 2, 0);
	ck_call(iucv_call(fx.cp, b.user, IUCV_PURGE, &q), 2, 0);
	ck_call(iucv_call(fx.cp, b.user, IUCV_REPLY, &q), 2, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q), 2, 0);
	ck_cc(message(IUCV_PURGE, 0, IPFGMID, q.msgid, 0, 0, 0), 2);
	ck_cc(message(IUCV_TEST_COMPLETION, 0, IPFGMID, q.msgid, 0, 0, 0), 2);
}

TEST(partial_receive)
{
	uint32_t id = peer_send(&a, 0, 0, "abcdefghij", 10, NULL, 0), other;

	take(IUCV_MSG_PENDING, path);
	ck_rc(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, DATA, 4), IUCV_SHORT_BUFFER);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN1F), 6);
	ck_assert_uint_eq(get_be32(parm() + IPBFADR1), DATA);
	/* Without an id a message begun is passed over. */
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 10), 2);
	ck_cc(message(IUCV_RECEIVE, path, IPFGPID, 0, 0, DATA, 10), 2);
	other = peer_send(&a, 0, 0, "other", 5, NULL, 0);
	ck_rc(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, DATA + 4, 5), IUCV_SHORT_BUFFER);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN1F), 1);
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, DATA + 9, 100), 0);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN1F), 0);
	ck_assert_mem_eq(fx_at(DATA, 10), "abcdefghij", 10);
	/* Nothing received at all: the interruption has gone nevertheless. */
	ck_rc(message(IUCV_RECEIVE, path, ALL_IDS, other, CLASS, DATA, 0), IUCV_SHORT_BUFFER);
	ck_assert_ptr_null(fx_take(0));
	ck_assert_uint_eq(get_be32(parm() + IPBFLN1F), 5);
}

TEST(empty_message)
{
	uint32_t id = peer_send(&a, 0, IPNORPY, "", 0, NULL, 0);

	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 16), 0);
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, HOLE, 0), 0);
	last(&a, IUCV_MSG_COMPLETE);
}

TEST(test_message)
{
	parm_zero();
	ck_cc(guest(IUCV_TEST_MESSAGE), 0);
	peer_send(&a, 0, 0, "text", 4, NULL, 0);
	ck_cc(guest(IUCV_TEST_MESSAGE), 1);
	ck_assert_uint_eq(parm()[IPRCODE], 0);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	ck_call(peer_path(&a, IUCV_REJECT, 0, IPFGPID), 0, 0);
	ck_cc(guest(IUCV_TEST_MESSAGE), 3);
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 4), 0);
	ck_cc(guest(IUCV_TEST_MESSAGE), 2);
}

TEST(describe)
{
	uint32_t id;

	parm_zero();
	ck_cc(guest(IUCV_DESCRIBE), 2);
	id = peer_send(&a, 0, 0, "text", 4, (char[8]){ 0 }, 8);
	peer_send(&a, 0, IPRMDATA | IPPRTY | IPNORPY, "12345678", 8, NULL, 0);
	ck_cc(guest(IUCV_DESCRIBE), 0);
	ck_assert_uint_eq(parm()[IPFLAGS1], IPRMDATA | IPPRTY | IPNORPY);
	ck_assert_mem_eq(parm() + IPRMMSG, "12345678", 8);
	ck_cc(guest(IUCV_DESCRIBE), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), path);
	ck_assert_uint_eq(parm()[IPFLAGS1], 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), id);
	ck_assert_uint_eq(get_be32(parm() + IPTRGCLS), CLASS);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN1F), 4);
	ck_assert_uint_eq(get_be32(parm() + IPBFLN2F), 8);
	/* Described is as good as interrupted. */
	ck_assert_ptr_null(fx_take(0));
	ck_cc(guest(IUCV_DESCRIBE), 2);
	ck_cc(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, DATA, 4), 0);
}

TEST(guest_to_itself)
{
	uint16_t mine, yours;
	uint32_t id;

	ck_cc(connect_to("LINUX001", IPRMDATA, 10), 0);
	mine = get_be16(parm() + IPPATHID);
	yours = get_be16(take(IUCV_PENDING, 2));
	ck_cc(on_path(IUCV_ACCEPT, yours, 0), 0);
	take(IUCV_COMPLETE, mine);
	memcpy(fx_at(DATA, 4), "self", 4);
	ck_cc(send(mine, 0, DATA, 4, 4), 0);
	id = get_be32(parm() + IPMSGID);
	take(IUCV_MSG_PENDING, yours);
	ck_cc(message(IUCV_RECEIVE, yours, ALL_IDS, id, 0x11111111, DATA + 0x100, 4), 0);
	ck_assert_mem_eq(fx_at(DATA + 0x100, 4), "self", 4);
	ck_cc(message(IUCV_REPLY, yours, 0, id, 0x11111111, DATA + 0x100, 4), 0);
	take(IUCV_MSG_COMPLETE, mine);
	ck_assert_mem_eq(fx_at(DATA + 0x1000, 4), "self", 4);
	ck_cc(send(mine, 0, DATA, 4, 4), 0);
	ck_cc(on_path(IUCV_SEVER, mine, 0), 0);
	take(IUCV_SEVERED, yours);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(on_path(IUCV_SEVER, 0, IPALL), 0);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
}
