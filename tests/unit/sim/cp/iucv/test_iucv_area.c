/* SPDX-License-Identifier: MIT */
/* IUCV: moving data; buffer and answer lists, and hostile ones. */
#include <stdlib.h>

#include "cp_private.h"
#include "iucv_check.h"

#define LIST 0x20000u
#define OUT 0x30000u
#define CLASS 0x44444444u
#define ALL_IDS (IPFGMID | IPFGPID | IPFGMCL)
#define LIST_MAX 16384u

static struct note a;
static uint16_t path;

static void setup(void)
{
	fx_setup();
	note_user(&a, "ALPHA", 8);
	fx_declare(0);
	path = open_path(&a, 0, 0, 255);
}

FX_REPLAY_TRACES;

CASE("area", setup, fx_teardown);

static void entry(uint32_t list, unsigned int index, uint32_t addr, uint32_t len)
{
	put_be32(fx_at(list + index * 8, 4), addr);
	put_be32(fx_at(list + index * 8 + 4, 4), len);
}

/* The peer receives @len bytes of the guest's last message. */
static struct iucv_result peer_receive(void *to, uint32_t len)
{
	struct iucv_parm q = { .flags = IPFGMID, .msgid = last(&a, IUCV_MSG_PENDING)->msgid,
			       .buffer = { .host = true, .ptr = to, .len = len } };

	return iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q);
}

static struct cp_result guest_receive(uint8_t flags, uint32_t addr, uint32_t len)
{
	return message(IUCV_RECEIVE, 0, flags, 0, 0, addr, len);
}

TEST(send_from_a_list)
{
	char got[12] = "";

	memcpy(fx_at(DATA, 4), "abcd", 4);
	memcpy(fx_at(0x3000 - 2, 4), "efgh", 4);
	memcpy(fx_at(DATA + 0x100, 3), "ijk", 3);
	entry(LIST, 0, DATA, 4);
	entry(LIST, 1, HOLE, 0);
	entry(LIST, 2, 0x3000 - 2, 4);
	entry(LIST, 3, DATA + 0x100, 0x700000);
	ck_cc(send(path, IPBUFLST, LIST, 11, 0), 0);
	ck_assert_uint_eq(last(&a, IUCV_MSG_PENDING)->length, 11);
	ck_call(peer_receive(got, 5), 1, IUCV_SHORT_BUFFER);
	ck_assert_str_eq(got, "abcde");
	ck_call(peer_receive(got + 5, 6), 0, 0);
	ck_assert_str_eq(got, "abcdefghijk");
}

TEST(receive_into_a_list)
{
	peer_send(&a, 0, 0, "abcdefghij", 10, NULL, 0);
	entry(LIST, 0, 0x5000 - 3, 5);
	entry(LIST, 1, OUT, 100);
	ck_cc(guest_receive(IPBUFLST, LIST, 105), 0);
	ck_assert_uint_eq(parm()[IPFLAGS1], IPBUFLST);
	ck_assert_mem_eq(fx_at(0x5000 - 3, 5), "abcde", 5);
	ck_assert_mem_eq(fx_at(OUT, 6), "fghij", 6);
}

TEST(reply_list_to_answer_list)
{
	struct iucv_parm q = { .trgcls = 0x11111111 };

	entry(LIST + 0x1000, 0, OUT, 2);
	entry(LIST + 0x1000, 1, OUT + 0x100, 6);
	ck_cc(send(path, IPANSLST, LIST, 0, 8), 0);
	ck_call(peer_receive(NULL, 0), 0, 0);
	q.msgid = last(&a, IUCV_MSG_PENDING)->msgid;
	q.buffer = (struct iucv_area){ .host = true, .ptr = (char[]){ "answers" }, .len = 7 };
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 0, 0);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_COMPLETE, path) + 32), 1);
	ck_assert_mem_eq(fx_at(OUT, 3), "an\0", 3);
	ck_assert_mem_eq(fx_at(OUT + 0x100, 6), "swers\0", 6);
}

/* From the guest to itself, more than a page, different pieces on both sides. */
TEST(list_to_list)
{
	const uint32_t len = 20000;
	uint8_t *from = fx_at(0x100000, len);
	uint16_t mine;

	for (uint32_t i = 0; i < len; i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	ck_cc(connect_to("LINUX001", 0, 10), 0);
	mine = get_be16(parm() + IPPATHID);
	ck_cc(on_path(IUCV_ACCEPT, (uint16_t)(mine + 1), 0), 0);
	entry(LIST, 0, 0x100000, 9999);
	entry(LIST, 1, 0x100000 + 9999, len - 9999);
	entry(LIST + 0x100, 0, 0x200001, 4095);
	entry(LIST + 0x100, 1, 0x200001 + 4095, len);
	ck_cc(send(mine, IPBUFLST, LIST, len, 0), 0);
	ck_cc(guest_receive(IPBUFLST, LIST + 0x100, len), 0);
	ck_assert_mem_eq(fx_at(0x200001, len), from, len);
}

TEST(own_buffer_is_bad)
{
	static const struct {
		uint32_t addr, len;
		uint16_t pgm;
	} bad[] = {
		{ HOLE, 4, PGM_ADDRESSING },
		{ 0x400000 - 3, 4, PGM_ADDRESSING },
		{ 0x7ffffffe, 4, PGM_ADDRESSING },
		{ 0x80000000, 4, PGM_ADDRESSING },
		{ 0xffffffff, 4, PGM_ADDRESSING },
		{ DATA, 0x7fffffff, 0 },
	};
	uint32_t id = peer_send(&a, 0, 0, "data", 4, NULL, 0);

	for (unsigned int i = 0; i < 5; i++) {
		ck_pgm(guest_receive(0, bad[i].addr, bad[i].len), bad[i].pgm);
		ck_pgm(message(IUCV_RECEIVE, path, ALL_IDS, id, CLASS, bad[i].addr, bad[i].len),
		       bad[i].pgm);
	}
	/* The message is still there, whole, and its interruption waits. */
	take(IUCV_MSG_PENDING, path);
	ck_pgm(guest_receive(0, DATA, 0x7fffffff), PGM_ADDRESSING);
	ck_cc(guest_receive(0, 0x400000 - 4, 4), 0);
	ck_assert_mem_eq(fx_at(0x400000 - 4, 4), "data", 4);
}

/* The CP does not store into a shared segment for the guest. */
/* If no data move, CP checks neither the sender's nor the receiver's address. */
TEST(nothing_needs_no_storage)
{
	struct iucv_parm q = { 0 };

	peer_send(&a, 0, 0, NULL, 0, NULL, 0);
	ck_cc(guest_receive(0, 0xffffffff, 4), 0);
	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	ck_rc(guest_receive(0, 0xffffffff, 0), IUCV_SHORT_BUFFER);
	ck_cc(send(path, 0, 0xffffffff, 0, 4), 0);
	ck_call(peer_receive(NULL, 0), 0, 0);
	q.msgid = last(&a, IUCV_MSG_PENDING)->msgid;
	q.trgcls = 0x11111111;
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 0, 0);
}

TEST(protected_storage)
{
	uint32_t id;

	fx_put_name(0x6000, "MONDCSS");
	fx.gr[2] = 0x6000;
	fx.gr[4] = 0x20;
	ck_cc(fx_diag(2, 4, 0x64), 0);
	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	ck_pgm(guest_receive(0, FX_SEGMENT_START, 4), PGM_PROTECTION);
	ck_pgm(fx_iucv(0, IUCV_TEST_MESSAGE, FX_SEGMENT_START), PGM_PROTECTION);
	ck_cc(guest_receive(0, DATA, 4), 0);
	/* As answer area: both sides hear of it. */
	ck_cc(send(path, 0, FX_SEGMENT_START, 4, 4), 0);
	id = get_be32(parm() + IPMSGID);
	ck_call(peer_receive((char[4]){ 0 }, 4), 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY,
			  &(struct iucv_parm){ .msgid = id, .trgcls = 0x11111111,
					       .buffer = { .host = true, .ptr = (char[]){ "ans" },
							   .len = 3 } }), 1, 0x06);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_COMPLETE, path) + 8), 0x10000000);
}

/* The sender's buffer was never there: the receiver and, by audit, the sender are told. */
TEST(senders_buffer_is_bad)
{
	const uint8_t *i;

	ck_cc(send(path, 0, HOLE, 4, 16), 0);
	ck_call(peer_receive((char[4]){ 0 }, 4), 1, 0x07);
	i = take(IUCV_MSG_COMPLETE, path);
	ck_assert_uint_eq(get_be32(i + 8), 0x20000000);
	ck_call(peer_receive((char[4]){ 0 }, 4), 2, 0);
}

TEST(answer_area_is_bad)
{
	struct iucv_parm q = { .trgcls = 0x11111111,
			       .buffer = { .host = true, .ptr = (char[]){ "ans" }, .len = 3 } };
	const uint8_t *i;

	ck_cc(send(path, 0, HOLE - 0x1000, 0, 16), 0);
	ck_call(peer_receive(NULL, 0), 0, 0);
	q.msgid = last(&a, IUCV_MSG_PENDING)->msgid;
	ck_call(iucv_call(fx.cp, a.user, IUCV_REPLY, &q), 1, 0x07);
	i = take(IUCV_MSG_COMPLETE, path);
	ck_assert_uint_eq(get_be32(i + 8), 0x08000000);
	ck_assert_uint_eq(get_be32(i + 32), 16);
}

static void refill(void)
{
	if (iucv_events_waiting(iucv_user_guest(fx.cp)) == 0)
		peer_send(&a, 0, 0, "0123456789abcdef0123456789abcdef", 32, NULL, 0);
}

TEST(hostile_lists)
{
	refill();
	ck_pgm(guest_receive(IPBUFLST, LIST + 4, 32), PGM_SPECIFICATION);
	ck_pgm(guest_receive(IPBUFLST, HOLE, 32), PGM_ADDRESSING);
	ck_pgm(guest_receive(IPBUFLST, 0x80000000, 32), PGM_ADDRESSING);
	ck_pgm(guest_receive(IPBUFLST, 0xfffffff8, 32), PGM_ADDRESSING);
	/* The list ends where storage ends, the data would go on. */
	entry(0x400000 - 8, 0, DATA, 31);
	ck_pgm(guest_receive(IPBUFLST, 0x400000 - 8, 32), PGM_ADDRESSING);
	entry(LIST, 0, DATA, 0x80000000);
	ck_rc(guest_receive(IPBUFLST, LIST, 32), IUCV_BAD_LENGTH);
	entry(LIST, 0, DATA, 0xffffffff);
	ck_rc(guest_receive(IPBUFLST, LIST, 32), IUCV_BAD_LENGTH);
	entry(LIST, 0, 0x7fffffff, 2);
	ck_pgm(guest_receive(IPBUFLST, LIST, 32), PGM_ADDRESSING);
	entry(LIST, 0, 0xffffffff, 1);
	ck_pgm(guest_receive(IPBUFLST, LIST, 32), PGM_ADDRESSING);
	/* Nothing but empty entries: as many as a list may have, no more. */
	memset(fx_at(0x300000, (LIST_MAX + 1) * 8), 0, (LIST_MAX + 1) * 8);
	entry(0x300000, LIST_MAX, DATA, 32);
	ck_rc(guest_receive(IPBUFLST, 0x300000, 32), IUCV_BAD_LENGTH);
	entry(0x300000, LIST_MAX - 1, DATA, 32);
	ck_cc(guest_receive(IPBUFLST, 0x300000, 32), 0);
	ck_assert_mem_eq(fx_at(DATA, 16), "0123456789abcdef", 16);
}

/* A guest with 3 GiB: the pages on both sides of what IUCV can address. */
static uint8_t pages[2 * CP_PAGE_SIZE];
static void *(*map)(void *opaque, int cpu, uint64_t addr, uint64_t len);

static void *map_pages(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	const uint64_t begin = 0x80000000 - CP_PAGE_SIZE;

	if (addr >= begin && addr - begin < sizeof(pages))
		return pages + (addr - begin);
	return map(opaque, cpu, addr, len);
}

TEST(list_that_iucv_cannot_address)
{
	uint8_t *const list = pages + CP_PAGE_SIZE;

	refill();
	put_be32(list - 8, DATA);
	put_be32(list - 4, 16);
	put_be32(list, DATA);
	put_be32(list + 4, 16);
	fx.cp->config.extent[0].size = UINT64_C(3) << 30;
	map = fx.cp->host.map;
	fx.cp->host.map = map_pages;
	ck_pgm(guest_receive(IPBUFLST, 0x80000000 - 8, 32), PGM_ADDRESSING);
	fx.cp->host.map = map;
	/* Where this is replayed there are no such pages. */
	fx_drop_recordings();
}

/* A list that is its own buffer: the second entry is overwritten before it is read. */
TEST(list_overwrites_itself)
{
	refill();
	entry(LIST, 0, LIST + 8, 8);
	entry(LIST, 1, DATA, 24);
	ck_pgm(guest_receive(IPBUFLST, LIST, 32), PGM_ADDRESSING);
	ck_assert_mem_eq(fx_at(LIST + 8, 8), "01234567", 8);
	take(IUCV_MSG_PENDING, path);
	/* One that sends itself is harmless. */
	entry(LIST, 0, LIST, 8);
	ck_cc(send(path, IPBUFLST, LIST, 8, 0), 0);
	ck_call(peer_receive((char[8]){ 0 }, 8), 0, 0);
}

/*
 * The second entry becomes one of a length that none may have: nothing goes where it leads, which
 * would be good storage.
 */
TEST(list_gets_a_bad_length)
{
	uint8_t *behind = fx_at(DATA + 0x100, 24);
	uint16_t mine;
	char text[32];

	memcpy(text, "0123456701234567012345670123456", 32);
	put_be32((uint8_t *)text, DATA + 0x100);
	put_be32((uint8_t *)text + 4, 0xffffffff);
	memset(behind, 0xee, 24);
	/* The receiver's own. */
	peer_send(&a, 0, 0, text, 32, NULL, 0);
	entry(LIST, 0, LIST + 8, 8);
	entry(LIST, 1, DATA, 24);
	ck_rc(guest_receive(IPBUFLST, LIST, 32), IUCV_BAD_LENGTH);
	for (unsigned int i = 0; i < 24; i++)
		ck_assert_uint_eq(behind[i], 0xee);
	take(IUCV_MSG_PENDING, path);
	/* The sender's: who is the receiver, too, and stores into it. */
	ck_cc(connect_to("LINUX001", 0, 10), 0);
	mine = get_be16(parm() + IPPATHID);
	ck_cc(on_path(IUCV_ACCEPT, (uint16_t)(mine + 1), 0), 0);
	memcpy(fx_at(DATA, 16), text, 16);
	entry(LIST, 0, DATA, 8);
	entry(LIST, 1, DATA + 8, 8);
	memset(fx_at(LIST + 16, 8), 0xee, 8);
	ck_cc(send(mine, IPBUFLST, LIST, 16, 0), 0);
	/* Addressing exception of the partner. */
	ck_rc(message(IUCV_RECEIVE, (uint16_t)(mine + 1), IPFGPID, 0, 0, LIST + 8, 16), 0x07);
	ck_assert_mem_eq(fx_at(LIST + 8, 8), text, 8);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_uint_eq(fx_at(LIST + 16, 8)[i], 0xee);
}

/* A list in the sender's storage can turn bad between SEND and RECEIVE. */
TEST(list_turns_bad)
{
	static const struct {
		uint32_t addr, len;
	} bad[] = { { HOLE, 8 }, { DATA, 0xffffffff }, { 0x80000000, 8 } };

	for (int n = 0; n < 3; n++) {
		entry(LIST, 0, DATA, 8);
		ck_cc(send(path, IPBUFLST, LIST, 8, 0), 0);
		entry(LIST, 0, bad[n].addr, bad[n].len);
		ck_call(peer_receive((char[8]){ 0 }, 8), 1, 0x07);
		ck_assert_uint_eq(get_be32(take(IUCV_MSG_COMPLETE, path) + 8), 0x20000000);
	}
}

/* Addresses of the message go by the prefix of the CPU that issued SEND. */
TEST(prefix_of_the_sender)
{
	char got[5] = "";

	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "2", NULL });
	note_user(&a, "ALPHA", 8);
	fx_declare(0);
	path = open_path(&a, 0, 0, 255);
	fx.prefix[1] = 0x100000;
	memcpy(fx_at(0x100800, 4), "cpu1", 4);
	memcpy(fx_at(0x800, 4), "cpu0", 4);
	memset(fx_at(0x101000, IUCV_PARM_SIZE), 0, IUCV_PARM_SIZE);
	put_be32(fx_at(0x101000 + 12, 4), 0x800);
	put_be32(fx_at(0x101000 + 16, 4), 4);
	ck_cc(fx_iucv(1, IUCV_SEND, PARM), 0);
	ck_call(peer_receive(got, 4), 0, 0);
	ck_assert_str_eq(got, "cpu1");
}

TEST(one_mebibyte)
{
	const uint32_t len = 1 << 20;
	uint8_t *data = malloc(len), *got = calloc(1, len);

	ck_assert(data && got);
	for (uint32_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	peer_send(&a, 0, 0, data, len, NULL, 0);
	take(IUCV_MSG_PENDING, path);
	ck_cc(guest_receive(0, 0x100001, len), 0);
	ck_assert_mem_eq(fx_at(0x100001, len), data, len);
	ck_cc(send(path, 0, 0x100001, len, 0), 0);
	ck_call(peer_receive(got, len), 0, 0);
	ck_assert_mem_eq(got, data, len);
	free(data);
	free(got);
}
