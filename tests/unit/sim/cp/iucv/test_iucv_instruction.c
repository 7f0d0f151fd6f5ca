/* SPDX-License-Identifier: MIT */
/* IUCV: the instruction, buffers and masks, hostile operands, faults of functions. */
#include "iucv_check.h"

static void setup(void)
{
	static const char *const options[] = { "cpus", "4", NULL };

	fx_setup_with(options);
}

FX_REPLAY_TRACES;

CASE("instruction", setup, fx_teardown);

TEST(query_before_anything)
{
	fx.gr[0] = 0;
	ck_cc(fx_iucv(0, IUCV_QUERY, 0xffffffffffffffffu), 0);
	ck_assert_uint_eq(fx.gr[0], 40);
	/* z/VM's default of OPTION MAXCONN, and the harness' own. */
	ck_assert_uint_eq(fx.gr[1], 65);
}

TEST(problem_state)
{
	struct cp_insn insn = { .gr = fx.gr, .problem = true, .amode = 64 };

	for (uint32_t f = 0; f < IUCV_FUNCTIONS + 2; f++) {
		fx.gr[0] = f;
		fx.gr[1] = PARM;
		ck_pgm(cp_iucv(fx.cp, &insn), PGM_OPERATION);
		ck_assert_uint_eq(fx.gr[1], PARM);
	}
}

TEST(hostile_addresses)
{
	fx_declare(0);
	for (uint32_t f = 1; f < IUCV_FUNCTIONS + 2; f++) {
		ck_pgm(fx_iucv(0, f, PARM + 4), PGM_SPECIFICATION);
		ck_pgm(fx_iucv(0, f, UINT64_MAX), PGM_SPECIFICATION);
		ck_pgm(fx_iucv(0, f, UINT64_MAX - 7), PGM_ADDRESSING);
		ck_pgm(fx_iucv(0, f, 0x7ffffff0), PGM_ADDRESSING);
		ck_pgm(fx_iucv(0, f, HOLE), PGM_ADDRESSING);
		ck_pgm(fx_iucv(0, f, 0x400000 - 32), PGM_ADDRESSING);
		ck_pgm(fx_iucv(0, f, 0x100000000 + PARM), PGM_ADDRESSING);
	}
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
}

TEST(addressing_modes)
{
	struct cp_insn insn = { .gr = fx.gr, .amode = 31 };

	put_be32(parm_zero() + IPBFADR1, 0x2000);
	fx.gr[0] = 0xdeadbeef00000000 | IUCV_DECLARE_BUFFER;
	fx.gr[1] = 0xffffffff80000000 | PARM;
	ck_cc(cp_iucv(fx.cp, &insn), 0);
	insn.amode = 24;
	fx.gr[0] = IUCV_TEST_MESSAGE;
	fx.gr[1] = 0xff000000 | PARM;
	ck_cc(cp_iucv(fx.cp, &insn), 0);
}

/* The list may cross a page; only the code is stored. */
TEST(list_across_pages)
{
	uint8_t *p = fx_at(0x3000 - 16, IUCV_PARM_SIZE), before[IUCV_PARM_SIZE];

	fx_declare(0);
	memset(p, 0xff, IUCV_PARM_SIZE);
	memcpy(before, p, sizeof(before));
	ck_cc(fx_iucv(0, 0x12, 0x3000 - 16), 1);
	before[3] = IUCV_INVALID_FUNCTION;
	ck_assert_mem_eq(p, before, sizeof(before));
}

TEST(unknown_function)
{
	parm_zero();
	ck_rc(guest(0x12), IUCV_INVALID_FUNCTION);
	ck_rc(guest(0xffffffff), IUCV_INVALID_FUNCTION);
}

/* No function does more than answer, whatever the list contains. */
TEST(all_ones)
{
	fx_declare(0);
	for (uint32_t f = 1; f < IUCV_FUNCTIONS; f++) {
		struct cp_result r;

		memset(parm(), 0xff, IUCV_PARM_SIZE);
		r = guest(f);
		ck_assert(r.how == CP_CC || r.how == CP_PROGRAM);
		if (f == IUCV_RETRIEVE_BUFFER)
			fx_declare(0);
	}
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
}

TEST(nothing_without_a_buffer)
{
	for (uint32_t f = 1; f < IUCV_FUNCTIONS; f++) {
		parm_zero();
		if (f != IUCV_DECLARE_BUFFER)
			ck_rc(guest(f), IUCV_NO_CONTROL_BUFFER);
	}
	fx_declare(1);
	parm_zero();
	ck_rc(guest(IUCV_SET_MASK), IUCV_NO_CONTROL_BUFFER);
	ck_rc(guest(IUCV_SET_CONTROL_MASK), IUCV_NO_CONTROL_BUFFER);
	ck_rc(guest(IUCV_RETRIEVE_BUFFER), IUCV_NO_CONTROL_BUFFER);
	ck_cc(guest(IUCV_TEST_MESSAGE), 0);
}

static struct cp_result declare(unsigned int cpu, uint32_t addr)
{
	put_be32(parm_zero() + IPBFADR1, addr);
	return fx_iucv(cpu, IUCV_DECLARE_BUFFER, PARM);
}

TEST(declare_codes)
{
	ck_rc(declare(0, HOLE), IUCV_PAGING);
	ck_rc(declare(0, 0x400000 - 32), IUCV_PAGING);
	ck_rc(declare(0, 0x7ffffff0), IUCV_PAGING);
	ck_rc(declare(0, 0xfffffff8), IUCV_PAGING);
	ck_pgm(declare(0, 0x2004), PGM_SPECIFICATION);
	ck_cc(declare(0, 0x2000), 0);
	ck_assert_uint_eq(parm()[IPRCODE], 0);
	ck_rc(declare(0, 0x3000), IUCV_BUFFER_DECLARED);
	ck_rc(declare(1, 0x2000), IUCV_OVERLAP);
	ck_rc(declare(1, 0x2020), IUCV_OVERLAP);
	ck_rc(declare(1, 0x1fe0), IUCV_OVERLAP);
	ck_cc(declare(1, 0x2028), 0);
	/* Over the second buffer alone, by as little as can be. */
	ck_rc(declare(2, 0x2048), IUCV_OVERLAP);
	ck_rc(declare(2, 0x2030), IUCV_OVERLAP);
	ck_cc(declare(2, 0x1fd8), 0);
	ck_rc(declare(3, 0x1fb8), IUCV_OVERLAP);
	ck_cc(declare(3, 0x2050), 0);
}

TEST(retrieve_severs_with_the_last)
{
	struct note a;

	note_user(&a, "PEER", 4);
	fx_declare(0);
	fx_declare(1);
	open_path(&a, 0, 0, 0);
	parm_zero();
	ck_cc(guest(IUCV_RETRIEVE_BUFFER), 0);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 1);
	ck_assert(!cp_interrupt_pending(fx.cp, 0));
	ck_cc(fx_iucv(1, IUCV_RETRIEVE_BUFFER, PARM), 0);
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
	ck_assert_uint_eq(last(&a, IUCV_SEVERED)->ipuser[0], 0);
	ck_call(peer_path(&a, IUCV_SEND, 0, 0), 1, IUCV_INVALID_PATH);
}

static const struct {
	enum fault_point point;
	enum iucv_function function;
} points[] = {
	{ FAULT_IUCV_QUERY, IUCV_QUERY },
	{ FAULT_IUCV_TEST_MESSAGE, IUCV_TEST_MESSAGE },
	{ FAULT_IUCV_RETRIEVE_BUFFER, IUCV_RETRIEVE_BUFFER },
	{ FAULT_IUCV_DESCRIBE, IUCV_DESCRIBE },
	{ FAULT_IUCV_SEND, IUCV_SEND },
	{ FAULT_IUCV_RECEIVE, IUCV_RECEIVE },
	{ FAULT_IUCV_REPLY, IUCV_REPLY },
	{ FAULT_IUCV_TEST_COMPLETION, IUCV_TEST_COMPLETION },
	{ FAULT_IUCV_REJECT, IUCV_REJECT },
	{ FAULT_IUCV_PURGE, IUCV_PURGE },
	{ FAULT_IUCV_ACCEPT, IUCV_ACCEPT },
	{ FAULT_IUCV_CONNECT, IUCV_CONNECT },
	{ FAULT_IUCV_DECLARE_BUFFER, IUCV_DECLARE_BUFFER },
	{ FAULT_IUCV_QUIESCE, IUCV_QUIESCE },
	{ FAULT_IUCV_RESUME, IUCV_RESUME },
	{ FAULT_IUCV_SEVER, IUCV_SEVER },
	{ FAULT_IUCV_SET_MASK, IUCV_SET_MASK },
	{ FAULT_IUCV_SET_CONTROL_MASK, IUCV_SET_CONTROL_MASK },
};

TEST_EACH(faults, points)
{
	uint32_t f = points[_i].function;

	arm(points[_i].point, FAULT_CC, 2, 0);
	parm_zero();
	ck_cc(guest(f), 2);
	arm(points[_i].point, FAULT_PGM, PGM_PROTECTION, 0);
	ck_pgm(guest(f), PGM_PROTECTION);
	arm(points[_i].point, FAULT_DROP, 0, 0);
	ck_cc(guest(f), 0);
	/* QUERY has no list to put a code into. */
	if (f != IUCV_QUERY) {
		arm(points[_i].point, FAULT_RC, 0x77, 0);
		ck_rc(guest(f), 0x77);
	}
	/* None of them has done anything. */
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
	ck_rc(guest(IUCV_RETRIEVE_BUFFER), IUCV_NO_CONTROL_BUFFER);
}

TEST(fault_names_partner)
{
	struct note a, b;
	struct fault_rule rule = { .point = FAULT_IUCV_SEND, .path = FAULT_ANY_PATH,
				   .name = "BETA", .when = FAULT_ALWAYS, .kind = FAULT_RC,
				   .value = 0x42 };
	uint16_t to_a, to_b;

	note_user(&a, "ALPHA", 4);
	note_user(&b, "BETA", 4);
	fx_declare(0);
	to_a = open_path(&a, 0, 0, 0);
	to_b = open_path(&b, 0, 0, 0);
	fx_arm(&rule);
	ck_cc(send(to_a, 0, DATA, 4, 4), 0);
	ck_rc(send(to_b, 0, DATA, 4, 4), 0x42);
	rule.point = FAULT_IUCV_CONNECT;
	fx_arm(&rule);
	ck_cc(connect_to("ALPHA", 0, 0), 0);
	ck_rc(connect_to("BETA", 0, 0), 0x42);
}

TEST(fault_limit)
{
	struct note a;

	note_user(&a, "PEER", 4);
	fx_declare(0);
	arm(FAULT_IUCV_CONNECT, FAULT_LIMIT, 3, 0);
	ck_cc(connect_to("PEER", 0, 200), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 3);
	ck_assert_uint_eq(last(&a, IUCV_PENDING)->msglim, 3);
	arm(FAULT_IUCV_CONNECT, FAULT_LIMIT, 300, 0);
	ck_cc(connect_to("PEER", 0, 200), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 200);
}

/* With a limit of 0 a path has one message, whoever connects to whom. */
TEST(fault_limit_of_nothing)
{
	struct iucv_parm q = { .vmid = "LINUX001", .msglim = 9 };
	uint16_t path;
	struct note a;

	note_user(&a, "PEER", 4);
	fx_declare(0);
	arm(FAULT_IUCV_CONNECT, FAULT_LIMIT, 0, 0);
	ck_cc(connect_to("PEER", 0, 200), 0);
	path = get_be16(parm() + IPPATHID);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 1);
	ck_assert_uint_eq(last(&a, IUCV_PENDING)->msglim, 1);
	ck_call(peer_path(&a, IUCV_ACCEPT, last(&a, IUCV_PENDING)->path, 0), 0, 0);
	ck_assert_uint_eq(get_be16(take(IUCV_COMPLETE, path) + IPMSGLIM), 1);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	ck_rc(send(path, 0, DATA, 4, 4), IUCV_MSGLIMIT);
	arm(FAULT_IUCV_CONNECT, FAULT_LIMIT, 0, 0);
	ck_cc(connect_to("*MSG", 0, 200), 0);
	ck_assert_uint_eq(get_be16(take(IUCV_COMPLETE, path + 1) + IPMSGLIM), 1);
	ck_call(iucv_call(fx.cp, a.user, IUCV_CONNECT, &q), 0, 0);
	arm(FAULT_IUCV_ACCEPT, FAULT_LIMIT, 0, 0);
	ck_cc(on_path(IUCV_ACCEPT, get_be16(take(IUCV_PENDING, path + 2)), 0), 0);
	ck_assert_uint_eq(get_be16(parm() + IPMSGLIM), 1);
	ck_assert_uint_eq(last(&a, IUCV_COMPLETE)->msglim, 1);
}

/* A call that does nothing is still one line of trace. */
TEST(trace_of_a_call)
{
	fx_declare(0);
	fx.trace_len = 0;
	parm_zero();
	ck_rc(guest(IUCV_SEVER), IUCV_INVALID_PATH);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"iucv.sever\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"out\":[[\"1003\",\"01\"]]"));
	ck_assert_ptr_eq(strchr(fx.trace, '\n'), fx.trace + fx.trace_len - 1);
}

/* In the order of the numbers that Linux's enum iucv_command_codes and IBM's macro give them. */
static const char *const names[] = {
	"query", "test-message", "retrieve-buffer", "describe", "send", "receive", "reply",
	"test-completion", "reject", "purge", "accept", "connect", "declare-buffer", "quiesce",
	"resume", "sever", "set-mask", "set-control-mask", "unknown", "unknown",
};

TEST_EACH(trace_of_each_function, names)
{
	char call[64];

	snprintf(call, sizeof(call), "\"call\":\"iucv.%s\"", names[_i]);
	fx.trace_len = 0;
	parm_zero();
	guest((enum iucv_function)_i);
	ck_assert_ptr_nonnull(strstr(fx.trace, call));
}

TEST(functions_of_the_guest_only)
{
	struct iucv_parm q = { 0 };
	struct note a;

	note_user(&a, "PEER", 4);
	ck_call(iucv_call(fx.cp, a.user, IUCV_QUERY, &q), 0, 0);
	ck_call(iucv_call(fx.cp, a.user, IUCV_DECLARE_BUFFER, &q), 1, IUCV_BUFFER_DECLARED);
	ck_call(iucv_call(fx.cp, a.user, IUCV_RETRIEVE_BUFFER, &q), 1, IUCV_NOT_FOR_SERVICE);
	ck_call(iucv_call(fx.cp, a.user, IUCV_SET_MASK, &q), 1, IUCV_NOT_FOR_SERVICE);
	ck_call(iucv_call(fx.cp, a.user, IUCV_SET_CONTROL_MASK, &q), 1, IUCV_NOT_FOR_SERVICE);
	ck_call(iucv_call(fx.cp, a.user, IUCV_TEST_MESSAGE, &q), 0, 0);
}

TEST(reset_leaves_nothing)
{
	struct note a;
	uint16_t path;

	note_user(&a, "PEER", 4);
	fx_declare(0);
	fx_declare(2);
	path = open_path(&a, 0, 0, 0);
	ck_cc(send(path, 0, DATA, 4, 4), 0);
	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	arm(FAULT_INTERRUPT, FAULT_DUPLICATE, 0, 0);
	peer_send(&a, 0, 0, "data", 4, NULL, 0);
	cp_reset_cpu(fx.cp, 2);
	ck_assert(!cp_interrupt_pending(fx.cp, 2));
	ck_assert(cp_interrupt_pending(fx.cp, 0));
	cp_reset(fx.cp);
	ck_assert(!cp_interrupt_pending(fx.cp, 0));
	ck_assert_uint_eq(iucv_path_count(iucv_user_guest(fx.cp)), 0);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 0);
	ck_assert_uint_eq(last(&a, IUCV_SEVERED)->path, 0);
	fx_declare(0);
	ck_assert_ptr_null(fx_take(0));
}

static uint64_t no_tod(void *opaque)
{
	(void)opaque;
	return 0;
}

static void *no_storage(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)opaque;
	(void)cpu;
	(void)addr;
	(void)len;
	return NULL;
}

static void no_dirty(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)no_storage(opaque, cpu, addr, len);
}

static void no_kick(void *opaque, unsigned int cpu)
{
	(void)opaque;
	(void)cpu;
}

static void no_timer(void *opaque, uint64_t tod)
{
	(void)opaque;
	(void)tod;
}

static void no_change(void *opaque)
{
	(void)opaque;
}

static void no_event(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	(void)opaque;
	(void)event;
}

/* A CP without blocks, with too many, and with the fewest; without a trace. */
TEST(message_blocks)
{
	static const uint32_t blocks[] = { 0, (1u << 24) + 1, 1 };
	const struct cp_host host = { .map = no_storage, .dirty = no_dirty, .tod = no_tod,
				      .kick = no_kick, .set_timer = no_timer,
				      .storage_changed = no_change };
	const struct iucv_user_ops ops = { .event = no_event };

	for (int i = 0; i < 3; i++) {
		struct iucv_parm q = { .vmid = "*ME", .flags = IPRMDATA };
		char err[256] = "";
		struct iucv_user *user;
		struct cp *cp;

		fx.config.max_messages = blocks[i];
		cp = cp_create(NULL, &fx.config, &host, err, sizeof(err));
		if (i < 2) {
			ck_assert_ptr_null(cp);
			ck_assert_ptr_nonnull(strstr(err, "message blocks: give 1 to 16777216"));
			continue;
		}
		ck_assert_ptr_nonnull(cp);
		user = iucv_user_create(cp, "*ME", 2, &ops, NULL);
		ck_call(iucv_call(cp, user, IUCV_CONNECT, &q), 0, 0);
		ck_call(iucv_call(cp, user, IUCV_ACCEPT,
				  &(struct iucv_parm){ .path = 1, .flags = IPRMDATA }), 0, 0);
		ck_call(iucv_call(cp, user, IUCV_SEND, &q), 0, 0);
		ck_assert_uint_eq(q.msgid, 1);
		ck_call(iucv_call(cp, user, IUCV_SEND, &q), 1, IUCV_MSGLIMIT);
		cp_destroy(cp);
	}
}
