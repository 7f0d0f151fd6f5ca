/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'10' and X'260'. */
#include "fixture.h"
#include "segment/dcss_private.h"
#include "zvmlab/fault.h"

#define LIST 0x3000u

/* An extent in the list of X'260', as Linux reads it. */
enum { EXTENT_START = 0, EXTENT_END = 8, EXTENT_SIZE = 16 };	/* 8 each */

/* Rx = 2, Ry = 4. */
static struct cp_result release(uint64_t first, uint64_t last)
{
	fx.gr[2] = first;
	fx.gr[4] = last;
	return fx_diag(2, 4, 0x10);
}

CASE("storage", fx_setup, fx_teardown);

TEST(released_pages_are_zero)
{
	memset(fx_at(0x1f000, 0x4000), 0x77, 0x4000);
	ck_assert_int_eq(release(0x20000, 0x21000).how, CP_DONE);
	ck_assert_uint_eq(*fx_at(0x1ffff, 1), 0x77);
	for (unsigned int i = 0; i < 0x2000; i++)
		ck_assert_uint_eq(*fx_at(0x20000 + i, 1), 0);
	ck_assert_uint_eq(*fx_at(0x22000, 1), 0x77);
	ck_assert_int_eq(release(0x3ff000, 0x3ff000).how, CP_DONE);
	ck_assert_int_eq(release(0xc00000, 0xdff000).how, CP_DONE);
}

/* The emulator's memory for them goes; where it cannot, the core stores zeros. */
TEST(released_pages_are_no_memory)
{
	ck_assert_int_eq(release(0x20000, 0x22000).how, CP_DONE);
	ck_assert_uint_eq(fx.released, 3);
	memset(fx_at(0x1f000, 0x3000), 0x77, 0x3000);
	fx.keeps_pages = true;
	ck_assert_int_eq(release(0x20000, 0x20000).how, CP_DONE);
	ck_assert_uint_eq(fx.released, 3);
	ck_assert_uint_eq(*fx_at(0x1ffff, 1), 0x77);
	for (unsigned int i = 0; i < 0x1000; i++)
		ck_assert_uint_eq(*fx_at(0x20000 + i, 1), 0);
	ck_assert_uint_eq(*fx_at(0x21000, 1), 0x77);
}

/* Nothing of a range goes if one page of it is refused. */
TEST(refused_release_keeps_all)
{
	ck_pgm(release(0x3ff000, 0x400000), PGM_SPECIFICATION);
	ck_assert_uint_eq(fx.released, 0);
}

static const struct { uint64_t first, last; } bad_releases[] = {
	{ 0, 0x1000 }, { 0x1001, 0x2000 }, { 0x1000, 0x2001 }, { 0x3000, 0x2000 },
	{ 0x400000, 0x400000 }, { 0x3ff000, 0x400000 }, { 0x3ff000, 0xc00000 },
	{ 0xe00000, 0xe00000 }, { UINT64_MAX, UINT64_MAX }, { 0x1000, UINT64_MAX },
	{ 0x1000, UINT64_MAX - 0xfff }, { UINT64_MAX - 0xfff, UINT64_MAX - 0xfff },
};

TEST_EACH(what_cannot_be_released, bad_releases)
{
	*fx_at(0x1000, 1) = *fx_at(0x3ff000, 1) = 0x77;
	ck_pgm(release(bad_releases[_i].first, bad_releases[_i].last), PGM_SPECIFICATION);
	ck_assert_uint_eq(*fx_at(0x1000, 1), 0x77);
	ck_assert_uint_eq(*fx_at(0x3ff000, 1), 0x77);
}

TEST(segments_cannot_be_released)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "segment", "OUT 800-8FF EN;IN 100-1FF EN", NULL });
	dcss_load(fx.cp, dcss_find(fx.cp, "OUT"), false);
	ck_pgm(release(0x800000, 0x800000), PGM_SPECIFICATION);
	ck_assert_int_eq(release(0x100000, 0x100000).how, CP_DONE);
	dcss_load(fx.cp, dcss_find(fx.cp, "IN"), false);
	ck_pgm(release(0x100000, 0x100000), PGM_SPECIFICATION);
}

TEST(storage_the_emulator_has_not)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "storage", "0.4M 16M.1M", NULL });
	ck_pgm(release(0x1000000, 0x1000000), PGM_ADDRESSING);
}

static struct cp_result query(uint64_t subcode)
{
	fx.gr[4] = subcode;
	return fx_diag(2, 4, 0x260);
}

TEST(highest_byte)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "segment", "LOW 800-8FF EN;HIGH F00-FFF EN", NULL });
	ck_cc(query(0x0c), 0);
	ck_assert_uint_eq(fx.gr[2], 0xdfffff);
	ck_assert_uint_eq(fx.gr[4], 0xdfffff);
	dcss_load(fx.cp, dcss_find(fx.cp, "LOW"), false);
	ck_cc(query(0x0c), 0);
	ck_assert_uint_eq(fx.gr[4], 0xdfffff);
	dcss_load(fx.cp, dcss_find(fx.cp, "HIGH"), false);
	ck_cc(query(0x0c), 0);
	ck_assert_uint_eq(fx.gr[2], 0xdfffff);
	ck_assert_uint_eq(fx.gr[4], 0xffffff);
}

TEST(extents)
{
	static const uint64_t expected[5] = { 0, 0x3fffff, 0xc00000, 0xdfffff, 0 };

	fx.gr[2] = LIST;
	fx.gr[3] = 128;
	ck_cc(query(0x10), 0);
	ck_assert_uint_eq(fx.gr[4], 2);
	for (unsigned int i = 0; i < 5; i++)
		ck_assert_uint_eq(get_be64(fx_at(LIST + 8 * i, 8)), expected[i]);
}

TEST(short_list)
{
	fx.gr[2] = LIST;
	fx.gr[3] = 16;
	ck_cc(query(0x10), 1);
	ck_assert_uint_eq(fx.gr[4], 2);
	ck_assert_uint_eq(get_be64(fx_at(LIST + EXTENT_END, 8)), 0x3fffff);
	ck_assert_uint_eq(get_be64(fx_at(LIST + EXTENT_SIZE + EXTENT_END, 8)), 0);
	fx.gr[3] = 32;
	ck_cc(query(0x10), 0);
}

static const struct { uint64_t subcode, addr, len; uint16_t pgm; } bad_queries[] = {
	{ 0x00, LIST, 128, PGM_SPECIFICATION }, { 0x04, LIST, 128, PGM_SPECIFICATION },
	{ 0x08, LIST, 128, PGM_SPECIFICATION }, { 0x11, LIST, 128, PGM_SPECIFICATION },
	{ UINT64_MAX, LIST, 128, PGM_SPECIFICATION },
	{ UINT64_C(0x100000010), LIST, 128, PGM_SPECIFICATION },
	{ 0x10, LIST + 8, 128, PGM_SPECIFICATION }, { 0x10, LIST, 0, PGM_SPECIFICATION },
	{ 0x10, LIST, 24, PGM_SPECIFICATION }, { 0x10, UINT64_MAX, 128, PGM_SPECIFICATION },
	{ 0x10, LIST, UINT64_MAX, PGM_SPECIFICATION },
	{ 0x10, 0x400000, 128, PGM_ADDRESSING }, { 0x10, 0x3ffff0, 128, PGM_ADDRESSING },
	{ 0x10, UINT64_MAX - 15, 128, PGM_ADDRESSING },
};

TEST_EACH(hostile_queries, bad_queries)
{
	fx.gr[2] = bad_queries[_i].addr;
	fx.gr[3] = bad_queries[_i].len;
	ck_pgm(query(bad_queries[_i].subcode), bad_queries[_i].pgm);
	ck_assert_uint_eq(fx.gr[4], bad_queries[_i].subcode);
	ck_assert_uint_eq(get_be64(fx_at(0x3ffff8, 8)), 0);
}

TEST(odd_register)
{
	fx.gr[3] = LIST;
	fx.gr[4] = 0x10;
	ck_pgm(fx_diag(3, 4, 0x260), PGM_SPECIFICATION);
	fx.gr[15] = LIST;
	ck_pgm(fx_diag(15, 4, 0x260), PGM_SPECIFICATION);
}

TEST(amode_31)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31 };

	fx.gr[2] = UINT64_C(0xffffffff80000000) | LIST;
	fx.gr[3] = UINT64_C(0xffffffff00000080);
	fx.gr[4] = UINT64_C(0xffffffff00000010);
	ck_cc(cp_diagnose(fx.cp, &insn, 2, 4, 0x260), 0);
	ck_assert_uint_eq(fx.gr[4], UINT64_C(0xffffffff00000002));
	ck_assert_uint_eq(get_be64(fx_at(LIST + EXTENT_END, 8)), 0x3fffff);
}

static const struct { enum fault_kind kind; uint32_t value; struct cp_result result; uint64_t gr4; }
	fault[] = {
	{ FAULT_CC, 1, { CP_CC, 1, 0 }, 0x10 },
	{ FAULT_RC, 4, { CP_CC, 3, 0 }, 4 },
	{ FAULT_PGM, 6, { CP_PROGRAM, 0, 6 }, 0x10 },
	{ FAULT_DROP, 0, { CP_CC, 0, 0 }, 0x10 },
};

TEST_EACH(faults, fault)
{
	struct cp_result r;

	ck_arm(FAULT_DIAG260_EXTENTS, fault[_i].kind, .value = fault[_i].value);
	fx.gr[2] = LIST;
	fx.gr[3] = 128;
	r = query(0x10);
	ck_assert_int_eq(r.how, fault[_i].result.how);
	ck_assert_uint_eq(r.cc, fault[_i].result.cc);
	ck_assert_uint_eq(r.pgm, fault[_i].result.pgm);
	ck_assert_uint_eq(fx.gr[4], fault[_i].gr4);
	ck_assert_uint_eq(get_be64(fx_at(LIST + EXTENT_END, 8)), 0);
}
