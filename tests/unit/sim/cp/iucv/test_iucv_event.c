/* SPDX-License-Identifier: MIT */
/* IUCV: order of interruptions, masks per CPU. */
#include "iucv_check.h"

#define CLASS 0x44444444u

static struct note a;
static uint16_t path;

static void setup(void)
{
	path = path_to_alpha(&a, "3", 100);
}

CASE("event", setup, fx_teardown);

static void set_mask(unsigned int cpu, enum iucv_function function, uint8_t mask)
{
	parm_zero()[IPMASK] = mask;
	ck_cc(fx_iucv(cpu, function, PARM), 0);
}

static uint32_t reject_one(uint8_t flags)
{
	uint32_t id;

	ck_cc(send(path, flags, DATA, 4, 4), 0);
	id = get_be32(parm() + IPMSGID);
	ck_call(iucv_call(fx.cp, a.user, IUCV_REJECT,
			  &(struct iucv_parm){ .flags = IPFGMID, .msgid = id }), 0, 0);
	return id;
}

TEST(order)
{
	uint32_t m1 = peer_send(&a, 0, 0, "a", 1, NULL, 0), c1 = reject_one(0);
	uint32_t p1 = peer_send(&a, 0, IPPRTY, "a", 1, NULL, 0), pc1 = reject_one(IPPRTY);
	uint32_t m2 = peer_send(&a, 0, 0, "a", 1, NULL, 0);
	uint32_t p2 = peer_send(&a, 0, IPPRTY, "a", 1, NULL, 0);
	const struct {
		enum iucv_type type;
		uint32_t id;
	} expected[] = {
		{ IUCV_PATH_QUIESCED, 0 }, { IUCV_PENDING, 0 }, { IUCV_PATH_RESUMED, 0 },
		{ IUCV_PRIO_PENDING, p1 }, { IUCV_PRIO_COMPLETE, pc1 }, { IUCV_PRIO_PENDING, p2 },
		{ IUCV_MSG_PENDING, m1 }, { IUCV_MSG_COMPLETE, c1 }, { IUCV_MSG_PENDING, m2 },
	};

	peer_path(&a, IUCV_QUIESCE, 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
			  &(struct iucv_parm){ .vmid = "LINUX001" }), 0, 0);
	peer_path(&a, IUCV_RESUME, 0, 0);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 9);
	for (unsigned int i = 0; i < 9; i++) {
		const uint8_t *e = fx_take(0);

		ck_assert_ptr_nonnull(e);
		ck_assert_uint_eq(e[IPTYPE], expected[i].type);
		if (expected[i].id)
			ck_assert_uint_eq(get_be32(e + IPMSGID), expected[i].id);
	}
	ck_assert_ptr_null(fx_take(0));
	ck_assert(!cp_interrupt_take(fx.cp, 0));
}

static const struct {
	uint8_t mask;
	enum iucv_type type;
} masks[] = {
	{ IUCV_MASK_MSG, IUCV_MSG_PENDING },
	{ IUCV_MASK_PRIO_MSG, IUCV_PRIO_PENDING },
	{ IUCV_MASK_REPLY, IUCV_MSG_COMPLETE },
	{ IUCV_MASK_PRIO_REPLY, IUCV_PRIO_COMPLETE },
	{ IUCV_MASK_CONTROL, IUCV_PATH_QUIESCED },
};

TEST_LOOP(masks_of_messages, 0, 5)
{
	set_mask(0, IUCV_SET_MASK, 0);
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	peer_send(&a, 0, IPPRTY, "a", 1, NULL, 0);
	reject_one(0);
	reject_one(IPPRTY);
	peer_path(&a, IUCV_QUIESCE, 0, 0);
	ck_assert_ptr_null(fx_take(0));
	fx.kicks[0] = 0;
	/* Nothing waits that this allows: the CPU has no reason to look. */
	set_mask(0, IUCV_SET_CONTROL_MASK, IUCV_CMASK_PENDING);
	set_mask(0, IUCV_SET_MASK, IUCV_MASK_CONTROL);
	ck_assert_uint_eq(fx.kicks[0], 0);
	set_mask(0, IUCV_SET_MASK, 0);
	set_mask(0, IUCV_SET_CONTROL_MASK, 0xf8);
	set_mask(0, IUCV_SET_MASK, masks[_i].mask | 0x07);
	ck_assert_uint_eq(fx.kicks[0], 1);
	take(masks[_i].type, path);
	ck_assert_ptr_null(fx_take(0));
	set_mask(0, IUCV_SET_MASK, 0xf8);
	for (int i = 0; i < 4; i++)
		ck_assert_ptr_nonnull(fx_take(0));
	ck_assert_ptr_null(fx_take(0));
}

static const struct {
	uint8_t mask;
	enum iucv_type type;
	uint16_t path;
} control_masks[] = {
	{ IUCV_CMASK_PENDING, IUCV_PENDING, 3 },
	{ IUCV_CMASK_COMPLETE, IUCV_COMPLETE, 2 },
	{ IUCV_CMASK_SEVERED, IUCV_SEVERED, 1 },
	{ IUCV_CMASK_QUIESCED, IUCV_PATH_QUIESCED, 0 },
	{ IUCV_CMASK_RESUMED, IUCV_PATH_RESUMED, 0 },
};

TEST_LOOP(masks_of_control, 0, 5)
{
	open_path(&a, 0, 0, 0);
	ck_cc(connect_to("ALPHA", 0, 0), 0);
	set_mask(0, IUCV_SET_CONTROL_MASK, 0);
	ck_call(peer_path(&a, IUCV_ACCEPT, 2, 0), 0, 0);
	ck_call(peer_path(&a, IUCV_SEVER, 1, 0), 0, 0);
	ck_call(peer_path(&a, IUCV_QUIESCE, 0, 0), 0, 0);
	ck_call(peer_path(&a, IUCV_RESUME, 0, 0), 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT,
			  &(struct iucv_parm){ .vmid = "LINUX001" }), 0, 0);
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	/* Masked control interruptions do not hold up messages. */
	take(IUCV_MSG_PENDING, path);
	ck_assert_ptr_null(fx_take(0));
	set_mask(0, IUCV_SET_CONTROL_MASK, control_masks[_i].mask);
	take(control_masks[_i].type, control_masks[_i].path);
	ck_assert_ptr_null(fx_take(0));
	set_mask(0, IUCV_SET_MASK, 0xf0);
	set_mask(0, IUCV_SET_CONTROL_MASK, 0xf8);
	ck_assert_ptr_null(fx_take(0));
}

/* Linux keeps one CPU open: only that one is asked and only that one may take. */
TEST(masks_belong_to_a_cpu)
{
	fx_declare(1);
	set_mask(0, IUCV_SET_MASK, 0);
	memset(fx.kicks, 0, sizeof(fx.kicks));
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_assert_uint_eq(fx.kicks[0], 0);
	ck_assert_uint_eq(fx.kicks[1], 1);
	ck_assert_uint_eq(fx.kicks[2], 0);
	ck_assert(!cp_interrupt_pending(fx.cp, 0));
	ck_assert(!cp_interrupt_take(fx.cp, 0));
	ck_assert(!cp_interrupt_pending(fx.cp, 2));
	memset(fx_at(0x2000, 64), 0xaa, 64);
	ck_assert_uint_eq(fx_take(1)[3], IUCV_MSG_PENDING);
	ck_assert_uint_eq(*fx_at(0x2003, 1), 0xaa);
	/* Both open: both are asked, one gets it. */
	set_mask(0, IUCV_SET_MASK, 0xf8);
	memset(fx.kicks, 0, sizeof(fx.kicks));
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_assert_uint_eq(fx.kicks[0], 1);
	ck_assert_uint_eq(fx.kicks[1], 1);
	ck_assert_ptr_nonnull(fx_take(0));
	ck_assert(!cp_interrupt_pending(fx.cp, 1));
	ck_assert(!cp_interrupt_take(fx.cp, 1));
	ck_cc(fx_iucv(1, IUCV_RETRIEVE_BUFFER, PARM), 0);
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_assert(!cp_interrupt_pending(fx.cp, 1));
}

/* A buffer stays open from DECLARE BUFFER on. */
TEST(masks_after_declare)
{
	put_be32(parm_zero() + IPBFADR1, 0x2040);
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_cc(fx_iucv(1, IUCV_DECLARE_BUFFER, PARM), 0);
	ck_assert_uint_eq(fx.kicks[1], 1);
	ck_assert_uint_eq(fx_take(1)[3], IUCV_MSG_PENDING);
}

TEST(receive_takes_the_interruption_along)
{
	uint32_t id = peer_send(&a, 0, 0, "a", 1, NULL, 0);

	ck_cc(message(IUCV_RECEIVE, path, IPFGMID, id, 0, DATA, 1), 0);
	ck_assert_ptr_null(fx_take(0));
	id = peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_cc(message(IUCV_REJECT, path, IPFGMID, id, 0, 0, 0), 0);
	ck_assert_ptr_null(fx_take(0));
	id = reject_one(0);
	ck_cc(message(IUCV_TEST_COMPLETION, path, IPFGMID, id, 0, 0, 0), 3);
	ck_assert_ptr_null(fx_take(0));
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 0);
}

/* The page of the buffer has gone: CPU 0 is out, CPU 1 gets the interruption. */
TEST(buffer_has_gone)
{
	struct cp_config *config;

	parm_zero();
	ck_cc(guest(IUCV_RETRIEVE_BUFFER), 0);
	put_be32(parm_zero() + IPBFADR1, 0xc00000);
	ck_cc(guest(IUCV_DECLARE_BUFFER), 0);
	fx_declare(1);
	a.count = 0;
	ck_cc(on_path(IUCV_SEVER, 0, IPALL), 0);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	path = 0;
	ck_cc(connect_to("ALPHA", 0, 0), 0);
	ck_call(peer_path(&a, IUCV_ACCEPT, 0, 0), 0, 0);
	config = (struct cp_config *)(uintptr_t)cp_config_of(fx.cp);
	config->extents = 1;
	ck_assert(cp_interrupt_pending(fx.cp, 0));
	ck_assert(!cp_interrupt_take(fx.cp, 0));
	ck_assert(!cp_interrupt_pending(fx.cp, 0));
	ck_assert_uint_eq(fx_take(1)[3], IUCV_COMPLETE);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 1);
	config->extents = 2;
}

/* A service that answers each event with another cannot keep the CP forever. */
static unsigned int turns;

static void echo(struct cp *cp, struct iucv_user *user, void *opaque,
		 const struct iucv_event *event)
{
	struct iucv_parm q = { .path = event->path };
	bool quiesced = event->type == IUCV_PATH_QUIESCED;

	(void)opaque;
	fx.trace_len = 0;
	turns++;
	if (event->type == IUCV_PENDING)
		ck_call(iucv_call(cp, user, IUCV_ACCEPT, &q), 0, 0);
	else if (event->type != IUCV_COMPLETE)
		ck_call(iucv_call(cp, user, quiesced == (q.path == 1) ? IUCV_QUIESCE : IUCV_RESUME,
				  &q), 0, 0);
}

TEST(dispatch_is_bounded)
{
	static const struct iucv_user_ops ops = { .event = echo };
	struct iucv_user *e = iucv_service_create(cp_system_of(fx.cp), "*ECHO", 4, &ops, NULL);
	struct iucv_parm q = { .vmid = "*ECHO" };

	/* Between the two ends of one path: each event causes one at the other end. */
	ck_call(iucv_call(fx.cp, e, IUCV_CONNECT, &q), 0, 0);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(turns, 2);
	turns = 0;
	ck_call(iucv_call(fx.cp, e, IUCV_QUIESCE, &(struct iucv_parm){ .path = 0 }), 0, 0);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(turns, 1u << 17);
	ck_assert_uint_eq(iucv_events_waiting(e), 1);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(turns, 2u << 17);
}

TEST(traced)
{
	uint32_t id;

	fx.trace_len = 0;
	id = peer_send(&a, 0, IPRMDATA, "12345678", 8, NULL, 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"iucv.send\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"user\":\"ALPHA\""));
	fx.trace_len = 0;
	take(IUCV_MSG_PENDING, path);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"interrupt\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"out\":[[\"2000\","));
	fx.trace_len = 0;
	ck_cc(message(IUCV_REPLY, path, IPRMDATA, id, CLASS, 0, 0), 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"event\""));
}
