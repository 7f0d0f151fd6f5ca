/* SPDX-License-Identifier: MIT */
/* Trace records, compared as text. */
#include "fixture.h"

#include <jansson.h>
#include <stdlib.h>

#include "cp_private.h"
#include "trace/trace_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

/* The only line since the last call. */
static const char *line(void)
{
	static char text[200000];

	ck_assert_uint_gt(fx.trace_len, 0);
	ck_assert_uint_lt(fx.trace_len, sizeof(text));
	ck_assert_ptr_eq(strchr(fx.trace, '\n'), fx.trace + fx.trace_len - 1);
	memcpy(text, fx.trace, fx.trace_len - 1);
	text[fx.trace_len - 1] = '\0';
	fx.trace_len = 0;
	return text;
}

static void start(void)
{
	fx_setup();
	fx.trace_len = 0;
}

CASE("records", start, fx_teardown);

static json_t *parsed(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(value != NULL, "%s: %s", error.text, text);
	return value;
}

TEST(whole_record)
{
	const uint64_t gr[2] = { 6, 0x1f00 };
	const struct cp_result cc = { .how = CP_CC, .cc = 0 };

	fx.tod = UINT64_C(0xdb00000000000001);
	trace_begin(fx.cp, 0, "iucv.reply");
	trace_gr(fx.cp, gr, 2);
	trace_access(fx.cp, false, 0x1f00, "\x00\x01", 2);
	trace_access(fx.cp, true, 0x1f03, "\x00", 1);
	trace_access(fx.cp, false, 0x2000, "", 0);
	trace_number(fx.cp, "path", 7);
	trace_hex(fx.cp, "address", 0xabc);
	trace_bytes(fx.cp, "ipuser", "\xff\x10", 2);
	trace_end_result(fx.cp, &cc);
	ck_assert_str_eq(line(), "{\"seq\":1,\"tod\":\"db00000000000001\",\"cpu\":0,"
				 "\"call\":\"iucv.reply\",\"in\":[[\"1f00\",\"0001\"],"
				 "[\"2000\",\"\"]],\"out\":[[\"1f03\",\"00\"]],"
				 "\"gr\":[\"6\",\"1f00\"],\"path\":7,\"address\":\"abc\","
				 "\"ipuser\":\"ff10\",\"cc\":0}");
}

TEST(results)
{
	static const struct {
		struct cp_result result;
		const char *tail;
	} cases[] = {
		{ { .how = CP_PASS }, ",\"how\":\"pass\"}" },
		{ { .how = CP_DONE }, ",\"how\":\"done\"}" },
		{ { .how = CP_CC, .cc = 3 }, ",\"cc\":3}" },
		{ { .how = CP_PROGRAM, .pgm = 6 }, ",\"pgm\":6}" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text;

		trace_begin(fx.cp, TRACE_NO_CPU, "x");
		trace_end_result(fx.cp, &cases[i].result);
		text = strstr(line(), "\"call\":\"x\"");
		ck_assert_ptr_nonnull(text);
		ck_assert_str_eq(text + strlen("\"call\":\"x\""), cases[i].tail);
	}
}

TEST(any_byte_in_text)
{
	char text[256];
	json_t *record, *value;

	for (int i = 0; i < 255; i++)
		text[i] = (char)(i + 1);
	text[255] = '\0';
	trace_begin(fx.cp, 1, "x");
	trace_text(fx.cp, "text", text);
	trace_end(fx.cp);
	record = parsed(line());
	ck_assert(json_is_integer(json_object_get(record, "cpu")));
	value = json_object_get(record, "text");
	/* ISO 8859-1 as UTF-8: 127 bytes of one and 128 of two. */
	ck_assert_uint_eq(json_string_length(value), 127 + 2 * 128);
	ck_assert_int_eq(memcmp(json_string_value(value), text, 127), 0);
	ck_assert_int_eq(memcmp(json_string_value(value) + 127, "\xc2\x80", 2), 0);
	ck_assert_int_eq(memcmp(json_string_value(value) + 127 + 2 * 127, "\xc3\xbf", 2), 0);
	json_decref(record);
}

TEST(long_text_says_what_is_left_out)
{
	char text[1201];
	json_t *record;
	const char *shown;

	memset(text, 'a', 1200);
	text[1200] = '\0';
	trace_begin(fx.cp, 0, "x");
	trace_text(fx.cp, "text", text);
	trace_end(fx.cp);
	record = parsed(line());
	shown = json_string_value(json_object_get(record, "text"));
	ck_assert_uint_eq(strspn(shown, "a"), 1024);
	ck_assert_str_eq(shown + 1024, " [176 bytes more]");
	json_decref(record);
}

TEST(long_data_is_hashed)
{
	uint8_t bytes[TRACE_DATA_MAX + 1] = { 0 };
	const char *text;

	trace_begin(fx.cp, 0, "x");
	trace_access(fx.cp, true, 0x1000, bytes, TRACE_DATA_MAX);
	trace_access(fx.cp, false, 0x1000, bytes, TRACE_DATA_MAX + 1);
	trace_bytes(fx.cp, "data", bytes, TRACE_DATA_MAX + 1);
	trace_end(fx.cp);
	text = line();
	/* 64-bit FNV-1a of 257 zero bytes: 0xcbf29ce484222325 × 0x100000001b3^257 modulo 2^64. */
	ck_assert_ptr_nonnull(strstr(text, "\"in\":[[\"1000\",257,\"86062d4c200833df\"]]"));
	ck_assert_ptr_nonnull(strstr(text, "\"data\":[257,\"86062d4c200833df\"]"));
	ck_assert_ptr_nonnull(strstr(text, "\"out\":[[\"1000\",\"0000"));
}

TEST(calls_inside_calls)
{
	const struct cp_result one = { .how = CP_CC, .cc = 1 }, done = { .how = CP_DONE };

	trace_begin(fx.cp, 0, "outer");
	trace_number(fx.cp, "path", 1);
	trace_begin(fx.cp, TRACE_NO_CPU, "inner");
	trace_number(fx.cp, "path", 2);
	trace_end_result(fx.cp, &one);
	trace_begin(fx.cp, TRACE_NO_CPU, "third");
	trace_end_result(fx.cp, &done);
	ck_assert_uint_eq(fx.trace_len, 0);
	trace_end_result(fx.cp, &one);
	ck_assert_str_eq(strstr(line(), "\"call\""),
			 "\"call\":\"outer\",\"path\":1,\"call#2\":\"inner\",\"path#2\":2,"
			 "\"cc#2\":1,\"call#3\":\"third\",\"how#2\":\"done\",\"cc\":1}");
}

TEST(nothing_outside_a_record)
{
	trace_number(fx.cp, "path", 1);
	trace_hex(fx.cp, "path", 1);
	trace_text(fx.cp, "path", "x");
	trace_bytes(fx.cp, "path", "x", 1);
	trace_gr(fx.cp, fx.gr, 16);
	trace_access(fx.cp, true, 0, "x", 1);
	ck_assert_uint_eq(fx.trace_len, 0);
	trace_begin(fx.cp, 0, "x");
	trace_end(fx.cp);
	ck_assert_str_eq(line(), "{\"seq\":1,\"tod\":\"d000000000000000\",\"cpu\":0,\"call\":\"x\"}");
}

/* However much a call does, its record is JSON and says how much is left out. */
TEST(overflow_is_counted)
{
	uint8_t bytes[TRACE_DATA_MAX] = { 0 };
	char text[1025];
	json_t *record, *in, *more;
	const struct cp_result cc = { .how = CP_CC, .cc = 2 };

	memset(text, 1, sizeof(text) - 1);
	text[1024] = '\0';
	trace_begin(fx.cp, 0, "x");
	for (int i = 0; i < 1000; i++) {
		trace_access(fx.cp, false, (uint64_t)i, bytes, sizeof(bytes));
		trace_access(fx.cp, true, UINT64_MAX, bytes, sizeof(bytes));
		trace_text(fx.cp, "text", text);
	}
	trace_end_result(fx.cp, &cc);
	record = parsed(line());
	in = json_object_get(record, "in");
	more = json_array_get(in, json_array_size(in) - 1);
	ck_assert_str_eq(json_string_value(json_array_get(more, 0)), "more");
	ck_assert_int_eq(json_integer_value(json_array_get(more, 1)) + (int)json_array_size(in) - 1,
			 1000);
	ck_assert_int_eq(json_integer_value(json_object_get(record, "lost")), 1000 - 5);
	ck_assert_int_eq(json_integer_value(json_object_get(record, "cc")), 2);
	json_decref(record);
}

/* The hash of what is left out tells one content from another. */
TEST(overflow_is_hashed)
{
	uint8_t bytes[TRACE_DATA_MAX] = { 0 };
	char first[24] = "";

	for (int run = 0; run < 3; run++) {
		const char *hash;

		bytes[0] = run == 2;
		trace_begin(fx.cp, 0, "x");
		for (int i = 0; i < 200; i++)
			trace_access(fx.cp, false, (uint64_t)i, bytes, sizeof(bytes));
		trace_end(fx.cp);
		hash = strstr(line(), "[\"more\",");
		ck_assert_ptr_nonnull(hash);
		hash = strchr(hash + 8, '"') + 1;
		if (run == 0)
			strncpy(first, hash, 16);
		else
			ck_assert_int_eq(strncmp(first, hash, 16) == 0, run == 1);
	}
}

/* After the first member without room, later members are left out too, even short ones. */
TEST(nothing_behind_the_rest)
{
	uint8_t bytes[TRACE_DATA_MAX] = { 0 };
	json_t *record, *in;

	trace_begin(fx.cp, 0, "x");
	for (int i = 0; i < 200; i++)
		trace_access(fx.cp, false, (uint64_t)i, bytes, sizeof(bytes));
	trace_access(fx.cp, false, 0x1234, bytes, 1);
	trace_unmapped(fx.cp, 0x2345);
	trace_end(fx.cp);
	record = parsed(line());
	in = json_object_get(record, "in");
	for (size_t i = 0; i + 1 < json_array_size(in); i++)
		ck_assert_uint_eq(strtoul(json_string_value(json_array_get(json_array_get(in, i), 0)),
					  NULL, 16), i);
	ck_assert_int_eq(json_integer_value(json_array_get(
				 json_array_get(in, json_array_size(in) - 1), 1)) +
				 (int)json_array_size(in) - 1, 201);
	json_decref(record);
}

/* Input is written only into a record, and only where all of it is wanted. */
TEST(input)
{
	static const char *const full[] = { "trace-data", "full", NULL };
	const struct trace_part parts[] = { { "\x01\x02", 2 }, { "\x03", 1 } };

	trace_begin(fx.cp, 0, "x");
	trace_parts(fx.cp, "in", parts, 2);
	trace_unmapped(fx.cp, 0x1000);
	trace_end(fx.cp);
	ck_assert_ptr_null(strstr(line(), "in\""));
	fx_teardown();
	fx_setup_with(full);
	fx.trace_len = 0;
	trace_parts(fx.cp, "in", parts, 2);
	trace_unmapped(fx.cp, 0x1000);
	trace_begin(fx.cp, 0, "x");
	trace_parts(fx.cp, "given", parts, 2);
	trace_unmapped(fx.cp, 0x1000);
	trace_end(fx.cp);
	ck_assert_str_eq(strstr(line(), "\"call\""),
			 "\"call\":\"x\",\"in\":[[\"1000\",null]],\"given\":\"010203\"}");
}

static void deaf(struct cp *cp, struct iucv_user *user, void *opaque, const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	(void)opaque;
	(void)event;
}

/* A peer's call: every member of its list, and what has become of it. */
TEST(call_of_a_peer)
{
	static const struct iucv_user_ops ops = { .event = deaf };
	struct iucv_user *user = iucv_user_create(fx.cp, "ALPHA", 8, &ops, NULL);
	struct iucv_parm parm = {
		.path = 3, .flags = IPRMDATA, .msglim = 7, .msgid = 9, .trgcls = 0xa, .srccls = 0xb,
		.msgtag = 0xc, .mask = 0xd, .vmid = "BETA", .target = "GAMMA",
	};
	json_t *record;

	for (unsigned int i = 0; i < 16; i++)
		parm.ipuser[i] = (uint8_t)(i + 1);
	memcpy(parm.rmmsg, "\x11\x12\x13\x14\x15\x16\x17\x18", 8);
	fx.trace_len = 0;
	ck_assert_uint_eq(iucv_call(fx.cp, user, IUCV_SEND, &parm).cc, 1);
	record = parsed(line());
	ck_assert_str_eq(json_string_value(json_object_get(record, "call")), "iucv.send");
	ck_assert_str_eq(json_string_value(json_object_get(record, "user")), "ALPHA");
	ck_assert_int_eq(json_integer_value(json_object_get(record, "path")), 3);
	ck_assert_int_eq(json_integer_value(json_object_get(record, "msglim")), 7);
	ck_assert_int_eq(json_integer_value(json_object_get(record, "msgid")), 9);
	ck_assert_str_eq(json_string_value(json_object_get(record, "trgcls")), "a");
	ck_assert_str_eq(json_string_value(json_object_get(record, "srccls")), "b");
	ck_assert_str_eq(json_string_value(json_object_get(record, "msgtag")), "c");
	ck_assert_str_eq(json_string_value(json_object_get(record, "mask")), "d");
	ck_assert_str_eq(json_string_value(json_object_get(record, "ipuser")),
			 "0102030405060708090a0b0c0d0e0f10");
	ck_assert_str_eq(json_string_value(json_object_get(record, "rmmsg")), "1112131415161718");
	ck_assert_int_eq(json_integer_value(json_object_get(record, "cc")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(record, "code")), 1);
	ck_assert_ptr_null(json_object_get(record, "pgm"));
	json_decref(record);
	/* A list that is not at a doubleword. */
	parm = (struct iucv_parm){ .buffer = { .list = true, .addr = 0x1001, .len = 8 } };
	ck_assert_uint_eq(iucv_call(fx.cp, user, IUCV_RECEIVE, &parm).pgm, 6);
	record = parsed(line());
	ck_assert_int_eq(json_integer_value(json_object_get(record, "pgm")), 6);
	json_decref(record);
}

static int64_t number_in(const char *text, const char *key)
{
	json_t *record = parsed(text), *value = json_object_get(record, key);
	int64_t number;

	ck_assert_msg(json_is_integer(value), "no %s: %s", key, text);
	number = json_integer_value(value);
	json_decref(record);
	return number;
}

/* The first record says what there is to know before a replay begins. */
TEST(configuration)
{
	json_t *record = parsed(fx.head);

	ck_assert_str_eq(json_string_value(json_object_get(record, "call")), "configuration");
	ck_assert_int_eq(json_integer_value(json_object_get(record, "seq")), 0);
	ck_assert_int_ge(json_integer_value(json_object_get(record, "version")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(record, "messages")),
			 fx.config.max_messages);
	for (unsigned int i = 0; cp_config_keys[i]; i++)
		ck_assert_msg(json_is_string(json_object_get(record, cp_config_keys[i])), "%s",
			      cp_config_keys[i]);
	json_decref(record);
}

/* The records of calls from outside have their results. */
TEST(results_of_calls_from_outside)
{
	struct fault_rule rule = fault_rule_new();
	char err[256];

	rule.point = FAULT_IUCV_SEND;
	rule.kind = FAULT_CC;
	ck_assert_int_eq(fault_arm(fx.cp, &rule, err, sizeof(err)), 1);
	ck_assert_int_eq(number_in(line(), "rule"), 1);
	ck_assert_int_eq(fault_arm(fx.cp, &rule, err, sizeof(err)), 2);
	ck_assert_int_eq(number_in(line(), "rule"), 2);
	ck_assert_int_eq(fault_disarm(fx.cp, 0), 2);
	ck_assert_int_eq(number_in(line(), "disarmed"), 2);
	ck_assert_int_eq(fault_disarm(fx.cp, 0), 0);
	ck_assert_int_eq(number_in(line(), "disarmed"), 0);
	rule.kind = FAULT_KINDS;
	ck_assert_int_lt(fault_arm(fx.cp, &rule, err, sizeof(err)), 0);
	ck_assert_int_eq(number_in(line(), "rule"), 0);
	monitor_sever(fx.cp, NULL, 1);
	ck_assert_int_eq(number_in(line(), "severed"), 0);
	monitor_quiesce(fx.cp, NULL, true);
	ck_assert_int_eq(number_in(line(), "paths"), 0);
	ck_assert(!monitor_event(fx.cp, MON_USER, NULL, 0));
	ck_assert_int_eq(number_in(line(), "recorded"), 0);
	ck_assert_int_ne(monitor_repeat(fx.cp, MON_SAMPLE, NULL, 0, 1, 1, err, sizeof(err)), 0);
	ck_assert_int_eq(number_in(line(), "refused"), 1);
	ck_assert_int_ne(cp_load(fx.cp, NULL, 0, err, sizeof(err)), 0);
	ck_assert_int_eq(number_in(line(), "refused"), 1);
}

/* The end of a message: bytes received, bytes without room, the reason for no reply. */
TEST(results_of_messages)
{
	static const struct iucv_user_ops ops = { .event = deaf };
	struct iucv_user *alpha = iucv_user_create(fx.cp, "ALPHA", 8, &ops, NULL);
	struct iucv_user *beta = iucv_user_create(fx.cp, "BETA", 8, &ops, NULL);
	uint8_t data[6] = { 1, 2, 3, 4, 5, 6 }, room[4];
	struct iucv_parm to = { .vmid = "BETA" }, parm;
	char audit[32];
	const char *text;

	ck_assert_uint_eq(iucv_call(fx.cp, alpha, IUCV_CONNECT, &to).cc, 0);
	parm = (struct iucv_parm){ .path = 0 };
	ck_assert_uint_eq(iucv_call(fx.cp, beta, IUCV_ACCEPT, &parm).cc, 0);
	parm = (struct iucv_parm){ .buffer = { .host = true, .ptr = data, .len = 6 } };
	ck_assert_uint_eq(iucv_call(fx.cp, alpha, IUCV_SEND, &parm).cc, 0);
	fx.trace_len = 0;
	parm = (struct iucv_parm){ .buffer = { .host = true, .ptr = room, .len = 4 } };
	ck_assert_uint_eq(iucv_call(fx.cp, beta, IUCV_RECEIVE, &parm).code, 5);
	text = line();
	ck_assert_int_eq(number_in(text, "residual"), 2);
	ck_assert_int_eq(number_in(text, "cc"), 1);
	ck_assert_int_eq(number_in(text, "code"), 5);
	ck_assert_ptr_nonnull(strstr(text, "\"received\":\"01020304\""));
	ck_assert_ptr_null(strstr(text, "\"audit\""));
	parm = (struct iucv_parm){ .buffer = { .host = true, .ptr = room, .len = 4 },
				   .msgid = parm.msgid, .flags = IPFGPID | IPFGMID | IPFGMCL };
	ck_assert_uint_eq(iucv_call(fx.cp, beta, IUCV_RECEIVE, &parm).cc, 0);
	text = line();
	ck_assert_ptr_nonnull(strstr(text, "\"received\":\"0506\""));
	ck_assert_uint_eq(number_in(text, "msgid#2"), parm.msgid);
	ck_assert_ptr_null(strstr(text, "residual"));
	parm = (struct iucv_parm){ .msgid = parm.msgid, .flags = IPFGPID | IPFGMID | IPFGMCL };
	ck_assert_uint_eq(iucv_call(fx.cp, alpha, IUCV_PURGE, &parm).cc, 0);
	text = line();
	ck_assert_uint_ne(parm.audit, 0);
	snprintf(audit, sizeof(audit), "\"audit\":\"%x\"", parm.audit);
	ck_assert_ptr_nonnull(strstr(text, audit));
	ck_assert_ptr_null(strstr(text, "received"));
}

/* However full a record is, what came of its call is told. */
TEST(results_have_room)
{
	static const struct cp_result each[] = {
		{ .how = CP_CC, .cc = 3 }, { .how = CP_PROGRAM, .pgm = 6 }, { .how = CP_DONE },
	};
	static const char *const keys[] = { "cc", "pgm", "how" };
	char text[1025];

	for (size_t i = 0; i < 3; i++) {
		json_t *record;

		memset(text, 1, sizeof(text));
		trace_begin(fx.cp, 0, "x");
		for (size_t len = 1024; len > 0; len /= 2) {
			text[len] = '\0';
			for (unsigned int times = 0; times < 6; times++)
				trace_text(fx.cp, "text", text);
		}
		trace_end_result(fx.cp, &each[i]);
		record = parsed(line());
		ck_assert_int_gt(json_integer_value(json_object_get(record, "lost")), 0);
		ck_assert_ptr_nonnull(json_object_get(record, keys[i]));
		json_decref(record);
	}
}

/* 96 members have names that are told apart: nine of the record's own, one of a result. */
TEST(most_members)
{
	const struct cp_result done = { .how = CP_CC, .cc = 2 };

	for (unsigned int more = 0; more < 3; more++) {
		json_t *record;

		trace_begin(fx.cp, 0, "x");
		for (unsigned int i = 0; i < 86 + more; i++)
			trace_number(fx.cp, "path", i);
		trace_end_result(fx.cp, &done);
		record = parsed(line());
		ck_assert_int_eq(json_integer_value(json_object_get(record, "lost")), more);
		ck_assert_int_eq(json_integer_value(json_object_get(record, "path#86")), 85);
		ck_assert_ptr_null(json_object_get(record, "path#87"));
		ck_assert_int_eq(json_integer_value(json_object_get(record, "cc")), 2);
		json_decref(record);
	}
}

TEST(sequence_is_saved)
{
	struct state s = { 0 };

	trace_begin(fx.cp, 0, "x");
	trace_end(fx.cp);
	trace_part.state(fx.cp, &s);
	for (int i = 0; i < 3; i++) {
		trace_begin(fx.cp, 0, "x");
		trace_end(fx.cp);
	}
	s.loading = true;
	s.pos = 0;
	trace_part.state(fx.cp, &s);
	ck_assert(!s.failed);
	fx.trace_len = 0;
	trace_begin(fx.cp, 0, "x");
	trace_end(fx.cp);
	ck_assert_int_eq(strncmp(line(), "{\"seq\":2,", 9), 0);
	s.len = 3;
	s.pos = 0;
	trace_part.state(fx.cp, &s);
	ck_assert(s.failed);
	free(s.data);
}

TEST(without_a_sink)
{
	const struct cp_host host = {
		.map = (void *)1, .dirty = (void *)1, .tod = (void *)1, .kick = (void *)1,
		.set_timer = (void *)1, .storage_changed = (void *)1,
	};
	const struct cp_result done = { .how = CP_DONE };
	char err[256];
	struct cp *cp;

	(void)host;
	cp = cp_create(NULL, &fx.config, &host, err, sizeof(err));
	ck_assert_ptr_nonnull(cp);
	ck_assert(!trace_enabled(cp));
	ck_assert(trace_enabled(fx.cp));
	trace_begin(cp, 0, "x");
	trace_number(cp, "path", 1);
	trace_end_result(cp, &done);
	trace_begin(cp, 0, "x");
	trace_end(cp);
	cp_destroy(cp);
	ck_assert_uint_eq(fx.trace_len, 0);
}

/* Twice as large each time, and never larger than its limit; what is in it stays. */
TEST(buffers_grow)
{
	struct trace_buffer buffer;

	ck_assert(trace_buffer_init(&buffer, 16, 100));
	trace_put_text(&buffer, "0123456789", 10);
	ck_assert(trace_buffer_room(&buffer, 6));
	ck_assert_uint_eq(buffer.size, 16);
	ck_assert(trace_buffer_room(&buffer, 7));
	ck_assert_uint_eq(buffer.size, 32);
	ck_assert(trace_buffer_room(&buffer, 22));
	ck_assert_uint_eq(buffer.size, 32);
	ck_assert(!trace_buffer_room(&buffer, 91));
	ck_assert_uint_eq(buffer.size, 32);
	ck_assert(trace_buffer_room(&buffer, 55));
	ck_assert_uint_eq(buffer.size, 100);
	ck_assert(trace_buffer_room(&buffer, 90));
	ck_assert(!trace_buffer_room(&buffer, 91));
	ck_assert(!trace_buffer_room(&buffer, SIZE_MAX));
	memset(buffer.text + buffer.len, 'x', 90);
	ck_assert_mem_eq(buffer.text, "0123456789x", 11);
	free(buffer.text);
	/* From the limit on. */
	ck_assert(trace_buffer_init(&buffer, 16, 15));
	ck_assert(trace_buffer_room(&buffer, 16));
	ck_assert(!trace_buffer_room(&buffer, 17));
	ck_assert_uint_eq(buffer.size, 16);
	free(buffer.text);
	ck_assert(trace_buffer_init(&buffer, 8, 17));
	ck_assert(trace_buffer_room(&buffer, 9));
	ck_assert_uint_eq(buffer.size, 16);
	ck_assert(trace_buffer_room(&buffer, 17));
	ck_assert_uint_eq(buffer.size, 17);
	free(buffer.text);
}
