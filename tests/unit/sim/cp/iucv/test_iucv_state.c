/* SPDX-License-Identifier: MIT */
/* IUCV: save in any state, load into a fresh CP, go on: same events, same trace. */
#define _GNU_SOURCE /* memmem */
#include <stdio.h>
#include <stdlib.h>

#include "cp_private.h"
#include "iucv/iucv_private.h"
#include "iucv_check.h"
#include "zvmlab/state.h"

#define CLASS 0x44444444u
#define STEPS 14

static const char *const options[] = {
	"cpus", "2", "directory", "IUCV ANY PRIORITY;IUCV ALLOW;IUCV *MSG", NULL,
};
static struct note a, b;

static void setup(void)
{
	fx_setup_with(options);
	note_user(&a, "ALPHA", 8);
	note_user(&b, "BETA", 8);
	fx_declare(0);
}

CASE("state", setup, fx_teardown);

static void attach_users(void)
{
	a.user = iucv_user_find(fx.cp, "ALPHA");
	ck_assert_ptr_nonnull(a.user);
	iucv_user_attach(a.user, &note_ops, &a);
	b.user = iucv_user_find(fx.cp, "BETA");
	ck_assert_ptr_nonnull(b.user);
	iucv_user_attach(b.user, &note_ops, &b);
	iucv_dispatch(fx.cp);
}

/* The guest's storage is the emulator's to save. */
static void into_a_fresh_cp(void)
{
	uint8_t *storage = malloc(FX_STORAGE);
	size_t len, again_len;
	uint8_t *image, *again;

	ck_assert_ptr_nonnull(storage);
	image = fx_save(&len);
	memcpy(storage, fx.storage, FX_STORAGE);
	fx_teardown();
	fx_setup_with(options);
	memcpy(fx.storage, storage, FX_STORAGE);
	free(storage);
	fx_load(image, len);
	again = fx_save(&again_len);
	ck_assert_uint_eq(again_len, len);
	ck_assert_mem_eq(again, image, len);
	free(image);
	free(again);
	attach_users();
	fx.trace_len = 0;
}

static char answer[16];

static uint32_t id;

static void first_steps(unsigned int n)
{
	struct iucv_parm q = { .vmid = "LINUX001", .flags = IPPRTY | IPRMDATA };

	switch (n) {
	case 0:
		ck_cc(connect_to("ALPHA", IPPRTY | IPRMDATA, 20), 0);
		ck_cc(connect_to("BETA", 0, 3), 0);
		break;
	case 1:
		ck_call(peer_path(&a, IUCV_ACCEPT, 0, IPPRTY | IPRMDATA), 0, 0);
		ck_call(iucv_call(fx.cp, b.user, IUCV_CONNECT, &q), 0, 0);
		break;
	case 2:
		take(IUCV_COMPLETE, 0);
		take(IUCV_PENDING, 2);
		peer_send(&a, 0, 0, "a first message", 15, answer, sizeof(answer));
		peer_send(&a, 0, IPPRTY, "urgent", 6, NULL, 0);
		peer_send(&a, 0, IPRMDATA, "12345678", 8, answer, 8);
		break;
	case 3:
		take(IUCV_PRIO_PENDING, 0);
		id = get_be32(take(IUCV_MSG_PENDING, 0) + 4);
		break;
	case 4:
		ck_rc(message(IUCV_RECEIVE, 0, IPFGMID, id, 0, DATA, 4), IUCV_SHORT_BUFFER);
		ck_assert_mem_eq(fx_at(DATA, 4), "a fi", 4);
		arm(FAULT_INTERRUPT, FAULT_DELAY, 1, 0);
		ck_call(peer_path(&a, IUCV_QUIESCE, 0, 0), 0, 0);
		break;
	case 5:
		ck_cc(message(IUCV_RECEIVE, 0, IPFGMID, id, 0, DATA + 4, 20), 0);
		ck_assert_mem_eq(fx_at(DATA, 15), "a first message", 15);
		arm(FAULT_INTERRUPT, FAULT_DUPLICATE, 0, 0);
		peer_send(&a, 0, 0, "again", 5, NULL, 0);
		break;
	case 6:
		memcpy(fx_at(DATA, 6), "answer", 6);
		ck_cc(message(IUCV_REPLY, 0, 0, id, CLASS, DATA, 6), 0);
		arm(FAULT_INTERRUPT, FAULT_CORRUPT, 0xff, 31);
		ck_call(peer_path(&a, IUCV_RESUME, 0, 0), 0, 0);
		break;
	default:
		ck_abort_msg("no such step");
	}
}

static void last_steps(unsigned int n)
{
	struct iucv_parm q;

	switch (n) {
	case 7:
		ck_assert_uint_eq(take(IUCV_PATH_RESUMED, 0)[31], 0xff);
		ck_cc(send(0, IPPRTY, DATA, 4, 8), 0);
		ck_cc(send(0, 0, DATA, 4, 8), 0);
		ck_call(peer_path(&a, IUCV_REJECT, 0, IPFGPID), 0, 0);
		break;
	case 8:
		take(IUCV_PATH_QUIESCED, 0);
		take(IUCV_PRIO_COMPLETE, 0);
		take(IUCV_MSG_PENDING, 0);
		ck_call(peer_path(&a, IUCV_PURGE, 0, IPFGPID), 0, 0);
		break;
	case 9:
		take(IUCV_MSG_PENDING, 0);
		id = get_be32(take(IUCV_MSG_PENDING, 0) + 4);
		q = (struct iucv_parm){ .flags = IPFGMID, .msgid = id };
		ck_call(iucv_call(fx.cp, a.user, IUCV_PURGE, &q), 0, 0);
		break;
	case 10:
		ck_rc(message(IUCV_RECEIVE, 0, IPFGMID, id, 0, DATA, 5), IUCV_PURGED);
		ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
		break;
	case 11:
		ck_call(peer_path(&b, IUCV_SEVER, 1, 0), 0, 0);
		ck_rc(on_path(IUCV_ACCEPT, 2, 0), IUCV_ORIGIN_SEVERED);
		break;
	case 12:
		take(IUCV_SEVERED, 0);
		take(IUCV_SEVERED, 2);
		ck_cc(message(IUCV_TEST_COMPLETION, 0, IPFGPID, 0, 0, 0, 0), 3);
		ck_assert_uint_eq(get_be32(parm() + IPAUDIT) >> 8, IUCV_AUDIT_SEVERED);
		break;
	default:
		ck_cc(on_path(IUCV_SEVER, 0, IPALL), 0);
		ck_cc(connect_to("ALPHA", 0, 0), 0);
		ck_assert_uint_eq(get_be16(parm() + IPPATHID), 0);
	}
}

/* One step of a scenario that passes through every state of a path and a message. */
static void step(unsigned int n)
{
	if (n < 7)
		first_steps(n);
	else
		last_steps(n);
}

/* The trace from step @from on; @load: through an image, into another CP. */
static char *run(unsigned int from, bool load, struct note notes[2])
{
	size_t start = 0;
	char *trace;

	for (unsigned int n = 0; n < STEPS; n++) {
		if (n == from && load)
			into_a_fresh_cp();
		if (n == from && !load) {
			/* As into_a_fresh_cp() does: the records have the same numbers. */
			attach_users();
			start = fx.trace_len;
		}
		step(n);
	}
	notes[0] = a;
	notes[1] = b;
	trace = strdup(fx.trace + start);
	ck_assert_ptr_nonnull(trace);
	return trace;
}

static void same_notes(const struct note *x, const struct note *y)
{
	ck_assert_uint_eq(x->count, y->count);
	for (unsigned int i = 0; i < x->count; i++) {
		struct iucv_event e = x->event[i], f = y->event[i];

		/* Where the answer lies is a matter of the process. */
		e.answer = f.answer = NULL;
		ck_assert_mem_eq(e.rmmsg, f.rmmsg, sizeof(e.rmmsg));
		ck_assert_mem_eq(e.ipuser, f.ipuser, sizeof(e.ipuser));
		ck_assert_int_eq(e.type, f.type);
		ck_assert_uint_eq(e.path, f.path);
		ck_assert_uint_eq(e.msgid, f.msgid);
		ck_assert_uint_eq(e.audit, f.audit);
		ck_assert_uint_eq(e.answer_length, f.answer_length);
	}
}

TEST_LOOP(every_state, 0, STEPS)
{
	static struct note plain[2], loaded[2];
	char *expected = run((unsigned int)_i, false, plain), *trace;

	fx_teardown();
	setup();
	trace = run((unsigned int)_i, true, loaded);
	same_notes(&plain[0], &loaded[0]);
	same_notes(&plain[1], &loaded[1]);
	ck_assert_str_eq(trace, expected);
	free(expected);
	free(trace);
}

/* An event for a peer waits for the peer's owner; the answer came with the image. */
TEST(answer_in_the_image)
{
	const struct iucv_event *e;

	for (unsigned int n = 0; n < 3; n++)
		step(n);
	iucv_user_attach(a.user, NULL, NULL);
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 100), 0);
	ck_cc(message(IUCV_RECEIVE, 0, 0, 0, 0, DATA, 100), 0);
	id = get_be32(parm() + IPMSGID);
	memcpy(fx_at(DATA, 6), "answer", 6);
	ck_cc(message(IUCV_REPLY, 0, 0, id, CLASS, DATA, 6), 0);
	a.count = 0;
	into_a_fresh_cp();
	e = last(&a, IUCV_MSG_COMPLETE);
	ck_assert_uint_eq(e->msgid, id);
	ck_assert_uint_eq(e->answer_length, 10);
	ck_assert_ptr_nonnull(e->answer);
	ck_assert_ptr_ne(e->answer, answer);
}

static void build(void)
{
	for (unsigned int n = 0; n < 10; n++)
		step(n);
}

/* IUCV's part alone: what the checksum of the whole image keeps from it. */
static bool load_part(const uint8_t *part, size_t len)
{
	struct state s = { .loading = true, .data = (uint8_t *)(uintptr_t)part, .len = len };

	iucv_part.state_system(fx.cp, &s);
	return !s.failed;
}

/* Any byte may be anything: loading succeeds or fails, and the CP works in both cases. */
TEST_LOOP(damaged, 0, 4)
{
	struct state saved = { 0 };
	unsigned int failed = 0;

	build();
	iucv_part.state_system(fx.cp, &saved);
	ck_assert(!saved.failed);
	for (size_t i = (size_t)_i; i < saved.len; i += 4) {
		static const uint8_t masks[] = { 0x01, 0x80, 0xff };

		for (unsigned int m = 0; m < 3; m++) {
			saved.data[i] ^= masks[m];
			if (!load_part(saved.data, saved.len)) {
				failed++;
				ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
				ck_assert_ptr_null(fx_take(0));
			}
			saved.data[i] ^= masks[m];
			fx.trace_len = 0;
			a.count = b.count = 0;
			while (cp_interrupt_pending(fx.cp, 0))
				cp_interrupt_take(fx.cp, 0);
			iucv_dispatch(fx.cp);
			cp_reset(fx.cp);
		}
	}
	ck_assert_uint_gt(failed, 20);
	ck_assert(load_part(saved.data, saved.len));
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 3);
	free(saved.data);
}

/* Masks belong to a declared buffer; an image in which a CPU has only masks is refused. */
TEST(masks_without_a_buffer)
{
	const struct iucv_cpu *cpu = &fx.cp->iucv->cpu[0];
	uint8_t entry[] = { true, 0, 0, 0, 0, 0x40, 0x20 }, *at;
	struct state saved = { 0 };

	parm_zero()[IPMASK] = 0x40;
	ck_cc(guest(IUCV_SET_MASK), 0);
	parm_zero()[IPMASK] = 0x20;
	ck_cc(guest(IUCV_SET_CONTROL_MASK), 0);
	ck_assert(cpu->declared);
	put_be32(entry + 1, cpu->buffer);
	iucv_part.state_system(fx.cp, &saved);
	at = memmem(saved.data, saved.len, entry, sizeof(entry));
	ck_assert_ptr_nonnull(at);
	at[0] = false;
	ck_assert(!load_part(saved.data, saved.len));
	at[5] = 0;
	ck_assert(!load_part(saved.data, saved.len));
	at[6] = 0;
	ck_assert(load_part(saved.data, saved.len));
	ck_assert(!cpu->declared);
	free(saved.data);
}

/* Offsets of the members of a guest's message block, counted from the target class. */
enum { AT_FLAGS = 24, AT_CPU = 27, AT_BUFFER_HOST = 37, AT_BUFFER_LEN = 43, AT_ANSWER_HOST = 47,
       AT_ANSWER_LEN = 53 };

/* The block of the guest's only message, from its target class on. */
static uint8_t *message_block(const struct state *saved)
{
	static const uint8_t classes[] = { 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22 };
	uint8_t *block = memmem(saved->data, saved->len - 64, classes, sizeof(classes));

	ck_assert_ptr_nonnull(block);
	return block;
}

/* An image cannot have a length that SEND refuses: 8 MiB is the most. */
TEST(longest_message)
{
	static const size_t at[] = { AT_BUFFER_LEN, AT_ANSWER_LEN };
	struct state saved = { 0 };
	uint8_t *block;

	ck_cc(send(open_path(&a, 0, 0, 5), 0, DATA, 16, 16), 0);
	iucv_part.state_system(fx.cp, &saved);
	block = message_block(&saved);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_uint_eq(get_be32(block + at[i]), 16);
		put_be32(block + at[i], (8 << 20) + 1);
		ck_assert(!load_part(saved.data, saved.len));
		put_be32(block + at[i], 8 << 20);
		ck_assert(load_part(saved.data, saved.len));
	}
	free(saved.data);
}

/* The guest's messages have areas in its storage, and a CPU that takes their completion. */
TEST(message_that_the_guest_cannot_have)
{
	static const struct { size_t at; uint8_t xor; } lies[] = {
		{ AT_FLAGS, IPBUFLST }, { AT_CPU + 1, 1 }, { AT_CPU, 1 }, { AT_BUFFER_HOST, 1 },
		{ AT_ANSWER_HOST, 1 },
	};
	struct state saved = { 0 };
	uint8_t *block;

	ck_cc(send(open_path(&a, 0, 0, 5), 0, DATA, 0, 0), 0);
	iucv_part.state_system(fx.cp, &saved);
	block = message_block(&saved);
	ck_assert(load_part(saved.data, saved.len));
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		block[lies[i].at] ^= lies[i].xor;
		ck_assert_msg(!load_part(saved.data, saved.len), "lie %zu", i);
		block[lies[i].at] ^= lies[i].xor;
	}
	ck_assert(load_part(saved.data, saved.len));
	free(saved.data);
}

/* No more messages are on a path than its limit allows. */
TEST(more_messages_than_the_limit)
{
	enum { LIMIT = 999 };
	const uint16_t path = open_path(&a, 0, 0, LIMIT);
	struct state saved = { 0 };
	size_t limit[4];
	unsigned int found = 0;

	ck_cc(send(path, 0, DATA, 0, 0), 0);
	ck_cc(send(path, 0, DATA, 0, 0), 0);
	iucv_part.state_system(fx.cp, &saved);
	for (size_t at = 0; at + 2 <= saved.len && found < 4; at++) {
		if (get_be16(saved.data + at) == LIMIT)
			limit[found++] = at;
	}
	/* One at each end. */
	ck_assert_uint_eq(found, 2);
	for (uint16_t lie = 3; lie > 0; lie--) {
		put_be16(saved.data + limit[0], lie);
		put_be16(saved.data + limit[1], lie);
		ck_assert_msg(load_part(saved.data, saved.len) == (lie >= 2), "limit %u", lie);
	}
	free(saved.data);
}

/* The connecting side can send at least one message, before and after the path is accepted. */
TEST_LOOP(path_without_messages, 0, 2)
{
	static const uint8_t given[] = { 0x3, 0x78 };
	struct state saved = { 0 };
	uint8_t *limit;

	ck_cc(connect_to("BETA", 0, get_be16(given)), 0);
	if (_i)
		ck_call(peer_path(&b, IUCV_ACCEPT, 0, 0), 0, 0);
	iucv_part.state_system(fx.cp, &saved);
	limit = memmem(saved.data, saved.len, given, sizeof(given));
	ck_assert_ptr_nonnull(limit);
	put_be16(limit, 0);
	ck_assert(!load_part(saved.data, saved.len));
	put_be16(limit, 1);
	ck_assert(load_part(saved.data, saved.len));
	free(saved.data);
}

/* The name by which a path knows its partner is that of the partner's user. */
TEST(partner_by_another_name)
{
	struct state saved = { 0 };
	uint8_t *name = NULL;

	open_path(&a, 0, 0, 5);
	iucv_part.state_system(fx.cp, &saved);
	/* Users come first; the last ALPHA is that of the guest's path. */
	for (size_t at = 0; at + sizeof("ALPHA") <= saved.len; at++) {
		if (memcmp(saved.data + at, "ALPHA", sizeof("ALPHA")) == 0)
			name = saved.data + at;
	}
	ck_assert_ptr_nonnull(name);
	memcpy(name, "BETA\0", sizeof("ALPHA"));
	ck_assert(!load_part(saved.data, saved.len));
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
	memcpy(name, "ALPHA", sizeof("ALPHA"));
	ck_assert(load_part(saved.data, saved.len));
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 1);
	free(saved.data);
}

/* A message is on the lists of its path and of its user. */
TEST_LOOP(message_on_no_list, 0, 2)
{
	struct state saved = { 0 };
	struct iucv_message *m;

	ck_cc(send(open_path(&a, 0, 0, 5), 0, DATA, 4, 4), 0);
	iucv_part.state_system(fx.cp, &saved);
	ck_assert(load_part(saved.data, saved.len));
	free(saved.data);
	saved = (struct state){ 0 };
	m = &fx.cp->system->iucv->message[0];
	ck_assert(m->by_path.list && m->by_user.list);
	iucv_unlink(_i ? &m->by_user : &m->by_path);
	iucv_part.state_system(fx.cp, &saved);
	ck_assert(!load_part(saved.data, saved.len));
	free(saved.data);
}

/* A waiting event: kind, type, sequence number, the damage, and its subject. */
enum { AT_KIND = 0, AT_TYPE = 1, AT_SEQ = 2, AT_DAMAGE = 10, AT_KEY = 12 };

/* The event with this number; the last event's stands at the beginning of the image, too. */
static uint8_t *waiting_event(const struct state *saved, uint64_t seq)
{
	uint8_t *found = NULL;

	for (size_t at = 0; at + 8 <= saved->len; at++)
		if (get_be64(saved->data + at) == seq)
			found = saved->data + at - AT_SEQ;
	ck_assert_ptr_nonnull(found);
	return found;
}

/* An event of this user's about a message or a path that is as the event says. */
TEST(events_that_cannot_wait)
{
	static const uint64_t seq = UINT64_C(0x1122334455667788);
	enum { MESSAGE, CONTROL };
	const struct { unsigned int event; size_t at; uint8_t xor; } lies[] = {
		/* Of another message, which is not for the guest; of one that is not there. */
		{ MESSAGE, AT_KEY + 3, 1 }, { MESSAGE, AT_KEY, 1 },
		/* About another path, about a path that has no such event. */
		{ CONTROL, AT_KEY, 1 }, { CONTROL, AT_KEY + 3, 1 }, { CONTROL, AT_KEY + 3, 3 },
		/* Of another kind, of none. */
		{ MESSAGE, AT_KIND, IUCV_NODE_MESSAGE ^ IUCV_NODE_CONTROL },
		{ CONTROL, AT_KIND, IUCV_NODE_MESSAGE ^ IUCV_NODE_CONTROL },
		{ MESSAGE, AT_KIND, 0x10 }, { CONTROL, AT_KIND, 0x10 },
		/* Of a type that waits elsewhere; before all others; damaged behind its end. */
		{ MESSAGE, AT_TYPE, 1 }, { CONTROL, AT_TYPE, 1 }, { MESSAGE, AT_TYPE, 0x10 },
		{ MESSAGE, AT_DAMAGE, IUCV_EVENT_SIZE },
	};
	const uint16_t path = open_path(&a, 0, 0, 5);
	struct state saved = { 0 };
	uint8_t *event[2];

	fx.cp->system->iucv->seq = seq;
	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	ck_call(peer_path(&a, IUCV_QUIESCE, 0, 0), 0, 0);
	iucv_user_attach(a.user, NULL, NULL);
	ck_call(peer_path(&a, IUCV_RESUME, 0, 0), 0, 0);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	iucv_part.state_system(fx.cp, &saved);
	event[MESSAGE] = waiting_event(&saved, seq + 1);
	event[CONTROL] = waiting_event(&saved, seq + 2);
	ck_assert_uint_eq(event[MESSAGE][AT_TYPE], IUCV_MSG_PENDING);
	ck_assert_uint_eq(event[CONTROL][AT_TYPE], IUCV_PATH_QUIESCED);
	ck_assert(load_part(saved.data, saved.len));
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		event[lies[i].event][lies[i].at] ^= lies[i].xor;
		ck_assert_msg(!load_part(saved.data, saved.len), "lie %zu", i);
		event[lies[i].event][lies[i].at] ^= lies[i].xor;
	}
	/* The last byte that can be damaged. */
	event[MESSAGE][AT_DAMAGE] = IUCV_EVENT_SIZE - 1;
	ck_assert(load_part(saved.data, saved.len));
	free(saved.data);
}

TEST(truncated)
{
	struct state saved = { 0 };

	build();
	iucv_part.state_system(fx.cp, &saved);
	for (size_t len = 0; len < saved.len; len++) {
		ck_assert(!load_part(saved.data, len));
		ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
	}
	ck_assert(load_part(saved.data, saved.len));
	free(saved.data);
}

/* Peers of the image that do not exist are made; if it fails, they go again. */
TEST(peers_of_a_damaged_image)
{
	struct state saved = { 0 };
	unsigned int users = 0;

	build();
	iucv_part.state_system(fx.cp, &saved);
	fx_teardown();
	fx_setup_with(options);
	while (iucv_user_at(fx.cp, users))
		users++;
	ck_assert(!load_part(saved.data, saved.len - 1));
	ck_assert_ptr_null(iucv_user_at(fx.cp, users));
	ck_assert(load_part(saved.data, saved.len));
	ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, users + 1)), "BETA");
	free(saved.data);
}

/* A peer that the image makes has as many paths as one can have, and no more. */
TEST(peer_with_most_paths)
{
	struct state saved = { 0 };
	struct note c;
	uint8_t *name;

	note_user(&c, "MOST", CP_MAX_PATHS);
	iucv_part.state_system(fx.cp, &saved);
	name = memmem(saved.data, saved.len, "MOST", sizeof("MOST"));
	ck_assert_ptr_nonnull(name);
	for (uint32_t more = 0; more < 2; more++) {
		fx_teardown();
		fx_setup_with(options);
		/* The name is 8 bytes and a zero, the paths follow. */
		ck_assert_uint_eq(get_be32(name + 9), CP_MAX_PATHS);
		put_be32(name + 9, CP_MAX_PATHS + more);
		ck_assert(load_part(saved.data, saved.len) == (more == 0));
		ck_assert((iucv_user_find(fx.cp, "MOST") != NULL) == (more == 0));
	}
	free(saved.data);
}

/* Users come in the image's order, unless it is damaged: then the order stays as it is. */
TEST(order_of_users)
{
	struct state saved = { 0 };
	unsigned int users = 0;
	const uint8_t *alpha, *beta;

	iucv_part.state_system(fx.cp, &saved);
	fx_teardown();
	fx_setup_with(options);
	while (iucv_user_at(fx.cp, users))
		users++;
	note_user(&b, "BETA", 8);
	note_user(&a, "ALPHA", 8);
	/* From nothing of the one to nearly all of the other, who comes next. */
	alpha = memmem(saved.data, saved.len, "ALPHA", sizeof("ALPHA"));
	beta = memmem(saved.data, saved.len, "BETA", sizeof("BETA"));
	ck_assert(alpha && beta && alpha < beta);
	for (size_t len = (size_t)(alpha - saved.data); len < (size_t)(beta - saved.data) + 8; len++) {
		ck_assert(!load_part(saved.data, len));
		ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, users)), "BETA");
		ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, users + 1)), "ALPHA");
	}
	ck_assert(load_part(saved.data, saved.len));
	ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, users)), "ALPHA");
	ck_assert_str_eq(iucv_user_name(iucv_user_at(fx.cp, users + 1)), "BETA");
	free(saved.data);
}

/* A peer that the image does not know stays, without paths. */
TEST(unknown_peer_stays)
{
	struct state saved = { 0 };
	struct note c;

	build();
	iucv_part.state_system(fx.cp, &saved);
	note_user(&c, "GAMMA", 4);
	ck_cc(connect_to("GAMMA", 0, 0), 0);
	ck_assert(load_part(saved.data, saved.len));
	ck_assert_ptr_eq(iucv_user_find(fx.cp, "GAMMA"), c.user);
	ck_assert_uint_eq(iucv_path_count(c.user), 0);
	ck_cc(connect_to("GAMMA", 0, 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPPATHID), 3);
	free(saved.data);
}

/* An entry point has a limit of events: what is left then is handed out after loading. */
TEST(service_with_an_event_left)
{
	struct state saved = { 0 };
	const uint8_t *buffer;

	fx.cp->system->iucv->dispatching = true;
	ck_cc(connect_to("*MSG", 0, 0), 0);
	fx.cp->system->iucv->dispatching = false;
	ck_assert_ptr_null(fx_take(0));
	iucv_part.state_system(fx.cp, &saved);
	ck_assert(load_part(saved.data, saved.len));
	iucv_dispatch_rest(fx.cp);
	buffer = fx_take(0);
	ck_assert_ptr_nonnull(buffer);
	ck_assert_uint_eq(buffer[IPTYPE], 2);
	free(saved.data);
}
