/* SPDX-License-Identifier: MIT */
/* *MSG: the guest's connection and the SMSGs that arrive on it. */
#include <stdio.h>
#include <stdlib.h>

#include "command_check.h"
#include "cp_private.h"
#include "iucv_guest.h"
#include "state_check.h"
#include "zvmlab/fault.h"
#include "zvmlab/state.h"

/* The statement that allows the guest to connect. */
static void setup(void)
{
	static const char *const directory[] = { "directory", "IUCV *MSG;IUCV ANY", NULL };

	fx_setup_with(directory);
}

CASE("msg", setup, fx_teardown);

/* Connected with @limit and SET SMSG IUCV. */
static uint16_t connected(uint16_t limit)
{
	uint16_t path;

	fx_declare(0);
	path = connected_to("*MSG", limit);
	take(IUCV_COMPLETE, path);
	ck_guest("SET SMSG IUCV", 0, "");
	return path;
}

/* Take the message and receive it; return: its length. */
static uint32_t receive(uint16_t path)
{
	const uint8_t *event = take(IUCV_MSG_PENDING, path);
	const uint32_t length = get_be32(event + IPBFLN1F), id = get_be32(event + IPMSGID);

	ck_assert_int_eq(event[IPFLAGS1], IPNORPY);
	ck_assert_uint_eq(get_be32(event + IPTRGCLS), 4);
	ck_cc(message(IUCV_RECEIVE, path, IPFGPID | IPFGMID, id, 0, DATA, length), 0);
	return length;
}

TEST(arrival)
{
	/* OPERATOR, LINUX001, "APP Hi" in EBCDIC. */
	static const uint8_t from_operator[] = { 0xd6, 0xd7, 0xc5, 0xd9, 0xc1, 0xe3, 0xd6, 0xd9,
						 0xc1, 0xd7, 0xd7, 0x40, 0xc8, 0x89 };
	static const uint8_t from_guest[] = { 0xd3, 0xc9, 0xd5, 0xe4, 0xe7, 0xf0, 0xf0, 0xf1,
					      0xa7 };
	const uint16_t path = connected(255);

	ck_operator("SMSG LINUX001 APP Hi", 0, "");
	ck_assert_uint_eq(receive(path), sizeof(from_operator));
	ck_assert_mem_eq(fx_at(DATA, sizeof(from_operator)), from_operator,
			 sizeof(from_operator));
	ck_guest("sm * x", 0, "");
	ck_assert_uint_eq(receive(path), sizeof(from_guest));
	ck_assert_mem_eq(fx_at(DATA, sizeof(from_guest)), from_guest, sizeof(from_guest));
	ck_assert_ptr_null(fx_take(0));
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 0);
}

TEST(longest)
{
	char text[CPCMD_MAX_COMMAND + 1];
	const uint16_t path = connected(255);
	const uint32_t length = CPCMD_MAX_COMMAND - 5;

	memset(text, 'A', sizeof(text) - 1);
	text[CPCMD_MAX_COMMAND] = '\0';
	memcpy(text, "SM * ", 5);
	ck_guest(text, 0, "");
	ck_assert_uint_eq(receive(path), 8 + length);
	ck_assert_int_eq(*fx_at(DATA + MSG_TEXT, 1), 0xc1);
	ck_assert_int_eq(*fx_at(DATA + MSG_TEXT + length - 1, 1), 0xc1);
	/* From outside, not by a command line. */
	ck_assert_int_eq(msg_send(fx.cp, "OPERATOR", "LINUX001", "B", MSG_SPECIAL), 0);
	ck_assert_uint_eq(receive(path), 9);
}

/* Not receiving while the limit is reached; more messages than there are buffers. */
TEST(limit)
{
	const uint16_t path = connected(3);

	for (int round = 0; round < 90; round++) {
		for (int i = 0; i < 3; i++)
			ck_operator("SMSG LINUX001 A", 0, "");
		ck_operator("SMSG LINUX001 A", 57, "HCPMFS057I LINUX001 not receiving; disconnected\n");
		for (int i = 0; i < 3; i++)
			receive(path);
		ck_assert_ptr_null(fx_take(0));
	}
}

TEST(all_buffers)
{
	const uint16_t path = connected(255);

	for (int i = 0; i < 255; i++)
		ck_operator("SMSG LINUX001 A", 0, "");
	ck_operator("SMSG LINUX001 A", 57, "HCPMFS057I LINUX001 not receiving; disconnected\n");
	receive(path);
	ck_operator("SMSG LINUX001 LAST", 0, "");
	for (int i = 0; i < 254; i++)
		ck_assert_uint_eq(receive(path), 9);
	ck_assert_uint_eq(receive(path), 12);
	ck_assert_ptr_null(fx_take(0));
}

TEST(quiesced)
{
	const uint16_t path = connected(255);

	ck_cc(on_path(IUCV_QUIESCE, path, 0), 0);
	ck_operator("SMSG LINUX001 A", 57, "HCPMFS057I LINUX001 not receiving; disconnected\n");
	ck_cc(on_path(IUCV_RESUME, path, 0), 0);
	ck_operator("SMSG LINUX001 A", 0, "");
	receive(path);
}

TEST(modes)
{
	const uint16_t path = connected(255);

	ck_guest("SET SMSG OFF", 0, "");
	ck_operator("SMSG LINUX001 A", 57, "HCPMFS057I LINUX001 not receiving; disconnected\n");
	ck_guest("SET SMSG ON", 0, "");
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_str_eq(fx.last_name, "LINUX001");
	ck_assert_str_eq(fx.last_text, "13:24:57  * SMSG FROM OPERATOR: A");
	ck_assert_ptr_null(fx_take(0));
	ck_guest("SET SMSG IUCV", 0, "");
	/* A MSG is for the console, whatever SMSG is set to. */
	ck_operator("MSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	ck_assert_str_eq(fx.last_text, "13:24:57  * MSG FROM OPERATOR: A");
	ck_assert_ptr_null(fx_take(0));
	ck_operator("SMSG LINUX001 A", 0, "");
	receive(path);
}

/* SET SMSG IUCV without a path, before and after. */
TEST(not_connected)
{
	uint16_t path;

	ck_guest("SET SMSG IUCV", 0, "");
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	path = connected(255);
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_cc(on_path(IUCV_SEVER, path, 0), 0);
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	/* All buffers are free again, and the service has let go of its path. */
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, "*MSG")), 0);
	while (fx_take(0))
		;
	path = connected_to("*MSG", 255);
	take(IUCV_COMPLETE, path);
	for (int i = 0; i < 255; i++)
		ck_operator("SMSG LINUX001 A", 0, "");
}

TEST(second_path)
{
	const uint16_t path = connected(255);
	const uint16_t second = connected_to("*MSG", 255);

	ck_assert_uint_ne(second, path);
	ck_assert_int_eq(take(IUCV_SEVERED, second)[16], 0);
	ck_cc(on_path(IUCV_SEVER, second, 0), 0);
	/* The first goes on. */
	ck_operator("SMSG LINUX001 A", 0, "");
	receive(path);
}

/* *MSG takes no messages. */
TEST(send_to_service)
{
	const uint16_t path = connected(255);
	const uint8_t *event;

	for (int i = 0; i < 2; i++) {
		ck_cc(send(path, IPNORPY, DATA, 4, 0), 0);
		event = take(IUCV_MSG_COMPLETE, path);
		ck_assert_uint_eq(get_be32(event + IPAUDIT) >> 8, IUCV_AUDIT_REJECTED);
	}
	ck_operator("SMSG LINUX001 A", 0, "");
	receive(path);
}

/* Takes every connection and no message. */
static void reject(struct cp *cp, struct iucv_user *user, void *opaque,
		   const struct iucv_event *event)
{
	struct iucv_parm parm = { .path = event->path, .msgid = event->msgid,
				  .trgcls = event->trgcls };

	(void)opaque;
	if (event->type == IUCV_PENDING)
		ck_assert_int_eq(iucv_call(cp, user, IUCV_ACCEPT, &parm).cc, 0);
	parm.flags = IPFGPID | IPFGMID | IPFGMCL;
	if (event->type == IUCV_MSG_PENDING)
		ck_assert_int_eq(iucv_call(cp, user, IUCV_REJECT, &parm).cc, 0);
}

/* Completions on a path of another *MSG user do not free the guest's buffers. */
TEST(another_path_of_the_service)
{
	static const struct iucv_user_ops ops = { .event = reject };
	static char text[] = "text";
	const uint16_t path = connected(255);
	struct iucv_user *service = iucv_user_find(fx.cp, "*MSG");
	struct iucv_user *peer = iucv_user_create(fx.cp, "PEER", 4, &ops, NULL);
	struct iucv_parm parm = { .vmid = "PEER" };
	struct iucv_path_info info;
	uint16_t other;

	ck_assert_ptr_nonnull(peer);
	ck_operator("SMSG LINUX001 FIRST", 0, "");
	ck_assert_int_eq(iucv_call(fx.cp, service, IUCV_CONNECT, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	ck_assert(iucv_path_info(service, parm.path, &info));
	other = info.partner_path;
	parm = (struct iucv_parm){ .path = parm.path,
				   .buffer = { .host = true, .ptr = text, .len = 4 } };
	ck_assert_int_eq(iucv_call(fx.cp, service, IUCV_SEND, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(iucv_events_waiting(service), 0);
	ck_operator("SMSG LINUX001 SECOND", 0, "");
	ck_assert_uint_eq(receive(path), 8 + 5);
	ck_assert_int_eq(*fx_at(DATA + MSG_TEXT, 1), 0xc6);
	ck_assert_uint_eq(receive(path), 8 + 6);
	ck_assert_int_eq(*fx_at(DATA + MSG_TEXT, 1), 0xe2);
	/* Nor does the end of another path end the guest's. */
	parm = (struct iucv_parm){ .path = other };
	ck_assert_int_eq(iucv_call(fx.cp, peer, IUCV_SEVER, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	ck_operator("SMSG LINUX001 THIRD", 0, "");
	ck_assert_uint_eq(receive(path), 8 + 5);
	ck_assert_int_eq(*fx_at(DATA + MSG_TEXT, 1), 0xe3);
}

static void arm(enum fault_kind kind, uint32_t value)
{
	ck_arm(FAULT_MSG_CONNECT, kind, .times = 1, .value = value);
}

TEST(not_authorised)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV ANY", NULL });
	fx_declare(0);
	ck_rc(connect_to("*MSG", 0, 255), IUCV_NOT_AUTHORISED);
}

TEST(fault_sever)
{
	uint16_t path;

	fx_declare(0);
	arm(FAULT_SEVER, 0x42);
	path = connected_to("*MSG", 255);
	ck_assert_int_eq(take(IUCV_SEVERED, path)[16], 0x42);
	ck_guest("SET SMSG IUCV", 0, "");
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	/* The next attempt succeeds. */
	take(IUCV_COMPLETE, connected_to("*MSG", 255));
}

TEST(fault_drop)
{
	fx_declare(0);
	arm(FAULT_DROP, 0);
	connected_to("*MSG", 255);
	ck_assert_ptr_null(fx_take(0));
	ck_guest("SET SMSG IUCV", 0, "");
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
}

TEST(reset)
{
	const uint16_t path = connected(255);

	ck_operator("SMSG LINUX001 A", 0, "");
	cp_reset(fx.cp);
	ck_guest("Q SET", 0, SETTINGS("OFF", "IUCV"));
	ck_operator("SMSG LINUX001 A", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, "*MSG")), 0);
	ck_assert_uint_eq(connected(255), path);
	for (int i = 0; i < 255; i++)
		ck_operator("SMSG LINUX001 A", 0, "");
}

TEST(save_load)
{
	const uint16_t path = connected(3);
	uint8_t *image;
	size_t len;

	ck_operator("SMSG LINUX001 A", 0, "");
	ck_operator("SMSG LINUX001 BC", 0, "");
	image = fx_save(&len);
	receive(path);
	receive(path);
	ck_guest("SET SMSG OFF", 0, "");
	fx_load(image, len);
	free(image);
	ck_guest("Q SET", 0, SETTINGS("OFF", "IUCV"));
	ck_operator("SMSG LINUX001 DEF", 0, "");
	ck_operator("SMSG LINUX001 A", 57, "HCPMFS057I LINUX001 not receiving; disconnected\n");
	ck_assert_uint_eq(receive(path), 9);
	ck_assert_int_eq(*fx_at(DATA + MSG_TEXT, 1), 0xc1);
	ck_assert_uint_eq(receive(path), 10);
	ck_assert_uint_eq(receive(path), 11);
	ck_assert_ptr_null(fx_take(0));
}

/*
 * The tag of *MSG's message in an image, by its neighbours: two classes before it, behind it what
 * has been received and is left, the audit word, flags.  There is one.
 */
static uint8_t *tag_in(uint8_t *image, size_t len, uint32_t tag)
{
	uint8_t words[25] = { 0, 0, 0, 4, [24] = IPNORPY }, *found = NULL;

	put_be32(words + 8, tag);
	for (size_t at = state_find(image, len, "IUCV"); at + sizeof(words) <= len; at++)
		if (memcmp(image + at, words, sizeof(words)) == 0) {
			ck_assert_ptr_null(found);
			found = image + at + 8;
		}
	ck_assert_ptr_nonnull(found);
	return found;
}

/* Tags are numbers of buffers: those of an image may be anything. */
TEST(state_with_other_tags)
{
	static const uint32_t tags[] = { 255, UINT32_MAX };
	const uint16_t path = connected(10);
	uint8_t *image;
	size_t len;

	for (unsigned int i = 0; i < 4; i++)
		ck_operator("SMSG LINUX001 A", 0, "");
	image = fx_save(&len);
	for (unsigned int i = 0; i < 2; i++)
		put_be32(tag_in(image, len, i + 1), tags[i]);
	state_sign(image, len);
	fx_load(image, len);
	free(image);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(receive(path), 9);
	ck_operator("SMSG LINUX001 BC", 0, "");
	ck_assert_uint_eq(receive(path), 10);
	ck_assert_ptr_null(fx_take(0));
}

TEST(state_damaged)
{
	struct state s = { .loading = false };

	connected(255);
	msg_part.state_system(fx.cp, &s);
	s.loading = true;
	s.pos = 0;
	s.data[4] = 3;
	msg_part.state_system(fx.cp, &s);
	ck_assert(s.failed);
	ck_assert_uint_eq(msg_smsg(fx.cp), 0);
	free(s.data);
}
