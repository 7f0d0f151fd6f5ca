/* SPDX-License-Identifier: MIT */
/* Faults of DIAGNOSE and of loading a segment: every kind at every point. */
#include "fault_pairs.h"
#include "segext_fields.h"
#include "zvmlab/dcss.h"

#define NAME 0x3000u
#define QIN 0x3100u
#define COMMAND 0x3200u
#define BUFFER 0x5000u

/* In the list of X'260': the last byte of an extent. */
enum { EXTENT_END = 8 };
#define SEGMENT_START 0xa00000u
#define RELEASED 0x20000u
#define FAIL_CODE 45
/* The function leaves the condition code as it is. */
#define NO_CC 0xff
#define RESPOND UINT64_C(0x40000000)

static const char *const prefixes[] = { "diag08.", "diag64.", "diag260.", "segment.load", NULL };

static void setup(void)
{
	fx_setup_with((const char *const[]){ "segment", "DATA A00-A0F SW", NULL });
	memset(fx_at(SEGMENT_START, 16), 0x55, 16);
}

CASE("diag", setup, fx_teardown);

/* Rx = 2, Ry = 4. */
static struct cp_result segment(uint64_t subcode)
{
	fx_put_name(NAME, "DATA");
	fx.gr[2] = NAME;
	fx.gr[4] = subcode;
	return fx_diag(2, 4, 0x64);
}

static struct cp_result call_loadshr(void) { return segment(LOADSHR); }
static struct cp_result call_loadnsr(void) { return segment(LOADNSR); }
static struct cp_result call_purge(void) { return segment(PURGESEG); }
static struct cp_result call_find(void) { return segment(FINDSEG); }

static struct cp_result call_segext(void)
{
	memset(fx_at(BUFFER, 40), 0, 40);
	segext_list(QIN, 0, "DATA", BUFFER, 40);
	return fx_diag(2, 4, 0x64);
}

static struct cp_result call_command(void)
{
	fx.events[CP_EVENT_COMMAND] = 0;
	ebcdic_encode(fx_at(COMMAND, 12), "QUERY USERID", 12);
	fx.gr[2] = COMMAND;
	fx.gr[3] = BUFFER;
	fx.gr[4] = 12 | RESPOND;
	fx.gr[5] = 64;
	return fx_diag(2, 4, 0x08);
}

static struct cp_result call_release(void)
{
	fx.gr[2] = fx.gr[4] = RELEASED;
	return fx_diag(2, 4, 0x10);
}

static struct cp_result call_highest(void)
{
	fx.gr[2] = 0;
	fx.gr[4] = 0x0c;
	return fx_diag(2, 4, 0x260);
}

static struct cp_result call_extents(void)
{
	memset(fx_at(BUFFER, 128), 0, 128);
	fx.gr[2] = BUFFER;
	fx.gr[3] = 128;
	fx.gr[4] = 0x10;
	return fx_diag(2, 4, 0x260);
}

static void prepare_nothing(void)
{
}

static void prepare_page(void)
{
	*fx_at(RELEASED, 1) = 0x77;
}

static void prepare_loaded(void)
{
	ck_cc(call_loadshr(), 0);
}

static bool is_loaded(void)
{
	return cp_page_access(fx.cp, SEGMENT_START) != CP_ACCESS_NONE;
}

static bool is_purged(void) { return !is_loaded(); }
static bool is_answered(void) { return fx.gr[2] == SEGMENT_START; }
static bool is_listed(void) { return get_be64(fx_at(BUFFER + QOUT_START, 8)) == SEGMENT_START; }
static bool is_run(void) { return fx.events[CP_EVENT_COMMAND] == 1; }
static bool is_released(void) { return *fx_at(RELEASED, 1) == 0; }
static bool is_highest(void) { return fx.gr[2] == 0xdfffff; }
static bool is_extents(void) { return get_be64(fx_at(BUFFER + EXTENT_END, 8)) == 0x3fffff; }

static const struct scenario {
	void (*prepare)(void);
	struct cp_result (*call)(void);
	bool (*done)(void);	/* has it had its effect? */
	uint8_t cc;		/* without a fault, and with "drop" */
	uint8_t rc_cc;		/* the condition code that says that Ry is a return code */
} scenario[FAULT_POINTS] = {
	[FAULT_DIAG_COMMAND] = { prepare_nothing, call_command, is_run, 0, 0 },
	[FAULT_DIAG10_RELEASE] = { prepare_page, call_release, is_released, NO_CC, 0 },
	[FAULT_DIAG64_LOADSHR] = { prepare_nothing, call_loadshr, is_loaded, 0, 2 },
	[FAULT_DIAG64_LOADNSR] = { prepare_nothing, call_loadnsr, is_loaded, 0, 2 },
	[FAULT_DIAG64_PURGESEG] = { prepare_loaded, call_purge, is_purged, 0, 2 },
	[FAULT_DIAG64_FINDSEG] = { prepare_nothing, call_find, is_answered, 1, 2 },
	[FAULT_DIAG64_SEGEXT] = { prepare_nothing, call_segext, is_listed, 1, 2 },
	[FAULT_DIAG260_HIGHEST] = { prepare_nothing, call_highest, is_highest, 0, 3 },
	[FAULT_DIAG260_EXTENTS] = { prepare_nothing, call_extents, is_extents, 0, 3 },
	[FAULT_SEGMENT_LOAD] = { prepare_nothing, call_loadshr, is_loaded, 0, 2 },
};

static const uint32_t values[FAULT_KINDS] = {
	[FAULT_CC] = 3, [FAULT_RC] = FAIL_CODE, [FAULT_PGM] = PGM_PROTECTION,
	[FAULT_CORRUPT] = 0x0f,
};

static void ck_ended(struct cp_result result, uint8_t cc)
{
	if (cc == NO_CC)
		ck_assert_int_eq(result.how, CP_DONE);
	else
		ck_cc(result, cc);
}

static void ck_effect(int i, const struct scenario *s, struct cp_result result)
{
	switch (pair[i].kind) {
	case FAULT_CC:
		ck_cc(result, 3);
		break;
	case FAULT_RC:
		ck_cc(result, s->rc_cc);
		ck_assert_uint_eq(fx.gr[4], FAIL_CODE);
		break;
	case FAULT_PGM:
		ck_pgm(result, PGM_PROTECTION);
		break;
	case FAULT_DROP:
		ck_ended(result, s->cc);
		break;
	case FAULT_CORRUPT:
		ck_ended(result, s->cc);
		ck_assert(s->done());
		ck_assert_uint_eq(*fx_at(SEGMENT_START + 6, 1), 0x55);
		ck_assert_uint_eq(*fx_at(SEGMENT_START + 7, 1), 0x5a);
		return;
	default:
		ck_no_test(i);
	}
	ck_assert(!s->done());
	/* It has fired once: the same call does its work now. */
	ck_ended(s->call(), s->cc);
	ck_assert(s->done());
}

TEST_LOOP(pairs, 0, pairs_of(prefixes))
{
	const struct scenario *s = &scenario[pair[_i].point];
	enum fault_kind kind = pair[_i].kind;
	struct cp_result result;

	if (!s->call)
		ck_no_test(_i);
	s->prepare();
	/* The segment has 64 KiB: the offset wraps around to 7. */
	arm_pair(_i, values[kind], kind == FAULT_CORRUPT ? 0x10007 : 0);
	result = s->call();
	ck_fired();
	ck_effect(_i, s, result);
}

TEST(others)
{
	ck_others_refused(pairs_of(prefixes));
}

/* Between two ranges, and inside storage, a segment has no byte to change. */
TEST(nothing_to_spoil)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "segment", "DATA A00-A00 SW A02-A02 SW", NULL });
	ck_arm(FAULT_SEGMENT_LOAD, FAULT_CORRUPT, .value = 1, .offset = 0x1000);
	ck_cc(call_loadshr(), 0);
	ck_assert_uint_eq(*fx_at(SEGMENT_START + 0x1000, 1), 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_FAULT], 1);
}

/* The segment's last byte is one of its bytes. */
TEST(last_byte_to_spoil)
{
	ck_arm(FAULT_SEGMENT_LOAD, FAULT_CORRUPT, .value = 0x0f, .offset = 0xffff);
	ck_cc(call_loadshr(), 0);
	ck_assert_uint_eq(*fx_at(SEGMENT_START + 0xfffe, 1), 0);
	ck_assert_uint_eq(*fx_at(SEGMENT_START + 0xffff, 1), 0x0f);
}

/* A rule may name the command's first word, in any case. */
TEST(command_by_name)
{
	struct fault_rule rule = { .point = FAULT_DIAG_COMMAND, .path = FAULT_ANY_PATH,
				   .name = "query", .user = "linux001", .kind = FAULT_RC,
				   .value = 3 };

	fx_arm(&rule);
	ck_cc(call_command(), 0);
	ck_assert_uint_eq(fx.gr[4], 3);
	fault_disarm(fx.cp, 0);
	memcpy(rule.name, "QUER", 5);
	fx_arm(&rule);
	ck_cc(call_command(), 0);
	ck_assert_uint_eq(fx.gr[4], 0);
}
