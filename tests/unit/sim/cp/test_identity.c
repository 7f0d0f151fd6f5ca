/* SPDX-License-Identifier: MIT */
/* STSI, and what STIDP stores. */
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

CASE("stsi", setup, fx_teardown);

TEST(current_level_is_3)
{
	ck_cc(stsi(UINT64_C(0x1234567800000005), 0), 0);
	ck_assert_uint_eq(fx.gr[0], UINT64_C(0x1234567830000000));
	ck_assert_uint_eq(sysib[0], 0xee);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"stsi\""));
	ck_assert_ptr_null(strstr(fx.trace, "\"sysib\":"));
	/* STSI has operands in bits 32 to 63 of two registers. */
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"gr\":[\"5\",\"0\"]"));
}

TEST(sysib_3_2_2)
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

TEST(reserved_bits)
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

TEST(other_blocks_do_not_exist)
{
	static const uint64_t other[][2] = {
		{ 0x10000001, 2 }, { 0x10000003, 1 }, { 0x20000001, 1 }, { 0x30000001, 2 },
		{ 0x30000002, 1 }, { 0x30000002, 0 }, { 0x40000001, 1 }, { 0xf0000001, 2 },
		/* Function codes that there are not: the rest does not count. */
		{ 0xffffff02, 2 }, { UINT64_MAX, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		ck_cc(stsi(other[i][0], other[i][1]), 3);
	ck_assert_uint_eq(sysib[0], 0xee);
}

/*
 * The guest of z/VM of which util-linux has a public dump (tests/ts/lscpu/dumps/s390-zvm): what
 * its /proc/sysinfo and /proc/cpuinfo say, where z/Architecture PoP, ch. 10, has it.
 */
static void setup_z196(void)
{
	fx_setup_with((const char *const[]){
		"machine", "2817 m32 capacity 703 sequence 0123 plant 02 capability 696 "
			   "lpar 47 r17lp45 shared", "userid", "R1745003", "cpus", "4", NULL });
}

CASE("dump", setup_z196, fx_teardown);

static void ck_text(unsigned int offset, const char *text)
{
	uint8_t expected[16];

	ck_assert_uint_le(strlen(text), sizeof(expected));
	ebcdic_encode(expected, text, strlen(text));
	ck_assert_msg(memcmp(sysib + offset, expected, strlen(text)) == 0, "%s", text);
}

/* Offsets of the SYSIBs' fields, as Linux's sysinfo.h declares them. */
enum {
	S111_CAI = 3, S111_MANUFACTURER = 32, S111_TYPE = 48, S111_CAPACITY = 64,
	S111_SEQUENCE = 80, S111_PLANT = 96, S111_MODEL = 100, S111_PERMANENT = 116,
	S111_TEMPORARY = 132, S111_RATINGS = 148,
	S122_SECONDARY = 28, S122_CAPABILITY = 32, S122_TOTAL = 36, S122_CONFIGURED = 38,
	S122_STANDBY = 40, S122_RESERVED = 42, S122_ADJUSTMENT = 44,
	S222_NUMBER = 32, S222_KIND = 35, S222_TOTAL = 36, S222_CONFIGURED = 38,
	S222_STANDBY = 40, S222_RESERVED = 42, S222_NAME = 44, S222_CAF = 52,
	S222_DEDICATED = 72, S222_SHARED = 74,
};

TEST(machine_of_the_dump)
{
	ck_cc(stsi(0x10000001, 1), 0);
	ck_text(S111_MANUFACTURER, "IBM             ");
	ck_text(S111_TYPE, "2817");
	ck_text(S111_CAPACITY, "703             ");
	ck_text(S111_SEQUENCE, "0000000000000123");
	ck_text(S111_PLANT, "02  ");
	ck_text(S111_MODEL, "M32             ");
	ck_text(S111_PERMANENT, "703             ");
	ck_text(S111_TEMPORARY, "703             ");
	ck_assert_uint_eq(sysib[S111_CAI], 100);
	for (unsigned int i = S111_RATINGS; i < sizeof(sysib); i++)
		ck_assert_uint_eq(sysib[i], 0);
}

TEST(cpus_of_the_dump)
{
	unsigned int last = 65535;

	ck_cc(stsi(0x10000002, 2), 0);
	ck_assert_uint_eq(get_be32(sysib + S122_CAPABILITY), 696);
	ck_assert_uint_eq(get_be32(sysib + S122_SECONDARY), 696);
	ck_assert_uint_eq(get_be16(sysib + S122_TOTAL), 4);
	ck_assert_uint_eq(get_be16(sysib + S122_CONFIGURED), 4);
	ck_assert_uint_eq(get_be32(sysib + S122_STANDBY), 0);
	/* Factors for 2, 3 and 4 CPUs: each further one helps less. */
	for (unsigned int i = 0; i < 3; i++) {
		const unsigned int factor = get_be16(sysib + S122_ADJUSTMENT + 2 * i);

		ck_assert_uint_lt(factor, last);
		ck_assert_uint_gt(factor, 50000);
		last = factor;
	}
	ck_assert_uint_eq(get_be16(sysib + S122_ADJUSTMENT + 6), 0);
}

/* What n CPUs of a z13 do of n times one: the public dump s390-lpar-drawer, up to nine. */
TEST(factors_are_close_to_those_of_a_real_machine)
{
	static const unsigned int z13[] = { 61470, 59694, 58336, 56860, 55918, 54956, 53949,
					    52689 };

	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "9", NULL });
	ck_cc(stsi(0x10000002, 2), 0);
	for (unsigned int i = 0; i < sizeof(z13) / sizeof(z13[0]); i++) {
		const unsigned int factor = get_be16(sysib + S122_ADJUSTMENT + 2 * i);

		ck_assert_uint_ge(factor, z13[i]);
		ck_assert_uint_le(factor, z13[i] + z13[i] / 50);
	}
}

TEST(partition_of_the_dump)
{
	ck_cc(stsi(0x20000002, 2), 0);
	ck_assert_uint_eq(get_be16(sysib + S222_NUMBER), 47);
	ck_assert_uint_eq(sysib[S222_KIND], 0x40);
	ck_assert_uint_eq(get_be16(sysib + S222_TOTAL), 4);
	ck_assert_uint_eq(get_be16(sysib + S222_CONFIGURED), 4);
	ck_assert_uint_eq(get_be32(sysib + S222_STANDBY), 0);
	ck_text(S222_NAME, "R17LP45 ");
	ck_assert_uint_eq(get_be32(sysib + S222_CAF), 1000);
	ck_assert_uint_eq(get_be16(sysib + S222_DEDICATED), 0);
	ck_assert_uint_eq(get_be16(sysib + S222_SHARED), 4);
	fx_teardown();
	fx_setup_with((const char *const[]){ "machine", "8561 T01 DEDICATED", "cpus", "4", NULL });
	ck_cc(stsi(0x20000002, 2), 0);
	ck_assert_uint_eq(sysib[S222_KIND], 0x80);
	ck_assert_uint_eq(get_be16(sysib + S222_DEDICATED), 4);
	ck_assert_uint_eq(get_be16(sysib + S222_SHARED), 0);
}

/* "processor 2: version = FF,  identification = 200123,  machine = 2817" */
TEST(cpu_ids_of_the_dump)
{
	ck_assert(cp_cpu_id(fx.cp, 0) == UINT64_C(0xff00012328178000));
	ck_assert(cp_cpu_id(fx.cp, 1) == UINT64_C(0xff10012328178000));
	ck_assert(cp_cpu_id(fx.cp, 2) == UINT64_C(0xff20012328178000));
}

/* SYSIBs 1.2.1 and 2.2.1: the CPU that asks. */
TEST(one_cpu)
{
	struct cp_insn insn = { .cpu = 3, .gr = fx.gr, .amode = 64 };

	fx.gr[0] = 0x10000002;
	fx.gr[1] = 1;
	ck_cc(cp_stsi(fx.cp, &insn, sysib), 0);
	ck_text(80, "0000000000000123");
	ck_text(96, "02  ");
	ck_assert_uint_eq(get_be32(sysib + 100), 3);
	fx.gr[0] = 0x20000002;
	ck_cc(cp_stsi(fx.cp, &insn, sysib), 0);
	ck_text(80, "0000000000000123");
	ck_assert_uint_eq(get_be32(sysib + 100), 3 << 16 | 3);
}
