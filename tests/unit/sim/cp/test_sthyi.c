/* SPDX-License-Identifier: MIT */
/*
 * STHYI.  Offsets and values are those of INFBK (z/VM 7.3), written down as numbers here;
 * sections are looked for where the header says they are.
 */
#include "fixture.h"

#define PAGE 4096u

/* A machine whose fields all differ, as STSI would have it: EBCDIC, big-endian. */
static const struct cp_machine machine = {
	.manufacturer = "\xd4\x81\xa2\x85\x99\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40",
	.type = { 0xf3, 0xf9, 0xf0, 0xf6 },
	.sequence = "\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xc1\xc2\xc3\xf1\xf2\xf3",
	.plant = { 0xf5, 0xf1, 0x40, 0x40 },
	.partition = { 0x01, 0x23 },
	.name = { 0xd7, 0xc1, 0xd9, 0xe3, 0xf7, 0x40, 0x40, 0x40 },
	.dedicated = { 0x01, 0x03 },
	.shared = { 0x00, 0x05 },
};

static uint8_t response[PAGE];

static struct cp_result sthyi_on(unsigned int cpu, unsigned int r1, unsigned int r2, bool problem)
{
	struct cp_insn insn = { .cpu = cpu, .gr = fx.gr, .amode = 64, .problem = problem };

	memset(response, 0xee, sizeof(response));
	return cp_sthyi(fx.cp, &insn, r1, r2, &machine, response);
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
	fx_setup_with((const char *const[]){ "userid", "tux", "cpus", "4", NULL });
}

/* Section 0 to 3 of the header: machine, partition, hypervisor, guest. */
static const uint8_t *section(unsigned int number, uint16_t size)
{
	const uint16_t at = get_be16(response + 12 + 4 * number);

	ck_assert_uint_eq(get_be16(response + 14 + 4 * number), size);
	ck_assert_uint_le(at + size, PAGE);
	return response + at;
}

START_TEST(header)
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
END_TEST

START_TEST(machine_section)
{
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(0, 80);
	/* Counts, identification and zIIPs are valid, a name of the machine is not. */
	ck_assert_mem_eq(at, "\0\0\xc8\0", 4);
	ck_assert_uint_eq(get_be16(at + 4), 5);		/* shared CPs */
	ck_assert_uint_eq(get_be16(at + 6), 0x103);	/* dedicated CPs */
	ck_assert_uint_eq(get_be32(at + 8), 0);		/* IFLs */
	ck_assert_uint_eq(get_be64(at + 12), 0);	/* name */
	ck_assert_mem_eq(at + 20, machine.type, 4);
	ck_assert_mem_eq(at + 24, machine.manufacturer, 16);
	ck_assert_mem_eq(at + 40, machine.sequence, 16);
	ck_assert_mem_eq(at + 56, machine.plant, 4);
	for (unsigned int i = 60; i < 80; i++)
		ck_assert_uint_eq(at[i], 0);
}
END_TEST

START_TEST(partition_section)
{
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(1, 80);
	/* Counts, both kinds of caps, identification, group and zIIPs are valid. */
	ck_assert_mem_eq(at, "\0\0\xfa\0", 4);
	ck_assert_uint_eq(get_be16(at + 4), 0x123);	/* number */
	ck_assert_uint_eq(get_be16(at + 6), 5);		/* shared CPs */
	ck_assert_uint_eq(get_be16(at + 8), 0x103);	/* dedicated CPs */
	ck_assert_uint_eq(get_be32(at + 10), 0);	/* IFLs */
	ck_assert_mem_eq(at + 16, machine.name, 8);
	/* No caps, no group, no zIIPs. */
	for (unsigned int i = 24; i < 80; i++)
		ck_assert_uint_eq(at[i], 0);
}
END_TEST

START_TEST(hypervisor_section)
{
	static const uint8_t zvmlab[] = { 0xe9, 0xe5, 0xd4, 0xd3, 0xc1, 0xc2, 0x40, 0x40 };
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(2, 56);
	ck_assert_mem_eq(at, "\0\0\x80\0", 4);
	ck_assert_uint_eq(at[4], 1);			/* z/VM */
	ck_assert_mem_eq(at + 5, "\0\0\0", 3);		/* threads: without MT */
	ck_assert_mem_eq(at + 8, zvmlab, 8);
	for (unsigned int i = 16; i < 24; i++)
		ck_assert_uint_eq(at[i], 0x40);		/* cluster */
	ck_assert_uint_eq(get_be16(at + 24), 0x108);	/* CPs that guests share */
	ck_assert_uint_eq(get_be16(at + 26), 0);	/* dedicated to guests */
	ck_assert_uint_eq(get_be32(at + 28), 0);	/* IFLs */
	/* Function codes 0 to 6 exist, 0 is allowed. */
	ck_assert_mem_eq(at + 32, "\xfe\0\0\0\0\0\0\0", 8);
	ck_assert_mem_eq(at + 40, "\x80\0\0\0\0\0\0\0", 8);
	ck_assert_uint_eq(get_be64(at + 48), 0);	/* zIIPs */
}
END_TEST

START_TEST(guest_section)
{
	static const uint8_t tux[] = { 0xe3, 0xe4, 0xe7, 0x40, 0x40, 0x40, 0x40, 0x40 };
	const uint8_t *at;

	ck_cc(sthyi(0, 0), 0);
	at = section(3, 72);
	ck_assert_mem_eq(at, "\0\0\x80\0", 4);
	ck_assert_mem_eq(at + 4, tux, 8);
	ck_assert_uint_eq(get_be16(at + 12), 4);	/* shared CPs */
	/* None dedicated, general purpose, no cap; no IFLs; no cap of a pool. */
	for (unsigned int i = 14; i < 40; i++)
		ck_assert_uint_eq(at[i], 0);
	for (unsigned int i = 40; i < 48; i++)
		ck_assert_uint_eq(at[i], 0x40);		/* in no pool */
	for (unsigned int i = 48; i < 72; i++)
		ck_assert_uint_eq(at[i], 0);
}
END_TEST

/* The guest's name and its CPUs, as CP gives them elsewhere. */
START_TEST(agrees_with_stsi_and_diagnose_204)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64 };
	static uint8_t sysib[PAGE];
	const uint8_t *at, *partition;

	ck_cc(sthyi(0, 0), 0);
	at = section(3, 72);
	fx.gr[0] = 0x30000002;
	fx.gr[1] = 2;
	ck_cc(cp_stsi(fx.cp, &insn, sysib), 0);
	ck_assert_mem_eq(at + 4, sysib + 32 + 12, 8);
	ck_assert_uint_eq(get_be16(at + 12), get_be16(sysib + 32 + 4));
	fx.gr[2] = 0x3000;
	fx.gr[4] = 4;
	ck_assert_int_eq(fx_diag(2, 4, 0x204).how, CP_DONE);
	partition = fx_at(0x3000 + 16, 16);
	ck_assert_mem_eq(at + 4, partition + 8, 8);
	ck_assert_uint_eq(get_be16(at + 12), partition[1]);
}
END_TEST

START_TEST(registers)
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
END_TEST

START_TEST(function_codes)
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
END_TEST

START_TEST(alignment)
{
	for (unsigned int bit = 0; bit < 12; bit++) {
		ck_pgm(sthyi(0, 0x5000 | 1u << bit), PGM_SPECIFICATION);
		ck_assert_uint_eq(fx.gr[5], UINT64_MAX);
		ck_untouched();
	}
	/* Where the page is, is the port's business. */
	ck_cc(sthyi(0, UINT64_MAX - 0xfff), 0);
}
END_TEST

START_TEST(problem_state)
{
	fx.gr[6] = 0;
	fx.gr[8] = 0x7000;
	ck_cc(sthyi_on(1, 6, 8, true), 0);
	ck_assert_uint_eq(get_be16(response + 8), 336);
	ck_pgm(sthyi_on(1, 6, 9, true), PGM_SPECIFICATION);
}
END_TEST

START_TEST(trace_record)
{
	ck_cc(sthyi(0, 0x5000), 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"cpu\":0,\"call\":\"sthyi\",\"r1\":2,\"r2\":4,"
					       "\"gr\":[\"0\",\"0\",\"0\",\"0\",\"5000\","
					       "\"ffffffffffffffff\","));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"machine\":\"d481a28599404040"));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"response\":[336,\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"rc\":0,\"cc\":0}"));
	ck_cc(sthyi(3, 0x5000), 3);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"rc\":8,\"cc\":3}"));
	ck_pgm(sthyi(0, 0x5001), PGM_SPECIFICATION);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"pgm\":6}"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sthyi");
	TCase *tc = tcase_create("sthyi");

	tcase_add_checked_fixture(tc, setup, fx_teardown);
	tcase_add_test(tc, header);
	tcase_add_test(tc, machine_section);
	tcase_add_test(tc, partition_section);
	tcase_add_test(tc, hypervisor_section);
	tcase_add_test(tc, guest_section);
	tcase_add_test(tc, agrees_with_stsi_and_diagnose_204);
	tcase_add_test(tc, registers);
	tcase_add_test(tc, function_codes);
	tcase_add_test(tc, alignment);
	tcase_add_test(tc, problem_state);
	tcase_add_test(tc, trace_record);
	suite_add_tcase(suite, tc);
	return fx_run_and_replay(suite);
}
