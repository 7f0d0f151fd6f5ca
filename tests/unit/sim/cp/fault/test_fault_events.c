/* SPDX-License-Identifier: MIT */
/* Faults of what is to be told to the guest and to peers: every kind at every point. */
#include <stdio.h>
#include <stdlib.h>

#include "fault_pairs.h"
#include "iucv_check.h"
#include "zvmlab/state.h"

#define CLASS 0x44444444u
#define SEVER_CODE 0x99
#define EVENTS 3

static const char *const options[] = { "directory", "IUCV ANY PRIORITY;IUCV ALLOW", NULL };
static const char *const prefixes[] = { "interrupt", "peer.", NULL };
static struct note a;
/* Event n, from 1, is about path[n]. */
static uint16_t path[EVENTS + 1];
static uint32_t id[EVENTS + 1];

static void setup(void)
{
	fx_setup_with(options);
	note_user(&a, "ALPHA", 8);
	fx_declare(0);
	for (int n = 1; n <= EVENTS; n++)
		path[n] = open_path(&a, IPRMDATA, IPRMDATA, 100);
}

CASE("events", setup, fx_teardown);

static uint32_t send_numbered(uint16_t peer_path, uint32_t number)
{
	struct iucv_parm q = { .path = peer_path, .trgcls = number, .msgtag = number };

	ck_call(iucv_call(fx.cp, a.user, IUCV_SEND, &q), 0, 0);
	return q.msgid;
}

static struct cp_result control(uint32_t function, unsigned int n)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path[n]);
	ebcdic_name(p + IPVMID, "ALPHA");
	memset(p + IPUSER, 0, 16);
	p[IPUSER] = (uint8_t)n;
	return guest(function);
}

static void make_interrupt(unsigned int n)
{
	send_numbered((uint16_t)(n - 1), n);
}

static void make_connect(unsigned int n)
{
	ck_cc(control(IUCV_CONNECT, n), 0);
	path[n] = get_be16(parm() + IPPATHID);
}

static void make_message(unsigned int n)
{
	uint8_t *p = parm_zero();

	put_be16(p + IPPATHID, path[n]);
	p[IPFLAGS1] = IPNORPY;
	put_be32(p + IPTRGCLS, n);
	put_be32(p + IPBFADR1, DATA);
	put_be32(p + IPBFLN1F, 4);
	ck_cc(guest(IUCV_SEND), 0);
}

static void make_reply(unsigned int n)
{
	ck_cc(message(IUCV_REPLY, path[n], 0, id[n], n, DATA, 0), 0);
}

static void make_quiesce(unsigned int n)
{
	ck_cc(control(IUCV_QUIESCE, n), 0);
}

static void make_sever(unsigned int n)
{
	ck_cc(control(IUCV_SEVER, n), 0);
}

/* Messages of the peer that the guest has received. */
static void prepare_replies(void)
{
	for (unsigned int n = 1; n <= EVENTS; n++) {
		id[n] = send_numbered((uint16_t)(n - 1), n);
		take(IUCV_MSG_PENDING, path[n]);
		ck_cc(message(IUCV_RECEIVE, path[n], IPFGMID, id[n], 0, DATA, 0), 0);
	}
}

static void prepare_nothing(void)
{
}

static uint32_t class_of(const struct iucv_event *e) { return e->trgcls; }
static uint32_t tag_of(const struct iucv_event *e) { return e->msgtag; }
static uint32_t user_of(const struct iucv_event *e) { return e->ipuser[0]; }

static const struct scenario {
	void (*prepare)(void);
	void (*make)(unsigned int n);
	uint32_t (*number)(const struct iucv_event *event);
	enum iucv_type type;
	uint32_t offset;	/* of the number's last byte in the 40 bytes */
} scenario[FAULT_POINTS] = {
	[FAULT_INTERRUPT] = { prepare_nothing, make_interrupt, class_of, IUCV_MSG_PENDING,
				 IPTRGCLS + 3 },
	[FAULT_PEER_CONNECT] = { prepare_nothing, make_connect, user_of, IUCV_PENDING,
				 IPUSER },
	[FAULT_PEER_MESSAGE] = { prepare_nothing, make_message, class_of, IUCV_MSG_PENDING,
				 IPTRGCLS + 3 },
	[FAULT_PEER_REPLY] = { prepare_replies, make_reply, tag_of, IUCV_MSG_COMPLETE,
				 IPMSGTAG + 3 },
	[FAULT_PEER_QUIESCE] = { prepare_nothing, make_quiesce, user_of, IUCV_PATH_QUIESCED,
				 IPUSER },
	[FAULT_PEER_SEVER] = { prepare_nothing, make_sever, user_of, IUCV_SEVERED,
				 IPUSER },
};

/* The interruptions that the guest gets: 40 bytes each, like the peer's notes. */
static void take_all(struct note *to)
{
	const uint8_t *bytes;

	while ((bytes = fx_take(0)) != NULL)
		to->event[to->count++] = (struct iucv_event){
			.type = (enum iucv_type)bytes[IPTYPE],
			.path = get_be16(bytes + IPPATHID),
			.trgcls = get_be32(bytes + IPTRGCLS), .ipuser = { bytes[IPUSER] },
		};
}

static const char *const expected[FAULT_KINDS] = {
	[FAULT_DROP] = " 2 3", [FAULT_DELAY] = " 2 3 1", [FAULT_DUPLICATE] = " 1 1 2 3",
	[FAULT_REORDER] = " 2 1 3", [FAULT_CORRUPT] = " 0 2 3", [FAULT_SEVER] = " 2 3",
};

static bool is_severed(const struct note *note, uint8_t code)
{
	for (unsigned int i = 0; i < note->count; i++)
		if (note->event[i].type == IUCV_SEVERED && note->event[i].ipuser[0] == code)
			return true;
	return false;
}

TEST_LOOP(pairs, 0, pairs_of(prefixes))
{
	const struct scenario *s = &scenario[pair[_i].point];
	enum fault_kind kind = pair[_i].kind;
	struct note at_guest = { 0 }, *notes;
	char found[64] = "";

	if (!s->make || !expected[kind])
		ck_no_test(_i);
	s->prepare();
	a.count = 0;
	arm_pair(_i, kind == FAULT_DELAY ? 2 : kind == FAULT_CORRUPT ? 1 :
		 kind == FAULT_SEVER ? SEVER_CODE : 0, kind == FAULT_CORRUPT ? s->offset : 0);
	for (unsigned int n = 1; n <= EVENTS; n++)
		s->make(n);
	ck_fired();
	take_all(&at_guest);
	notes = pair[_i].point == FAULT_INTERRUPT ? &at_guest : &a;
	for (unsigned int i = 0; i < notes->count; i++)
		if (notes->event[i].type == s->type)
			snprintf(found + strlen(found), sizeof(found) - strlen(found), " %u",
				 s->number(&notes->event[i]));
	ck_assert_str_eq(found, expected[kind]);
	ck_assert_int_eq(is_severed(&at_guest, SEVER_CODE), kind == FAULT_SEVER);
	/* A peer that has not heard of the connection does not hear of its end. */
	ck_assert_int_eq(is_severed(&a, SEVER_CODE),
			 kind == FAULT_SEVER && pair[_i].point != FAULT_PEER_CONNECT);
}

TEST(others)
{
	ck_others_refused(pairs_of(prefixes));
}

/* Connection complete, resumed and priority messages pass the same points. */
TEST(other_types)
{
	struct iucv_parm q = { .vmid = "LINUX001", .flags = IPPRTY };

	arm(FAULT_PEER_CONNECT, FAULT_DROP, 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	a.count = 0;
	ck_cc(on_path(IUCV_ACCEPT, get_be16(fx_take(0)), IPPRTY), 0);
	ck_assert_uint_eq(a.count, 0);
	ck_cc(control(IUCV_QUIESCE, 1), 0);
	arm(FAULT_PEER_QUIESCE, FAULT_DROP, 0, 0);
	ck_cc(control(IUCV_RESUME, 1), 0);
	ck_assert_int_eq(last(&a, IUCV_PATH_QUIESCED)->path, 0);
	arm(FAULT_PEER_MESSAGE, FAULT_DROP, 0, 0);
	ck_cc(send(EVENTS, IPPRTY, DATA, 4, 4), 0);
	ck_assert_uint_eq(a.count, 1);
}

TEST(filter_by_type)
{
	ck_arm(FAULT_INTERRUPT, FAULT_DROP, .type = IUCV_PATH_QUIESCED);
	send_numbered(0, 1);
	ck_call(peer_path(&a, IUCV_QUIESCE, 0, 0), 0, 0);
	ck_call(peer_path(&a, IUCV_RESUME, 0, 0), 0, 0);
	take(IUCV_PATH_RESUMED, path[1]);
	take(IUCV_MSG_PENDING, path[1]);
	ck_assert_ptr_null(fx_take(0));
}

/* A type that does not exist is not shown to a peer; every other one is. */
TEST(corrupt_type)
{
	arm(FAULT_PEER_MESSAGE, FAULT_CORRUPT, 0x40, 3);
	make_message(1);
	ck_assert_uint_eq(last(&a, IUCV_MSG_PENDING)->trgcls, 1);
	arm(FAULT_PEER_MESSAGE, FAULT_CORRUPT, IUCV_MSG_PENDING ^ IUCV_MSG_COMPLETE, 3);
	make_message(2);
	ck_assert_uint_eq(last(&a, IUCV_MSG_COMPLETE)->audit, 0);
	arm(FAULT_PEER_MESSAGE, FAULT_CORRUPT, IUCV_MSG_PENDING ^ IUCV_COMPLETE, 3);
	make_message(3);
	ck_assert_uint_eq(last(&a, IUCV_COMPLETE)->path, 2);
}

/* The agent's traffic does not bring out what waits for the test's. */
TEST(agent_does_not_count)
{
	static struct note agent;
	uint16_t agents;

	note_user(&agent, CP_AGENT_USERID, 4);
	agents = open_path(&agent, 0, 0, 10);
	arm(FAULT_INTERRUPT, FAULT_REORDER, 0, 0);
	send_numbered(0, 1);
	peer_send(&agent, 0, 0, "x", 1, NULL, 0);
	take(IUCV_MSG_PENDING, agents);
	ck_assert_ptr_null(fx_take(0));
	send_numbered(0, 2);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path[1]) + IPTRGCLS), 2);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path[1]) + IPTRGCLS), 1);
	ck_call(peer_path(&agent, IUCV_QUIESCE, 0, 0), 0, 0);
}

/* A copy goes before what is held back, as everything else does. */
TEST(copies_count)
{
	static const uint32_t order[] = { 2, 2, 1, 3 };

	arm(FAULT_INTERRUPT, FAULT_DELAY, 2, 0);
	send_numbered(0, 1);
	arm(FAULT_INTERRUPT, FAULT_DUPLICATE, 0, 0);
	send_numbered(0, 2);
	send_numbered(0, 3);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path[1]) + IPTRGCLS), order[i]);
	ck_assert_ptr_null(fx_take(0));
}

/* Events that are released together come in the order in which they were held back. */
TEST(several_held_back)
{
	for (unsigned int n = 1; n <= 2; n++) {
		arm(FAULT_PEER_MESSAGE, FAULT_DELAY, 1, 0);
		make_message(n);
	}
	ck_assert_uint_eq(iucv_events_waiting(a.user), 2);
	a.count = 0;
	make_message(3);
	ck_assert_uint_eq(a.count, 3);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_uint_eq(a.event[i].trgcls, i == 0 ? 3 : i);
}

/* Held back and doubled events of a peer: in an image, and when it logs off. */
TEST(saved_and_logged_off)
{
	uint8_t *image;
	size_t len;

	iucv_user_attach(a.user, NULL, NULL);
	arm(FAULT_PEER_MESSAGE, FAULT_DELAY, 1, 0);
	make_message(1);
	arm(FAULT_PEER_MESSAGE, FAULT_DUPLICATE, 0, 0);
	make_message(2);
	image = fx_save(&len);
	fx_load(image, len);
	free(image);
	a.count = 0;
	a.user = iucv_user_find(fx.cp, "ALPHA");
	ck_assert_uint_eq(iucv_events_waiting(a.user), 3);
	iucv_user_attach(a.user, &note_ops, &a);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(a.count, 3);
	ck_assert_uint_eq(a.event[0].trgcls, 2);
	ck_assert_uint_eq(a.event[1].trgcls, 1);
	ck_assert_uint_eq(a.event[2].trgcls, 2);
	iucv_user_attach(a.user, NULL, NULL);
	arm(FAULT_PEER_MESSAGE, FAULT_DUPLICATE, 0, 0);
	make_message(1);
	arm(FAULT_PEER_MESSAGE, FAULT_DELAY, 9, 0);
	make_message(1);
	ck_assert_uint_eq(iucv_events_waiting(a.user), 3);
	iucv_user_destroy(fx.cp, a.user);
	take(IUCV_SEVERED, path[1]);
}
