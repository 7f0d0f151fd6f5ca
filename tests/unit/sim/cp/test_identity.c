/* SPDX-License-Identifier: MIT */
#include "fixture.h"

static uint8_t sysib[4096];

static struct cp_result stsi(uint64_t gr0, uint64_t gr1)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64 };

	fx.gr[0] = gr0;
	fx.gr[1] = gr1;
	memset(sysib, 0xee, sizeof(sysib));
	return cp_stsi(fx.cp, &insn, sysib);
}

static void setup(void)
{
	fx_setup_with((const char *const[]){ "userid", "tux", "level", "6.4.0", "cpus", "4", NULL });
}

START_TEST(current_level_is_3)
{
	ck_cc(stsi(UINT64_C(0x1234567800000005), 0), 0);
	ck_assert_uint_eq(fx.gr[0], UINT64_C(0x1234567830000000));
	ck_assert_uint_eq(sysib[0], 0xee);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"stsi\""));
	ck_assert_ptr_null(strstr(fx.trace, "\"sysib\":"));
	/* STSI has operands in bits 32 to 63 of two registers. */
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"gr\":[\"5\",\"0\"]"));
}
END_TEST

START_TEST(sysib_3_2_2)
{
	uint8_t expected[4096] = { 0 };
	static const uint8_t descriptor[40] = {
		0, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 0,
		0xe3, 0xe4, 0xe7, 0x40, 0x40, 0x40, 0x40, 0x40, 0, 0, 0x03, 0xe8,
		0xa9, 0x61, 0xe5, 0xd4, 0x40, 0x40, 0x40, 0x40,
		0xf6, 0x4b, 0xf4, 0x4b, 0xf0, 0x40, 0x40, 0x40,
	};

	expected[31] = 1;
	memcpy(expected + 32, descriptor, sizeof(descriptor));
	ck_cc(stsi(0x30000002, 2), 0);
	ck_assert_mem_eq(sysib, expected, sizeof(expected));
	ck_assert_uint_eq(fx.gr[0], 0x30000002);
	/* Bits 0 to 31 of the registers do not matter. */
	ck_cc(stsi(UINT64_C(0xffffffff30000002), UINT64_C(0xffffffff00000002)), 0);
	ck_assert_mem_eq(sysib, expected, sizeof(expected));
	/* Nor are they in the trace: they are whatever the program had there before. */
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"gr\":[\"30000002\",\"2\"]"));
	ck_assert_ptr_null(strstr(fx.trace, "ffffffff"));
}
END_TEST

START_TEST(reserved_bits)
{
	static const uint64_t function[] = { 0, 0x30000002 };

	for (unsigned int f = 0; f < 2; f++) {
		for (unsigned int bit = 8; bit < 28; bit++)
			ck_pgm(stsi(function[f] | UINT64_C(1) << bit, 2), PGM_SPECIFICATION);
		for (unsigned int bit = 16; bit < 32; bit++)
			ck_pgm(stsi(function[f], 2 | UINT64_C(1) << bit), PGM_SPECIFICATION);
	}
	ck_assert_uint_eq(sysib[0], 0xee);
}
END_TEST

START_TEST(everything_else_is_the_emulators)
{
	static const uint64_t other[][2] = {
		{ 0x10000001, 1 }, { 0x20000002, 2 }, { 0x30000001, 2 }, { 0x30000002, 1 },
		{ 0x30000002, 0 }, { 0x3fffff02, 1 }, { 0xf0000002, 2 }, { UINT64_MAX, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		ck_assert_int_eq(stsi(other[i][0], other[i][1]).how, CP_PASS);
		ck_assert_uint_eq(fx.gr[0], other[i][0]);
	}
	ck_assert_uint_eq(fx.trace_len, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("identity");
	TCase *tc = tcase_create("stsi");

	tcase_add_checked_fixture(tc, setup, fx_teardown);
	tcase_add_test(tc, current_level_is_3);
	tcase_add_test(tc, sysib_3_2_2);
	tcase_add_test(tc, reserved_bits);
	tcase_add_test(tc, everything_else_is_the_emulators);
	suite_add_tcase(suite, tc);
	return check_run_suite(suite);
}
