/* SPDX-License-Identifier: MIT */
/* *LOGREC, *ACCOUNT and *SYMPTOM: connections, and the records that arrive on them. */
#include <stdlib.h>

#include "command_check.h"
#include "iucv_fields.h"
#include "recording_check.h"
#include "state_check.h"
#include "zvmlab/fault.h"

FX_REPLAY_TRACES;

CASE("recording", rec_setup, fx_teardown);

TEST(arrival)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	rec_made(REC_ACCOUNT, "first", 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_RECORDING_RECEIVED], 0);
	rec_receive(path, "first");
	ck_assert_uint_eq(fx.events[CP_EVENT_RECORDING_RECEIVED], 1);
	ck_assert_str_eq(fx.last_name, "LINUX001");
	ck_assert_str_eq(fx.last_text, "*ACCOUNT");
	ck_assert_uint_eq(fx.last_event.value, 0);
	ck_assert_uint_eq(fx.last_event.path, path);
	ck_assert_ptr_null(fx_take(0));
}

/* Each service has its own path and queue. */
TEST(services)
{
	const uint16_t logrec = rec_connected("*LOGREC", "EREP");
	const uint16_t account = rec_opened("*ACCOUNT", "ACCOUNT");
	const uint16_t symptom = rec_opened("*SYMPTOM", "SYMPTOM");

	rec_made(REC_SYMPTOM, "s", 1);
	rec_receive(symptom, "s");
	rec_made(REC_LOGREC, "l", 1);
	rec_receive(logrec, "l");
	rec_made(REC_ACCOUNT, "a", 1);
	rec_receive(account, "a");
	ck_assert_ptr_null(fx_take(0));
}

/* Linux's driver has room for one message: the next comes when it has been received. */
TEST(one_by_one)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	struct rec_sent sent;

	rec_made(REC_ACCOUNT, "1", 1);
	rec_made(REC_ACCOUNT, "22", 1);
	rec_made(REC_ACCOUNT, "333", 1);
	sent = rec_take(path);
	ck_assert_uint_eq(sent.length, 1);
	ck_assert_ptr_null(fx_take(0));
	ck_assert_int_eq(rec_get(&sent, 1), 0);
	rec_receive(path, "22");
	rec_receive(path, "333");
	ck_assert_ptr_null(fx_take(0));
}

/* A record longer than the buffer is received in parts, and is the user's when all is. */
TEST(parts)
{
	const uint16_t path = rec_connected("*LOGREC", "EREP");
	uint8_t *record = malloc(REC_MAX_RECORD);
	struct rec_sent sent;

	for (unsigned int i = 0; i < REC_MAX_RECORD; i++)
		record[i] = (uint8_t)(i * 7 + i / 256);
	ck_assert_uint_eq(recording_add(fx.cp, REC_LOGREC, record, REC_MAX_RECORD), 1);
	sent = rec_take(path);
	ck_assert_uint_eq(sent.length, REC_MAX_RECORD);
	ck_assert_int_eq(rec_get(&sent, 4088), IUCV_SHORT_BUFFER);
	ck_assert_uint_eq(get_be32(fx_at(PARM + IPBFLN1F, 4)), REC_MAX_RECORD - 4088);
	ck_assert_mem_eq(fx_at(DATA, 4088), record, 4088);
	ck_assert_uint_eq(fx.events[CP_EVENT_RECORDING_RECEIVED], 0);
	ck_assert_int_eq(rec_get(&sent, REC_MAX_RECORD - 4088), 0);
	ck_assert_mem_eq(fx_at(DATA, REC_MAX_RECORD - 4088), record + 4088, REC_MAX_RECORD - 4088);
	ck_assert_uint_eq(fx.events[CP_EVENT_RECORDING_RECEIVED], 1);
	free(record);
}

/* Without a path, or before one, records wait; they come in order. */
TEST(waiting)
{
	uint16_t path;

	fx_declare(0);
	ck_guest("RECORDING ACCOUNT ON", 0, "HCPCRC8072I Recording entry not found\n"
					    "Command complete\n");
	rec_made(REC_ACCOUNT, "a", 2);
	rec_made(REC_ACCOUNT, "b", 2);
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	rec_receive(path, "a");
	rec_take(path);
	/* Told of, not received: it comes again on the next path. */
	rec_sever(path);
	rec_made(REC_ACCOUNT, "c", 2);
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	rec_receive(path, "b");
	rec_receive(path, "c");
	ck_assert_ptr_null(fx_take(0));
}

TEST(second_path)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	const uint16_t second = rec_connect("*ACCOUNT");
	const uint8_t *event = take(IUCV_SEVERED, second);

	ck_assert_int_eq(event[IPUSER], 4);
	ck_assert_int_eq(event[IPUSER + 8], 4);
	rec_sever(second);
	rec_made(REC_ACCOUNT, "x", 1);
	rec_receive(path, "x");
}

TEST(no_queue)
{
	char command[64];

	fx_declare(0);
	for (unsigned int i = 0; i < REC_MAX_QUEUES - REC_SERVICES; i++) {
		snprintf(command, sizeof(command), "RECORDING EREP ON QID USER%u", i);
		ck_operator(command, 0, "HCPCRC8072I Recording entry not found\n"
					"Command complete\n");
	}
	ck_operator("RECORDING EREP ON QID NOROOM", 8072, "HCPCRC8072E Recording entry not found\n");
	ck_assert_int_eq(take(IUCV_SEVERED, rec_connect("*ACCOUNT"))[IPUSER + 8], 8);
}

TEST(not_authorised)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV ANY", NULL });
	fx_declare(0);
	ck_rc(connect_to("*SYMPTOM", 0, 0), IUCV_NOT_AUTHORISED);
}

/* CP takes back what the user knows of: RECEIVE says so, and the next record comes. */
TEST(purge)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	struct rec_sent sent;

	rec_made(REC_ACCOUNT, "a", 1);
	rec_made(REC_ACCOUNT, "b", 1);
	sent = rec_take(path);
	ck_guest("RECORDING ACCOUNT PURGE", 0, "Command complete\n");
	ck_assert_int_eq(rec_get(&sent, 1), 9);
	ck_assert_ptr_null(fx_take(0));
	rec_made(REC_ACCOUNT, "c", 1);
	/* Not told of yet. */
	ck_guest("RECORDING ACCOUNT PURGE", 0, "Command complete\n");
	ck_assert_ptr_null(fx_take(0));
	rec_made(REC_ACCOUNT, "d", 1);
	rec_receive(path, "d");
	/* Half received. */
	rec_made(REC_ACCOUNT, "efgh", 1);
	sent = rec_take(path);
	ck_assert_int_eq(rec_get(&sent, 2), IUCV_SHORT_BUFFER);
	ck_guest("RECORDING ACCOUNT PURGE", 0, "Command complete\n");
	ck_assert_int_eq(rec_get(&sent, 2), 9);
	rec_made(REC_ACCOUNT, "i", 1);
	rec_receive(path, "i");
}

TEST(quiesced_by_the_user)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	ck_cc(on_path(IUCV_QUIESCE, path, 0), 0);
	rec_made(REC_ACCOUNT, "a", 1);
	ck_assert_ptr_null(fx_take(0));
	ck_cc(on_path(IUCV_RESUME, path, 0), 0);
	rec_receive(path, "a");
}

TEST(quiesced_by_cp)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	ck_assert_uint_eq(recording_quiesce(fx.cp, REC_LOGREC, NULL, true), 0);
	ck_assert_uint_eq(recording_quiesce(fx.cp, REC_ACCOUNT, "LINUX002", true), 0);
	ck_assert_uint_eq(recording_quiesce(fx.cp, REC_ACCOUNT, "LINUX001", true), 1);
	take(IUCV_PATH_QUIESCED, path);
	/* The user may not send; CP's records come. */
	rec_made(REC_ACCOUNT, "a", 1);
	rec_receive(path, "a");
	ck_assert_uint_eq(recording_quiesce(fx.cp, REC_ACCOUNT, NULL, false), 1);
	take(IUCV_PATH_RESUMED, path);
}

TEST(severed_by_cp)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	const uint8_t *event;

	rec_made(REC_ACCOUNT, "a", 1);
	rec_take(path);
	ck_assert_uint_eq(recording_sever(fx.cp, REC_LOGREC, NULL, 0x2c), 0);
	ck_assert_uint_eq(recording_sever(fx.cp, REC_ACCOUNT, "LINUX002", 0x2c), 0);
	ck_assert_uint_eq(recording_sever(fx.cp, REC_ACCOUNT, NULL, 0x2c), 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_RECORDING_SEVERED], 1);
	ck_assert_uint_eq(fx.last_event.value, 0x2c);
	event = take(IUCV_SEVERED, path);
	ck_assert_int_eq(event[IPUSER], 0x2c);
	ck_assert_int_eq(event[IPUSER + 8], 0x2c);
	rec_sever(path);
	ck_assert_uint_eq(recording_sever(fx.cp, REC_ACCOUNT, NULL, 0x2c), 0);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, "*ACCOUNT")), 0);
	take(IUCV_COMPLETE, rec_connect("*ACCOUNT"));
	rec_receive(path, "a");
}

/* These services take no messages. */
TEST(send_to_service)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	ck_cc(send(path, IPNORPY, DATA, 4, 0), 0);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_COMPLETE, path) + IPAUDIT) >> 8,
			  IUCV_AUDIT_REJECTED);
}

/* A record that is rejected is gone. */
TEST(rejected)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	struct rec_sent sent;

	rec_made(REC_ACCOUNT, "a", 1);
	rec_made(REC_ACCOUNT, "b", 1);
	sent = rec_take(path);
	ck_cc(message(IUCV_REJECT, path, IPFGPID | IPFGMID, sent.msgid, 0, 0, 0), 0);
	rec_receive(path, "b");
}

TEST(reset)
{
	uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	rec_made(REC_ACCOUNT, "a", 1);
	rec_take(path);
	cp_reset(fx.cp);
	ck_assert_uint_eq(iucv_path_count(iucv_user_find(fx.cp, "*ACCOUNT")), 0);
	/* Recording is still on, and the record is there. */
	rec_made(REC_ACCOUNT, "b", 1);
	fx_declare(0);
	path = rec_connect("*ACCOUNT");
	take(IUCV_COMPLETE, path);
	rec_receive(path, "a");
	rec_receive(path, "b");
}

/* Records that do not fit into a queue are counted; the ring wraps. */
TEST(full)
{
	static uint8_t record[REC_MAX_RECORD];
	struct rec_queue_info queue;
	uint16_t path;

	fx_declare(0);
	ck_guest("RECORDING EREP ON", 0, "HCPCRC8072I Recording entry not found\n"
					 "Command complete\n");
	for (unsigned int i = 0; i < 9; i++) {
		memset(record, (int)i + 1, sizeof(record));
		ck_assert_uint_eq(recording_add(fx.cp, REC_LOGREC, record, 10000 + i), 2);
	}
	ck_assert(recording_queue(fx.cp, 3, &queue));
	ck_assert_str_eq(queue.userid, "LINUX001");
	ck_assert_uint_eq(queue.count, 6);
	ck_assert_uint_eq(queue.lost, 3);
	ck_assert(!recording_queue(fx.cp, 4, &queue));
	path = rec_connect("*LOGREC");
	take(IUCV_COMPLETE, path);
	for (unsigned int i = 0; i < 9; i++) {
		struct rec_sent sent = rec_take(path);

		ck_assert_uint_eq(sent.length, 10000 + i % 6 + (i < 6 ? 0 : 100));
		ck_assert_int_eq(rec_get(&sent, sent.length), 0);
		for (unsigned int j = 0; j < sent.length; j++)
			ck_assert_int_eq(*fx_at(DATA + j, 1), (int)(i % 6) + 1);
		memset(record, (int)i + 1, sizeof(record));
		if (i < 3)
			ck_assert_uint_eq(recording_add(fx.cp, REC_LOGREC, record, 10100 + i), 2);
	}
	ck_assert_ptr_null(fx_take(0));
}

/* User ID, account number, time; "01" in columns 79 and 80 (VM/370 and HCPACOBK). */
TEST(logoff)
{
	static const uint8_t head[] = {
		0xe3, 0xc5, 0xe2, 0xe3, 0xc5, 0xd9, 0x40, 0x40,	/* TESTER */
		0xe3, 0xc5, 0xe2, 0xe3, 0xc5, 0xd9, 0x40, 0x40,
	};
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	struct iucv_user *peer = iucv_user_create(fx.cp, "TESTER", 4, NULL, NULL);
	struct rec_sent sent;
	char time[13];

	ck_assert_ptr_null(fx_take(0));
	iucv_user_destroy(fx.cp, peer);
	sent = rec_take(path);
	ck_assert_uint_eq(sent.length, 80);
	ck_assert_int_eq(rec_get(&sent, 80), 0);
	ck_assert_mem_eq(fx_at(DATA, 16), head, 16);
	ebcdic_decode(time, fx_at(DATA + 16, 12), 12);
	time[12] = '\0';
	/* The fixture's clock, as QUERY TIME shows it. */
	ck_assert_str_eq(time + 6, "132457");
	ck_assert_int_eq(*fx_at(DATA + 78, 1), 0xf0);
	ck_assert_int_eq(*fx_at(DATA + 79, 1), 0xf1);
	/* A service has nothing to account for, nor has the harness's channel. */
	iucv_user_destroy(fx.cp, iucv_user_create(fx.cp, "*RPI", 4, NULL, NULL));
	iucv_user_destroy(fx.cp, iucv_user_create(fx.cp, "ZVMLAB", 4, NULL, NULL));
	ck_assert_ptr_null(fx_take(0));
}

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value)
{
	ck_arm(point, kind, .times = 1, .value = value, .user = "LINUX001", .name = "*ACCOUNT");
}

TEST(fault_connect)
{
	uint16_t path;

	fx_declare(0);
	arm(FAULT_RECORDING_CONNECT, FAULT_SEVER, 0x42);
	path = rec_connect("*ACCOUNT");
	ck_assert_int_eq(take(IUCV_SEVERED, path)[IPUSER + 8], 0x42);
	rec_sever(path);
	arm(FAULT_RECORDING_CONNECT, FAULT_LIMIT, 3);
	path = rec_connect("*ACCOUNT");
	ck_assert_uint_eq(get_be16(take(IUCV_COMPLETE, path) + IPMSGLIM), 3);
	rec_sever(path);
	arm(FAULT_RECORDING_CONNECT, FAULT_DROP, 0);
	rec_connect("*ACCOUNT");
	ck_assert_ptr_null(fx_take(0));
}

TEST(fault_record)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	arm(FAULT_RECORDING_RECORD, FAULT_DROP, 0);
	rec_made(REC_ACCOUNT, "a", 1);
	ck_assert_ptr_null(fx_take(0));
	arm(FAULT_RECORDING_RECORD, FAULT_DUPLICATE, 0);
	rec_made(REC_ACCOUNT, "b", 1);
	rec_receive(path, "b");
	rec_receive(path, "b");
	arm(FAULT_RECORDING_RECORD, FAULT_CORRUPT, 1);
	rec_made(REC_ACCOUNT, "c", 1);
	rec_receive(path, "b");
	ck_assert_ptr_null(fx_take(0));
}

TEST(fault_message)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	struct rec_sent sent[2];

	arm(FAULT_RECORDING_MESSAGE, FAULT_DROP, 0);
	rec_made(REC_ACCOUNT, "a", 1);
	ck_assert_ptr_null(fx_take(0));
	arm(FAULT_RECORDING_MESSAGE, FAULT_CORRUPT, 3);
	rec_made(REC_ACCOUNT, "b", 1);
	rec_receive(path, "a");
	/* Twice: the next comes when both have been received. */
	arm(FAULT_RECORDING_MESSAGE, FAULT_DUPLICATE, 0);
	rec_made(REC_ACCOUNT, "c", 1);
	rec_made(REC_ACCOUNT, "d", 1);
	sent[0] = rec_take(path);
	sent[1] = rec_take(path);
	ck_assert_uint_ne(sent[0].msgid, sent[1].msgid);
	ck_assert_int_eq(rec_get(&sent[1], 1), 0);
	ck_assert_ptr_null(fx_take(0));
	ck_assert_int_eq(rec_get(&sent[0], 1), 0);
	rec_receive(path, "d");
	arm(FAULT_RECORDING_MESSAGE, FAULT_SEVER, 0x11);
	rec_made(REC_ACCOUNT, "e", 1);
	ck_assert_int_eq(take(IUCV_SEVERED, path)[IPUSER + 8], 0x11);
}

/* Held back until others have been presented; here those of another service. */
TEST(fault_message_late)
{
	const uint16_t account = rec_connected("*ACCOUNT", "ACCOUNT");
	const uint16_t logrec = rec_opened("*LOGREC", "EREP");

	arm(FAULT_RECORDING_MESSAGE, FAULT_DELAY, 2);
	rec_made(REC_ACCOUNT, "after two", 1);
	ck_assert_ptr_null(fx_take(0));
	rec_made(REC_LOGREC, "1", 1);
	rec_receive(logrec, "1");
	ck_assert_ptr_null(fx_take(0));
	rec_made(REC_LOGREC, "2", 1);
	rec_receive(logrec, "2");
	rec_receive(account, "after two");
	arm(FAULT_RECORDING_MESSAGE, FAULT_REORDER, 0);
	rec_made(REC_ACCOUNT, "after one", 1);
	ck_assert_ptr_null(fx_take(0));
	rec_made(REC_LOGREC, "3", 1);
	rec_receive(logrec, "3");
	rec_receive(account, "after one");
	ck_assert_ptr_null(fx_take(0));
}

TEST(fault_received)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	arm(FAULT_RECORDING_RECEIVED, FAULT_SEVER, 0x12);
	rec_made(REC_ACCOUNT, "a", 1);
	rec_made(REC_ACCOUNT, "b", 1);
	rec_receive(path, "a");
	ck_assert_int_eq(take(IUCV_SEVERED, path)[IPUSER + 8], 0x12);
	rec_sever(path);
	arm(FAULT_RECORDING_RECEIVED, FAULT_DROP, 0);
	take(IUCV_COMPLETE, rec_connect("*ACCOUNT"));
	rec_receive(path, "b");
	rec_made(REC_ACCOUNT, "c", 1);
	/* The service still waits for the record before. */
	ck_assert_ptr_null(fx_take(0));
	ck_guest("RECORDING ACCOUNT PURGE", 0, "Command complete\n");
	rec_made(REC_ACCOUNT, "d", 1);
	rec_receive(path, "d");
}

TEST(fault_sever)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");

	arm(FAULT_RECORDING_SEVER, FAULT_DROP, 0);
	rec_sever(path);
	ck_assert_int_eq(take(IUCV_SEVERED, rec_connect("*ACCOUNT"))[IPUSER + 8], 4);
	cp_reset(fx.cp);
	fx_declare(0);
	take(IUCV_COMPLETE, rec_connect("*ACCOUNT"));
}

TEST(save_load)
{
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	struct rec_sent sent;
	uint8_t *image;
	size_t len;

	rec_made(REC_ACCOUNT, "0", 1);
	rec_receive(path, "0");
	rec_made(REC_ACCOUNT, "abcd", 1);
	rec_made(REC_ACCOUNT, "ef", 1);
	sent = rec_take(path);
	ck_assert_int_eq(rec_get(&sent, 2), IUCV_SHORT_BUFFER);
	image = fx_save(&len);
	ck_assert_int_eq(rec_get(&sent, 2), 0);
	rec_receive(path, "ef");
	ck_guest("RECORDING ACCOUNT OFF", 0, "Command complete\n");
	fx_load(image, len);
	rec_made(REC_ACCOUNT, "g", 1);
	ck_assert_int_eq(rec_get(&sent, 2), 0);
	ck_assert_mem_eq(fx_at(DATA, 2), "cd", 2);
	rec_receive(path, "ef");
	rec_receive(path, "g");
	ck_assert_ptr_null(fx_take(0));
	free(image);
}

/* An image, @at: where the part of the recording services begins in it, after its tag. */
static uint8_t *saved(size_t *len, uint8_t **at)
{
	uint8_t *image = fx_save(len);

	*at = image + state_find(image, *len, "CREC") + 4;
	return image;
}

/* Ends the image. */
static void refused(uint8_t *image, size_t len)
{
	char err[256];

	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* Byte @at of the part becomes @value: the image is refused. */
static void damaged(size_t at, uint8_t value)
{
	uint8_t *image, *part;
	size_t len;

	image = saved(&len, &part);
	ck_assert_int_ne(part[at], value);
	part[at] = value;
	refused(image, len);
}

/* A queue's members: used, service, user ID (9), on, limit (4), lost (8), connected, quiesced … */
enum { USED = 0, SERVICE = 1, USERID = 2, ON = 11, LIMIT = 12, CONNECTED = 24, QUIESCED = 25,
       SENT = 30, COUNT = 39, BYTES = 43, RECORDS = 47 };

TEST(state_damaged)
{
	fx_declare(0);
	ck_operator("RECORDING EREP ON QID SOMEBODY", 0, "HCPCRC8072I Recording entry not found\n"
							 "Command complete\n");
	damaged(USED, 2);
	damaged(USED, 0);
	damaged(SERVICE, 3);
	damaged(SERVICE, 1);
	damaged(USERID, 0x40);
	damaged(USERID, 0);
	damaged(ON, 2);
	damaged(LIMIT, 1);
	damaged(QUIESCED, 1);
	damaged(SENT, 1);
	damaged(COUNT + 3, 1);
	damaged(BYTES + 3, 4);
	damaged(BYTES, 1);
}

/* A service has one queue of each user. */
TEST(state_with_two_queues_of_one_user)
{
	uint8_t *image, *part;
	size_t len, at;

	rec_connected("*LOGREC", "EREP");
	image = saved(&len, &part);
	at = state_find(part, len - (size_t)(part - image), "LINU");
	ck_assert_mem_eq(part + USERID, "EREP\0\0\0\0", 8);
	memcpy(part + at, part + USERID, 8);
	refused(image, len);
}

/* A saved state has nothing of a path that has gone. */
TEST(state_after_a_path)
{
	static const uint8_t none[COUNT - SENT];
	const uint16_t path = rec_connected("*ACCOUNT", "ACCOUNT");
	uint8_t *image, *part, *queue;
	size_t len;

	for (unsigned int severed = 0; severed < 2; severed++) {
		if (severed) {
			rec_sever(path);
		} else {
			rec_made(REC_ACCOUNT, "a", 1);
			rec_take(path);
		}
		image = saved(&len, &part);
		queue = part + state_find(part, len - (size_t)(part - image), "LINU") - USERID;
		ck_assert_uint_eq(queue[CONNECTED], !severed);
		ck_assert_uint_eq(queue[SENT], !severed);
		ck_assert((memcmp(queue + SENT, none, sizeof(none)) == 0) == severed);
		free(image);
	}
}

/* The first queue, LOGREC's own, has a record of the greatest length and a short one. */
TEST(state_damaged_records)
{
	const uint32_t last = RECORDS + 4 + REC_MAX_RECORD;
	const uint8_t *longest = fx_at(DATA, REC_MAX_RECORD);
	uint8_t *image, *part;
	size_t len;

	ck_assert_uint_eq(recording_add(fx.cp, REC_LOGREC, longest, REC_MAX_RECORD), 1);
	rec_made(REC_LOGREC, "ab", 1);
	image = saved(&len, &part);
	ck_assert_uint_eq(get_be32(part + COUNT), 2);
	ck_assert_uint_eq(get_be32(part + RECORDS), REC_MAX_RECORD);
	ck_assert_uint_eq(get_be32(part + last), 2);
	/* One record that is too long, which takes all there is. */
	put_be32(part + RECORDS, REC_MAX_RECORD + 6);
	put_be32(part + COUNT, 1);
	refused(image, len);
	/* The last one is longer than what is left, or does not take all of it. */
	damaged(last + 3, 3);
	damaged(last, 0x80);
	damaged(last + 3, 1);
	damaged(last + 3, 0);
	/* No record is empty, although two of 0 and of 2 bytes took as much as this one. */
	ck_operator("RECORDING EREP PURGE QID EREP", 0, "Command complete\n");
	rec_made(REC_LOGREC, "abcdef", 1);
	image = saved(&len, &part);
	ck_assert_mem_eq(part + RECORDS, "\0\0\0\6abcdef", 10);
	put_be32(part + RECORDS, 0);
	put_be32(part + RECORDS + 4, 2);
	put_be32(part + COUNT, 2);
	refused(image, len);
}
