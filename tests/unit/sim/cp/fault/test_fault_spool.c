/* SPDX-License-Identifier: MIT */
/* Faults of the spool, DIAGNOSE X'14' and X'210': every kind at every point. */
#include "fault_pairs.h"
#include "spool_check.h"

#define BUFFER 0x8000u
#define BLOCK 0x3000u
#define CODE 4

static const char *const prefixes[] = { "spool.", "diag14.", "diag210.", NULL };

static struct cp_result diag14(uint64_t rx, uint64_t ry, uint64_t subcode)
{
	fx.gr[2] = rx;
	fx.gr[4] = ry;
	fx.gr[5] = subcode;
	return fx_diag(2, 4, 0x14);
}

static struct cp_result call_read(void) { return diag14(BUFFER, READER, 0); }
static struct cp_result call_next(void) { return diag14(BLOCK, 0, 0xfff); }

static struct cp_result call_position(void)
{
	ck_cc(diag14(BUFFER, READER, 0), 0);
	return diag14(1, READER, 0x28);
}

static struct cp_result call_device(void)
{
	put_be16(fx_at(BLOCK, 12), READER);
	put_be16(fx_at(BLOCK + 2, 2), 12);
	fx.gr[2] = BLOCK;
	return fx_diag(2, 0, 0x210);
}

/* A DIAGNOSE that stores at least 16 bytes at @at; the byte at @witness is not 0. */
static void ck_code(int i, struct cp_result (*call)(void), uint8_t success, uint64_t at,
		    unsigned int witness)
{
	uint8_t before[16], *now;

	/* Once without a fault: it stores these bytes. */
	ck_cc(call(), success);
	memcpy(before, fx_at(at, 16), 16);
	ck_guest("CLOSE RDR KEEP", 0, "");
	memset(fx_at(at, 16), 0, 16);
	arm_pair(i, pair[i].kind == FAULT_CC ? 3 : pair[i].kind == FAULT_DROP ? 0 : CODE,
		 pair[i].kind == FAULT_CORRUPT ? 13 : 0);
	switch (pair[i].kind) {
	case FAULT_CC:
		ck_cc(call(), 3);
		break;
	case FAULT_PGM:
		ck_pgm(call(), CODE);
		break;
	case FAULT_DROP:
		ck_cc(call(), success);
		ck_assert_uint_eq(*fx_at(at + witness, 1), 0);
		break;
	case FAULT_CORRUPT:
		ck_cc(call(), success);
		before[13] ^= CODE;
		now = fx_at(at, 16);
		ck_assert_mem_eq(now, before, 16);
		break;
	default:
		ck_no_test(i);
	}
}

static void ck_spool_read(int i)
{
	char text[133];
	struct cp_unit_io io;

	arm_pair(i, 1, 0);
	io = unit_read(text);
	if (pair[i].kind == FAULT_RC) {
		ck_assert_uint_eq(io.status, 0x0e);
		ck_assert_uint_eq(io.sense[0], 1);
	} else if (pair[i].kind == FAULT_CORRUPT) {
		ck_assert_uint_eq(io.status, 0x0c);
		ck_assert_uint_eq(io.data[0], 0x80);	/* a is 81 */
	} else {
		ck_no_test(i);
	}
}

static void ck_spool_write(int i)
{
	const bool drop = pair[i].kind == FAULT_DROP;
	uint8_t status, record[80];

	arm_pair(i, drop ? 0 : 1, 0);
	status = punch("a");
	if (pair[i].kind == FAULT_RC) {
		ck_assert_uint_eq(status, 0x0e);
		ck_guest("CLOSE PUN", 0, "");
	} else if (drop) {
		ck_assert_uint_eq(status, 0x0c);
		ck_guest("CLOSE PUN", 0, "");
	} else if (pair[i].kind == FAULT_CORRUPT) {
		run_as(CPCMD_GUEST, "CLOSE PUN", 0);
		ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_PUN, 2, 0, record, 80), 1);
		ck_assert_uint_eq(record[0], 0x80);
	} else {
		ck_no_test(i);
	}
}

static void ck_spool_file(int i)
{
	const unsigned int before = spool_files();

	punch("a");
	arm_pair(i, 0, 0);
	if (pair[i].kind == FAULT_DROP) {
		ck_guest("CLOSE PUN", 0, "");
		ck_assert_uint_eq(spool_files(), before);
	} else if (pair[i].kind == FAULT_DUPLICATE) {
		run_as(CPCMD_GUEST, "CLOSE PUN", 0);
		ck_assert_uint_eq(spool_files(), before + 2);
		ck_assert_uint_eq(spool_info("LINUX001", SPOOL_PUN, 3).records, 1);
	} else if (pair[i].kind == FAULT_LIMIT) {
		run_as(CPCMD_GUEST, "CLOSE PUN TO OPERATOR RDR", 439);
		ck_assert_uint_eq(spool_info("LINUX001", SPOOL_PUN, 2).records, 1);
	} else {
		ck_no_test(i);
	}
}

FX_REPLAY_TRACES;

CASE("spool", spool_setup, fx_teardown);

TEST_LOOP(every_kind, 0, pairs_of(prefixes))
{
	spool_send("A", "a", 'A', false);
	switch (pair[_i].point) {
	case FAULT_DIAG14_READ:
		ck_code(_i, call_read, 0, BUFFER, 15);
		break;
	case FAULT_DIAG14_POSITION:
		ck_code(_i, call_position, 0, BLOCK, 0);
		break;
	case FAULT_DIAG14_NEXT:
		ck_code(_i, call_next, 0, BLOCK, 13);
		break;
	case FAULT_DIAG210:
		ck_code(_i, call_device, 2, BLOCK, 4);
		break;
	case FAULT_SPOOL_READ:
		ck_spool_read(_i);
		break;
	case FAULT_SPOOL_WRITE:
		ck_spool_write(_i);
		break;
	case FAULT_SPOOL_FILE:
		ck_spool_file(_i);
		break;
	default:
		ck_no_test(_i);
	}
	ck_fired();
}

TEST(others_refused)
{
	ck_others_refused(pairs_of(prefixes));
}
