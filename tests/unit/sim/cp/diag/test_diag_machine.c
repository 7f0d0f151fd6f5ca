/* SPDX-License-Identifier: MIT */
/* Dispatch, and the DIAGNOSE codes about the machine: 00, 0C, 44, 9C, 210, 224, 258, 288, DC. */
#include "fixture.h"
#include "pfault_block.h"

#define AREA 0x3000u

/*
 * Where the blocks have their fields: as IBM's CP Programming Services and Linux have them, so that
 * they are not taken from the code under test.
 */
enum {
	ID_ENTRY = 24,		/* X'00': of the first level, with the user ID at its end */
	ID_SIZE = 40,		/* and what CP adds */
	TIMER_DATE = 0,		/* X'0C': 16 with the time of day */
	TIMER_VIRTUAL = 16,	/* 8: microseconds */
	TIMER_TOTAL = 24,	/* 8: microseconds */
	VRDCDVNO = 0,		/* X'210': 2: device number */
	VRDCLEN = 2,		/* 2: length of the block */
	VRDCVCLA = 4,		/* the first that CP stores: class */
};

/* X'DC': application data. */
enum {
	APPLDATA_DIAG = 0,	/* 2 */
	APPLDATA_FUNCTION = 2,
	APPLDATA_LENGTH = 3,
};

static void setup(void)
{
	fx_setup_with((const char *const[]){ "userid", "tux", "level", "6.4.10", "cpus", "4",
					     "console", "01c0", "directory", "IUCV ALLOW",
					     NULL });
}

CASE("machine", setup, fx_teardown);

/* Rx = 2, Ry = 4. */
static struct cp_result diag(uint16_t code, uint64_t rx, uint64_t ry)
{
	fx.gr[2] = rx;
	fx.gr[4] = ry;
	return fx_diag(2, 4, code);
}

/* CP's codes; each has tests of its own. */
static const uint16_t ours[] = {
#define DIAG_CODE(digits, what) 0x##digits,
#include "zvmlab/diag_codes.def"
#undef DIAG_CODE
};

TEST_EACH(problem_state, ours)
{
	struct cp_insn insn = { .cpu = 3, .gr = fx.gr, .problem = true, .amode = 64 };

	ck_pgm(cp_diagnose(fx.cp, &insn, 2, 4, ours[_i]), PGM_PRIVILEGED);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"pgm\":2"));
}

TEST(other_codes_are_passed_on)
{
	for (uint32_t code = 0; code < 0x10000; code++) {
		bool own = false;

		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			own = own || ours[i] == code;
		if (!own)
			ck_assert_int_eq(fx_diag(2, 4, (uint16_t)code).how, CP_PASS);
	}
	ck_assert_uint_eq(fx.trace_len, 0);
}

TEST(block_io_needs_an_interruption)
{
	fx_teardown();
	fx_no_external = true;
	setup();
	ck_assert_int_eq(fx_diag(2, 4, 0x250).how, CP_PASS);
	/* No other code does. */
	ck_assert_int_ne(fx_diag(2, 4, 0x210).how, CP_PASS);
	fx_no_external = false;
}

TEST(trace_record)
{
	ck_assert_int_eq(diag(0x44, 1, 2).how, CP_DONE);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"cpu\":0,\"call\":\"diag.44\",\"r1\":2,\"r3\":4,"
					       "\"amode\":64,\"gr\":[\"0\",\"0\",\"1\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"how\":\"done\"}"));
	ck_assert_ptr_null(strstr(fx.trace, "\"gr2\""));
}

TEST(extended_id)
{
	static const uint8_t expected[ID_SIZE] = {
		0xa9, 0x61, 0xe5, 0xd4, 0x40, 0x40, 0x40, 0x40, 0, 0, 6, 0xff, 0, 0, 0, 2,
		0xe3, 0xe4, 0xe7, 0x40, 0x40, 0x40, 0x40, 0x40, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 6, 4, 0, 10,
	};
	struct cp_insn insn = { .cpu = 2, .gr = fx.gr, .amode = 64 };

	fx.gr[2] = AREA;
	fx.gr[4] = ID_SIZE;
	ck_assert_int_eq(cp_diagnose(fx.cp, &insn, 2, 4, 0).how, CP_DONE);
	ck_assert_mem_eq(fx_at(AREA, ID_SIZE), expected, ID_SIZE);
	ck_assert_uint_eq(fx.gr[4], 0);
}

TEST(extended_id_lengths)
{
	memset(fx_at(AREA, 64), 0xee, 64);
	ck_assert_int_eq(diag(0, AREA, ID_ENTRY).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert_uint_eq(*fx_at(AREA + ID_ENTRY - 1, 1), 0x40);
	ck_assert_uint_eq(*fx_at(AREA + ID_ENTRY, 1), 0xee);
	ck_assert_int_eq(diag(0, AREA, ID_SIZE + 60).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 60);
	ck_assert_uint_eq(*fx_at(AREA + ID_SIZE, 1), 0xee);
	ck_pgm(diag(0, AREA, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0, AREA, UINT64_MAX), PGM_SPECIFICATION);
	ck_pgm(diag(0, AREA + 4, 40), PGM_SPECIFICATION);
	ck_pgm(diag(0, 0x400000, 40), PGM_ADDRESSING);
	ck_pgm(diag(0, 0x3ffff8, 40), PGM_ADDRESSING);
	ck_assert_uint_eq(fx.gr[4], 40);
	ck_pgm(diag(0, UINT64_MAX - 7, 40), PGM_ADDRESSING);
}

TEST(pseudo_timer)
{
	/* 2024-02-29 23:59:58 UTC: seconds since 1900-01-01, then microseconds. */
	const uint64_t micros = UINT64_C(3918239998) * 1000000 + 123456;
	char text[16];

	/* The guest has logged on 90 seconds before. */
	fx.tod = (micros - 90000000) << 12;
	cp_reset(fx.cp);
	fx.tod = micros << 12 | 0xabc;
	ck_assert_int_eq(diag(0x0c, AREA, 0).how, CP_DONE);
	ebcdic_decode(text, fx_at(AREA + TIMER_DATE, 16), 16);
	ck_assert_mem_eq(text, "02/29/2423:59:58", 16);
	ck_assert_uint_eq(get_be64(fx_at(AREA + TIMER_VIRTUAL, 8)), 90000000);
	ck_assert_uint_eq(get_be64(fx_at(AREA + TIMER_TOTAL, 8)), 90000000);
	fx.tod = 0;
	ck_assert_int_eq(diag(0x0c, AREA, 0).how, CP_DONE);
	ebcdic_decode(text, fx_at(AREA + TIMER_DATE, 16), 16);
	ck_assert_mem_eq(text, "01/01/0000:00:00", 16);
	fx.tod = UINT64_MAX;
	ck_assert_int_eq(diag(0x0c, AREA, 0).how, CP_DONE);
	ebcdic_decode(text, fx_at(AREA + TIMER_DATE, 16), 16);
	ck_assert_mem_eq(text, "09/17/4223:53:47", 16);
	ck_pgm(diag(0x0c, AREA + 4, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0x0c, 0x3fffe8, 0), PGM_ADDRESSING);
	ck_pgm(diag(0x0c, UINT64_MAX - 7, 0), PGM_ADDRESSING);
}

TEST(yield)
{
	ck_assert_int_eq(diag(0x44, UINT64_MAX, UINT64_MAX).how, CP_DONE);
	ck_assert_int_eq(diag(0x9c, 3, 0).how, CP_DONE);
	ck_pgm(diag(0x9c, 4, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0x9c, UINT64_MAX, 0), PGM_SPECIFICATION);
}

TEST(not_installed)
{
	ck_pgm(diag(0x224, AREA, 4), PGM_SPECIFICATION);
	ck_assert_uint_eq(fx.gr[4], 4);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"pgm\":6"));
}

static void put_device(uint64_t addr, uint16_t device, uint16_t len)
{
	memset(fx_at(addr, 16), 0xee, 16);
	put_be16(fx_at(addr + VRDCDVNO, 2), device);
	put_be16(fx_at(addr + VRDCLEN, 2), len);
}

TEST(device)
{
	static const uint8_t console[14] = { 0x01, 0xc0, 0, 12, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xee, 0xee };

	put_device(AREA, 0x1c0, 12);
	ck_cc(diag(0x210, AREA, 0), 2);
	ck_assert_mem_eq(fx_at(AREA, 14), console, 14);
	put_device(AREA, 0x1c0, 256);
	ck_cc(diag(0x210, AREA, 0), 2);
	ck_assert_uint_eq(*fx_at(AREA + 12, 1), 0xee);
	/* Nor is a statement that there is not one of a device 0. */
	put_device(AREA, 0, 12);
	ck_cc(diag(0x210, AREA, 0), 3);
	put_device(AREA, 0x1c1, 12);
	ck_cc(diag(0x210, AREA, 0), 3);
	ck_assert_uint_eq(*fx_at(AREA + VRDCVCLA, 1), 0xee);
	put_device(AREA, 0x1c0, 11);
	ck_pgm(diag(0x210, AREA, 0), PGM_SPECIFICATION);
	put_device(0x4ffc, 0x1c0, 12);
	ck_cc(diag(0x210, 0x4ffc, 0), 2);
	ck_assert_uint_eq(*fx_at(0x5000, 1), 0x80);
	ck_pgm(diag(0x210, AREA + 2, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0x210, 0x80000000u, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0x210, UINT64_MAX, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0x210, 0x400000, 0), PGM_ADDRESSING);
	put_device(0x3ffff0, 0x1c0, 12);
	memcpy(fx_at(0x3ffffc, 4), fx_at(0x3ffff0, 4), 4);
	ck_pgm(diag(0x210, 0x3ffffc, 0), PGM_ADDRESSING);
}

TEST(device_in_amode_31)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31 };

	put_device(AREA, 0x1c0, 12);
	fx.gr[2] = UINT64_C(0xffffffff80000000) | AREA;
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x210), 2);
	insn.amode = 24;
	fx.gr[2] = UINT64_C(0xffffffffff000000) | AREA;
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x210), 2);
}

TEST(pfault)
{
	for (uint16_t function = 0; function < 2; function++) {
		pfault_put(AREA, function);
		ck_assert_int_eq(diag(0x258, AREA, 77).how, CP_DONE);
		ck_assert_uint_eq(fx.gr[4], 0);
	}
}

static const struct { uint16_t function; unsigned int offset; uint8_t value; uint16_t pgm; }
	wrong_pfault[] = {
	{ 0, PFAULT_CODE, 1, PGM_SPECIFICATION }, { 0, PFAULT_CODE + 1, 0x57, PGM_SPECIFICATION },
	{ 0, PFAULT_FUNCTION + 1, 2, PGM_SPECIFICATION },
	{ 0, PFAULT_LENGTH + 1, 4, PGM_SPECIFICATION },
	{ 0, PFAULT_LENGTH + 1, 6, PGM_SPECIFICATION },
	{ 0, PFAULT_VERSION + 1, 1, PGM_SPECIFICATION },
	{ 0, PFAULT_TOKEN + 7, 0xb4, PGM_SPECIFICATION }, { 0, PFAULT_TOKEN, 0xff, PGM_ADDRESSING },
	{ 0, PFAULT_SELECT + 1, 0, PGM_SPECIFICATION },
	{ 0, PFAULT_COMPARE + 7, 1, PGM_SPECIFICATION },
	{ 0, PFAULT_MODE, 0, PGM_SPECIFICATION }, { 0, PFAULT_MODE + 7, 1, PGM_SPECIFICATION },
	{ 1, PFAULT_TOKEN, 1, PGM_SPECIFICATION }, { 1, PFAULT_MODE + 7, 1, PGM_SPECIFICATION },
};

TEST_EACH(pfault_wrong, wrong_pfault)
{
	pfault_put(AREA, wrong_pfault[_i].function)[wrong_pfault[_i].offset] = wrong_pfault[_i].value;
	ck_pgm(diag(0x258, AREA, 77), wrong_pfault[_i].pgm);
	ck_assert_uint_eq(fx.gr[4], 77);
}

TEST(pfault_addresses)
{
	ck_pgm(diag(0x258, AREA + 4, 0), PGM_SPECIFICATION);
	ck_pgm(diag(0x258, 0x3fffe0, 0), PGM_ADDRESSING);
	ck_pgm(diag(0x258, UINT64_MAX - 7, 0), PGM_ADDRESSING);
}

static const struct { uint16_t diag; uint8_t function, length; uint64_t rc; } appldata[] = {
	{ 0x00dc, 0x80, 32, 5 }, { 0x00dc, 0x83, 32, 5 }, { 0x00dc, 0x00, 16, 5 },
	{ 0x00dc, 0x03, 16, 5 }, { 0x00dd, 0x80, 32, 1 }, { 0x01dc, 0x80, 32, 1 },
	{ 0x00dc, 0x84, 32, 2 }, { 0x00dc, 0x04, 16, 2 }, { 0x00dc, 0x7f, 16, 2 },
	{ 0x00dc, 0x80, 16, 3 }, { 0x00dc, 0x00, 32, 3 }, { 0xffff, 0xff, 0xff, 1 },
};

static void put_appldata(uint64_t addr, int i)
{
	put_be16(fx_at(addr + APPLDATA_DIAG, 2), appldata[i].diag);
	*fx_at(addr + APPLDATA_FUNCTION, 1) = appldata[i].function;
	*fx_at(addr + APPLDATA_LENGTH, 1) = appldata[i].length;
}

TEST_EACH(application_data, appldata)
{
	put_appldata(AREA, _i);
	ck_assert_int_eq(diag(0xdc, AREA, 99).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], appldata[_i].rc);
}

TEST(application_data_addresses)
{
	ck_pgm(diag(0xdc, 0x400000, 99), PGM_ADDRESSING);
	ck_pgm(diag(0xdc, UINT64_MAX, 99), PGM_ADDRESSING);
	put_appldata(0x3ffff0, 0);
	ck_pgm(diag(0xdc, 0x3ffff0, 99), PGM_ADDRESSING);
	put_appldata(0x3ffff0, 2);
	ck_assert_int_eq(diag(0xdc, 0x3ffff0, 99).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 5);
}
