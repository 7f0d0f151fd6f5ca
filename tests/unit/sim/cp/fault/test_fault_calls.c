/* SPDX-License-Identifier: MIT */
/* Faults of the guest's IUCV calls: every kind at every point. */
#include "fault_pairs.h"
#include "iucv_check.h"

#define CLASS 0x44444444u
#define SEVER_CODE 0x99
#define FAIL_CODE 0x42
#define OWN_CODE 0x11	/* what the guest puts into IPUSER */
#define LIMIT 3

static const char *const prefixes[] = { "iucv.", NULL };
static struct note a;
static uint16_t path;
static uint32_t id;
static unsigned int told;	/* events of @a before the call */
static struct cp_result result;
static char answer[4];

static void setup(void)
{
	static const char *const options[] = {
		"cpus", "2", "directory", "IUCV ANY PRIORITY;IUCV ALLOW", NULL,
	};

	fx_setup_with(options);
	note_user(&a, "ALPHA", 8);
	fx_declare(0);
	path = open_path(&a, IPRMDATA, IPRMDATA, 100);
}

CASE("iucv", setup, fx_teardown);

/* The last event of the peer, if it had any since the call. */
static const struct iucv_event *heard(enum iucv_type type)
{
	return a.count > told && a.event[a.count - 1].type == type ? &a.event[a.count - 1] : NULL;
}

static void prepare_nothing(void)
{
}

static void prepare_message(void)
{
	id = peer_send(&a, 0, 0, "data", 4, answer, sizeof(answer));
}

static void prepare_taken(void)
{
	prepare_message();
	take(IUCV_MSG_PENDING, path);
}

static void prepare_received(void)
{
	prepare_taken();
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID, id, 0, DATA, 4), 0);
}

static void prepare_sent(void)
{
	ck_cc(send(path, 0, DATA, 4, 4), 0);
}

static void prepare_done(void)
{
	prepare_sent();
	ck_call(peer_path(&a, IUCV_REJECT, 0, IPFGPID), 0, 0);
}

static void prepare_pending(void)
{
	struct iucv_parm q = { .vmid = "LINUX001", .msglim = 9 };

	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	path = get_be16(take(IUCV_PENDING, 1));
}

static void prepare_quiesced(void)
{
	ck_cc(on_path(IUCV_QUIESCE, path, 0), 0);
}

/* Something for SET CONTROL MASK to mask. */
static void prepare_control(void)
{
	ck_call(peer_path(&a, IUCV_QUIESCE, 0, 0), 0, 0);
}

static struct cp_result plain(uint32_t function)
{
	parm_zero();
	return guest(function);
}

static struct cp_result call_query(void) { return plain(IUCV_QUERY); }
static struct cp_result call_test_message(void) { return plain(IUCV_TEST_MESSAGE); }
static struct cp_result call_retrieve(void) { return plain(IUCV_RETRIEVE_BUFFER); }
static struct cp_result call_describe(void) { return plain(IUCV_DESCRIBE); }
static struct cp_result call_set_mask(void) { return plain(IUCV_SET_MASK); }
static struct cp_result call_set_control(void) { return plain(IUCV_SET_CONTROL_MASK); }
static struct cp_result call_accept(void) { return on_path(IUCV_ACCEPT, path, 0); }
static struct cp_result call_connect(void) { return connect_to("ALPHA", 0, 9); }
static struct cp_result call_quiesce(void) { return on_path(IUCV_QUIESCE, path, 0); }
static struct cp_result call_resume(void) { return on_path(IUCV_RESUME, path, 0); }
static struct cp_result call_send(void) { return send(path, 0, DATA, 4, 4); }

static struct cp_result call_receive(void)
{
	memset(fx_at(DATA, 4), 0, 4);
	return message(IUCV_RECEIVE, path, IPFGPID | IPFGMID, id, 0, DATA, 4);
}

static struct cp_result call_reply(void)
{
	return message(IUCV_REPLY, path, 0, id, CLASS, DATA, 4);
}

static struct cp_result call_test_completion(void)
{
	return message(IUCV_TEST_COMPLETION, path, IPFGPID, 0, 0, 0, 0);
}

static struct cp_result call_reject(void)
{
	return message(IUCV_REJECT, path, IPFGPID | IPFGMID, id, 0, 0, 0);
}

static struct cp_result call_purge(void)
{
	return message(IUCV_PURGE, path, IPFGPID, 0, 0, 0, 0);
}

static struct cp_result call_declare(void)
{
	put_be32(parm_zero() + IPBFADR1, 0x2040);
	return fx_iucv(1, IUCV_DECLARE_BUFFER, PARM);
}

static struct cp_result call_sever(void)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path);
	p[IPUSER] = OWN_CODE;
	return guest(IUCV_SEVER);
}

static bool on_cpu_1(uint32_t function)
{
	parm_zero();
	return fx_iucv(1, function, PARM).cc == 0;
}

static bool done_query(void) { return fx.gr[0] == IUCV_EVENT_SIZE; }
static bool done_test_message(void) { return result.cc == 1 && parm()[IPRCODE] == 0; }
static bool done_describe(void) { return get_be32(parm() + IPMSGID) == id; }
static bool done_send(void) { return heard(IUCV_MSG_PENDING); }
static bool done_receive(void) { return memcmp(fx_at(DATA, 4), "data", 4) == 0; }
static bool done_complete(void) { return heard(IUCV_MSG_COMPLETE); }
static bool done_test_completion(void) { return get_be32(parm() + IPMSGTAG) == 0x33333333; }
static bool done_accept(void) { return heard(IUCV_COMPLETE); }
static bool done_connect(void) { return heard(IUCV_PENDING); }
static bool done_declare(void) { return on_cpu_1(IUCV_SET_MASK); }
static bool done_quiesce(void) { return heard(IUCV_PATH_QUIESCED); }
static bool done_resume(void) { return heard(IUCV_PATH_RESUMED); }
static bool done_sever(void) { return heard(IUCV_SEVERED); }
static bool done_mask(void) { return !cp_interrupt_pending(fx.cp, 0); }

static bool done_retrieve(void)
{
	return plain(IUCV_SET_MASK).cc == 1 && parm()[IPRCODE] == IUCV_NO_CONTROL_BUFFER;
}

static bool done_purge(void)
{
	struct iucv_path_info info;

	return iucv_path_info(iucv_user_guest(fx.cp), path, &info) && info.sent == 0;
}

static const struct scenario {
	void (*prepare)(void);
	struct cp_result (*call)(void);
	bool (*done)(void);	/* has it had its effect? */
	uint8_t cc;		/* without a fault */
	uint8_t severed_cc, severed_code;	/* when CP has severed the path first */
} scenario[FAULT_POINTS] = {
	[FAULT_IUCV_QUERY] = { prepare_nothing, call_query, done_query, 0, 0, 0 },
	[FAULT_IUCV_TEST_MESSAGE] = { prepare_message, call_test_message, done_test_message, 1, 0, 0 },
	[FAULT_IUCV_RETRIEVE_BUFFER] = { prepare_nothing, call_retrieve, done_retrieve, 0, 0, 0 },
	[FAULT_IUCV_DESCRIBE] = { prepare_message, call_describe, done_describe, 0, 0, 0 },
	[FAULT_IUCV_SEND] = { prepare_nothing, call_send, done_send, 0, 1, 0x01 },
	[FAULT_IUCV_RECEIVE] = { prepare_taken, call_receive, done_receive, 0, 1, 0x01 },
	[FAULT_IUCV_REPLY] = { prepare_received, call_reply, done_complete, 0, 1, 0x01 },
	[FAULT_IUCV_TEST_COMPLETION] = { prepare_done, call_test_completion, done_test_completion,
					 3, 3, 0 },
	[FAULT_IUCV_REJECT] = { prepare_taken, call_reject, done_complete, 0, 1, 0x01 },
	[FAULT_IUCV_PURGE] = { prepare_sent, call_purge, done_purge, 0, 0, 0 },
	[FAULT_IUCV_ACCEPT] = { prepare_pending, call_accept, done_accept, 0, 1, 0x14 },
	[FAULT_IUCV_CONNECT] = { prepare_nothing, call_connect, done_connect, 0, 0, 0 },
	[FAULT_IUCV_DECLARE_BUFFER] = { prepare_nothing, call_declare, done_declare, 0, 0, 0 },
	[FAULT_IUCV_QUIESCE] = { prepare_nothing, call_quiesce, done_quiesce, 0, 1, 0x01 },
	[FAULT_IUCV_RESUME] = { prepare_quiesced, call_resume, done_resume, 0, 1, 0x01 },
	[FAULT_IUCV_SEVER] = { prepare_nothing, call_sever, done_sever, 0, 0, 0 },
	[FAULT_IUCV_SET_MASK] = { prepare_message, call_set_mask, done_mask, 0, 0, 0 },
	[FAULT_IUCV_SET_CONTROL_MASK] = { prepare_control, call_set_control, done_mask, 0, 0, 0 },
};

static const uint32_t values[FAULT_KINDS] = {
	/* Never the condition code without a fault. */
	[FAULT_CC] = 2, [FAULT_RC] = FAIL_CODE, [FAULT_PGM] = PGM_PROTECTION,
	[FAULT_SEVER] = SEVER_CODE, [FAULT_LIMIT] = LIMIT, [FAULT_CORRUPT] = 0x0f,
};

static void ck_severed(enum fault_point point, const struct scenario *s)
{
	ck_cc(result, s->severed_cc);
	if (s->severed_cc == 1)
		ck_assert_uint_eq(parm()[IPRCODE], s->severed_code);
	if (point == FAULT_IUCV_CONNECT) {
		/* Nobody has heard of the path but the guest. */
		ck_assert_uint_eq(a.count, told);
		path = get_be16(parm() + IPPATHID);
	} else {
		ck_assert_ptr_nonnull(heard(IUCV_SEVERED));
		ck_assert_uint_eq(heard(IUCV_SEVERED)->ipuser[0], SEVER_CODE);
	}
	if (point == FAULT_IUCV_SEVER)
		ck_assert_ptr_null(fx_take(0));
	else
		ck_assert_uint_eq(take(IUCV_SEVERED, path)[16], SEVER_CODE);
}

static void ck_limited(enum fault_point point, const struct scenario *s)
{
	if (point == FAULT_IUCV_QUERY) {
		ck_assert_uint_eq(fx.gr[1], LIMIT);
		return;
	}
	ck_assert(s->done());
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), LIMIT);
}

static void ck_effect(int i, const struct scenario *s)
{
	switch (pair[i].kind) {
	case FAULT_CC:
		ck_cc(result, 2);
		break;
	case FAULT_RC:
		ck_rc(result, FAIL_CODE);
		break;
	case FAULT_PGM:
		ck_pgm(result, PGM_PROTECTION);
		break;
	case FAULT_DROP:
		ck_cc(result, 0);
		break;
	case FAULT_SEVER:
		ck_severed(pair[i].point, s);
		return;
	case FAULT_LIMIT:
		ck_limited(pair[i].point, s);
		return;
	case FAULT_CORRUPT:
		ck_cc(result, 0);
		/* Offset 6 of 4 bytes is the third. */
		ck_assert_mem_eq(fx_at(DATA, 4), "da\x7b" "a", 4);
		return;
	default:
		ck_no_test(i);
	}
	ck_assert(!s->done());
}

TEST_LOOP(pairs, 0, pairs_of(prefixes))
{
	const struct scenario *s = &scenario[pair[_i].point];
	enum fault_kind kind = pair[_i].kind;

	if (!s->call)
		ck_no_test(_i);
	s->prepare();
	told = a.count;
	arm_pair(_i, values[kind], kind == FAULT_CORRUPT ? 6 : 0);
	result = s->call();
	ck_fired();
	ck_effect(_i, s);
	if (kind == FAULT_SEVER || kind == FAULT_CORRUPT || kind == FAULT_LIMIT)
		return;
	/* It has fired once: the same call does its work now. */
	result = s->call();
	ck_cc(result, s->cc);
	ck_assert(s->done());
}

TEST(others)
{
	ck_others_refused(pairs_of(prefixes));
}

static void arm_corrupt(uint32_t offset)
{
	arm(FAULT_IUCV_RECEIVE, FAULT_CORRUPT, 0x80, offset);
}

/* An entry of the list of areas at DATA. */
static void put_entry(unsigned int index, uint32_t addr, uint32_t len)
{
	uint8_t *entry = fx_at(DATA + index * AREA_ENTRY, AREA_ENTRY);

	put_be32(entry + AREA_ADDRESS, addr);
	put_be32(entry + AREA_LENGTH, len);
}

TEST(corrupts_lists_and_parameters)
{
	arm_corrupt(9);
	id = peer_send(&a, 0, IPRMDATA, "12345678", 8, NULL, 0);
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID, id, 0, 0, 0), 0);
	ck_assert_mem_eq(parm() + IPRMMSG, "1\xb2" "345678", 8);
	/* Two pieces of three bytes; the fifth byte is in the second. */
	id = peer_send(&a, 0, 0, "abcdef", 6, NULL, 0);
	put_entry(0, DATA + 0x100, 3);
	put_entry(1, DATA + 0x200, 3);
	arm_corrupt(4);
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID | IPBUFLST, id, 0, DATA, 6), 0);
	ck_assert_mem_eq(fx_at(DATA + 0x100, 3), "abc", 3);
	ck_assert_mem_eq(fx_at(DATA + 0x200, 3), "d\xe5" "f", 3);
	/* A message without data has no byte to change. */
	id = peer_send(&a, 0, 0, "", 0, NULL, 0);
	arm_corrupt(0);
	memset(fx_at(DATA, 6), 0xee, 6);
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID, id, 0, DATA, 6), 0);
	ck_assert_mem_eq(fx_at(DATA, 6), "\xee\xee\xee\xee\xee\xee", 6);
}

/* The data overwrite the list that says where they lie: harmless. */
TEST(corrupt_cannot_be_misled)
{
	static const uint8_t data[8] = { 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff };

	id = peer_send(&a, 0, 0, data, 8, NULL, 0);
	put_entry(0, DATA, 8);
	arm_corrupt(0);
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID | IPBUFLST, id, 0, DATA, 8), 0);
	ck_assert_mem_eq(fx_at(DATA, 8), data, 8);
}

/* A path that is severed already, or that does not exist, is not severed again. */
TEST(nothing_to_sever)
{
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	arm(FAULT_IUCV_SEND, FAULT_SEVER, SEVER_CODE, 0);
	ck_rc(send(path, 0, DATA, 4, 4), 0x01);
	ck_assert_uint_eq(take(IUCV_SEVERED, path)[16], 0);
	ck_assert_ptr_null(fx_take(0));
	arm(FAULT_IUCV_SEND, FAULT_SEVER, SEVER_CODE, 0);
	ck_rc(send(77, 0, DATA, 4, 4), 0x01);
	ck_assert_ptr_null(fx_take(0));
}

/* Functions that may name a path have a flag for it; without the flag the field is ignored. */
TEST_LOOP(path_that_is_not_named, 0, 4)
{
	static const struct { enum fault_point point; uint32_t function; uint8_t cc; } calls[] = {
		{ FAULT_IUCV_RECEIVE, IUCV_RECEIVE, 2 }, { FAULT_IUCV_REJECT, IUCV_REJECT, 2 },
		/* It needs a path, or a message. */
		{ FAULT_IUCV_PURGE, IUCV_PURGE, 1 },
		{ FAULT_IUCV_TEST_COMPLETION, IUCV_TEST_COMPLETION, 2 },
	};
	const struct fault_rule rule = {
		.point = calls[_i].point, .path = path, .when = FAULT_ALWAYS, .kind = FAULT_CC,
		.value = 3,
	};
	struct fault_status status;

	fx_arm(&rule);
	/* There is no message. */
	ck_assert_uint_eq(message(calls[_i].function, path, 0, 0, 0, DATA, 4).cc, calls[_i].cc);
	ck_assert(fault_status(fx.cp, 0, &status));
	ck_assert_uint_eq(status.matched, 0);
	ck_cc(message(calls[_i].function, path, IPFGPID, 0, 0, DATA, 4), 3);
}
