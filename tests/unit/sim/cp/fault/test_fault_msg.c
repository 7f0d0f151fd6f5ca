/* SPDX-License-Identifier: MIT */
/* Faults of *MSG: every kind at every point. */
#include <stdio.h>

#include "command_check.h"
#include "fault_pairs.h"
#include "iucv_guest.h"

#define SEVER_CODE 0x99
#define LIMIT 3
#define NOT_RECEIVING "HCPMFS057I LINUX001 not receiving; disconnected\n"

static const char *const prefixes[] = { "msg.", NULL };

static void setup(void)
{
	fx_setup_with((const char *const[]){ "directory", "IUCV *MSG", NULL });
	fx_declare(0);
	ck_guest("SET SMSG IUCV", 0, "");
}

CASE("msg", setup, fx_teardown);

static uint16_t connected(void)
{
	const uint16_t path = connected_to("*MSG", 255);

	take(IUCV_COMPLETE, path);
	return path;
}

static struct cp_result receive(uint16_t path, const uint8_t *event)
{
	return message(IUCV_RECEIVE, path, IPFGPID | IPFGMID, get_be32(event + IPMSGID), 0, DATA,
		       16);
}

/* Take and receive all messages; return: the first character of each text. */
static const char *texts(uint16_t path)
{
	static char found[32];
	char from[8];
	size_t count = 0;

	while (cp_interrupt_pending(fx.cp, 0)) {
		ck_assert_uint_lt(count, sizeof(found) - 1);
		ck_cc(receive(path, take(IUCV_MSG_PENDING, path)), 0);
		ebcdic_decode(from, fx_at(DATA, MSG_TEXT), MSG_TEXT);
		ck_assert_mem_eq(from, "OPERATOR", sizeof(from));
		ebcdic_decode(found + count++, fx_at(DATA + MSG_TEXT, 1), 1);
	}
	found[count] = '\0';
	return found;
}

static void connect_pair(int i)
{
	uint16_t path;

	arm_pair(i, pair[i].kind == FAULT_SEVER ? SEVER_CODE :
		 pair[i].kind == FAULT_LIMIT ? LIMIT : 0, 0);
	path = connected_to("*MSG", 255);
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_DROP:
		ck_assert_ptr_null(fx_take(0));
		break;
	case FAULT_SEVER:
		ck_assert_uint_eq(take(IUCV_SEVERED, path)[IPUSER], SEVER_CODE);
		break;
	case FAULT_LIMIT:
		ck_assert_uint_eq(get_be16(take(IUCV_COMPLETE, path) + IPMSGLIM), LIMIT);
		for (int n = 0; n < LIMIT; n++)
			ck_operator("SMSG LINUX001 A", 0, "");
		ck_operator("SMSG LINUX001 A", 57, NOT_RECEIVING);
		ck_assert_str_eq(texts(path), "AAA");
		break;
	default:
		ck_no_test(i);
	}
}

/* At least one message, and no more than the guest has asked for. */
TEST(limits)
{
	static const struct { uint32_t value, granted; } cases[] = {
		{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 254, 254 }, { 255, 255 }, { 256, 255 }, { 0xffff, 255 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint16_t path;

		ck_arm(FAULT_MSG_CONNECT, FAULT_LIMIT, .times = 1, .value = cases[i].value);
		path = connected_to("*MSG", 255);
		ck_assert_uint_eq(get_be16(take(IUCV_COMPLETE, path) + IPMSGLIM), cases[i].granted);
		ck_cc(on_path(IUCV_SEVER, path, 0), 0);
	}
}

static const char *const expected[FAULT_KINDS] = {
	[FAULT_DROP] = "BC", [FAULT_DELAY] = "BCA", [FAULT_DUPLICATE] = "AABC",
	/* X'C1' with X'08' is 'I'. */
	[FAULT_REORDER] = "BAC", [FAULT_CORRUPT] = "IBC",
};

static void message_pair(int i)
{
	const enum fault_kind kind = pair[i].kind;
	const uint16_t path = connected();

	arm_pair(i, kind == FAULT_SEVER ? SEVER_CODE : kind == FAULT_DELAY ? 2 :
		 kind == FAULT_CORRUPT ? 0x08 : 0, kind == FAULT_CORRUPT ? 8 : 0);
	if (kind == FAULT_SEVER) {
		ck_operator("SMSG LINUX001 A", 57, NOT_RECEIVING);
		ck_assert_uint_eq(take(IUCV_SEVERED, path)[IPUSER], SEVER_CODE);
		ck_cc(on_path(IUCV_SEVER, path, 0), 0);
		connected();
		return;
	}
	if (!expected[kind])
		ck_no_test(i);
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_fired();
	ck_operator("SMSG LINUX001 B", 0, "");
	ck_operator("SMSG LINUX001 C", 0, "");
	ck_assert_str_eq(texts(path), expected[kind]);
}

static void reply_pair(int i)
{
	const uint16_t path = connected();

	arm_pair(i, pair[i].kind == FAULT_SEVER ? SEVER_CODE : 0, 0);
	ck_operator("SMSG LINUX001 A", 0, "");
	if (pair[i].kind == FAULT_SEVER) {
		ck_cc(receive(path, take(IUCV_MSG_PENDING, path)), 0);
		ck_fired();
		ck_assert_uint_eq(take(IUCV_SEVERED, path)[IPUSER], SEVER_CODE);
		return;
	}
	if (pair[i].kind != FAULT_DROP)
		ck_no_test(i);
	ck_assert_str_eq(texts(path), "A");
	ck_fired();
	/* One of the 255 buffers is never free again. */
	for (int n = 0; n < 254; n++)
		ck_operator("SMSG LINUX001 B", 0, "");
	ck_operator("SMSG LINUX001 B", 57, NOT_RECEIVING);
}

static void sever_pair(int i)
{
	const uint16_t path = connected();

	if (pair[i].kind != FAULT_DROP)
		ck_no_test(i);
	arm_pair(i, 0, 0);
	ck_cc(on_path(IUCV_SEVER, path, 0), 0);
	ck_fired();
	/* *MSG tries the path that is no more, and accepts no second one. */
	ck_operator("SMSG LINUX001 A", 57, NOT_RECEIVING);
	ck_assert_uint_eq(take(IUCV_SEVERED, connected_to("*MSG", 255))[IPUSER], 0);
	cp_reset(fx.cp);
	fx_declare(0);
	connected();
}

TEST_LOOP(pairs, 0, pairs_of(prefixes))
{
	switch (pair[_i].point) {
	case FAULT_MSG_CONNECT:
		connect_pair(_i);
		break;
	case FAULT_MSG_MESSAGE:
		message_pair(_i);
		break;
	case FAULT_MSG_REPLY:
		reply_pair(_i);
		break;
	case FAULT_MSG_SEVER:
		sever_pair(_i);
		break;
	default:
		ck_no_test(_i);
	}
}

TEST(others)
{
	ck_others_refused(pairs_of(prefixes));
}
