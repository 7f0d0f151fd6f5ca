/* SPDX-License-Identifier: MIT */
/*
 * STHYI.  Offsets and values are those of INFBK (z/VM 7.3), written down here once more, so that
 * they are not taken from the code under test; sections are looked for where the header says they
 * are.
 */
#include "fixture.h"

#define PAGE 4096u

enum {
	HEADER_TOTAL = 8,	/* 2: length of all */
	HEADER_SECTIONS = 12,	/* for each section 2: where it is, 2: its length */
	SECTION_VALID = 0,	/* 4: flags, and which fields are valid */
};

enum {
	MACHINE_SHARED = 4,	/* 2: CPs */
	MACHINE_DEDICATED = 6,	/* 2: CPs */
	MACHINE_IFLS = 8,	/* 2 and 2 */
	MACHINE_NAME = 12,	/* 8 */
	MACHINE_TYPE = 20,	/* 4 */
	MACHINE_MANUFACTURER = 24, /* 16 */
	MACHINE_SEQUENCE = 40,	/* 16 */
	MACHINE_PLANT = 56,	/* 4 */
	MACHINE_ZIIPS = 60,
	MACHINE_SIZE = 80,
};

enum {
	PARTITION_NUMBER = 4,	/* 2 */
	PARTITION_SHARED = 6,	/* 2: CPs */
	PARTITION_DEDICATED = 8, /* 2: CPs */
	PARTITION_IFLS = 10,	/* 2 and 2 */
	PARTITION_NAME = 16,	/* 8 */
	PARTITION_CAPS = 24,
	PARTITION_SIZE = 80,
};

enum {
	HYPERVISOR_TYPE = 4,
	HYPERVISOR_THREADS = 5,	/* 3 */
	HYPERVISOR_SYSTEM = 8,	/* 8 */
	HYPERVISOR_CLUSTER = 16, /* 8 */
	HYPERVISOR_SHARED = 24,	/* 2: CPs */
	HYPERVISOR_DEDICATED = 26, /* 2: CPs */
	HYPERVISOR_IFLS = 28,	/* 2 and 2 */
	HYPERVISOR_INSTALLED = 32, /* 8: function codes */
	HYPERVISOR_AUTHORIZED = 40, /* 8 */
	HYPERVISOR_ZIIPS = 48,
	HYPERVISOR_SIZE = 56,
};

enum {
	GUEST_USERID = 4,	/* 8 */
	GUEST_SHARED = 12,	/* 2: CPs */
	GUEST_DEDICATED = 14,	/* and what else there is none of */
	GUEST_POOL = 40,	/* 8 */
	GUEST_POOL_CAPS = 48,
	GUEST_SIZE = 72,
};

/* SYSIB 3.2.2, where it describes the guest; X'204', simple format, the first partition. */
enum {
	VM_CPUS = 32 + 4,	/* 2 */
	VM_NAME = 32 + 12,	/* 8 */
	DIAG204_CPUS = 16 + 1,
	DIAG204_NAME = 16 + 8,	/* 8 */
};

/* A machine whose fields all differ, as sections have it: EBCDIC, big-endian. */
#define MACHINE "3906 M03 MANUFACTURER MASER SEQUENCE ABC123 PLANT 51 LPAR 35 PART7"
static const uint8_t type[4] = { 0xf3, 0xf9, 0xf0, 0xf6 };
static const uint8_t manufacturer[16] = { 0xd4, 0xc1, 0xe2, 0xc5, 0xd9, 0x40, 0x40, 0x40,
					  0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40 };
static const uint8_t sequence[16] = { 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0, 0xf0,
				      0xf0, 0xf0, 0xc1, 0xc2, 0xc3, 0xf1, 0xf2, 0xf3 };
static const uint8_t plant[4] = { 0xf5, 0xf1, 0x40, 0x40 };
static const uint8_t partition[8] = { 0xd7, 0xc1, 0xd9, 0xe3, 0xf7, 0x40, 0x40, 0x40 };

static uint8_t response[PAGE];

static struct cp_result sthyi_on(unsigned int cpu, unsigned int r1, unsigned int r2, bool problem)
{
	struct cp_insn insn = { .cpu = cpu, .gr = fx.gr, .amode = 64, .problem = problem };

	memset(response, 0xee, sizeof(response));
	return cp_sthyi(fx.cp, &insn, r1, r2, response);
}

/* R1 = 2, R2 = 4. */
static struct cp_result sthyi(uint64_t code, uint64_t addr)
{
	fx.gr[2] = code;
	fx.gr[4] = addr;
	fx.gr[5] = UINT64_MAX;
	return sthyi_on(0, 2, 4, false);
}

static void ck_untouched(void)
{
	for (size_t i = 0; i < sizeof(response); i++)
		ck_assert_uint_eq(response[i], 0xee);
}

static void setup(void)
{
	fx_setup_with((const char *const[]){ "userid", "tux", "cpus", "4", "machine", MACHINE,
					     NULL });
}

FX_REPLAY_TRACES;

CASE("sthyi", setup, fx_teardown);

/* Section 0 to 3 of the header: machine, partition, hypervisor, guest. */
static const uint8_t *section(unsigned int number, uint16_t size)
{
	const uint8_t *place = response + HEADER_SECTIONS + 4 * number;
	const uint16_t at = get_be16(place);

	ck_assert_uint_eq(get_be16(place + 2), size);
	ck_assert_uint_le(at + size, PAGE);
	return response + at;
}

TEST(header)
{
	/* One hypervisor and its guest; sections follow each other without a gap. */
	static const uint8_t expected[48] = {
		0, 0, 0, 0, 0, 0, 0, 1,
		336 >> 8, 336 & 0xff, 0, 48,
		0, 48, 0, 80, 0, 128, 0, 80,
		0, 208, 0, 56, 264 >> 8, 264 & 0xff, 0, 72,
	};

	ck_cc(sthyi(0, 0x5000), 0);
	ck_assert_mem_eq(response, expected, sizeof(expected));
	for (size_t i = 336; i < sizeof(response); i++)
		ck_assert_uint_eq(response[i], 0);
	ck_assert_uint_eq(fx.gr[2], 0);
	ck_assert_uint_eq(fx.gr[4], 0x5000);
	ck_assert_uint_eq(fx.gr[5], 0);
}

TEST(machine_section)
{
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(0, MACHINE_SIZE);
	/* Counts, identification and zIIPs are valid, a name of the machine is not. */
	ck_assert_mem_eq(at + SECTION_VALID, "\0\0\xc8\0", 4);
	ck_assert_uint_eq(get_be16(at + MACHINE_SHARED), 4);
	ck_assert_uint_eq(get_be16(at + MACHINE_DEDICATED), 0);
	ck_assert_uint_eq(get_be32(at + MACHINE_IFLS), 0);
	ck_assert_uint_eq(get_be64(at + MACHINE_NAME), 0);
	ck_assert_mem_eq(at + MACHINE_TYPE, type, 4);
	ck_assert_mem_eq(at + MACHINE_MANUFACTURER, manufacturer, 16);
	ck_assert_mem_eq(at + MACHINE_SEQUENCE, sequence, 16);
	ck_assert_mem_eq(at + MACHINE_PLANT, plant, 4);
	for (unsigned int i = MACHINE_ZIIPS; i < MACHINE_SIZE; i++)
		ck_assert_uint_eq(at[i], 0);
}

TEST(partition_section)
{
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(1, PARTITION_SIZE);
	/* Counts, both kinds of caps, identification, group and zIIPs are valid. */
	ck_assert_mem_eq(at + SECTION_VALID, "\0\0\xfa\0", 4);
	ck_assert_uint_eq(get_be16(at + PARTITION_NUMBER), 35);
	ck_assert_uint_eq(get_be16(at + PARTITION_SHARED), 4);
	ck_assert_uint_eq(get_be16(at + PARTITION_DEDICATED), 0);
	ck_assert_uint_eq(get_be32(at + PARTITION_IFLS), 0);
	ck_assert_mem_eq(at + PARTITION_NAME, partition, 8);
	/* No caps, no group, no zIIPs. */
	for (unsigned int i = PARTITION_CAPS; i < PARTITION_SIZE; i++)
		ck_assert_uint_eq(at[i], 0);
}

TEST(hypervisor_section)
{
	static const uint8_t zvmlab[] = { 0xe9, 0xe5, 0xd4, 0xd3, 0xc1, 0xc2, 0x40, 0x40 };
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(2, HYPERVISOR_SIZE);
	ck_assert_mem_eq(at + SECTION_VALID, "\0\0\x80\0", 4);
	ck_assert_uint_eq(at[HYPERVISOR_TYPE], 1);	/* z/VM */
	ck_assert_mem_eq(at + HYPERVISOR_THREADS, "\0\0\0", 3); /* without MT */
	ck_assert_mem_eq(at + HYPERVISOR_SYSTEM, zvmlab, 8);
	for (unsigned int i = HYPERVISOR_CLUSTER; i < HYPERVISOR_SHARED; i++)
		ck_assert_uint_eq(at[i], 0x40);
	ck_assert_uint_eq(get_be16(at + HYPERVISOR_SHARED), 4);
	ck_assert_uint_eq(get_be16(at + HYPERVISOR_DEDICATED), 0);
	ck_assert_uint_eq(get_be32(at + HYPERVISOR_IFLS), 0);
	/* Function codes 0 to 6 exist, 0 is allowed. */
	ck_assert_mem_eq(at + HYPERVISOR_INSTALLED, "\xfe\0\0\0\0\0\0\0", 8);
	ck_assert_mem_eq(at + HYPERVISOR_AUTHORIZED, "\x80\0\0\0\0\0\0\0", 8);
	ck_assert_uint_eq(get_be64(at + HYPERVISOR_ZIIPS), 0);
}

TEST(guest_section)
{
	static const uint8_t tux[] = { 0xe3, 0xe4, 0xe7, 0x40, 0x40, 0x40, 0x40, 0x40 };
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(3, GUEST_SIZE);
	ck_assert_mem_eq(at + SECTION_VALID, "\0\0\x80\0", 4);
	ck_assert_mem_eq(at + GUEST_USERID, tux, 8);
	ck_assert_uint_eq(get_be16(at + GUEST_SHARED), 4);
	/* None dedicated, general purpose, no cap; no IFLs; no cap of a pool. */
	for (unsigned int i = GUEST_DEDICATED; i < GUEST_POOL; i++)
		ck_assert_uint_eq(at[i], 0);
	for (unsigned int i = GUEST_POOL; i < GUEST_POOL_CAPS; i++)
		ck_assert_uint_eq(at[i], 0x40);		/* in no pool */
	for (unsigned int i = GUEST_POOL_CAPS; i < GUEST_SIZE; i++)
		ck_assert_uint_eq(at[i], 0);
}

TEST(dedicated_cpus)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "3", "machine", "8561 T01 DEDICATED", NULL });
	ck_cc(sthyi_on(0, 2, 4, false), 0);
	ck_assert_uint_eq(get_be32(section(0, MACHINE_SIZE) + MACHINE_SHARED), 3);
	ck_assert_uint_eq(get_be32(section(1, PARTITION_SIZE) + PARTITION_SHARED), 3);
	ck_assert_uint_eq(get_be16(section(2, HYPERVISOR_SIZE) + HYPERVISOR_SHARED), 3);
}

/* The guest's name and its CPUs, as CP gives them elsewhere. */
TEST(agrees_with_stsi_and_diagnose_204)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64 };
	static uint8_t sysib[PAGE];
	const uint8_t *at, *partitions;

	ck_cc(sthyi(0, 0), 0);
	at = section(3, GUEST_SIZE);
	fx.gr[0] = 0x30000002;
	fx.gr[1] = 2;
	ck_cc(cp_stsi(fx.cp, &insn, sysib), 0);
	ck_assert_mem_eq(at + GUEST_USERID, sysib + VM_NAME, 8);
	ck_assert_uint_eq(get_be16(at + GUEST_SHARED), get_be16(sysib + VM_CPUS));
	fx.gr[2] = 0x3000;
	fx.gr[4] = 4;
	ck_assert_int_eq(fx_diag(2, 4, 0x204).how, CP_DONE);
	partitions = fx_at(0x3000, 32);
	ck_assert_mem_eq(at + GUEST_USERID, partitions + DIAG204_NAME, 8);
	ck_assert_uint_eq(get_be16(at + GUEST_SHARED), partitions[DIAG204_CPUS]);
}

TEST(registers)
{
	for (unsigned int r1 = 0; r1 < 16; r1++) {
		for (unsigned int r2 = 0; r2 < 16; r2++) {
			const bool good = r1 % 2 == 0 && r2 % 2 == 0 && r1 != r2;

			for (unsigned int r = 0; r < 16; r++)
				fx.gr[r] = UINT64_C(0x70000) + (r << 16);
			if (good) {
				ck_cc(sthyi_on(3, r1, r2, false), 0);
				ck_assert_uint_eq(fx.gr[r2 + 1], 0);
				fx.gr[r2 + 1] = UINT64_C(0x70000) + ((r2 + 1) << 16);
			} else {
				ck_pgm(sthyi_on(3, r1, r2, false), PGM_SPECIFICATION);
				ck_untouched();
			}
			for (unsigned int r = 0; r < 16; r++)
				ck_assert_uint_eq(fx.gr[r], UINT64_C(0x70000) + (r << 16));
		}
	}
}

TEST(function_codes)
{
	for (uint64_t code = 1; code < 0x10000; code += code < 16 ? 1 : 97) {
		/* What lies at the address does not matter, nor where it is. */
		ck_cc(sthyi(code, 0x5001), 3);
		ck_assert_uint_eq(fx.gr[5], code <= 6 ? 8 : 4);
		ck_assert_uint_eq(fx.gr[2], code);
		ck_assert_uint_eq(fx.gr[4], 0x5001);
		ck_untouched();
	}
	/* Bits 0 to 47 do not belong to the code. */
	ck_cc(sthyi(UINT64_C(0xffffffffffff0000), 0x5000), 0);
	ck_cc(sthyi(UINT64_C(0xffffffffffff0007), 0x5000), 3);
	ck_assert_uint_eq(fx.gr[5], 4);
}

TEST(alignment)
{
	for (unsigned int bit = 0; bit < 12; bit++) {
		ck_pgm(sthyi(0, 0x5000 | 1u << bit), PGM_SPECIFICATION);
		ck_assert_uint_eq(fx.gr[5], UINT64_MAX);
		ck_untouched();
	}
	/* Where the page is, is the port's business. */
	ck_cc(sthyi(0, UINT64_MAX - 0xfff), 0);
}

TEST(problem_state)
{
	fx.gr[6] = 0;
	fx.gr[8] = 0x7000;
	ck_cc(sthyi_on(1, 6, 8, true), 0);
	ck_assert_uint_eq(get_be16(response + HEADER_TOTAL), 336);
	ck_pgm(sthyi_on(1, 6, 9, true), PGM_SPECIFICATION);
}

TEST(trace_record)
{
	ck_cc(sthyi(0, 0x5000), 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"cpu\":0,\"call\":\"sthyi\",\"r1\":2,\"r2\":4,"
					       "\"gr\":[\"0\",\"0\",\"0\",\"0\",\"5000\","
					       "\"ffffffffffffffff\","));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"response\":[336,\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"rc\":0,\"cc\":0}"));
	ck_cc(sthyi(3, 0x5000), 3);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"rc\":8,\"cc\":3}"));
	ck_pgm(sthyi(0, 0x5001), PGM_SPECIFICATION);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"pgm\":6}"));
}
