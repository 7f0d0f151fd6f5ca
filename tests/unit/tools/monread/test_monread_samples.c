/* SPDX-License-Identifier: MIT */
/*
 * monread: what samples of users add, D4R3 and D4R4, laid out as a page says.  The places of the
 * page are this test's; what a counter adds is worked out by hand.
 */
#include "unit_test.h"

#include <string.h>

#include "activity.h"
#include "blank_record.h"
#include "bytes.h"
#include "ebcdic.h"

#define BEGIN UINT64_C(0xd000000000000000)	/* TOD */
#define AT(seconds) (BEGIN + (seconds) * TOD_SECOND)

static const char activity_page[] =
	" DSECT NAME - USEACT\n Domain 4 - User\n Record 3 - Activity\n 0 0 Structure 300 USEACT\n"
	" 20 14 Character 8 USEACT_VMDUSER\n 28 1C Unsigned 2 USEACT_VMDCPUAD\n"
	" 64 40 Bitstring 8 USEACT_VMDTTIME\n 100 64 Unsigned 4 USEACT_CALCPPGR\n"
	" 104 68 Unsigned 4 USEACT_CALCPPGW\n 108 6C Unsigned 4 USEACT_VMDCTPVR\n"
	" 112 70 Unsigned 4 USEACT_CALCTPGS\n 116 74 Unsigned 4 USEACT_VMDVDSCT\n"
	" 292 124 Character 8 USEACT_CALTODON\nbased on z/VM V5R3.0.\n";
static const char interaction_page[] =
	" DSECT NAME - USEINT\n Domain 4 - User\n Record 4 - Interaction\n 0 0 Structure 120 USEINT\n"
	" 20 14 Character 8 USEINT_VMDUSER\n 28 1C Unsigned 2 USEINT_VMDCPUAD\n"
	" 36 24 Unsigned 4 USEINT_HFQUCT\n 40 28 Unsigned 4 USEINT_HFSTCT\n"
	" 44 2C Unsigned 4 USEINT_HFIOWT\n 48 30 Unsigned 4 USEINT_HFDORM\n"
	" 52 34 Unsigned 4 USEINT_HFCPURN\nbased on z/VM V5R3.0.\n";

static struct activity f;
static uint8_t bytes[600];
static struct monrec_item item;
static uint16_t release = MONREC_REFERENCE;

static void start(void)
{
	char err[128];

	ck_assert_uint_eq(monrec_add_page(activity_page, sizeof(activity_page), err, sizeof(err)), 530);
	ck_assert_uint_eq(monrec_add_page(interaction_page, sizeof(interaction_page), err,
					  sizeof(err)), 530);
	activity_init(&f);
}

static void stop(void)
{
	monrec_forget_pages();
}

CASE("monread samples", start, stop);

static void record(unsigned int domain, unsigned int number, uint32_t len, unsigned int seconds)
{
	blank_record(&item, bytes, sizeof(bytes), domain, number, len, AT(seconds));
	item.record.release = release;
}

/* D4R3 of a user that logged on at second @logon; its CPU time in seconds. */
static void activity_of(const char *name, unsigned int address, unsigned int seconds,
			unsigned int logon, uint64_t time, uint32_t reads)
{
	record(4, 3, 300, seconds);
	ebcdic_name(bytes + 20, name);
	put_be16(bytes + 28, (uint16_t)address);
	put_be64(bytes + 64, time * TOD_SECOND);
	put_be32(bytes + 100, reads);
	put_be32(bytes + 104, 2 * reads);
	put_be32(bytes + 108, 512);
	put_be32(bytes + 112, 256);
	put_be32(bytes + 116, 3 * reads);
	put_be64(bytes + 292, AT(logon));
	activity_item(&f, &item);
}

static void interaction_of(const char *name, unsigned int seconds, uint32_t samples, uint32_t waits)
{
	record(4, 4, 120, seconds);
	ebcdic_name(bytes + 20, name);
	put_be32(bytes + 36, 7777);
	put_be32(bytes + 40, samples);
	put_be32(bytes + 44, waits);
	put_be32(bytes + 52, samples - waits - 1);
	activity_item(&f, &item);
}

static void interval_ends(unsigned int seconds)
{
	record(1, 11, 20, seconds);
	activity_item(&f, &item);
}

static const struct user_activity *user_of(const char *name, unsigned int address)
{
	uint8_t wanted[8];

	ebcdic_name(wanted, name);
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++)
		if (memcmp(f.user[i].name, wanted, 8) == 0 && f.user[i].address == address)
			return &f.user[i];
	ck_abort_msg("no %s", name);
	return NULL;
}

static void ck_user(const char *name, unsigned int address, uint64_t seconds, uint64_t reads)
{
	const struct user_activity *user = user_of(name, address);

	ck_assert_uint_eq(user->time, seconds * TOD_SECOND);
	ck_assert_uint_eq(user->source, 4 << 16 | 3);
	ck_assert_uint_eq(user->pages.reads, reads);
	ck_assert_uint_eq(user->pages.writes, 2 * reads);
	ck_assert_uint_eq(user->pages.starts, 3 * reads);
	ck_assert_uint_eq(user->pages.resident, 512);
	ck_assert_uint_eq(user->pages.slots, 256);
}

/* Differences of two samples that follow each other; the first one has none. */
TEST(differences)
{
	activity_of("LINUX", 0, 60, 0, 1000, 50);
	activity_of("LINUX", 1, 60, 0, 500, 0);
	interval_ends(60);
	ck_user("LINUX", 0, 0, 0);
	activity_of("LINUX", 0, 120, 0, 1012, 80);
	activity_of("LINUX", 1, 120, 0, 505, 0);
	interval_ends(120);
	ck_user("LINUX", 0, 12, 30);
	ck_user("LINUX", 1, 5, 0);
	activity_of("LINUX", 0, 180, 0, 1013, 80);
	interval_ends(180);
	ck_user("LINUX", 0, 13, 30);
	ck_assert_uint_eq(f.user_samples, 3);
}

/* Counts of 4 bytes wrap: 2^32 - 16 to 4 is 20. */
TEST(wraps)
{
	activity_of("LINUX", 0, 60, 0, 1000, 0xfffffff0);
	interval_ends(60);
	activity_of("LINUX", 0, 120, 0, 1001, 4);
	interval_ends(120);
	ck_assert_uint_eq(user_of("LINUX", 0)->time, TOD_SECOND);
	ck_assert_uint_eq(user_of("LINUX", 0)->pages.reads, 20);
	ck_assert_uint_eq(user_of("LINUX", 0)->pages.writes, 40);
}

/* Logged off and on between two samples: all counters are since the logon, above or below the last. */
TEST(logs_on_again)
{
	activity_of("BELOW", 0, 60, 0, 1000, 50);
	activity_of("ABOVE", 0, 60, 0, 3, 50);
	activity_of("UNTOLD", 0, 60, 0, 1000, 50);
	interval_ends(60);
	activity_of("BELOW", 0, 120, 80, 7, 10);
	activity_of("ABOVE", 0, 120, 80, 9, 60);
	/* The time of its logon is not there; its CPU time has fallen. */
	activity_of("UNTOLD", 0, 120, 0, 5, 60);
	interval_ends(120);
	ck_user("BELOW", 0, 7, 10);
	ck_user("ABOVE", 0, 9, 60);
	ck_user("UNTOLD", 0, 5, 60);
	activity_of("ABOVE", 0, 180, 80, 10, 61);
	ck_user("ABOVE", 0, 10, 61);
}

/* The event of a logon tells it, too, where the record of samples does not. */
TEST(logon_by_event)
{
	activity_of("OLD", 0, 60, 0, 1000, 50);
	interval_ends(60);
	record(4, 1, 96, 90);
	ebcdic_name(bytes + 20, "NEW");
	activity_item(&f, &item);
	activity_of("NEW", 0, 120, 0, 4, 11);
	activity_of("OLD", 0, 120, 0, 1000, 50);
	interval_ends(120);
	ck_user("NEW", 0, 4, 11);
	ck_user("OLD", 0, 0, 0);
}

/* A user that a complete sample lacks was away or not monitored: nothing is known until then. */
TEST(absent)
{
	activity_of("A", 0, 60, 0, 100, 50);
	activity_of("B", 0, 60, 0, 100, 50);
	interval_ends(60);
	activity_of("B", 0, 120, 0, 110, 60);
	interval_ends(120);
	activity_of("A", 0, 180, 0, 900, 950);
	activity_of("B", 0, 180, 0, 115, 65);
	interval_ends(180);
	ck_user("A", 0, 0, 0);
	ck_user("B", 0, 15, 15);
	activity_of("A", 0, 240, 0, 903, 952);
	ck_user("A", 0, 3, 2);
	/* A configuration, or a sample without the domain, says nothing about users. */
	interval_ends(300);
	interval_ends(360);
	activity_of("A", 0, 420, 0, 913, 962);
	interval_ends(420);
	ck_user("A", 0, 13, 12);
}

/* A set that is lost has no users: those of the next one go on from the one before. */
TEST(sample_lost)
{
	static struct activity_track track;

	track_init(&track);
	for (unsigned int minute = 1; minute <= 3; minute++) {
		f = track.now;
		activity_of("LINUX", 0, 60 * minute, 0, 100 * minute, minute);
		interval_ends(60 * minute);
		track.now = f;
		if (minute == 2) {
			item.kind = MONREC_SET_LOST;
			track_item(&track, &item);
		} else {
			track_keep(&track);
		}
	}
	f = track.kept;
	ck_user("LINUX", 0, 200, 2);
	ck_assert_uint_eq(f.user_samples, 2);
}

/* D4R9: user 20, CPU time 32, pages read 104, written 108, starts 128. */
static void transaction(const char *name, unsigned int seconds, uint64_t time, uint32_t reads)
{
	record(4, 9, 360, seconds);
	ebcdic_name(bytes + 20, name);
	put_be64(bytes + 32, time * TOD_SECOND);
	put_be32(bytes + 104, reads);
	activity_item(&f, &item);
}

/* Samples count, and no longer what transactions tell; whoever has no samples keeps those. */
TEST(events_give_way)
{
	transaction("LINUX", 10, 5, 1);
	transaction("OTHER", 10, 5, 1);
	transaction("LINUX", 20, 7, 2);
	activity_of("LINUX", 0, 60, 0, 1000, 50);
	interval_ends(60);
	transaction("LINUX", 70, 5000, 4000);
	transaction("OTHER", 70, 9, 4);
	activity_of("LINUX", 0, 120, 0, 1001, 51);
	interval_ends(120);
	ck_assert_uint_eq(user_of("LINUX", 0)->time, 3 * TOD_SECOND);
	ck_assert_uint_eq(user_of("LINUX", 0)->pages.reads, 2);
	ck_assert_uint_eq(user_of("OTHER", 0)->time, 4 * TOD_SECOND);
	ck_assert_uint_eq(user_of("OTHER", 0)->source, 4 << 16 | 9);
	ck_assert_uint_eq(activity_unused(&f, 4, 9, RECORD_ELSEWHERE), 1);
	ck_assert_uint_eq(activity_unused(&f, 4, 3, RECORD_NOT_UNDERSTOOD), 0);
}

/* States by HFSTCT, whatever HFQUCT is; a logon begins them anew. */
TEST(states)
{
	const struct user_activity *user;

	interaction_of("LINUX", 60, 100, 10);
	interval_ends(60);
	interaction_of("LINUX", 120, 130, 18);
	interval_ends(120);
	user = user_of("LINUX", 0);
	ck_assert_uint_eq(user->states.found[STATE_IO_WAIT], 8);
	ck_assert_uint_eq(user->states.found[STATE_RUNNING], 22);
	ck_assert_uint_eq(user->states.found[STATE_OTHER], 0);
	interaction_of("LINUX", 180, 12, 4);
	interval_ends(180);
	ck_assert_uint_eq(user->states.found[STATE_IO_WAIT], 12);
	ck_assert_uint_eq(user->states.found[STATE_RUNNING], 29);
	ck_assert_uint_eq(user->states.found[STATE_OTHER], 1);
}

/* Without a layout nothing is counted but that they were not understood; cut, likewise. */
TEST(not_understood)
{
	release = 730;
	activity_of("LINUX", 0, 60, 0, 1000, 50);
	interaction_of("LINUX", 60, 100, 10);
	ck_assert_uint_eq(f.users, 0);
	ck_assert_uint_eq(activity_unused(&f, 4, 3, RECORD_NOT_UNDERSTOOD), 1);
	ck_assert_uint_eq(activity_unused(&f, 4, 4, RECORD_NOT_UNDERSTOOD), 1);
	release = MONREC_REFERENCE;
	activity_init(&f);
	for (uint32_t len = 20; len < 72; len++) {
		record(4, 3, len, 60);
		ebcdic_name(bytes + 20, "LINUX");
		activity_item(&f, &item);
	}
	ck_assert_uint_eq(activity_unused(&f, 4, 3, RECORD_NOT_UNDERSTOOD), 52);
	ck_assert_uint_eq(f.user_samples, 0);
}

/* Of waits and pages the interval with the most, and when it ended. */
TEST(most_of_an_interval)
{
	const struct user_activity *user;

	activity_of("LINUX", 0, 0, 0, 100, 1000);
	interaction_of("LINUX", 0, 1000, 0);
	interval_ends(0);
	/* 30 of 100 samples, then 3 of 30, then none of 30; pages: 3 times 20, 200, 20. */
	activity_of("LINUX", 0, 60, 0, 101, 1020);
	interaction_of("LINUX", 60, 1100, 30);
	interval_ends(60);
	activity_of("LINUX", 0, 120, 0, 102, 1220);
	interaction_of("LINUX", 120, 1130, 33);
	interval_ends(120);
	activity_of("LINUX", 0, 180, 0, 103, 1240);
	interaction_of("LINUX", 180, 1160, 33);
	interval_ends(180);
	user = user_of("LINUX", 0);
	ck_assert_double_eq_tol(user->most_waits[STATE_IO_WAIT - STATE_CPU_WAIT], 30, 1e-5);
	ck_assert_uint_eq(user->most_waits_at[STATE_IO_WAIT - STATE_CPU_WAIT], AT(60));
	ck_assert_uint_eq(user->most_waits_at[STATE_PAGE_WAIT - STATE_CPU_WAIT], 0);
	ck_assert_double_eq_tol(user->most_pages, 10, 1e-5);
	ck_assert_uint_eq(user->most_pages_at, AT(120));
}
