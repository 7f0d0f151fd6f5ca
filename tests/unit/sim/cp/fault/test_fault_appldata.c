/* SPDX-License-Identifier: MIT */
/* Faults of DIAGNOSE X'DC' and of copying application data: every kind at every point. */
#include "fault_pairs.h"
#include "monitor/appldata_calls.h"
#include "command_check.h"

#define FAIL_CODE 45

static const char *const prefixes[] = { "diagdc.", "appldata.", NULL };

static struct peer *p;

static void setup(void)
{
	applmon_setup();
	p = peer_user(0, WANT_BOTH, 255);
	ck_guest("MON SAMPLE ENABLE APPLDATA ALL\nMON EVENT ENABLE APPLDATA ALL", 0, "");
	monitor_start(fx.cp, false);
	monitor_start(fx.cp, true);
	iucv_dispatch(fx.cp);
	put_data(DC_DATA, 16, 1);
}

CASE("appldata", setup, fx_teardown);

static struct cp_result call(uint8_t function)
{
	put_product(1);
	put_list(function, DC_DATA, 16);
	return dc_call();
}

static bool declared(void)
{
	struct appldata_info info;

	return appldata_at(fx.cp, 0, &info);
}

/* Records of domain 10 in the messages that the end of an interval brings. */
static unsigned int end_interval(void)
{
	const unsigned int before = p->messages;
	unsigned int count = 0;

	monitor_tick(fx.cp);
	for (unsigned int i = before; i < p->messages; i++) {
		read_records(&p->message[i]);
		count += count_records(10, 1) + count_records(10, 2);
	}
	return count;
}

static bool no_event(void) { return end_interval() == 0; }
static bool stopped(void) { return !declared(); }

static const struct scenario {
	uint8_t first;		/* a call before, 0: none */
	uint8_t function;
	bool (*done)(void);
} scenario[FAULT_POINTS] = {
	[FAULT_DIAGDC_START] = { 0, DC_START, declared },
	[FAULT_DIAGDC_CONFIG] = { 0, DC_CONFIG, declared },
	[FAULT_DIAGDC_STOP] = { DC_START, DC_STOP, stopped },
	[FAULT_DIAGDC_EVENT] = { 0, DC_EVENT, NULL },
};

static void call_pair(int i)
{
	const struct scenario *s = &scenario[pair[i].point];
	struct cp_result result;

	if (!s->function)
		ck_no_test(i);
	if (s->first)
		ck_assert_int_eq(call(s->first).how, CP_DONE);
	arm_pair(i, pair[i].kind == FAULT_CC ? 3 : pair[i].kind == FAULT_PGM ? PGM_PROTECTION :
		 pair[i].kind == FAULT_RC ? FAIL_CODE : 0, 0);
	result = call(s->function);
	ck_fired();
	switch (pair[i].kind) {
	case FAULT_CC:
		ck_cc(result, 3);
		break;
	case FAULT_RC:
		ck_assert_int_eq(result.how, CP_DONE);
		ck_assert_uint_eq(fx.gr[4], FAIL_CODE);
		break;
	case FAULT_PGM:
		ck_pgm(result, PGM_PROTECTION);
		break;
	case FAULT_DROP:
		ck_assert_int_eq(result.how, CP_DONE);
		ck_assert_uint_eq(fx.gr[4], 0);
		break;
	default:
		ck_no_test(i);
	}
	ck_assert(s->done ? !s->done() : no_event());
	/* It has fired once. */
	ck_assert_int_eq(call(s->function).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert(s->done ? s->done() : !no_event());
}

/* 16 bytes: the offset wraps around to 3. */
static void copy_pair(int i, uint8_t function)
{
	const enum fault_kind kind = pair[i].kind;
	uint8_t expected[16];

	memcpy(expected, fx_at(DC_DATA, 16), 16);
	arm_pair(i, kind == FAULT_CORRUPT ? 0x0f : 0, kind == FAULT_CORRUPT ? 19 : 0);
	ck_assert_int_eq(call(function).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	switch (kind) {
	case FAULT_DROP:
		ck_assert_uint_eq(end_interval(), 0);
		break;
	case FAULT_DUPLICATE:
		ck_assert_uint_eq(end_interval(), 2);
		break;
	case FAULT_CORRUPT:
		ck_assert_uint_eq(end_interval(), 1);
		expected[3] ^= 0x0f;
		for (unsigned int r = 0; r < records; r++)
			if (record[r].domain == 10)
				ck_assert_mem_eq(record[r].at + D10_FIXED, expected, 16);
		break;
	default:
		ck_no_test(i);
	}
	ck_fired();
	/* The guest's own bytes are as they were; the next copy has all of them. */
	expected[3] = 4;
	ck_assert_mem_eq(fx_at(DC_DATA, 16), expected, 16);
	if (function == DC_EVENT)
		ck_assert_int_eq(call(function).how, CP_DONE);
	ck_assert_uint_eq(end_interval(), 1);
}

TEST_LOOP(pairs, 0, pairs_of(prefixes))
{
	if (pair[_i].point == FAULT_APPLDATA_SAMPLE)
		copy_pair(_i, DC_START);
	else if (pair[_i].point == FAULT_APPLDATA_EVENT)
		copy_pair(_i, DC_EVENT);
	else
		call_pair(_i);
}

TEST(others)
{
	ck_others_refused(pairs_of(prefixes));
}

/* A rule may name the product's number; the user is the guest. */
TEST(by_name)
{
	ck_arm(FAULT_DIAGDC_START, FAULT_RC, .name = "linuxkr", .user = "linux001",
	       .value = FAIL_CODE);
	ck_assert_int_eq(call(DC_START).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	put_product(1);
	ebcdic_encode(fx_at(DC_PRODUCT, 7), "LINUXKR", 7);
	put_list(DC_START, DC_DATA, 16);
	ck_assert_int_eq(dc_call().how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], FAIL_CODE);
}
