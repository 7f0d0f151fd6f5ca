/* SPDX-License-Identifier: MIT */
/*
 * VMDUMP.  The file is read as s390-tools' zgetdump reads one (zdump/dfi_vmdump.c, df_vmdump.h),
 * whose places of fields are written down here once more.
 */
#include <stdlib.h>

#include "cp_private.h"
#include "spool/spool_private.h"
#include "spool_check.h"
#include "zvmlab/storage.h"

#define PAGE 4096u

/* Records, and fields within them. */
enum { MAP = 2, INFO = 3, MAP_INFO = 8, MAP_ACCESS = 16 };
enum { TYPE = 56, NOTE_LEN = 80, NOTE_AT = 82 };
enum { GPRS = 16, PREFIX = 144, FORMAT = 187, PSW = 192, COUNT_OTHERS = 912, SECOND = 1104 };
enum { SECOND_GPRS = 144, SECOND_PSW = 272, SECOND_PREFIX = 296 };
enum { DEF_STORE = 72, RANGES = 216, RANGE = 352 };

static const struct spool_file *file;

static void registers(void *opaque, unsigned int cpu, struct cp_registers *to)
{
	(void)opaque;
	for (unsigned int i = 0; i < 16; i++)
		to->gr[i] = (cpu + 1) * 0x1000 + i;
	to->psw[0] = 0x0404c00180000000;
	to->psw[1] = 0x100000 + cpu;
	to->prefix = 0x20000 * (cpu + 1);
}

static void setup(void)
{
	fx_setup_with((const char *const[]){ "cpus", "2", "storage", "0.4M 12M.2M", "directory",
					     "SPOOL 00C 2540 READER *", NULL });
	fx.cp->host.registers = registers;
}

static const uint8_t *name_of(const char *text)
{
	static uint8_t name[8];

	memset(name, 0x40, sizeof(name));
	ebcdic_encode(name, text, strlen(text));
	return name;
}

static const uint8_t *record(unsigned int number)
{
	const uint16_t page = spool_page_at(fx.cp->system->spool, file, number - 1);

	ck_assert_uint_ne(page, 0);
	return fx.cp->system->spool->page[page - 1];
}

/* The page at this address as a reader of the dump finds it; NULL: it is zero. */
static const uint8_t *dumped(uint64_t addr, uint64_t pages)
{
	const unsigned int access = get_be32(record(MAP) + MAP_ACCESS);
	const uint8_t *index = record(access + 2);
	unsigned int maps = 0, before = 0, found = 0;

	ck_assert_uint_le(pages, PAGE * 8 * PAGE);
	for (unsigned int i = 0; i <= (pages - 1) / PAGE; i++) {
		const uint8_t *map;

		if (!(index[i / 8] & 0x80 >> i % 8))
			continue;
		map = record(access + 3 + maps++);
		for (unsigned int j = 0; j < PAGE && i * PAGE + j < pages; j++) {
			if (i * PAGE + j == addr / PAGE)
				found = map[j] & 1;
			before += i * PAGE + j < addr / PAGE ? map[j] & 1 : 0;
		}
	}
	return found ? record(access + 3 + maps + before) : NULL;
}

static void dump(const char *command)
{
	ck_guest(command, 0, "Command complete\n");
	file = spool_nth(fx.cp, "LINUX001", SPOOL_RDR, 0);
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(file->records, file->pages);
}

CASE("vmdump", setup, fx_teardown);

TEST(heads)
{
	dump("VMDUMP * what Was done");
	ck_assert_mem_eq(record(1), "\xe2\xd9", 2);
	ck_assert_mem_eq(record(1) + TYPE, name_of("VMDUMP"), 8);
	ck_assert_uint_eq(get_be16(record(1) + NOTE_LEN), strlen("* what Was done"));
	ck_assert_mem_eq(record(1) + get_be16(record(1) + NOTE_AT) + 2, "\xa6\x88\x81\xa3\x40\xe6", 6);
	ck_assert_mem_eq(record(MAP), name_of("HCPDFMBK"), 8);
	ck_assert_uint_eq(get_be32(record(MAP) + MAP_INFO), INFO);
	ck_assert_uint_eq(get_be32(record(MAP) + MAP_ACCESS), 8);
	ck_assert_mem_eq(record(8), name_of("HCPDALBK"), 8);
	ck_assert_mem_eq(record(9), name_of("ASIZBK"), 8);
	ck_assert_uint_eq(get_be64(record(9) + DEF_STORE), 0xe00000);
	ck_assert_uint_eq(get_be32(record(9) + RANGES), 1);
	ck_assert_uint_eq(get_be64(record(9) + RANGE), 0);
	ck_assert_uint_eq(get_be64(record(9) + RANGE + 8), 0xdfffff);
}

TEST(cpus)
{
	const uint8_t *info;

	dump("VMDUMP");
	info = record(INFO);
	ck_assert_uint_eq(info[FORMAT], 2);
	ck_assert_uint_eq(get_be64(info + GPRS + 8 * 15), 0x100f);
	ck_assert_uint_eq(get_be32(info + PREFIX), 0x20000);
	ck_assert_uint_eq(get_be64(info + PSW + 8), 0x100000);
	ck_assert_uint_eq(get_be16(info + COUNT_OTHERS), 1);
	ck_assert_uint_eq(get_be64(info + SECOND + SECOND_GPRS + 8), 0x2001);
	ck_assert_uint_eq(get_be64(info + SECOND + SECOND_PSW + 8), 0x100001);
	ck_assert_uint_eq(get_be32(info + SECOND + SECOND_PREFIX), 0x40000);
}

TEST(storage)
{
	static const uint64_t written[] = { 0, 0x1000, 0x3ff000, 0xc00000, 0xdff000 };

	for (unsigned int i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		memset(fx_at(written[i], PAGE), (int)i + 1, PAGE);
	dump("VMDUMP 0-END");
	ck_assert_uint_eq(file->pages, 11 + 5);
	for (unsigned int i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		const uint8_t *page = dumped(written[i], 0xe00);

		ck_assert_ptr_nonnull(page);
		ck_assert_uint_eq(page[0], i + 1);
		ck_assert_uint_eq(page[PAGE - 1], i + 1);
	}
	ck_assert_ptr_null(dumped(0x2000, 0xe00));
	ck_assert_ptr_null(dumped(0x400000, 0xe00));
	ck_guest("QUERY RDR ALL", 0,
		 "ORIGINID FILE CLASS RECORDS  CPY HOLD DATE  TIME     NAME      TYPE     DIST\n"
		 "LINUX001 0001 V DMP 00000016 001 NONE 12/15 13:24:57 VMDUMP    FILE     LINUX001\n");
}

/* Each is rounded to whole pages; what is behind the last range is in no map. */
TEST(ranges)
{
	memset(fx_at(0x1000, 3 * PAGE), 7, 3 * PAGE);
	dump("VMDUMP 1FFF.2 C00000-C00FFF FORMAT LINUX TO *");
	ck_assert_uint_eq(get_be32(record(9) + RANGES), 2);
	ck_assert_uint_eq(get_be64(record(9) + RANGE), 0x1000);
	ck_assert_uint_eq(get_be64(record(9) + RANGE + 8), 0x2fff);
	ck_assert_ptr_nonnull(dumped(0x1000, 0xc01));
	ck_assert_ptr_nonnull(dumped(0x2000, 0xc01));
	ck_assert_ptr_null(dumped(0x3000, 0xc01));
	ck_assert_str_eq(file->label.type, "LINUX");
}

TEST_LOOP(refused, 0, 10)
{
	static const struct { const char *text; int rc; const char *reply; } cases[] = {
		{ "VMDUMP X", 4, "HCPVMD004E Invalid hexloc - X\n" },
		{ "VMDUMP 2000-1000", 4, "HCPVMD004E Invalid hexloc - 2000-1000\n" },
		{ "VMDUMP 1000.0", 4, "HCPVMD004E Invalid hexloc - 1000.0\n" },
		{ "VMDUMP 0-E00000", 160, "HCPVMD160E Hexloc 0-E00000 exceeds storage\n" },
		{ "VMDUMP 0.E00001", 160, "HCPVMD160E Hexloc 0.E00001 exceeds storage\n" },
		{ "VMDUMP FFFFFFFFFFFFFFFF", 160, "HCPVMD160E Hexloc FFFFFFFFFFFFFFFF exceeds storage\n" },
		{ "VMDUMP 0 1000 2000 3000", 3, INVALID("VMD", "3000") },
		{ "VMDUMP TO", 26, MISSING("VMD") },
		{ "VMDUMP FORMAT LONGNAMES", 3, INVALID("VMD", "LONGNAMES") },
		{ "VMDUMP TO NOBODY", 53, "HCPVMD053E NOBODY not in CP directory\n" },
	};

	ck_guest(cases[_i].text, cases[_i].rc, cases[_i].reply);
	ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
}

TEST(full_spool)
{
	static const char full[] = "HCPVMD061E Dump failed - the spool has no room for it\n";

	memset(fx_at(0x1000, 3 * PAGE), 7, 3 * PAGE);
	for (uint32_t pages = 0; pages < 14; pages++) {
		spool_limits(fx.cp, pages, 9);
		ck_guest("VMDUMP", 61, full);
		ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	}
	spool_limits(fx.cp, SPOOL_PAGES, 0);
	ck_guest("VMDUMP", 61, full);
	spool_limits(fx.cp, 14, 1);
	dump("VMDUMP");
	ck_assert_uint_eq(file->pages, 14);
}

TEST(not_possible)
{
	fx.cp->config.trace_full = true;
	ck_guest("VMDUMP", 13, "HCPVMD013E Conflicting option - a trace that is to be replayed "
			       "(trace-data full) cannot hold a dump\n");
	fx.cp->host.registers = NULL;
	ck_guest("VMDUMP", 13, "HCPVMD013E Conflicting option - only QEMU with a guest that is alone "
			       "shows the registers that a dump has\n");
}

TEST(without_spool)
{
	fx_teardown();
	fx_setup();
	ck_guest("VMDUMP", 13, "HCPVMD013E Conflicting option - the directory entry has no SPOOL "
			       "statement, so there is no spool\n");
}

/* It is no deck of cards: whoever reads some finds its end. */
TEST(cards)
{
	struct cp_unit_io io = { .device = 0xc, .command = 0x02 };

	dump("VMDUMP");
	cp_unit(fx.cp, &io);
	ck_assert_uint_eq(io.status, CP_UNIT_ENDED | CP_UNIT_EXCEPTION);
}

/* Linux' vmur does not write a record's length into the pages of what is marked as a dump. */
TEST(marked)
{
	struct cp_insn insn = { .gr = fx.gr, .amode = 31 };

	dump("VMDUMP");
	fx.gr[1] = 0x3000;
	fx.gr[2] = 0;
	fx.gr[3] = 0xfff;
	ck_cc(cp_diagnose(fx.cp, &insn, 1, 2, 0x14), 0);
	ck_assert_uint_eq(*fx_at(0x3000 + 32, 1), 0x50);
}

TEST(saved)
{
	uint8_t *image;
	size_t len;

	memset(fx_at(0x1000, PAGE), 7, PAGE);
	dump("VMDUMP");
	image = fx_save(&len);
	ck_guest("PURGE RDR ALL", 0, "0001 FILE PURGED\n");
	fx_load(image, len);
	free(image);
	file = spool_nth(fx.cp, "LINUX001", SPOOL_RDR, 0);
	ck_assert_uint_eq(file->device, SPOOL_DUMP);
	ck_assert_uint_eq(dumped(0x1000, 0xe00)[5], 7);
}
