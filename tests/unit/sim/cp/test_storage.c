/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cp_private.h"
#include "fixture.h"
#include "segment/dcss_private.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* fixture.h: storage at 0-4 MiB and 12-14 MiB, MONDCSS (SC) at 8-10 MiB. */
#define HOLE 0x400000u
#define HIGH 0xc00000u
#define HIGH_END 0xe00000u

static void load_segment(const char *name)
{
	dcss_load(fx.cp, dcss_find(fx.cp, name), false);
}

CASE("storage", fx_setup, fx_teardown);

TEST(reads_and_writes)
{
	static const char text[] = "text";
	char back[sizeof(text)];

	ck_assert_uint_eq(storage_write(fx.cp, 0, 0x3000, text, sizeof(text)), 0);
	ck_assert_mem_eq(fx_at(0x3000, sizeof(text)), text, sizeof(text));
	ck_assert_uint_eq(storage_read(fx.cp, CP_ABSOLUTE, 0x3000, back, sizeof(back)), 0);
	ck_assert_str_eq(back, text);
}

TEST(prefixing_is_the_hosts)
{
	uint8_t byte = 0x5a, back = 0;

	fx.prefix[0] = 0x10000;
	ck_assert_uint_eq(storage_write(fx.cp, 0, 0x200, &byte, 1), 0);
	ck_assert_uint_eq(*fx_at(0x10200, 1), 0x5a);
	ck_assert_uint_eq(*fx_at(0x200, 1), 0);
	ck_assert_uint_eq(storage_read(fx.cp, 0, 0x10200, &back, 1), 0);
	ck_assert_uint_eq(back, 0);
	ck_assert_uint_eq(storage_read(fx.cp, CP_ABSOLUTE, 0x10200, &back, 1), 0);
	ck_assert_uint_eq(back, 0x5a);
}

/* A prefix area in a segment that is read-only, or that the guest has no more. */
TEST(prefix_in_a_segment)
{
	uint8_t byte = 0x5a;

	fx_put_name(0x3000, "MONDCSS");
	fx.gr[2] = 0x3000;
	fx.gr[3] = 0x20;
	ck_cc(fx_diag(2, 3, 0x64), 0);
	for (unsigned int i = 0; i < 2; i++) {
		fx.prefix[0] = FX_SEGMENT_START;
		ck_assert_uint_eq(storage_write(fx.cp, 0, 0x200, &byte, 1), PGM_ADDRESSING);
		ck_assert_uint_eq(storage_check(fx.cp, 0, 0x200, 40, true), PGM_ADDRESSING);
		ck_pgm(fx_iucv(0, IUCV_RETRIEVE_BUFFER, 0x200), PGM_ADDRESSING);
		ck_assert_uint_eq(*fx_at(FX_SEGMENT_START + 0x200, 1), 0);
		fx.prefix[0] = 0;
		ck_assert_uint_eq(storage_write(fx.cp, 0, 0x200, &byte, 1), 0);
		fx.gr[2] = 0x3000;
		fx.gr[3] = 0x08;
		fx_diag(2, 3, 0x64);
	}
}

TEST(across_pages_all_or_nothing)
{
	uint8_t out[10000], in[10000];

	memset(out, 0x77, sizeof(out));
	ck_assert_uint_eq(storage_write(fx.cp, 0, 0x2ffe, out, sizeof(out)), 0);
	ck_assert_uint_eq(storage_read(fx.cp, 0, 0x2ffe, in, sizeof(in)), 0);
	ck_assert_mem_eq(in, out, sizeof(in));
	ck_assert_uint_eq(storage_write(fx.cp, 0, HOLE - 2, out, 3), PGM_ADDRESSING);
	ck_assert_uint_eq(*fx_at(HOLE - 2, 1), 0);
	memset(in, 0x11, sizeof(in));
	ck_assert_uint_eq(storage_read(fx.cp, 0, HOLE - 2, in, 3), PGM_ADDRESSING);
	ck_assert_uint_eq(in[0], 0x11);
}

static const struct {
	uint64_t addr;
	size_t len;
	uint16_t pgm;
} ranges[] = {
	{ 0, 1, 0 },
	{ HOLE - 1, 1, 0 },
	{ HOLE, 1, PGM_ADDRESSING },
	{ HOLE - 1, 2, PGM_ADDRESSING },
	{ HIGH - 1, 1, PGM_ADDRESSING },
	{ HIGH, HIGH_END - HIGH, 0 },
	{ HIGH, HIGH_END - HIGH + 1, PGM_ADDRESSING },
	{ FX_SEGMENT_START, 1, PGM_ADDRESSING },
	{ FX_STORAGE, 1, PGM_ADDRESSING },
	{ UINT64_MAX, 1, PGM_ADDRESSING },
	{ UINT64_MAX, 2, PGM_ADDRESSING },
	{ UINT64_MAX - 4, SIZE_MAX, PGM_ADDRESSING },
	{ 0, SIZE_MAX, PGM_ADDRESSING },
	{ 1, SIZE_MAX, PGM_ADDRESSING },
	{ UINT64_MAX, 0, 0 },
	{ HOLE, 0, 0 },
};

TEST_EACH(limits, ranges)
{
	ck_assert_uint_eq(storage_check(fx.cp, 0, ranges[_i].addr, ranges[_i].len, false),
			  ranges[_i].pgm);
	ck_assert_uint_eq(storage_check(fx.cp, CP_ABSOLUTE, ranges[_i].addr, ranges[_i].len, true),
			  ranges[_i].pgm);
}

TEST(nothing_is_an_access_to_nothing)
{
	ck_assert_uint_eq(storage_read(fx.cp, 0, HOLE, NULL, 0), 0);
	ck_assert_uint_eq(storage_write(fx.cp, 0, HOLE, NULL, 0), 0);
}

static void setup_beyond(void)
{
	fx_setup_with((const char *const[]){ "storage", "0.4M 16M.1M", NULL });
}

static void setup_types(void)
{
	fx_setup_with((const char *const[]){
		"segment", "T 800-800 SW 801-801 EW 802-802 SR 803-803 ER 804-804 SN 805-805 EN;"
			   "C 806-806 SC;IN 100-1FF SR", NULL });
}

TEST(sizes)
{
	ck_assert_uint_eq(storage_size(fx.cp), 6u << 20);
	ck_assert_uint_eq(storage_last(fx.cp), HIGH_END - 1);
	ck_assert_uint_eq(cp_highest_address(fx.cp), HIGH_END - 1);
	ck_assert(storage_overlaps(fx.cp, 0, 0));
	ck_assert(storage_overlaps(fx.cp, HOLE - 1, HOLE));
	ck_assert(!storage_overlaps(fx.cp, HOLE, HIGH - 1));
	ck_assert(storage_overlaps(fx.cp, HOLE, HIGH));
	ck_assert(storage_overlaps(fx.cp, HIGH_END - 1, UINT64_MAX));
	ck_assert(!storage_overlaps(fx.cp, HIGH_END, UINT64_MAX));
}

TEST(highest_address_of_a_segment)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "segment", "A 800-8FF SC;B FFFF0-FFFFF SC;C 1-1 SC",
					     NULL });
	ck_assert_uint_eq(cp_highest_address(fx.cp), UINT64_C(0xffffffff));
}

TEST(accesses_are_traced)
{
	uint8_t byte = 0xab;

	storage_write(fx.cp, 0, 0x3000, &byte, 1);
	ck_assert_uint_eq(fx.trace_len, 0);
	fx.gr[1] = 0x3000;
	ck_assert_int_eq(fx_diag(1, 2, 0x210).how, CP_PROGRAM);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"in\":[[\"3000\",\"ab000000\"]]"));
}

/* Entries of tables are in a complete trace only, and what could not be read in none. */
TEST(entries_are_traced_on_request)
{
	uint8_t bytes[8];

	memcpy(fx_at(0x3000, 8), "\1\2\3\4\5\6\7\10", 8);
	for (unsigned int full = 0; full < 2; full++) {
		fx_teardown();
		fx_setup_with(full ? (const char *const[]){ "trace-data", "full", NULL } : NULL);
		memcpy(fx_at(0x3000, 8), "\1\2\3\4\5\6\7\10", 8);
		trace_begin(fx.cp, 0, "test");
		ck_assert_uint_eq(storage_read_entry(fx.cp, 0, 0x3000, bytes, 8), 0);
		ck_assert_uint_eq(storage_read_entry(fx.cp, 0, 0xfffff000, bytes, 8), PGM_ADDRESSING);
		trace_end(fx.cp);
		ck_assert((strstr(fx.trace, "[\"3000\",\"0102030405060708\"]") != NULL) == full);
		ck_assert_ptr_null(strstr(fx.trace, "fffff000"));
	}
}

static void save_storage(struct state *s)
{
	*s = (struct state){ .loading = false };
	storage_part.state(fx.cp, s);
	ck_assert(!s->failed);
}

TEST(save_and_load)
{
	const struct cp_extent extent[2] = { fx.cp->config.extent[0], fx.cp->config.extent[1] };
	struct state s;

	save_storage(&s);
	cp_config_parse_storage(&fx.cp->config, "0.1M", NULL, 0);
	s.loading = true;
	storage_part.state(fx.cp, &s);
	ck_assert(!s.failed);
	ck_assert_uint_eq(s.pos, s.len);
	ck_assert_uint_eq(fx.cp->config.extents, 2);
	ck_assert_mem_eq(fx.cp->config.extent, extent, sizeof(extent));
	ck_assert_uint_eq(fx.storage_changes, 1);
	free(s.data);
}

/* As many extents as a guest can have. */
TEST(save_and_load_all_extents)
{
	const char *const most = "0.1M 2M.1M 4M.1M 6M.1M 8M.1M 10M.1M 12M.1M 14M.1M";
	struct state s;

	ck_assert_int_eq(cp_config_parse_storage(&fx.cp->config, most, NULL, 0), 0);
	ck_assert_uint_eq(fx.cp->config.extents, CP_MAX_EXTENTS);
	save_storage(&s);
	cp_config_parse_storage(&fx.cp->config, "0.1M", NULL, 0);
	s.loading = true;
	storage_part.state(fx.cp, &s);
	ck_assert(!s.failed);
	ck_assert_uint_eq(fx.cp->config.extents, CP_MAX_EXTENTS);
	ck_assert_uint_eq(fx.cp->config.extent[CP_MAX_EXTENTS - 1].start, 14u << 20);
	free(s.data);
}

/* Offsets in the image: tag 0, count 4, then start and size of each extent. */
static const struct { unsigned int offset; uint8_t value; } damage[] = {
	{ 0, 'X' }, { 7, 0 }, { 7, 9 }, { 7, 3 }, { 4, 0xff }, { 15, 1 }, { 13, 0x10 }, { 23, 1 },
	{ 24, 0xff }, { 32, 0xff }, { 29, 0x10 },
};

TEST_EACH(damaged_image, damage)
{
	const struct cp_config before = fx.cp->config;
	struct state s;

	save_storage(&s);
	ck_assert_uint_eq(s.len, 61);
	s.data[damage[_i].offset] = damage[_i].value;
	s.loading = true;
	storage_part.state(fx.cp, &s);
	ck_assert(s.failed);
	ck_assert_mem_eq(fx.cp->config.extent, before.extent, sizeof(before.extent));
	ck_assert_uint_eq(fx.cp->config.extents, before.extents);
	free(s.data);
}

CASE("types", setup_types, fx_teardown);

TEST(segment_types_decide)
{
	static const bool writable[7] = { true, true, false, false, true, true, false };
	uint8_t byte = 1;

	load_segment("T");
	load_segment("C");
	for (unsigned int i = 0; i < 7; i++) {
		uint64_t addr = FX_SEGMENT_START + i * CP_PAGE_SIZE;

		ck_assert_int_eq(cp_page_access(fx.cp, addr + 4095),
				 writable[i] ? CP_ACCESS_WRITE : CP_ACCESS_READ);
		ck_assert_uint_eq(storage_read(fx.cp, 0, addr, &byte, 1), 0);
		ck_assert_uint_eq(storage_write(fx.cp, 0, addr, &byte, 1),
				  writable[i] ? 0 : PGM_PROTECTION);
	}
	ck_assert_int_eq(cp_page_access(fx.cp, FX_SEGMENT_START - 1), CP_ACCESS_NONE);
	ck_assert_int_eq(cp_page_access(fx.cp, FX_SEGMENT_START + 0x7000), CP_ACCESS_NONE);
}

TEST(segment_inside_storage_prevails)
{
	ck_assert_int_eq(cp_page_access(fx.cp, 0x100000), CP_ACCESS_WRITE);
	load_segment("IN");
	ck_assert_int_eq(cp_page_access(fx.cp, 0x0fffff), CP_ACCESS_WRITE);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x100000), CP_ACCESS_READ);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x1fffff), CP_ACCESS_READ);
	ck_assert_int_eq(cp_page_access(fx.cp, 0x200000), CP_ACCESS_WRITE);
	/* A hole between two loaded segments belongs to nobody. */
	load_segment("C");
	ck_assert_int_eq(cp_page_access(fx.cp, 0x500000), CP_ACCESS_NONE);
}

CASE("beyond", setup_beyond, fx_teardown);

TEST(storage_the_emulator_has_not)
{
	uint8_t byte = 0;

	ck_assert_int_eq(cp_page_access(fx.cp, FX_STORAGE), CP_ACCESS_WRITE);
	ck_assert_uint_eq(storage_read(fx.cp, 0, FX_STORAGE, &byte, 1), PGM_ADDRESSING);
	ck_assert_uint_eq(storage_write(fx.cp, 0, FX_STORAGE, &byte, 1), PGM_ADDRESSING);
}
