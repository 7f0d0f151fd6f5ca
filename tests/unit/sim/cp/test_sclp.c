/* SPDX-License-Identifier: MIT */
/*
 * Standby storage by SCLP's commands, as Linux gives them; commands, responses and places of
 * fields are written down here once more, after drivers/s390/char/sclp_cmd.c.
 */
#include <stdlib.h>

#include "command_check.h"
#include "cp_private.h"
#include "zvmlab/storage.h"

#define MIB UINT64_C(0x100000)
#define PAGE 4096u

enum { READ = 0x00040001, ATTACH = 0x00080001, UNASSIGN = 0x000c0001, ASSIGN = 0x000d0001 };
enum { ELEMENT_1 = 0x100, ELEMENT_2 = 0x200 };
enum { NUMBER = 8, MAX_ID = 8, ASSIGNED = 10, ENTRIES = 16 };

static uint8_t block[PAGE];

static void setup(void)
{
	fx_setup_with((const char *const[]){ "storage", "0.4M STANDBY 3M RESERVED 2M", "segment", "",
					     NULL });
}

/* Return: the response code. */
static unsigned int give(uint32_t command, unsigned int length, unsigned int number)
{
	memset(block, 0, sizeof(block));
	put_be16(block, (uint16_t)length);
	put_be16(block + NUMBER, (uint16_t)number);
	ck_assert(cp_sclp_knows(command));
	cp_sclp(fx.cp, 0, command, block);
	ck_assert_uint_eq(get_be16(block), length);
	return get_be16(block + 6);
}

/* The entries have these numbers of increments, 0 where there is none. */
static void ck_entries(unsigned int count, const unsigned int *numbers)
{
	ck_assert_uint_eq(get_be16(block + ASSIGNED), count);
	for (unsigned int i = 0; i < count; i++)
		ck_assert_uint_eq(get_be32(block + ENTRIES + 4 * i) >> 16, numbers[i]);
	ck_assert_uint_eq(get_be32(block + ENTRIES + 4 * count), 0);
}
#define ck_entries(...) \
	ck_entries(sizeof((unsigned int[]){ __VA_ARGS__ }) / sizeof(unsigned int), \
		   (const unsigned int[]){ __VA_ARGS__ })

static void ck_storage(const char *standby, const char *storage, const char *reserved)
{
	char expected[128];

	snprintf(expected, sizeof(expected),
		 "STORAGE = %s MAX = 9M INC = 1M STANDBY = %s RESERVED = %s\n", storage, standby,
		 reserved);
	ck_guest("QUERY VIRTUAL STORAGE", 0, expected);
}

CASE("sclp", setup, fx_teardown);

TEST(what_scp_info_has)
{
	const struct cp_increments has = cp_increments(fx.cp);

	ck_assert_uint_eq(has.count, 9);
	ck_assert_uint_eq(has.megabytes, 1);
	ck_assert(!cp_sclp_knows(0x00020001));
	ck_assert(!cp_sclp_knows(0x00770005));
	ck_assert(cp_sclp_knows(READ | 0xff00));
	ck_assert_uint_eq(cp_highest_address(fx.cp), 9 * MIB - 1);
}

TEST(elements)
{
	ck_assert_uint_eq(give(READ, PAGE, 0), 0x0010);
	ck_assert_uint_eq(get_be16(block + MAX_ID), 1);
	ck_entries(1, 2, 3, 4);
	ck_assert_uint_eq(give(READ | ELEMENT_1, PAGE, 0), 0x0410);
	ck_assert_uint_eq(get_be16(block + MAX_ID), 1);
	ck_entries(5, 6, 7);
	ck_assert_uint_eq(give(READ | ELEMENT_2, PAGE, 0), 0x09f0);
	/* Attached, it has what is assigned of it. */
	ck_assert_uint_eq(give(ATTACH | ELEMENT_1, PAGE, 0), 0x0020);
	ck_entries(0, 0, 0);
	ck_assert_uint_eq(give(ATTACH | ELEMENT_1, PAGE, 0), 0x0120);
	ck_assert_uint_eq(give(ATTACH, PAGE, 0), 0x0120);
	ck_assert_uint_eq(give(ATTACH | ELEMENT_2, PAGE, 0), 0x09f0);
	ck_assert_uint_eq(give(ASSIGN, PAGE, 6), 0x0020);
	ck_assert_uint_eq(give(READ | ELEMENT_1, PAGE, 0), 0x0010);
	ck_entries(0, 6, 0);
}

TEST(assigned_storage)
{
	uint8_t byte = 0x5a;

	ck_assert_uint_eq(storage_write(fx.cp, 0, 4 * MIB, &byte, 1), PGM_ADDRESSING);
	ck_assert_uint_eq(give(ASSIGN, PAGE, 5), 0x0020);
	ck_assert_uint_eq(fx.storage_changes, 1);
	ck_storage("2M", "5M", "2M");
	ck_assert_uint_eq(storage_write(fx.cp, 0, 4 * MIB, &byte, 1), 0);
	ck_assert_uint_eq(storage_write(fx.cp, 0, 5 * MIB, &byte, 1), PGM_ADDRESSING);
	ck_assert_uint_eq(storage_last(fx.cp), 5 * MIB - 1);
	ck_assert_uint_eq(give(ASSIGN, PAGE, 5), 0x0120);
	/* Who gets it again finds zeros. */
	ck_assert_uint_eq(give(UNASSIGN, PAGE, 5), 0x0020);
	ck_assert_uint_eq(cp_page_access(fx.cp, 4 * MIB), CP_ACCESS_NONE);
	ck_assert_uint_eq(*fx_at(4 * MIB, 1), 0);
	ck_assert_uint_eq(give(UNASSIGN, PAGE, 5), 0x0120);
	ck_storage("3M", "4M", "2M");
}

/* Of initial storage, too; but not the first increment, in which interruptions are presented. */
TEST(initial_storage_goes)
{
	ck_assert_uint_eq(give(UNASSIGN, PAGE, 2), 0x0020);
	ck_assert_uint_eq(give(READ, PAGE, 0), 0x0010);
	ck_entries(1, 0, 3, 4);
	ck_storage("4M", "3M", "2M");
	ck_assert_uint_eq(cp_page_access(fx.cp, MIB), CP_ACCESS_NONE);
	ck_assert_uint_eq(give(UNASSIGN, PAGE, 1), 0x05f0);
	cp_reset(fx.cp);
	ck_storage("3M", "4M", "2M");
	ck_assert_uint_eq(cp_page_access(fx.cp, MIB), CP_ACCESS_WRITE);
}

/* As many as are standby, wherever they lie. */
TEST(reserved_storage)
{
	for (unsigned int number = 7; number <= 9; number++)
		ck_assert_uint_eq(give(ASSIGN, PAGE, number), 0x0020);
	ck_storage("0", "7M", "2M");
	ck_assert_uint_eq(give(ASSIGN, PAGE, 5), 0x05f0);
	ck_guest("DEFINE STORAGE STANDBY 1M", 0,
		 "STORAGE = 7M MAX = 9M INC = 1M STANDBY = 1M RESERVED = 1M\n");
	ck_assert_uint_eq(give(ASSIGN, PAGE, 5), 0x0020);
	ck_storage("0", "8M", "1M");
}

TEST(wrong_blocks)
{
	ck_assert_uint_eq(give(ASSIGN, PAGE, 0), 0x09f0);
	ck_assert_uint_eq(give(ASSIGN, PAGE, 10), 0x09f0);
	ck_assert_uint_eq(give(UNASSIGN, PAGE, 0xffff), 0x09f0);
	ck_assert_uint_eq(give(ASSIGN, 9, 5), 0x0300);
	ck_assert_uint_eq(give(READ, 31, 0), 0x0300);
	ck_assert_uint_eq(give(READ, 32, 0), 0x0010);
	ck_assert_uint_eq(give(ATTACH | ELEMENT_1, 27, 0), 0x0300);
	ck_storage("3M", "4M", "2M");
}

TEST(saved)
{
	uint8_t *image;
	size_t len;

	give(ATTACH | ELEMENT_1, PAGE, 0);
	give(ASSIGN, PAGE, 6);
	give(UNASSIGN, PAGE, 3);
	ck_guest("DEFINE STORAGE STANDBY 5M", 0,
		 "STORAGE = 4M MAX = 9M INC = 1M STANDBY = 5M RESERVED = 0\n");
	image = fx_save(&len);
	cp_reset(fx.cp);
	fx_load(image, len);
	free(image);
	ck_storage("5M", "4M", "0");
	ck_assert_uint_eq(give(READ, PAGE, 0), 0x0010);
	ck_entries(1, 2, 0, 4);
	ck_assert_uint_eq(give(READ | ELEMENT_1, PAGE, 0), 0x0010);
	ck_entries(0, 6, 0, 0, 0);
}

TEST(define_while_it_runs)
{
	cp_ipl(fx.cp);
	ck_guest("DEF STOR STANDBY 0M", 0,
		 "STORAGE = 4M MAX = 9M INC = 1M STANDBY = 0 RESERVED = 5M\n");
	ck_guest("DEF STOR STANDBY 5M", 0,
		 "STORAGE = 4M MAX = 9M INC = 1M STANDBY = 5M RESERVED = 0\n");
	ck_guest("DEF STOR STANDBY 5M", 0,
		 "STORAGE = 4M MAX = 9M INC = 1M STANDBY = 5M RESERVED = 0\n");
	ck_guest("DEF STOR STANDBY 6M", 94,
		 "HCPDST094E Storage exceeds allowable maximum - 5M is standby or reserved\n");
	ck_guest("DEF STOR STANDBY 512K", 25,
		 "HCPDST025E Storage missing or invalid - 512K is no multiple of the increment, "
		 "1M\n");
	ck_guest("DEF STOR STANDBY", 26, MISSING("DST"));
	ck_guest("DEF STOR STANDBY 1M RESERVED 1M", 3, EXTRA("DST", "RESERVED"));
	ck_guest("DEF STOR 4M STANDBY 1M", 13,
		 "HCPDST013E Conflicting option - storage can be defined only before the guest is "
		 "IPLed\n");
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], 0);
}

TEST(define_all)
{
	ck_guest("DEF STOR 2M STANDBY 1M RESERVED 4M", 0,
		 "STORAGE = 2M MAX = 9M INC = 1M STANDBY = 1M RESERVED = 4M\n"
		 "Storage cleared - system reset.\n");
	ck_guest("DEF STOR INITIAL STANDBY REMAINDER", 0,
		 "STORAGE = 4M MAX = 9M INC = 1M STANDBY = 5M RESERVED = 0\n"
		 "Storage cleared - system reset.\n");
	ck_guest("DEF STOR 3M RESERVED REMAINDER STANDBY 2M", 0,
		 "STORAGE = 3M MAX = 9M INC = 1M STANDBY = 2M RESERVED = 4M\n"
		 "Storage cleared - system reset.\n");
	ck_guest("DEF STOR 3M", 0, "STORAGE = 3M\nStorage cleared - system reset.\n");
	ck_assert_uint_eq(cp_increments(fx.cp).count, 0);
	ck_guest("DEF STOR STANDBY 1M", 13,
		 "HCPDST013E Conflicting option - no storage is standby or reserved\n");
}

TEST_LOOP(define_refused, 0, 7)
{
	static const struct { const char *text; int rc; const char *reply; } cases[] = {
		{ "DEF STOR 4M STANDBY 13M", 94,
		  "HCPDST094E Storage exceeds allowable maximum - the emulator has no storage for "
		  "0.17M\n" },
		{ "DEF STOR 4M STANDBY", 26, MISSING("DST") },
		{ "DEF STOR 4M STANDBY 1M STANDBY 1M", 3, INVALID("DST", "STANDBY") },
		{ "DEF STOR 4M OTHER 1M", 3, INVALID("DST", "OTHER") },
		{ "DEF STOR CONFIG 0.4M STANDBY 1M", 3, INVALID("DST", "STANDBY") },
		{ "DEF STOR 4M STANDBY ALL", 25,
		  "HCPDST025E Storage missing or invalid - storage \"ALL\": expected a size with K, "
		  "M, G or T, such as 256M\n" },
		{ "DEF STOR 4M STANDBY 1536K", 25,
		  "HCPDST025E Storage missing or invalid - storage \"0.4M STANDBY 1536K\": expected "
		  "standby and reserved storage behind a single extent, below 16384G, each a multiple "
		  "of the storage increment: 1M for up to 1G in all, 2M for up to 2G, and so on\n" },
	};

	ck_guest(cases[_i].text, cases[_i].rc, cases[_i].reply);
	ck_storage("3M", "4M", "2M");
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], 0);
}

/* 512M and 512M have increments of 1M, 40G of 100G of 128M: public captures of z/VM. */
TEST(increments_of_public_captures)
{
	static const struct { const char *storage; uint64_t increment; } captures[] = {
		{ "0.512M STANDBY 512M", MIB },
		{ "0.40G RESERVED 60G", 128 * MIB },
		{ "0.512M", 0 },
	};

	for (unsigned int i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
		struct cp_config config;

		cp_config_init(&config);
		ck_assert_int_eq(cp_config_parse_storage(&config, captures[i].storage, NULL, 0), 0);
		ck_assert_uint_eq(cp_config_increment(&config), captures[i].increment);
		cp_config_fini(&config);
	}
}

/* Hercules' port has nothing that asks CP. */
TEST(emulator_that_cannot)
{
	struct cp_host host = fx.cp->host;
	char err[256];

	host.sclp = false;
	host.trace = NULL;
	ck_assert_ptr_null(cp_create(NULL, &fx.config, &host, err, sizeof(err)));
	ck_assert_str_eq(err, "standby and reserved storage of LINUX001 need an emulator in which "
			 "storage comes and goes; only QEMU is one");
}

FX_REPLAY_TRACES;
