/* SPDX-License-Identifier: MIT */
/* DIAGNOSE X'204' and X'2FC': what the guests use; logical addresses. */
#include "fixture.h"
#include "state_check.h"
#include "zvmlab/command.h"
#include "zvmlab/fault.h"
#include "zvmlab/guests.h"

#define LIST 0x3000u
#define BUFFER 0x5000u

/*
 * Where the blocks have their fields: as Linux's hypfs has them, so that they are not taken from
 * the code under test.  X'204', simple format: the header, then partitions with their CPUs.
 */
enum {
	INFO_TOD = 8,		/* 8 */
	INFO_SIZE = 16,
	PARTITION_SIZE = 16,
	CPU_ADDRESS = 0,	/* 2 */
	CPU_WEIGHT = 6,		/* 2 */
	CPU_ELAPSED = 8,	/* 8: microseconds */
	CPU_OWN = 16,		/* 8: microseconds */
	CPU_SIZE = 24,
};

/* X'2FC': the list. */
enum {
	LIST_USERID = 0,	/* 8 */
	LIST_GROUP = 8,		/* 8 */
	LIST_ADDRESS = 16,	/* 8 */
	LIST_LENGTH = 24,	/* 4 */
	LIST_FORMAT = 28,	/* 4 */
	LIST_SIZE = 32,
};

/* X'2FC': a guest. */
enum {
	GUEST_VERSION = 0,	/* 4, then flags */
	GUEST_CPU_TIME = 8,	/* 8: microseconds */
	GUEST_ELAPSED = 16,	/* 8: microseconds */
	GUEST_STORAGE_MIN = 24,	/* 8 each: KiB */
	GUEST_STORAGE_MAX = 32,
	GUEST_STORAGE_SHARE = 40,
	GUEST_STORAGE_USED = 48,
	GUEST_PHYSICAL_CPUS = 56, /* 4 each */
	GUEST_LOGICAL_CPUS = 60,
	GUEST_VIRTUAL_CPUS = 64,
	GUEST_ONLINE_CPUS = 68,
	GUEST_CPU_MAX = 72,
	GUEST_CPU_SHARES = 76,
	GUEST_SAMPLES = 80,	/* 6 of 4 */
	GUEST_NAME = 104,	/* 8 */
	GUEST_SIZE = 112,
};

static void setup_class(const char *classes)
{
	fx_setup_with((const char *const[]){ "userid", "tux", "cpus", "2", "class", classes,
					     NULL });
	cp_reset(fx.cp);
	/* CP has been up for 90 seconds. */
	fx.tod += UINT64_C(90000000) << 12;
}

static void setup(void)
{
	setup_class("G");
}

FX_REPLAY_TRACES;

CASE("guests", setup, fx_teardown);

static void setup_all(void)
{
	setup_class("BG");
}

static struct cp_result use(uint64_t addr, uint64_t subcode)
{
	fx.gr[2] = addr;
	fx.gr[4] = subcode;
	fx.gr[5] = 1;
	return fx_diag(2, 4, 0x204);
}

/* A CPU of X'204' without a weight; @used: microseconds. */
static void ck_cpu(const uint8_t *at, unsigned int address, uint64_t used)
{
	ck_assert_uint_eq(get_be16(at + CPU_ADDRESS), address);
	ck_assert_uint_eq(get_be32(at + CPU_ADDRESS + 2), 0);
	ck_assert_uint_eq(get_be16(at + CPU_WEIGHT), 0);
	ck_assert_uint_eq(get_be64(at + CPU_ELAPSED), used);
	ck_assert_uint_eq(get_be64(at + CPU_OWN), used);
}

TEST(cpu_use)
{
	static const uint8_t head[8] = { 1, 0x80, 0, 0, 0, 2, 0, 1 };
	static const uint8_t partition[16] = {
		1, 2, 0, 0, 0, 0, 0, 0, 0xe3, 0xe4, 0xe7, 0x40, 0x40, 0x40, 0x40, 0x40,
	};
	static const uint8_t physical[16] = {
		0, 2, 0, 0, 0, 0, 0, 0, 0xd7, 0xc8, 0xe8, 0xe2, 0xc9, 0xc3, 0xc1, 0xd3,
	};
	const uint8_t *at = fx_at(BUFFER, 4096);
	const uint8_t *own = at + INFO_SIZE, *all = own + PARTITION_SIZE + 2 * CPU_SIZE;

	memset(fx_at(BUFFER, 4096), 0xee, 4096);
	ck_assert_int_eq(use(BUFFER, 4).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert_uint_eq(fx.gr[5], 1);
	ck_assert_mem_eq(at, head, 8);
	ck_assert_uint_eq(get_be64(at + INFO_TOD), fx.tod);
	ck_assert_mem_eq(own, partition, PARTITION_SIZE);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		const uint8_t *mine = own + PARTITION_SIZE + cpu * CPU_SIZE;
		const uint8_t *real = all + PARTITION_SIZE + cpu * CPU_SIZE;

		ck_cpu(mine, cpu, 90000000);
		ck_cpu(real, cpu, 0);
	}
	ck_assert_mem_eq(all, physical, PARTITION_SIZE);
	ck_assert_uint_eq(all[PARTITION_SIZE + 2 * CPU_SIZE], 0xee);
}

/* Linux asks for the extended format first: room needed, then subcodes 7 and 6. */
TEST_LOOP(no_extended_format, 0, 7)
{
	static const uint64_t subcodes[] = { 0x10005, 0x10007, 0x10006, 0x10004, 5, 0, UINT64_MAX };

	ck_assert_int_eq(use(0, subcodes[_i]).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 4);
	ck_assert_uint_eq(fx.gr[5], 1);
	ck_assert_ptr_null(strstr(fx.trace, "\"out\""));
}

TEST(cpu_use_refused)
{
	ck_pgm(use(BUFFER + 8, 4), PGM_SPECIFICATION);
	ck_pgm(use(0x400000, 4), PGM_ADDRESSING);
	ck_pgm(use(~UINT64_C(0xfff), 4), PGM_ADDRESSING);
	fx.gr[2] = BUFFER;
	fx.gr[5] = 4;
	ck_pgm(fx_diag(2, 5, 0x204), PGM_SPECIFICATION);
	ck_assert_uint_eq(fx.gr[5], 4);
	ck_assert_uint_eq(*fx_at(BUFFER, 1), 0);
}

static void put_list_at(uint64_t at, const char *user, const char *group, uint64_t addr,
			uint32_t len)
{
	fx_put_name(at + LIST_USERID, user);
	fx_put_name(at + LIST_GROUP, group);
	put_be64(fx_at(at + LIST_ADDRESS, 8), addr);
	put_be32(fx_at(at + LIST_LENGTH, 4), len);
	put_be32(fx_at(at + LIST_FORMAT, 4), 2);
}

static struct cp_result guests(const char *user, uint64_t addr, uint32_t len)
{
	put_list_at(LIST, user, "*", addr, len);
	fx.gr[1] = LIST;
	fx.gr[3] = 77;
	return fx_diag(1, 3, 0x2fc);
}

static void check_self(const uint8_t *at)
{
	static const uint8_t name[8] = { 0xe3, 0xe4, 0xe7, 0x40, 0x40, 0x40, 0x40, 0x40 };

	ck_assert_uint_eq(get_be64(at + GUEST_VERSION), UINT64_C(2) << 32);
	ck_assert_uint_eq(get_be64(at + GUEST_CPU_TIME), 180000000);
	ck_assert_uint_eq(get_be64(at + GUEST_ELAPSED), 90000000);
	ck_assert_uint_eq(get_be64(at + GUEST_STORAGE_MIN), 0);
	ck_assert_uint_eq(get_be64(at + GUEST_STORAGE_MAX), 6 * 1024);
	ck_assert_uint_eq(get_be64(at + GUEST_STORAGE_SHARE), 6 * 1024);
	ck_assert_uint_eq(get_be64(at + GUEST_STORAGE_USED), 6 * 1024);
	ck_assert_uint_eq(get_be32(at + GUEST_PHYSICAL_CPUS), 2);
	ck_assert_uint_eq(get_be32(at + GUEST_LOGICAL_CPUS), 2);
	ck_assert_uint_eq(get_be32(at + GUEST_VIRTUAL_CPUS), 2);
	ck_assert_uint_eq(get_be32(at + GUEST_ONLINE_CPUS), 2);
	ck_assert_uint_eq(get_be32(at + GUEST_CPU_MAX), 10000);
	ck_assert_uint_eq(get_be32(at + GUEST_CPU_SHARES), 100);
	for (unsigned int i = GUEST_SAMPLES; i < GUEST_NAME; i++)
		ck_assert_uint_eq(at[i], 0);
	ck_assert_mem_eq(at + GUEST_NAME, name, 8);
}

TEST_LOOP(own_data, 0, 2)
{
	static const char *const names[] = { "", "tux" };

	memset(fx_at(BUFFER, 256), 0xee, 256);
	ck_assert_int_eq(guests(names[_i], BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], 0);
	ck_assert_uint_eq(fx.gr[3], 0);
	check_self(fx_at(BUFFER, GUEST_SIZE));
	ck_assert_uint_eq(*fx_at(BUFFER + GUEST_SIZE, 1), 0xee);
}

TEST(room)
{
	memset(fx_at(BUFFER, 256), 0xee, 256);
	ck_assert_int_eq(guests("", 0, 0).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], (uint64_t)-GUEST_SIZE);
	ck_assert_uint_eq(fx.gr[3], (uint64_t)-2);
	ck_assert_int_eq(guests("", BUFFER, 111).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], UINT64_MAX);
	ck_assert_uint_eq(fx.gr[3], (uint64_t)-2);
	ck_assert_uint_eq(*fx_at(BUFFER, 1), 0xee);
	ck_assert_int_eq(guests("", BUFFER, 200).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], 88);
	ck_assert_uint_eq(fx.gr[3], 0);
	ck_assert_uint_eq(*fx_at(BUFFER + GUEST_SIZE, 1), 0xee);
}

/* Class G sees itself, as under z/VM: Linux then asks for itself alone. */
TEST_LOOP(not_allowed, 0, 3)
{
	static const char *const names[] = { "*", "OPERATOR", "NOBODY" };

	memset(fx_at(BUFFER, 256), 0xee, 256);
	ck_assert_int_eq(guests(names[_i], BUFFER, 256).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], LIST);
	ck_assert_uint_eq(fx.gr[3], UINT64_MAX);
	ck_assert_uint_eq(*fx_at(BUFFER, 1), 0xee);
}

TEST(groups_and_formats)
{
	put_list_at(LIST, "", "", BUFFER, GUEST_SIZE);
	fx.gr[1] = LIST;
	ck_assert_int_eq(fx_diag(1, 3, 0x2fc).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], 0);
	put_list_at(LIST, "", "STAFF", BUFFER, GUEST_SIZE);
	fx.gr[1] = LIST;
	ck_assert_int_eq(fx_diag(1, 3, 0x2fc).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], UINT64_MAX);
	put_list_at(LIST, "", "*", BUFFER, GUEST_SIZE);
	put_be32(fx_at(LIST + LIST_FORMAT, 4), 1);
	ck_assert_int_eq(fx_diag(1, 3, 0x2fc).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], UINT64_MAX);
}

TEST(guests_refused)
{
	put_list_at(LIST, "", "*", BUFFER, GUEST_SIZE);
	fx.gr[1] = LIST + 4;
	ck_pgm(fx_diag(1, 3, 0x2fc), PGM_SPECIFICATION);
	fx.gr[1] = LIST;
	ck_pgm(fx_diag(1, 1, 0x2fc), PGM_SPECIFICATION);
	fx.gr[1] = 0x3ffff8;
	ck_pgm(fx_diag(1, 3, 0x2fc), PGM_ADDRESSING);
	ck_pgm(guests("", 0x3fffa0, GUEST_SIZE), PGM_ADDRESSING);
	ck_assert_uint_eq(fx.gr[3], 77);
	ck_assert_uint_eq(*fx_at(0x3fffa0 + 7, 1), 0);
	ck_pgm(guests("", UINT64_MAX - 50, GUEST_SIZE), PGM_ADDRESSING);
}

static void unheard(struct cp *cp, struct iucv_user *user, void *opaque,
		    const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	(void)opaque;
	(void)event;
}

static const struct guest_description web = {
	.name = "WEB", .cpu_us = 1000, .online_us = 50000, .cpu_percent = 150, .storage_min = 1,
	.storage_max = 2, .storage_share = 3, .storage_used = 4, .cpus = 5, .operating = 4,
	.share_max = 300, .share = 200, .capped = 2, .dedicated = true, .cpu_use = 10,
	.cpu_delay = 20, .page_wait = 30, .idle = 40, .other = 50,
};

static char err[256];

/* Its fields, as they are @later microseconds after it was described. */
static void check_web(const uint8_t *at, uint64_t later)
{
	static const uint32_t cpus[6] = { 2, 2, 5, 4, 300, 200 };
	static const uint32_t samples[6] = { 10, 20, 30, 40, 50, 150 };

	/* Format 2; dedicated, capped hard. */
	ck_assert_uint_eq(get_be64(at + GUEST_VERSION), UINT64_C(2) << 32 | 0xc);
	ck_assert_uint_eq(get_be64(at + GUEST_CPU_TIME), 1000 + later * 3 / 2);
	ck_assert_uint_eq(get_be64(at + GUEST_ELAPSED), 50000 + later);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(get_be64(at + GUEST_STORAGE_MIN + 8 * i), i + 1);
	for (unsigned int i = 0; i < 6; i++) {
		ck_assert_uint_eq(get_be32(at + GUEST_PHYSICAL_CPUS + 4 * i), cpus[i]);
		ck_assert_uint_eq(get_be32(at + GUEST_SAMPLES + 4 * i), samples[i]);
	}
	ck_assert_mem_eq(at + GUEST_NAME, "\xe6\xc5\xc2\x40\x40\x40\x40\x40", 8);
}

#define NAMES "TUX      - DSC , PEER     - DSC , OPERATOR - DSC , WEB      - DSC\n"

/* After the tag: how many, then each: its name, 6 amounts, 6 numbers of CPUs and shares … */
enum { IMAGE_COUNT = 4, IMAGE_NAME = 8, IMAGE_CPU_US = 17, IMAGE_CPUS = IMAGE_CPU_US + 48 + 8 };

static void arm(enum fault_point point, enum fault_kind kind, uint32_t value)
{
	ck_arm(point, kind, .value = value, .times = 1);
}

TEST(faults)
{
	memset(fx_at(BUFFER, 256), 0xee, 256);
	arm(FAULT_DIAG2FC, FAULT_RC, 5);
	ck_assert_int_eq(guests("", BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], 5);
	arm(FAULT_DIAG2FC, FAULT_DROP, 0);
	ck_assert_int_eq(guests("", BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], 0);
	ck_assert_uint_eq(fx.gr[1], LIST);
	arm(FAULT_DIAG2FC, FAULT_PGM, PGM_OPERATION);
	ck_pgm(guests("", BUFFER, GUEST_SIZE), PGM_OPERATION);
	arm(FAULT_DIAG204, FAULT_RC, 5);
	ck_assert_int_eq(use(BUFFER, 4).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 5);
	arm(FAULT_DIAG204, FAULT_DROP, 0);
	ck_assert_int_eq(use(BUFFER, 4).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	arm(FAULT_DIAG204, FAULT_PGM, PGM_SPECIFICATION);
	ck_pgm(use(BUFFER, 4), PGM_SPECIFICATION);
	fx.gr[2] = BUFFER;
	arm(FAULT_DIAG0C, FAULT_DROP, 0);
	ck_assert_int_eq(fx_diag(2, 4, 0x0c).how, CP_DONE);
	arm(FAULT_DIAG0C, FAULT_PGM, PGM_OPERATION);
	ck_pgm(fx_diag(2, 4, 0x0c), PGM_OPERATION);
	for (unsigned int i = 0; i < 256; i++)
		ck_assert_uint_eq(*fx_at(BUFFER + i, 1), 0xee);
	/* Each has fired once. */
	ck_assert_int_eq(guests("", BUFFER, GUEST_SIZE).how, CP_DONE);
	check_self(fx_at(BUFFER, GUEST_SIZE));
}

/*
 * Translation tables as the PoP has them in chapter 3: region first at 10000,
 * second 14000, third 18000, segment 1c000, page 20000.  Virtual address
 * 0x0020_0400_8010_0000: one entry above the first of each table.
 */
#define VIRTUAL (UINT64_C(1) << 53 | UINT64_C(1) << 42 | UINT64_C(1) << 31 | UINT64_C(1) << 20)
#define ASCE_FIRST 0x1000fu

static void put_tables(void)
{
	put_be64(fx_at(0x10008, 8), 0x1400f);
	put_be64(fx_at(0x14008, 8), 0x1800b);
	put_be64(fx_at(0x18008, 8), 0x1c007);
	put_be64(fx_at(0x1c008, 8), 0x20000);
	put_be64(fx_at(0x20000, 8), 0x30000);	/* virtual page 0: real 30000 */
	put_be64(fx_at(0x20008, 8), 0x28000);	/* virtual page 1: real 28000 */
}

static struct cp_result virtual_guests(uint64_t list, uint64_t asce)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64, .dat = true, .asce = asce };

	fx.gr[1] = list;
	fx.gr[3] = 77;
	return cp_diagnose(fx.cp, &insn, 1, 3, 0x2fc);
}

static const struct { uint64_t asce, base; } spaces[] = {
	{ ASCE_FIRST, VIRTUAL },
	{ 0x1400b, VIRTUAL & ~(UINT64_C(1) << 53) },
	{ 0x18007, UINT64_C(1) << 31 | UINT64_C(1) << 20 },
	{ 0x1c003, UINT64_C(1) << 20 },
};

/* List and buffer cross from one page into the next, which lies elsewhere. */
TEST_EACH(translated, spaces)
{
	const uint64_t base = spaces[_i].base;
	uint8_t list[LIST_SIZE], data[GUEST_SIZE];

	put_tables();
	put_list_at(LIST, "", "*", base + 0xfc0, GUEST_SIZE);
	memcpy(list, fx_at(LIST, LIST_SIZE), LIST_SIZE);
	memcpy(fx_at(0x30ff0, 16), list, 16);
	memcpy(fx_at(0x28000, 16), list + 16, 16);
	ck_assert_int_eq(virtual_guests(base + 0xff0, spaces[_i].asce).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], 0);
	memcpy(data, fx_at(0x30fc0, 64), 64);
	memcpy(data + 64, fx_at(0x28000, 48), 48);
	check_self(data);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"asce\":"));
}

TEST(large_pages)
{
	put_tables();
	put_be64(fx_at(0x1c008, 8), 0x400);
	put_list_at(0x3000, "", "*", VIRTUAL + BUFFER, GUEST_SIZE);
	ck_assert_int_eq(virtual_guests(VIRTUAL + 0x3000, ASCE_FIRST).how, CP_DONE);
	check_self(fx_at(BUFFER, GUEST_SIZE));
	memset(fx_at(BUFFER, GUEST_SIZE), 0, GUEST_SIZE);
	put_be64(fx_at(0x18008, 8), 0x404);
	put_list_at(0x103000, "", "*", VIRTUAL + BUFFER - 0x100000, GUEST_SIZE);
	ck_assert_int_eq(virtual_guests(VIRTUAL + 0x3000, ASCE_FIRST).how, CP_DONE);
	check_self(fx_at(BUFFER, GUEST_SIZE));
}

TEST(real_space)
{
	put_list_at(LIST, "", "*", BUFFER, GUEST_SIZE);
	ck_assert_int_eq(virtual_guests(LIST, 0x20).how, CP_DONE);
	check_self(fx_at(BUFFER, GUEST_SIZE));
}

static const struct { uint64_t at, entry, asce; uint16_t pgm; } untranslated[] = {
	{ 0x10008, 0x1402f, ASCE_FIRST, PGM_ADDRESSING },	/* invalid */
	{ 0x14008, 0x1802b, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x18008, 0x1c027, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x1c008, 0x20020, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x20008, 0x28400, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x20008, 0x28800, ASCE_FIRST, PGM_ADDRESSING },	/* reserved */
	{ 0x10008, 0x1400b, ASCE_FIRST, PGM_ADDRESSING },	/* another level's entry */
	{ 0x1c008, 0x20004, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x18008, 0x1c047, ASCE_FIRST, PGM_ADDRESSING },	/* begins behind the entry */
	{ 0x20008, 0x28000, 0x1c003, PGM_ADDRESSING },		/* above the space */
	{ 0x20008, 0x400000, ASCE_FIRST, PGM_ADDRESSING },	/* no storage */
	{ 0x18008, 0x400007, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x1c008, 0x400000, ASCE_FIRST, PGM_ADDRESSING },
	{ 0x20008, 0x28200, ASCE_FIRST, PGM_PROTECTION },
	{ 0x1c008, 0x20200, ASCE_FIRST, PGM_PROTECTION },
	{ 0x18008, 0x1c207, ASCE_FIRST, PGM_PROTECTION },
};

/* The list is in virtual page 0, the end of the buffer in page 1: nothing is stored. */
TEST_EACH(not_translated, untranslated)
{
	put_tables();
	put_list_at(0x30800, "", "*", VIRTUAL + 0xff0, GUEST_SIZE);
	put_be64(fx_at(untranslated[_i].at, 8), untranslated[_i].entry);
	ck_pgm(virtual_guests(VIRTUAL + 0x800, untranslated[_i].asce), untranslated[_i].pgm);
	ck_assert_uint_eq(fx.gr[1], VIRTUAL + 0x800);
	ck_assert_uint_eq(fx.gr[3], 77);
	ck_assert_uint_eq(*fx_at(0x30ff0 + 3, 1), 0);
	ck_assert_uint_eq(*fx_at(0x28000, 1), 0);
}

/*
 * The buffer begins in the page that holds the page table: its third doubleword, 90 seconds as
 * microseconds, becomes the entry of its second page, and has a bit that must be zero.
 */
TEST(table_in_the_buffer)
{
	const uint64_t base = UINT64_C(1) << 20, buffer = base + (250 << 12) + 0xfc8;

	put_tables();
	put_be64(fx_at(0x1c008, 8), 0x20800);
	put_be64(fx_at(0x20800, 8), 0x30000);
	put_be64(fx_at(0x20800 + 250 * 8, 8), 0x20000);
	put_be64(fx_at(0x20800 + 251 * 8, 8), 0x28000);
	memset(fx_at(0, 4096), 0xee, 4096);
	put_list_at(0x30000, "", "*", buffer, GUEST_SIZE);
	ck_pgm(virtual_guests(base, 0x1c003), PGM_ADDRESSING);
	ck_assert_uint_eq(get_be64(fx_at(0x20fc8 + GUEST_ELAPSED, 8)), 90000000);
	ck_assert_uint_eq(*fx_at(0x28000, 1), 0);
	for (unsigned int i = 0; i < 4096; i++)
		ck_assert_uint_eq(*fx_at(i, 1), 0xee);
}

/* A table of 512 entries has no 513th. */
TEST(table_length)
{
	const uint64_t base = UINT64_C(512) << 20;

	put_be64(fx_at(0x1c000 + 512 * 8, 8), 0x20000);
	put_be64(fx_at(0x20000, 8), 0x30000);
	put_list_at(0x30000, "", "*", base + 0x100, GUEST_SIZE);
	ck_pgm(virtual_guests(base, 0x1c000), PGM_ADDRESSING);
	ck_assert_int_eq(virtual_guests(base, 0x1c001).how, CP_DONE);
	check_self(fx_at(0x30100, GUEST_SIZE));
}

TEST(amode_31)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 31, .dat = true, .asce = 0x1c003 };

	put_tables();
	put_list_at(0x30000, "", "*", UINT64_C(0xf80100100), GUEST_SIZE);
	fx.gr[1] = UINT64_C(0xabcdef0180100000);
	fx.gr[3] = UINT64_C(0x12345678ffffffff);
	ck_assert_int_eq(cp_diagnose(fx.cp, &insn, 1, 3, 0x2fc).how, CP_DONE);
	check_self(fx_at(0x30100, GUEST_SIZE));
	ck_assert_uint_eq(fx.gr[1], UINT64_C(0xabcdef0100000000));
	ck_assert_uint_eq(fx.gr[3], UINT64_C(0x1234567800000000));
}

static void setup_staff(void)
{
	fx_setup_with((const char *const[]){ "userid", "tux", "cpus", "2", "class", "BG",
					     "directory", "IUCV ANY;ACIGROUP STAFF", NULL });
	cp_reset(fx.cp);
	fx.tod += UINT64_C(90000000) << 12;
}

CASE("groups", setup_staff, fx_teardown);

/* The user IDs of those that a question finds, "" if it is refused. */
static const char *found(const char *user, const char *group)
{
	static char names[64];
	size_t len = 0;

	names[0] = '\0';
	put_list_at(LIST, user, group, BUFFER, 8 * GUEST_SIZE);
	fx.gr[1] = LIST;
	ck_assert_int_eq(fx_diag(1, 3, 0x2fc).how, CP_DONE);
	if (fx.gr[3] != 0) {
		ck_assert_uint_eq(fx.gr[3], UINT64_MAX);
		return names;
	}
	for (uint64_t at = 0; at < 8 * GUEST_SIZE - fx.gr[1]; at += GUEST_SIZE) {
		char name[9];

		ebcdic_to_name(name, fx_at(BUFFER + at + GUEST_NAME, 8));
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s ", name);
	}
	return names;
}

TEST(group_that_is_asked_for)
{
	struct guest_description staff = web, other = web, none = web;

	staff.group = "STAFF";
	other.name = "MAIL";
	other.group = "OTHER";
	none.name = "PRINT";
	ck_assert_int_eq(guests_describe(fx.cp, &staff, err, sizeof(err)), 0);
	ck_assert_int_eq(guests_describe(fx.cp, &other, err, sizeof(err)), 0);
	ck_assert_int_eq(guests_describe(fx.cp, &none, err, sizeof(err)), 0);
	ck_assert_str_eq(found("*", "*"), "TUX OPERATOR WEB MAIL PRINT ");
	ck_assert_str_eq(found("*", ""), "OPERATOR PRINT ");
	ck_assert_str_eq(found("*", "STAFF"), "TUX WEB ");
	ck_assert_str_eq(found("*", "OTHER"), "MAIL ");
	ck_assert_str_eq(found("*", "NOBODYS"), "");
	ck_assert_str_eq(found("", ""), "");
	ck_assert_str_eq(found("", "*"), "TUX ");
	ck_assert_str_eq(found("TUX", "STAFF"), "TUX ");
	ck_assert_str_eq(found("MAIL", "STAFF"), "");
	ck_assert_str_eq(found("PRINT", ""), "PRINT ");
}

TEST(group_is_saved)
{
	struct guest_description staff = web;
	uint8_t *image;
	size_t len, at;

	staff.group = "STAFF";
	ck_assert_int_eq(guests_describe(fx.cp, &staff, err, sizeof(err)), 0);
	image = fx_save(&len);
	ck_assert(guests_forget(fx.cp, "WEB"));
	fx_load(image, len);
	ck_assert_str_eq(found("WEB", "STAFF"), "WEB ");
	ck_assert_str_eq(found("WEB", "OTHER"), "");
	at = state_find(image, len, "GUES");
	image[at + state_find(image + at, len - at, "STAF")] = '*';
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

TEST(no_group)
{
	static const char *const names[] = { "TOOLONGNAME", "A B", "staff", "*" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct guest_description wrong = web;

		wrong.group = names[i];
		ck_assert_int_eq(guests_describe(fx.cp, &wrong, err, sizeof(err)), -1);
		ck_assert_ptr_nonnull(strstr(err, "cannot be a group's name"));
	}
	ck_assert_str_eq(found("WEB", "*"), "");
}

CASE("all", setup_all, fx_teardown);

TEST(all_users)
{
	static const struct iucv_user_ops ops = { .event = unheard };
	static const char *const names[] = { "TUX", "PEER", "OPERATOR" };

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 8, &ops, NULL));
	ck_assert_int_eq(guests("*", BUFFER, 3 * GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], 0);
	ck_assert_uint_eq(fx.gr[3], 0);
	check_self(fx_at(BUFFER, GUEST_SIZE));
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *at = fx_at(BUFFER + GUEST_SIZE * i, GUEST_SIZE);
		uint8_t name[8];

		ebcdic_name(name, names[i]);
		ck_assert_mem_eq(at + GUEST_NAME, name, 8);
		ck_assert_uint_eq(get_be32(at + GUEST_VIRTUAL_CPUS), i == 0 ? 2 : 0);
	}
	ck_assert_int_eq(guests("PEER", BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], 0);
	ck_assert_uint_eq(get_be64(fx_at(BUFFER + GUEST_ELAPSED, 8)), 0);
	ck_assert_int_eq(guests("NOBODY", BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], UINT64_MAX);
}

/* As many as there can be: peers up to the limit of users, and of guests that are described. */
TEST(everybody)
{
	static const struct iucv_user_ops ops = { .event = unheard };
	unsigned int peers = 0, users = 2;
	char name[8];
	uint8_t last[8];

	do
		snprintf(name, sizeof(name), "P%u", peers++);
	while (iucv_user_create(fx.cp, name, 8, &ops, NULL));
	/* The limit is 256; a few of them are CP's services. */
	ck_assert_uint_gt(peers, 240);
	users += peers - 1;
	for (unsigned int i = 0; i < GUESTS_MAX; i++, users++) {
		struct guest_description guest = { .name = name };

		snprintf(name, sizeof(name), "G%u", i);
		ck_assert_int_eq(guests_describe(fx.cp, &guest, err, sizeof(err)), 0);
	}
	ck_assert_int_eq(guests("*", BUFFER, 400 * GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], (400 - users) * GUEST_SIZE);
	ebcdic_name(last, "G63");
	ck_assert_mem_eq(fx_at(BUFFER + (users - 1) * GUEST_SIZE + GUEST_NAME, 8), last, 8);
}

TEST(described)
{
	struct guest_description other = { .name = "MAIL" };

	ck_assert_int_eq(guests_describe(fx.cp, &web, err, sizeof(err)), 0);
	ck_assert_int_eq(guests_describe(fx.cp, &other, err, sizeof(err)), 0);
	fx.tod += 777 << 12;
	ck_assert_int_eq(guests("WEB", BUFFER, GUEST_SIZE).how, CP_DONE);
	check_web(fx_at(BUFFER, GUEST_SIZE), 777);
	ck_assert_int_eq(guests("*", BUFFER, 4 * GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], 0);
	check_web(fx_at(BUFFER + 2 * GUEST_SIZE, GUEST_SIZE), 777);
	/* Once more, by another description. */
	other = web;
	other.capped = 1;
	other.dedicated = false;
	ck_assert_int_eq(guests_describe(fx.cp, &other, err, sizeof(err)), 0);
	ck_assert_int_eq(guests("WEB", BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(get_be32(fx_at(BUFFER + GUEST_VERSION + 4, 4)), 2);
	ck_assert_uint_eq(get_be64(fx_at(BUFFER + GUEST_CPU_TIME, 8)), 1000);
	ck_assert(guests_forget(fx.cp, "WEB"));
	ck_assert(!guests_forget(fx.cp, "WEB"));
	ck_assert_str_eq(guests_name(fx.cp, 0), "MAIL");
	ck_assert_int_eq(guests("WEB", BUFFER, GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[3], UINT64_MAX);
}

/* A peer, and the operator, are described instead of being users that use nothing. */
TEST(described_users_once)
{
	static const struct iucv_user_ops ops = { .event = unheard };
	static const char *const names[] = { "TUX", "PEER", "OPERATOR" };
	const struct cpcmd_response *r;

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 8, &ops, NULL));
	for (unsigned int i = 1; i < 3; i++) {
		struct guest_description guest = web;

		guest.name = names[i];
		ck_assert_int_eq(guests_describe(fx.cp, &guest, err, sizeof(err)), 0);
	}
	ck_assert_int_eq(guests("*", BUFFER, 4 * GUEST_SIZE).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[1], GUEST_SIZE);
	for (unsigned int i = 0; i < 3; i++) {
		uint8_t name[8];

		ebcdic_name(name, names[i]);
		ck_assert_mem_eq(fx_at(BUFFER + GUEST_SIZE * i + GUEST_NAME, 8), name, 8);
	}
	ck_assert_int_eq(guests_describe(fx.cp, &web, err, sizeof(err)), 0);
	r = cpcmd_run(fx.cp, CPCMD_OPERATOR, "QUERY NAMES", 11);
	ck_assert_int_eq(r->rc, 0);
	ck_assert_uint_eq(r->len, sizeof(NAMES) - 1);
	ck_assert_mem_eq(r->text, NAMES, sizeof(NAMES) - 1);
	r = cpcmd_run(fx.cp, CPCMD_OPERATOR, "MSGNOH WEB hello", 16);
	ck_assert_int_eq(r->rc, 0);
	ck_assert_str_eq(fx.last_name, "WEB");
}

TEST(not_described)
{
	struct guest_description wrong[9];
	char name[8];

	for (size_t i = 0; i < 9; i++)
		wrong[i] = web;
	wrong[0].name = "TUX";
	wrong[1].name = "web";
	wrong[2].name = "";
	wrong[3].name = "NINECHARS";
	wrong[4].operating = 6;
	wrong[5].cpus = 65;
	wrong[6].share = 301;
	wrong[7].share_max = 10001;
	wrong[8].capped = 3;
	for (size_t i = 0; i < 9; i++) {
		ck_assert_int_eq(guests_describe(fx.cp, &wrong[i], err, sizeof(err)), -1);
		ck_assert_ptr_null(guests_name(fx.cp, 0));
	}
	ck_assert_str_eq(err, "WEB: a share is above its maximum, CPUs are more than 64, or there are "
			      "more operating ones than CPUs");
	for (unsigned int i = 0; i < GUESTS_MAX; i++) {
		snprintf(name, sizeof(name), "G%u", i);
		wrong[0] = (struct guest_description){ .name = name };
		ck_assert_int_eq(guests_describe(fx.cp, &wrong[0], err, sizeof(err)), 0);
	}
	ck_assert_int_eq(guests_describe(fx.cp, &web, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "64 guests are described, which is the limit; forget one first");
	ck_assert_int_eq(guests_describe(fx.cp, &wrong[0], err, sizeof(err)), 0);
}

TEST_LOOP(descriptions_are_saved, 0, 4)
{
	uint8_t *image;
	size_t len, at;

	ck_assert_int_eq(guests_describe(fx.cp, &web, err, sizeof(err)), 0);
	image = fx_save(&len);
	ck_assert(guests_forget(fx.cp, "WEB"));
	fx_load(image, len);
	fx.tod += 5 << 12;
	ck_assert_int_eq(guests("WEB", BUFFER, GUEST_SIZE).how, CP_DONE);
	check_web(fx_at(BUFFER, GUEST_SIZE), 5);
	at = state_find(image, len, "GUES");
	ck_assert_uint_eq(get_be32(image + at + IMAGE_COUNT), 1);
	ck_assert_uint_eq(get_be32(image + at + IMAGE_CPUS), 5);
	switch (_i) {
	case 0:
		put_be32(image + at + IMAGE_COUNT, GUESTS_MAX + 1);
		break;
	case 1:
		memset(image + at + IMAGE_NAME, 0, 9);
		break;
	case 2:
		put_be32(image + at + IMAGE_CPUS, 65);
		break;
	default:
		image[at + IMAGE_CPU_US] = 0xff;
	}
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* A guest is described once. */
TEST(two_of_one_name)
{
	struct guest_description other = web;
	size_t len, first, second;
	uint8_t *image;

	other.name = "WEC";
	ck_assert_int_eq(guests_describe(fx.cp, &web, err, sizeof(err)), 0);
	ck_assert_int_eq(guests_describe(fx.cp, &other, err, sizeof(err)), 0);
	image = fx_save(&len);
	first = state_find(image, len, "WEB");
	second = first + state_find(image + first, len - first, "WEC");
	image[second + 2] = 'D';
	state_sign(image, len);
	fx_load(image, len);
	ck_assert(guests_described(fx.cp, "WED") && !guests_described(fx.cp, "WEC"));
	image[second + 2] = 'B';
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

CASE("operator", NULL, NULL);

/* The operator is listed once: as the guest, as a peer, or though nobody plays it. */
TEST(operator_once)
{
	static const struct iucv_user_ops ops = { .event = unheard };
	static const struct { const char *userid, *peers[2], *names[4]; } cases[] = {
		{ "OPERATOR", { "ALPHA", "BETA" }, { "OPERATOR", "ALPHA", "BETA" } },
		{ "TUX", { "OPERATOR", "BETA" }, { "TUX", "OPERATOR", "BETA" } },
		{ "TUX", { "ALPHA", "OPERATOR" }, { "TUX", "ALPHA", "OPERATOR" } },
		{ "TUX", { "ALPHA", "BETA" }, { "TUX", "ALPHA", "BETA", "OPERATOR" } },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int count = 0;

		fx_setup_with((const char *const[]){ "userid", cases[i].userid, "class", "BG", NULL });
		for (unsigned int p = 0; p < 2; p++)
			ck_assert_ptr_nonnull(iucv_user_create(fx.cp, cases[i].peers[p], 8, &ops, NULL));
		memset(fx_at(BUFFER, 8 * GUEST_SIZE), 0, 8 * GUEST_SIZE);
		ck_assert_int_eq(guests("*", BUFFER, 8 * GUEST_SIZE).how, CP_DONE);
		for (; count < 4 && cases[i].names[count]; count++) {
			uint8_t name[8];

			ebcdic_name(name, cases[i].names[count]);
			ck_assert_mem_eq(fx_at(BUFFER + GUEST_SIZE * count + GUEST_NAME, 8), name, 8);
		}
		/* Nothing is behind them. */
		ck_assert_uint_eq(get_be64(fx_at(BUFFER + GUEST_SIZE * count, 8)), 0);
		fx_teardown();
	}
}
