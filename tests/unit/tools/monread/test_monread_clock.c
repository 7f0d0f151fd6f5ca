/* SPDX-License-Identifier: MIT */
/*
 * monread: times as people read them.  Dates and offsets are those that the tz database's own
 * program, zdump, and date(1) print; nothing here is computed by the code under test.
 */
#define _GNU_SOURCE /* setenv() */
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"

#define TOD_SECOND UINT64_C(4096000000)
#define TOD(seconds) ((UINT64_C(2208988800) + (seconds)) * TOD_SECOND)
/* date -u -d '2026-03-02' +%s; Berlin puts its clocks on and back at these. */
#define MONDAY INT64_C(1772409600)
#define SPRING INT64_C(1774746000)
#define AUTUMN INT64_C(1792890000)

static struct clock_tick ticks[CLOCK_TICKS];
static char text[CLOCK_TEXT_SIZE];

static void start(void)
{
	clock_show_offset(false);
	ck_assert(clock_set_zone("UTC"));
}

CASE("monread clock", start, NULL);

TEST(zones)
{
	static const struct { const char *zone, *text; } cases[] = {
		{ "UTC", "2026-03-02 00:00:00 UTC" },
		{ "+00:00", "2026-03-02 00:00:00 UTC+00:00" },
		{ "+02:00", "2026-03-02 02:00:00 UTC+02:00" },
		{ "-05:30", "2026-03-01 18:30:00 UTC-05:30" },
		{ "Europe/Berlin", "2026-03-02 01:00:00 CET (UTC+01:00)" },
		{ "America/New_York", "2026-03-01 19:00:00 EST (UTC-05:00)" },
		{ "Asia/Kathmandu", "2026-03-02 05:45:00 UTC+05:45" },
	};
	static const char *const wrong[] = {
		"", "+2:00", "+02", "+0200", "02:00", "+24:00", "+02:60", "+ 2:00", "+02:-1", "+-2:00",
		"+02:00x", "Nowhere", "Europe", "/usr/share/zoneinfo/Europe/Berlin",
		"../zoneinfo/Europe/Berlin", "Europe/Berlin ", "tzdata.zi", "CET-1CEST", ":UTC",
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(clock_set_zone(cases[i].zone), "%s", cases[i].zone);
		ck_assert_str_eq(clock_zone_text(TOD(MONDAY), text), cases[i].text);
	}
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!clock_set_zone(wrong[i]), "%s", wrong[i]);
	setenv("TZ", "XYZ-3", 1);
	ck_assert(clock_set_zone("local"));
	ck_assert_str_eq(clock_zone_text(TOD(MONDAY), text), "2026-03-02 03:00:00 XYZ (UTC+03:00)");
	ck_assert(clock_set_zone("UTC"));
	ck_assert_str_eq(clock_zone_text(TOD(MONDAY), text), "2026-03-02 00:00:00 UTC");
}

/* The ends of the TOD clock are dates, too. */
TEST(ends)
{
	ck_assert_str_eq(clock_text(0, text), "1900-01-01 00:00:00");
	ck_assert_str_eq(clock_text(UINT64_MAX, text), "2042-09-17 23:53:47");
	ck_assert_int_eq(clock_seconds(0), -INT64_C(2208988800));
	ck_assert_uint_eq(clock_tod(MONDAY), TOD(MONDAY));
	ck_assert(clock_set_zone("-23:59"));
	ck_assert_str_eq(clock_text(0, text), "1899-12-31 00:01:00");
}

TEST(changes)
{
	ck_assert(clock_set_zone("Europe/Berlin"));
	ck_assert_int_eq(clock_offset(SPRING - 1), 3600);
	ck_assert_int_eq(clock_offset(SPRING), 7200);
	ck_assert_str_eq(clock_text(TOD(SPRING - 1), text), "2026-03-29 01:59:59");
	ck_assert_str_eq(clock_text(TOD(SPRING), text), "2026-03-29 03:00:00");
	clock_show_offset(true);
	ck_assert_str_eq(clock_text(TOD(AUTUMN - 1800), text), "2026-10-25 02:30:00 +0200");
	ck_assert_str_eq(clock_text(TOD(AUTUMN + 1800), text), "2026-10-25 02:30:00 +0100");
	ck_assert_str_eq(clock_zone_text(TOD(AUTUMN), text), "2026-10-25 02:00:00 CET (UTC+01:00)");
	ck_assert_int_eq(clock_offset(AUTUMN), 3600);
	ck_assert(clock_set_zone("UTC"));
	ck_assert_int_eq(clock_offset(AUTUMN), 0);
}

/* Their texts, with a blank between. */
static void ck_ticks(int64_t first, int64_t last, const char *expected)
{
	char found[256] = "";
	const unsigned int count = clock_ticks(first, last, ticks);

	for (unsigned int i = 0; i < count; i++) {
		strcat(found, i ? " " : "");
		strcat(found, ticks[i].text);
	}
	ck_assert_str_eq(found, expected);
}

TEST(round_times)
{
	ck_ticks(MONDAY, MONDAY, "");
	ck_ticks(MONDAY, MONDAY - 1, "");
	ck_ticks(MONDAY + 1, MONDAY + 2, "00:00:01 00:00:02");
	ck_ticks(MONDAY, MONDAY + 8, "00:00:00 00:00:02 00:00:04 00:00:06 00:00:08");
	ck_ticks(MONDAY, MONDAY + 7, "00:00:00 00:00:01 00:00:02 00:00:03 00:00:04 00:00:05 00:00:06 "
				     "00:00:07");
	ck_ticks(MONDAY + 36000, MONDAY + 36000 + 3600, "10:00 10:10 10:20 10:30 10:40 10:50 11:00");
	ck_ticks(MONDAY + 36001, MONDAY + 36001 + 3600, "10:10 10:20 10:30 10:40 10:50 11:00");
	/* A day begins with its date. */
	ck_ticks(MONDAY + 60, MONDAY + 86400, "03:00 06:00 09:00 12:00 15:00 18:00 21:00 03-03");
	ck_ticks(MONDAY, MONDAY + 86400, "03-02 06:00 12:00 18:00 03-03");
	ck_ticks(MONDAY, MONDAY + 7 * 86400 - 1, "03-02 03-03 03-04 03-05 03-06 03-07 03-08");
	/* All that the TOD clock has, and each length between. */
	for (int64_t days = 1; days < 52000; days += days / 7 + 1) {
		const unsigned int count = clock_ticks(MONDAY - days * 43200, MONDAY + days * 43200,
						       ticks);

		ck_assert_uint_ge(count, 2);
		for (unsigned int i = 2; i < count; i++)
			ck_assert_int_eq(ticks[i].seconds - ticks[i - 1].seconds,
					 ticks[1].seconds - ticks[0].seconds);
	}
}

/* Every second one is a main one: here, those of even hours. */
TEST(main_times)
{
	unsigned int count = clock_ticks(MONDAY + 3600, MONDAY + 6 * 3600, ticks);

	ck_assert_uint_eq(count, 6);
	for (unsigned int i = 0; i < count; i++) {
		ck_assert_int_eq(ticks[i].seconds, MONDAY + (i + 1) * INT64_C(3600));
		ck_assert_int_eq(ticks[i].main, i % 2);
	}
}

/* Hours are those of the zone's clocks; one that does not come has no tick. */
TEST(round_times_of_a_zone)
{
	ck_assert(clock_set_zone("Asia/Kathmandu"));
	ck_ticks(MONDAY, MONDAY + 7200, "06:00 06:30 07:00 07:30");
	ck_assert(clock_set_zone("America/New_York"));
	ck_ticks(MONDAY, MONDAY + 7200, "19:00 19:30 20:00 20:30 21:00");
	ck_assert(clock_set_zone("Europe/Berlin"));
	ck_ticks(SPRING - 7200, SPRING + 7200, "03-29 01:00 03:00 04:00 05:00");
	ck_ticks(AUTUMN - 7200, AUTUMN + 7200, "01:00 01:30 02:00 02:30 03:00 03:30 04:00");
	/* Midnight is that of the zone. */
	ck_ticks(MONDAY, MONDAY + 3 * 86400, "12:00 03-03 12:00 03-04 12:00 03-05");
	clock_ticks(MONDAY, MONDAY + 3 * 86400, ticks);
	ck_assert_int_eq(ticks[1].seconds, MONDAY + 23 * 3600);
}
