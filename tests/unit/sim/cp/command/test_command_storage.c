/* SPDX-License-Identifier: MIT */
/* DEFINE STORAGE and QUERY VIRTUAL STORAGE. */
#include "command_check.h"
#include "zvmlab/storage.h"

#define EXTENTS_HEAD \
	"Extent Specification               Address Range\n" \
	"--------------------               -------------\n"
#define CLEARED "Storage cleared - system reset.\n"

CASE("storage", fx_setup, fx_teardown);

TEST(query)
{
	ck_guest("Q V STOR", 0,
		 "STORAGE = 6M\n"
		 "Storage Configuration:\n"
		 "  0.4M 12M.2M\n"
		 EXTENTS_HEAD
		 "0.4M                               0000000000000000 - 00000000003FFFFF\n"
		 "12M.2M                             0000000000C00000 - 0000000000DFFFFF\n");
	ck_guest("QUERY VIRTUAL STORAGE X", 3, EXTRA("CQV", "X"));
}

TEST(config)
{
	ck_operator("def stor config 0.2m 3m.1m", 0,
		    "STORAGE = 3M\n"
		    "Storage Configuration:\n"
		    "  0.2M 3M.1M\n"
		    EXTENTS_HEAD
		    "0.2M                               0000000000000000 - 00000000001FFFFF\n"
		    "3M.1M                              0000000000300000 - 00000000003FFFFF\n"
		    CLEARED);
	ck_assert_uint_eq(storage_size(fx.cp), 3u << 20);
	ck_assert_uint_eq(cp_config_of(fx.cp)->extents, 2);
	ck_assert_uint_eq(cp_config_of(fx.cp)->extent[1].start, 3u << 20);
	ck_assert_uint_ge(fx.storage_changes, 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], 1);
}

TEST(plain)
{
	ck_guest("DEFINE STORAGE 8M", 0, "STORAGE = 8M\n" CLEARED);
	ck_guest("Q V STOR", 0, "STORAGE = 8M\n");
	ck_assert_uint_eq(storage_last(fx.cp), 0x7fffff);
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], 1);
	/* The reset's trace record belongs to the command's. */
	ck_operator("DEFINE STORAGE 16384K", 0, "STORAGE = 16M\n" CLEARED);
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], 2);
}

TEST_LOOP(bad, 0, 13)
{
	static const struct { const char *text; int rc; const char *start; } cases[] = {
		{ "DEF", 26, MISSING("DEF") },
		{ "DEF CHPID 1", 3, INVALID("DEF", "CHPID") },
		{ "DEF STOR", 26, MISSING("DST") },
		{ "DEF STOR CONFIG", 26, MISSING("DST") },
		{ "DEF STOR 4M X", 3, INVALID("DST", "X") },
		{ "DEF STOR 4", 25, "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR -4M", 25, "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR 0M", 25, "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR CONFIG 4M", 25, "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR CONFIG 0.4M 3M.4M", 25, "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR CONFIG 0.1M 1M.1M 2M.1M 3M.1M 4M.1M 5M.1M 6M.1M 7M.1M 8M.1M", 25,
		  "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR 17M", 94, "HCPDST094E Storage exceeds allowable maximum - the "
				      "emulator has no storage for 0.17M\n" },
		{ "DEF STOR 2T", 94, "HCPDST094E Storage exceeds allowable maximum - the emulator "
				     "has no storage for 0.2T\n" },
		{ "DEF STOR 17T", 25, "HCPDST025E Storage missing or invalid - " },
		{ "DEF STOR CONFIG 0.4M 15M.2M", 94,
		  "HCPDST094E Storage exceeds allowable maximum - the emulator has no storage "
		  "for 15M.2M\n" },
	};
	const char *reply = run_as(CPCMD_GUEST, cases[_i].text, cases[_i].rc);

	ck_assert_mem_eq(reply, cases[_i].start, strlen(cases[_i].start));
	ck_assert_ptr_eq(strchr(reply, '\n'), reply + strlen(reply) - 1);
	/* Nothing has changed. */
	ck_assert_uint_eq(storage_size(fx.cp), 6u << 20);
	ck_assert_uint_eq(cp_config_of(fx.cp)->extents, 2);
	ck_assert_uint_eq(fx.storage_changes, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_RESET], 0);
}

TEST(after_ipl)
{
	static const char refused[] = "HCPDST013E Conflicting option - storage can be defined "
				      "only before the guest is IPLed\n";

	cp_ipl(fx.cp);
	ck_guest("DEF STOR 4M", 13, refused);
	ck_operator("DEF STOR CONFIG 0.4M", 13, refused);
	ck_assert_uint_eq(storage_size(fx.cp), 6u << 20);
	cp_reset(fx.cp);
	ck_operator("DEF STOR CONFIG 0.4M", 0,
		    "STORAGE = 4M\n"
		    "Storage Configuration:\n"
		    "  0.4M\n"
		    EXTENTS_HEAD
		    "0.4M                               0000000000000000 - 00000000003FFFFF\n"
		    CLEARED);
}
