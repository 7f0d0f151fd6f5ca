/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'64': SEGEXT, and the fault points of all functions. */
#include "fixture.h"
#include "segext_fields.h"
#include "segment/dcss_private.h"
#include "zvmlab/fault.h"

#define NAME 0x3000u
#define QIN 0x3100u
#define QOUT 0x5000u

static void setup(void)
{
	fx_setup_with((const char *const[]){
		"segment", "MONDCSS 800-9FF SC;MULTI 500-50F EW 510-51F EN 530-53F SR;"
			   "ABOVE 7FFFF-80000 EN", NULL });
}

FX_REPLAY_TRACES;

CASE("segext", setup, fx_teardown);

/* Rx = 2, Ry = 4. */
static struct cp_result call(const char *name, uint64_t subcode)
{
	fx_put_name(NAME, name);
	fx.gr[2] = NAME;
	fx.gr[4] = subcode;
	return fx_diag(2, 4, 0x64);
}

#define refused(result, rc) \
	do { \
		ck_cc(result, 2); \
		ck_assert_uint_eq(fx.gr[4], (rc)); \
	} while (0)

static uint8_t *put_qin(const char *name, uint32_t out, uint16_t len)
{
	return segext_list(QIN, 0xee, name, out, len);
}

TEST(segext)
{
	static const uint64_t ranges[6] = {
		0x500001, 0x50f000, 0x510005, 0x51f000, 0x530002, 0x53f000,
	};
	uint8_t *qin = put_qin("MULTI", QOUT, 120), *out = fx_at(QOUT, 121);

	memset(out, 0xee, 121);
	ck_cc(fx_diag(2, 4, 0x64), 1);
	ck_assert_uint_eq(qin[QIN_CODE], 0);
	ck_assert_uint_eq(get_be64(out + QOUT_START), 0x500000);
	ck_assert_uint_eq(get_be64(out + QOUT_END), 0x53ffff);
	ck_assert_uint_eq(get_be32(out + QOUT_RANGES), 3);
	ck_assert_uint_eq(get_be32(out + QOUT_LISTED), 3);
	for (unsigned int i = 0; i < 6; i++)
		ck_assert_uint_eq(get_be64(out + QOUT_RANGE + 8 * i), ranges[i]);
	ck_assert_uint_eq(out[QOUT_RANGE + 3 * QOUT_RANGE_SIZE], 0xee);
	ck_cc(call("MULTI", LOADSHR), 0);
	put_qin("MULTI", QOUT, 120);
	ck_cc(fx_diag(2, 4, 0x64), 0);
	put_qin("MONDCSS", QOUT, 120);
	ck_cc(fx_diag(2, 4, 0x64), 1);
	ck_assert_uint_eq(get_be64(out + QOUT_RANGE), 0x800006);
}

static const struct { uint16_t room; uint32_t listed; } rooms[] = {
	{ 24, 0 }, { 39, 0 }, { 40, 1 }, { 71, 2 }, { 72, 3 }, { 0x7fff, 3 },
};

TEST_EACH(segext_with_little_room, rooms)
{
	uint8_t *out = fx_at(QOUT, 120);

	memset(out, 0xee, 120);
	put_qin("MULTI", QOUT, rooms[_i].room);
	ck_cc(fx_diag(2, 4, 0x64), 1);
	ck_assert_uint_eq(get_be32(out + QOUT_RANGES), 3);
	ck_assert_uint_eq(get_be32(out + QOUT_LISTED), rooms[_i].listed);
	ck_assert_uint_eq(out[QOUT_RANGE + QOUT_RANGE_SIZE * rooms[_i].listed], 0xee);
}

TEST(segext_of_31_bits)
{
	static const uint32_t expected[10] = {
		0x500000, 0x53ffff, 3, 3, 0x500001, 0x50f000, 0x510005, 0x51f000, 0x530002, 0x53f000,
	};
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31 };
	uint8_t *out = fx_at(QOUT, 64), *qin;

	put_qin("MULTI", QOUT, 64);
	fx.gr[4] = SEGEXT_31;
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x64), 1);
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_uint_eq(get_be32(out + 4 * i), expected[i]);
	put_qin("MULTI", QOUT, 23);
	fx.gr[4] = SEGEXT_31;
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x64), 1);
	ck_assert_uint_eq(get_be32(out + QOUT31_LISTED), 0);
	put_qin("MULTI", QOUT, 15);
	fx.gr[4] = SEGEXT_31;
	ck_pgm(cp_diagnose(fx.cp, &insn, 2, 4, 0x64), PGM_SPECIFICATION);
	qin = put_qin("ABOVE", QOUT, 64);
	fx.gr[4] = SEGEXT_31;
	refused(cp_diagnose(fx.cp, &insn, 2, 4, 0x64), DCSS_RC_BAD_SUBCODE);
	ck_assert_uint_eq(qin[QIN_CODE], DCSS_RC_BAD_SUBCODE);
}

TEST(segext_refused)
{
	uint8_t *qin = put_qin("NONE", QOUT, 120);

	refused(fx_diag(2, 4, 0x64), DCSS_RC_NOT_FOUND);
	ck_assert_uint_eq(qin[QIN_CODE], DCSS_RC_NOT_FOUND);
	put_qin("MULTI", QOUT, 120)[QIN_FUNCTION] = SEGEXT_QUERY + 1;
	refused(fx_diag(2, 4, 0x64), DCSS_RC_BAD_SUBCODE);
	ck_assert_uint_eq(get_be64(fx_at(QOUT, 8)), 0);
}

static const struct { uint32_t out; uint16_t len, pgm; } bad_outputs[] = {
	{ QOUT, 23, PGM_SPECIFICATION }, { QOUT, 0, PGM_SPECIFICATION },
	{ QOUT, 0x8000, PGM_SPECIFICATION }, { QOUT, 0xffff, PGM_SPECIFICATION },
	{ 0x80000000, 120, PGM_SPECIFICATION }, { 0xffffffff, 120, PGM_SPECIFICATION },
	{ 0x400000, 120, PGM_ADDRESSING }, { 0x3fffe0, 120, PGM_ADDRESSING },
	{ 0x7fffffff, 120, PGM_ADDRESSING }, { 0x800000, 120, PGM_PROTECTION },
};

TEST_EACH(segext_hostile_output, bad_outputs)
{
	ck_cc(call("MONDCSS", 0x20), 0);
	put_qin("MULTI", bad_outputs[_i].out, bad_outputs[_i].len);
	ck_pgm(fx_diag(2, 4, 0x64), bad_outputs[_i].pgm);
	ck_assert_uint_eq(*fx_at(0x3fffe8, 1), 0);
	ck_assert_uint_eq(*fx_at(0x800003, 1), 0);
}

/* The list lies in a segment that cannot be stored into. */
TEST_LOOP(segext_read_only_list, 0, 2)
{
	static const char *const names[] = { "MULTI", "NONE" };

	ck_cc(call("MONDCSS", 0x20), 0);
	put_qin(names[_i], QOUT, 120);
	memcpy(fx_at(0x800100, 24), fx_at(QIN, 24), 24);
	fx.gr[2] = 0x800100;
	ck_pgm(fx_diag(2, 4, 0x64), PGM_PROTECTION);
	ck_assert_uint_eq(*fx_at(0x800104, 1), 0xee);
}

/* The list lies in one page, on a doubleword. */
TEST(segext_place_of_the_list)
{
	static const struct { uint32_t at; bool good; } places[] = {
		{ 0x3fe8, true }, { 0x3ff0, false }, { 0x3ff8, false }, { 0x4000, true },
		{ 0x3104, false },
	};
	uint8_t qin[24];

	memcpy(qin, put_qin("MULTI", QOUT, 120), sizeof(qin));
	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		fx.gr[2] = places[i].at;
		fx.gr[4] = SEGEXT;
		memcpy(fx_at(places[i].at, 24), qin, sizeof(qin));
		if (places[i].good)
			ck_cc(fx_diag(2, 4, 0x64), 1);
		else
			ck_pgm(fx_diag(2, 4, 0x64), PGM_SPECIFICATION);
	}
}

TEST(segext_across_pages)
{
	put_qin("MULTI", 0x4ff9, 120);
	ck_cc(fx_diag(2, 4, 0x64), 1);
	ck_assert_uint_eq(get_be64(fx_at(0x4ff9 + QOUT_END, 8)), 0x53ffff);
}

static const struct { uint8_t subcode; enum fault_point point; } points[] = {
	{ LOADSHR, FAULT_DIAG64_LOADSHR }, { LOADNSR, FAULT_DIAG64_LOADNSR },
	{ PURGESEG, FAULT_DIAG64_PURGESEG }, { FINDSEG, FAULT_DIAG64_FINDSEG },
	{ SEGEXT, FAULT_DIAG64_SEGEXT },
};

static struct cp_result call_point(unsigned int i)
{
	if (points[i].subcode != SEGEXT)
		return call("MULTI", points[i].subcode);
	put_qin("MULTI", QOUT, 120);
	return fx_diag(2, 4, 0x64);
}

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value)
{
	ck_arm(point, kind, .name = "MULTI", .when = FAULT_NTH, .n = 1, .value = value);
}

TEST_LOOP(faults_instead, 0, 5)
{
	arm(points[_i].point, FAULT_CC, 3);
	ck_cc(call_point((unsigned int)_i), 3);
	ck_assert_uint_eq(fx.gr[4], points[_i].subcode);
	arm(points[_i].point, FAULT_RC, 1234);
	refused(call_point((unsigned int)_i), 1234);
	arm(points[_i].point, FAULT_PGM, PGM_OPERATION);
	ck_pgm(call_point((unsigned int)_i), PGM_OPERATION);
	ck_assert_uint_eq(fx.storage_changes, 0);
	ck_assert_uint_eq(get_be64(fx_at(QOUT, 8)), 0);
	ck_assert_uint_eq(fault_reached(fx.cp, points[_i].point), 3);
}

TEST_LOOP(dropped, 0, 5)
{
	static const uint8_t cc[] = { 0, 0, 0, 1, 1 };
	bool purge = points[_i].subcode == PURGESEG;

	if (purge)
		ck_cc(call("MULTI", LOADSHR), 0);
	arm(points[_i].point, FAULT_DROP, 0);
	ck_cc(call_point((unsigned int)_i), cc[_i]);
	ck_assert_int_eq(dcss_loaded(fx.cp, dcss_find(fx.cp, "MULTI")), purge);
	ck_assert_uint_eq(fx.gr[2], _i < 2 ? 0x500000 : _i < 4 ? NAME : QIN);
	ck_assert_uint_eq(get_be64(fx_at(QOUT, 8)), 0);
}
