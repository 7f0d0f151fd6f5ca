/* SPDX-License-Identifier: MIT */
/* How often a wait is put off.  Limits are so long, or so short, that a busy machine changes nothing. */
#include "spin.h"
#include "unit_test.h"

#include <time.h>

#define HOUR UINT64_C(3600000000000)

static void sleep_ns(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

/* It looks, and nothing comes in its time. */
static void fails_once(struct spin *spin)
{
	ck_assert(spin_on(spin));
	sleep_ns(1000);
	ck_assert(!spin_on(spin));
}

TEST(looks_until_its_time_is_over)
{
	struct spin spin = { .limit = HOUR };

	for (int i = 0; i < 100; i++)
		ck_assert(spin_on(&spin));
	spin.limit = 1;
	sleep_ns(1000);
	ck_assert(!spin_on(&spin));
}

TEST(waits_at_once_twice_as_often_after_each_failure)
{
	struct spin spin = { .limit = 1 };
	unsigned int skips = 1;

	for (unsigned int i = 0; i < SPIN_FAILS + 3; i++) {
		fails_once(&spin);
		for (unsigned int skip = 0; skip < skips; skip++)
			ck_assert(!spin_on(&spin));
		if (i + 1 < SPIN_FAILS)
			skips = 2 * skips + 1;
	}
	ck_assert_uint_eq(skips, (1u << SPIN_FAILS) - 1);
}

TEST(what_comes_in_time_makes_good_all_failures)
{
	struct spin spin = { .limit = 1 };

	for (int i = 0; i < 2; i++) {
		fails_once(&spin);
		while (spin.skips > 0)
			ck_assert(!spin_on(&spin));
	}
	spin.limit = HOUR;
	ck_assert(spin_on(&spin));
	spin_found(&spin);
	ck_assert_uint_eq(spin.fails, 0);
	ck_assert(spin_on(&spin));
}

/* Others had the processor meanwhile. */
TEST(what_comes_too_late_is_a_failure)
{
	struct spin spin = { .limit = 1 };

	ck_assert(spin_on(&spin));
	sleep_ns(1000);
	spin_found(&spin);
	ck_assert_uint_eq(spin.fails, 1);
	ck_assert(!spin_on(&spin));
	ck_assert(spin_on(&spin));
}

/* A wait that was not put off says nothing of those that are. */
TEST(what_comes_after_a_wait_counts_nothing)
{
	struct spin spin = { .limit = 1 };

	fails_once(&spin);
	ck_assert(!spin_on(&spin));
	spin_found(&spin);
	ck_assert_uint_eq(spin.fails, 1);
}
