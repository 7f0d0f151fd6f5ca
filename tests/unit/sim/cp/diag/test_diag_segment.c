/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'64': load, find, purge. */
#include "segext_fields.h"
#include "segment/dcss_private.h"

#define NAME 0x3000u
#define QIN 0x3100u

/* Storage 0-4 and 12-14 MiB (fixture.h); the emulator ends at 16 MiB. */
static void setup(void)
{
	fx_setup_with((const char *const[]){
		"segment", "MONDCSS 800-9FF SC RSTD;SECRET A00-AFF EN RSTD;PART 980-A7F EW;"
			   "MULTI 500-50F EW 510-51F EN 530-53F SR;INSIDE 300-3FF SW;"
			   "EDGE 3FF-400 SN;FAR 1000-10FF SW;ABOVE 7FFFF-80000 EN",
		"directory", "NAMESAVE MONDCSS", NULL });
}

CASE("segment", setup, fx_teardown);

/* Rx = 2, Ry = 4, as an answer: start and end. */
static struct cp_result call(const char *name, uint64_t subcode)
{
	fx_put_name(NAME, name);
	fx.gr[2] = NAME;
	fx.gr[4] = subcode;
	return fx_diag(2, 4, 0x64);
}

static struct cp_result call_31(const char *name, uint64_t subcode)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31 };

	fx_put_name(NAME, name);
	fx.gr[2] = UINT64_C(0xaaaaaaaa80000000) | NAME;
	fx.gr[4] = UINT64_C(0xbbbbbbbb00000000) | subcode;
	return cp_diagnose(fx.cp, &insn, 2, 4, 0x64);
}

#define refused(result, rc) \
	do { \
		ck_cc(result, 2); \
		ck_assert_uint_eq(fx.gr[4], (rc)); \
	} while (0)

#define ck_range(first, last) \
	do { \
		ck_assert_uint_eq(fx.gr[2], (first)); \
		ck_assert_uint_eq(fx.gr[4], (last)); \
	} while (0)

TEST(load_and_purge)
{
	ck_cc(call("MONDCSS", LOADSHR), 0);
	ck_range(0x800000, 0x9fffff);
	ck_assert_uint_eq(fx.storage_changes, 1);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_READ);
	ck_assert_uint_eq(fx.events[CP_EVENT_SEGMENT], 1);
	ck_assert_str_eq(fx.last_name, "MONDCSS");
	ck_assert_str_eq(fx.last_text, "loaded");
	ck_assert_uint_eq(dcss_find(fx.cp, "MONDCSS")->users, 1);
	/* Again: the same answer, and nothing happens. */
	ck_cc(call("MONDCSS", LOADSHR), 0);
	ck_range(0x800000, 0x9fffff);
	ck_assert_uint_eq(dcss_find(fx.cp, "MONDCSS")->users, 1);
	ck_assert_uint_eq(fx.storage_changes, 1);
	ck_cc(call("MONDCSS", PURGESEG), 0);
	ck_assert_str_eq(fx.last_text, "purged");
	ck_assert_uint_eq(fx.storage_changes, 2);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x800000), CP_ACCESS_NONE);
	ck_cc(call("MONDCSS", PURGESEG), 1);
	ck_assert_uint_eq(fx.storage_changes, 2);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"segment\":\"MONDCSS\""));
}

TEST_LOOP(unknown_names, 0, 4)
{
	static const uint8_t subcodes[] = { LOADSHR, LOADNSR, PURGESEG, FINDSEG };

	refused(call("NONE", subcodes[_i]), DCSS_RC_NOT_FOUND);
	refused(call("mondcss1", subcodes[_i]), DCSS_RC_NOT_FOUND);
	memset(fx_at(NAME, 8), 0xff, 8);
	fx.gr[2] = NAME;
	fx.gr[4] = subcodes[_i];
	refused(fx_diag(2, 4, 0x64), DCSS_RC_NOT_FOUND);
	memset(fx_at(NAME, 8), 0, 8);
	fx.gr[4] = subcodes[_i];
	refused(fx_diag(2, 4, 0x64), DCSS_RC_NOT_FOUND);
}

TEST_LOOP(unknown_subcodes, 0, 9)
{
	static const uint64_t subcodes[] = { 0x10, 0x14, 0x1c, 0x28, 0x30, 0x3c, 0x120, UINT64_MAX,
					     UINT64_C(0x100000020) };

	refused(call("MONDCSS", subcodes[_i]), DCSS_RC_BAD_SUBCODE);
}

TEST(restricted)
{
	refused(call("SECRET", LOADSHR), DCSS_RC_NOT_AUTHORISED);
	refused(call("SECRET", LOADNSR), DCSS_RC_NOT_AUTHORISED);
	ck_cc(call("SECRET", FINDSEG), 1);
	ck_cc(call("SECRET", PURGESEG), 1);
}

TEST(exclusive)
{
	refused(call("MONDCSS", LOADNSR), DCSS_RC_NOT_AUTHORISED);
	ck_cc(call("PART", LOADNSR), 0);
	ck_range(0x980000, 0xa7ffff);
	ck_assert(dcss_exclusive(fx.cp, dcss_find(fx.cp, "PART")));
	ck_cc(call("PART", LOADNSR), 0);
	refused(call("PART", LOADSHR), DCSS_RC_IN_USE);
	ck_cc(call("PART", PURGESEG), 0);
	ck_cc(call("PART", LOADSHR), 0);
	refused(call("PART", LOADNSR), DCSS_RC_IN_USE);
}

TEST(overlap)
{
	ck_cc(call("PART", LOADSHR), 0);
	refused(call("MONDCSS", LOADSHR), DCSS_RC_OVERLAP);
	ck_cc(call("PART", PURGESEG), 0);
	ck_cc(call("MONDCSS", LOADSHR), 0);
	refused(call("PART", LOADSHR), DCSS_RC_OVERLAP);
	ck_cc(call("MULTI", LOADSHR), 0);
}

TEST(inside_storage)
{
	ck_cc(call("INSIDE", LOADSHR), 1);
	ck_range(0x300000, 0x3fffff);
	ck_cc(call("INSIDE", LOADSHR), 1);
	ck_cc(call("INSIDE", PURGESEG), 0);
	ck_cc(call("EDGE", LOADSHR), 1);
	ck_range(0x3ff000, 0x400fff);
}

TEST(no_storage_behind_it)
{
	refused(call("FAR", LOADSHR), DCSS_RC_PAGING);
	ck_assert_uint_eq(fx.storage_changes, 0);
}

TEST(skeleton_and_pending_purge)
{
	struct cp_segment_config config = { .name = "NEW", .ranges = 1,
					    .range = { { 0x500, 0x50f, DCSS_EN } } };
	char err[256];

	ck_assert_int_eq(dcss_define(fx.cp, &config, err, sizeof(err)), 0);
	refused(call("NEW", LOADSHR), DCSS_RC_NOT_FOUND);
	refused(call("NEW", FINDSEG), DCSS_RC_NOT_FOUND);
	refused(call("NEW", PURGESEG), DCSS_RC_NOT_FOUND);
	ck_assert_int_eq(dcss_save(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_cc(call("NEW", LOADSHR), 0);
	ck_assert_int_eq(dcss_purge(fx.cp, "NEW", err, sizeof(err)), 0);
	ck_assert_ptr_null(dcss_find(fx.cp, "NEW"));
	ck_cc(call("NEW", FINDSEG), 0);
	ck_cc(call("NEW", LOADSHR), 0);
	ck_cc(call("NEW", PURGESEG), 0);
	refused(call("NEW", LOADSHR), DCSS_RC_NOT_FOUND);
}

TEST(find)
{
	ck_cc(call("MULTI", FINDSEG), 1);
	ck_range(0x500000, 0x53ffff);
	ck_cc(call("MULTI", LOADSHR), 0);
	ck_cc(call("MULTI", FINDSEG), 0);
	ck_range(0x500000, 0x53ffff);
	ck_cc(call("ABOVE", FINDSEG), 1);
	ck_range(0x7ffff000u, 0x80000fffu);
}

TEST(forms_of_31_bits)
{
	ck_cc(call_31("MULTI", FINDSEG_31), 1);
	ck_range(UINT64_C(0xaaaaaaaa00500000), UINT64_C(0xbbbbbbbb0053ffff));
	ck_cc(call_31("MULTI", LOADNSR_31), 0);
	ck_range(UINT64_C(0xaaaaaaaa00500000), UINT64_C(0xbbbbbbbb0053ffff));
	ck_cc(call_31("MULTI", PURGESEG), 0);
	ck_cc(call_31("MULTI", LOADSHR_31), 0);
	ck_cc(call_31("MULTI", FINDSEG_31), 0);
	ck_cc(call_31("MULTI", FINDSEG), 0);
	ck_range(0x500000, 0x53ffff);
	for (unsigned int i = 0; i < 2; i++) {
		ck_cc(call_31("ABOVE", i ? FINDSEG_31 : LOADSHR_31), 2);
		ck_assert_uint_eq(fx.gr[4], UINT64_C(0xbbbbbbbb00000028));
	}
	ck_pgm(call("MULTI", LOADSHR_31), PGM_SPECIFICATION);
	ck_pgm(call("MULTI", LOADNSR_31), PGM_SPECIFICATION);
	ck_pgm(call("MULTI", FINDSEG_31), PGM_SPECIFICATION);
	ck_pgm(call("MULTI", SEGEXT_31), PGM_SPECIFICATION);
}

static const struct { uint64_t addr, subcode; uint16_t pgm; } bad_names[] = {
	{ NAME + 4, LOADSHR, PGM_SPECIFICATION }, { NAME + 1, PURGESEG, PGM_SPECIFICATION },
	{ UINT64_MAX, LOADSHR, PGM_SPECIFICATION }, { 0x400000, LOADSHR, PGM_ADDRESSING },
	{ UINT64_MAX - 7, LOADNSR, PGM_ADDRESSING }, { 0x800000, PURGESEG, PGM_ADDRESSING },
	{ QIN + 4, SEGEXT, PGM_SPECIFICATION }, { 0x3ff0, SEGEXT, PGM_SPECIFICATION },
	{ 0x400000, SEGEXT, PGM_ADDRESSING }, { UINT64_MAX, SEGEXT, PGM_SPECIFICATION },
	{ UINT64_MAX - 31, SEGEXT, PGM_ADDRESSING },
};

TEST_EACH(hostile_addresses, bad_names)
{
	fx.gr[2] = bad_names[_i].addr;
	fx.gr[4] = bad_names[_i].subcode;
	ck_pgm(fx_diag(2, 4, 0x64), bad_names[_i].pgm);
	ck_assert_uint_eq(fx.gr[4], bad_names[_i].subcode);
}

TEST(same_register)
{
	fx.gr[2] = 0x20;
	ck_pgm(fx_diag(2, 2, 0x64), PGM_SPECIFICATION);
}

/* Name of 31 bits at any byte, across pages. */
TEST(name_across_pages)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31 };

	fx_put_name(0x3ffd, "MULTI");
	fx.gr[2] = 0x3ffd;
	fx.gr[4] = FINDSEG_31;
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x64), 1);
	ck_range(0x500000, 0x53ffff);
}
