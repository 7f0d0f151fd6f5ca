/* SPDX-License-Identifier: MIT */
/* Differences of counters, doubts, rates; memory that a region takes. */
#include <math.h>

#include "dms_check.h"
#include "dms_delta.h"
#include "dms_memory.h"
#include "unit_test.h"

#define SECOND 1000000000u

static const struct dms_region ms_region = { .length = 8, .step = 8 };
static const struct dms_region ns_region = { .length = 8, .step = 8, .precise = true };
static const struct dms_span span = { .elapsed = SECOND, .oldest = 10ull * SECOND };

static uint64_t before[DMS_COUNTERS + 2], after[DMS_COUNTERS + 2], delta[DMS_COUNTERS + 2];

static unsigned int subtract(const struct dms_region *r)
{
	return dms_delta(delta, before, after, DMS_COUNTERS + 2, r, &span);
}

/* Ten reads of 4 KiB, 2 ms each, one after the other, within the second. */
static void ten_reads(void)
{
	memset(before, 0, sizeof(before));
	before[DMS_READS] = 5;
	before[DMS_READ_TIME] = 100;
	before[DMS_IN_FLIGHT] = 1;
	memcpy(after, before, sizeof(after));
	after[DMS_READS] += 10;
	after[DMS_READ_SECTORS] += 80;
	after[DMS_READ_TIME] += 20;
	after[DMS_IO_TIME] += 20;
	after[DMS_READING_TIME] += 20;
	after[DMS_QUEUE_TIME] += 20;
	after[DMS_IN_FLIGHT] = 0;
	after[DMS_COUNTERS + 1] = 10;
}

TEST(difference)
{
	ten_reads();
	ck_assert_uint_eq(subtract(&ms_region), 0);
	ck_assert_uint_eq(delta[DMS_READS], 10);
	ck_assert_uint_eq(delta[DMS_READ_SECTORS], 80);
	ck_assert_uint_eq(delta[DMS_READ_TIME], 20);
	ck_assert_uint_eq(delta[DMS_IN_FLIGHT], 0);
	ck_assert_uint_eq(delta[DMS_COUNTERS + 1], 10);
	ck_assert_uint_eq(delta[DMS_WRITES], 0);
	ck_assert(dms_active(delta, DMS_COUNTERS + 2));
	memset(delta, 0, sizeof(delta));
	ck_assert(!dms_active(delta, DMS_COUNTERS + 2));
	/* Each counter and each bucket makes it so, and none behind them. */
	for (size_t i = 0; i < DMS_COUNTERS + 2; i++) {
		delta[i] = 1;
		ck_assert(dms_active(delta, DMS_COUNTERS + 2));
		ck_assert(!dms_active(delta, i));
		delta[i] = 0;
	}
}

TEST(rates)
{
	struct dms_rates r;

	ten_reads();
	subtract(&ms_region);
	r = dms_rates(delta, &ms_region, SECOND / 2, 0);
	ck_assert_double_eq_tol(r.reads, 20, 1e-9);
	ck_assert_double_eq_tol(r.read_bytes, 2 * 40960, 1e-6);
	ck_assert_double_eq_tol(r.read_latency, 2e6, 1e-6);
	ck_assert_double_eq_tol(r.busy, 0.04, 1e-9);
	ck_assert_double_eq_tol(r.queue, 0.04, 1e-9);
	ck_assert_double_eq_tol(r.service, 2e6, 1e-6);
	ck_assert_double_eq(r.writes, 0);
	ck_assert_double_nan(r.write_latency);
	ck_assert_double_nan(r.write_size);
	/* The same numbers as nanoseconds. */
	r = dms_rates(delta, &ns_region, SECOND, 0);
	ck_assert_double_eq_tol(r.read_latency, 2, 1e-9);
	ck_assert_double_eq_tol(r.busy, 2e-8, 1e-12);
}

/* Every counter another number, in the kernel's order (Documentation/admin-guide/iostats.rst). */
TEST(each_rate_has_its_counter)
{
	static const uint64_t counters[DMS_COUNTERS] = {
		2, 1, 16, 30, 4, 3, 64, 100, 5, 250, 400, 7, 9,
	};
	/* Of a second, and of a quarter of one, where busy would be a whole. */
	for (unsigned int part = 1; part <= 4; part += 3) {
		const struct dms_rates r = dms_rates(counters, &ms_region, SECOND / part, 0);

		ck_assert_double_eq_tol(r.reads, 2 * part, 1e-9);
		ck_assert_double_eq_tol(r.writes, 4 * part, 1e-9);
		ck_assert_double_eq_tol(r.read_bytes, 16 * 512 * part, 1e-6);
		ck_assert_double_eq_tol(r.write_bytes, 64 * 512 * part, 1e-6);
		/* Sectors have 512 bytes: 16 of two reads, 64 of four writes. */
		ck_assert_double_eq_tol(r.read_size, 4096, 1e-6);
		ck_assert_double_eq_tol(r.write_size, 8192, 1e-6);
		ck_assert_double_eq_tol(r.read_latency, 15e6, 1e-6);
		ck_assert_double_eq_tol(r.write_latency, 25e6, 1e-6);
		ck_assert_double_eq_tol(r.busy, 0.25 * part, 1e-9);
		ck_assert_double_eq_tol(r.queue, 0.4 * part, 1e-9);
	}
	/* Ticks may make it more than a whole. */
	ck_assert_double_eq(dms_rates(counters, &ms_region, SECOND / 8, 0).busy, 1);
}

TEST(cleared_in_between)
{
	struct dms_rates r;

	ten_reads();
	before[DMS_READS] = 100;
	before[DMS_READ_TIME] = 1000;
	ck_assert_uint_eq(subtract(&ms_region), DMS_CLEARED);
	ck_assert_uint_eq(delta[DMS_READS], 15);
	ck_assert_uint_eq(delta[DMS_READ_SECTORS], 80);
	r = dms_rates(delta, &ms_region, SECOND, DMS_CLEARED);
	ck_assert_double_nan(r.reads);
	ck_assert_double_nan(r.read_size);
	ck_assert_double_nan(r.read_latency);
	/* A bucket counts as well as a counter. */
	ten_reads();
	before[DMS_COUNTERS] = 1;
	ck_assert_uint_eq(subtract(&ms_region), DMS_CLEARED);
}

TEST(times_that_wrapped)
{
	struct dms_rates r;

	ten_reads();
	before[DMS_READ_TIME] = UINT64_MAX - 5;
	ck_assert_uint_eq(subtract(&ms_region), DMS_TIME_WRAPPED);
	ck_assert_uint_eq(delta[DMS_READS], 10);
	r = dms_rates(delta, &ms_region, SECOND, DMS_TIME_WRAPPED);
	ck_assert_double_eq_tol(r.reads, 10, 1e-9);
	ck_assert_double_nan(r.read_latency);
	ck_assert_double_nan(r.busy);
	ck_assert_double_nan(r.service);
	ck_assert_double_nan(r.queue);
}

/* Output of 6.1 and 6.12 after five reads of a multipath device. */
TEST(times_of_request_based_devices)
{
	memset(before, 0, sizeof(before));
	memset(after, 0, sizeof(after));
	after[DMS_READS] = 5;
	after[DMS_READ_TIME] = 343545604844;
	ck_assert_uint_eq(subtract(&ms_region), DMS_TIME_IMPOSSIBLE);
	/* Since start-up of the machine in each of them, with precise time stamps. */
	after[DMS_READ_TIME] = 5 * (10ull * SECOND + 1);
	ck_assert_uint_eq(subtract(&ns_region), DMS_TIME_IMPOSSIBLE);
	after[DMS_READ_TIME] = 5 * 10ull * SECOND;
	ck_assert_uint_eq(subtract(&ns_region), 0);
	/* As many I/Os as no time bounds. */
	after[DMS_READS] = UINT64_MAX;
	after[DMS_READ_TIME] = UINT64_MAX;
	ck_assert_uint_eq(subtract(&ns_region), 0);
	/* Without an I/O there is no time. */
	after[DMS_READS] = 0;
	after[DMS_READ_TIME] = 1;
	ck_assert_uint_eq(subtract(&ns_region), DMS_TIME_IMPOSSIBLE);
}

TEST(each_time_has_its_bound)
{
	static const struct { size_t counter; uint64_t most; } c[] = {
		{ DMS_READ_TIME, 30ull * SECOND },	/* three reads since the region is there */
		{ DMS_WRITE_TIME, 20ull * SECOND },
		{ DMS_IO_TIME, SECOND },
		{ DMS_READING_TIME, SECOND },
		{ DMS_WRITING_TIME, SECOND },
		{ DMS_QUEUE_TIME, 8ull * SECOND },	/* five done, two and one under way */
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		memset(before, 0, sizeof(before));
		memset(after, 0, sizeof(after));
		before[DMS_IN_FLIGHT] = 2;
		after[DMS_IN_FLIGHT] = 1;
		after[DMS_READS] = 3;
		after[DMS_WRITES] = 2;
		after[c[i].counter] = c[i].most;
		ck_assert_uint_eq(subtract(&ns_region), 0);
		after[c[i].counter]++;
		ck_assert_uint_eq(subtract(&ns_region), DMS_TIME_IMPOSSIBLE);
	}
	/* A number of I/Os under way that the kernel has below 0 takes none away. */
	after[DMS_QUEUE_TIME] = 5ull * SECOND;
	before[DMS_IN_FLIGHT] = after[DMS_IN_FLIGHT] = (uint64_t)-1;
	ck_assert_uint_eq(subtract(&ns_region), 0);
	after[DMS_QUEUE_TIME]++;
	ck_assert_uint_eq(subtract(&ns_region), DMS_TIME_IMPOSSIBLE);
	/* A tick more is no wonder where times go by ticks. */
	after[DMS_QUEUE_TIME] = 0;
	after[DMS_IO_TIME] = 1020;
	ck_assert_uint_eq(subtract(&ms_region), 0);
	after[DMS_IO_TIME] = 1021;
	ck_assert_uint_eq(subtract(&ms_region), DMS_TIME_IMPOSSIBLE);
}

/* Figures that kernel 6.1 gave for 256 CPUs built for, 4 possible. */
TEST(memory_as_kernels_account_it)
{
	const struct dms_machine m = { .possible_cpus = 4, .built_cpus = 256,
				       .memory = 490ull << 20, .allocated = 3 * 35130880ull };

	ck_assert_uint_eq(dms_memory(&m, 4, 0), 4320);
	ck_assert_uint_eq(dms_memory(&m, 1, 2), 2832);
	ck_assert_uint_eq(dms_memory(&m, 10, 0) - dms_memory(&m, 0, 0), 5360);
	ck_assert_uint_eq(dms_memory(&m, 65536, 0), 2176 + 65536 * 536);
	ck_assert_uint_eq(dms_memory(&m, UINT64_MAX, 0), UINT64_MAX);
	ck_assert_uint_eq(dms_memory(&m, 1, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(dms_memory_limit(&m), 490ull << 18);
	ck_assert(!dms_memory_exceeded(&m, (490ull << 18) - m.allocated));
	ck_assert(dms_memory_exceeded(&m, (490ull << 18) - m.allocated + 1));
	ck_assert(dms_memory_exceeded(&m, UINT64_MAX));
}

TEST(lists_of_cpus)
{
	ck_assert_uint_eq(dms_count_cpus("0\n"), 1);
	ck_assert_uint_eq(dms_count_cpus("0-3\n"), 4);
	ck_assert_uint_eq(dms_count_cpus("0-3,5,8-9"), 7);
	ck_assert_uint_eq(dms_count_cpus(""), 0);
	ck_assert_uint_eq(dms_count_cpus("3-1"), 0);
	ck_assert_uint_eq(dms_count_cpus("0-"), 0);
	ck_assert_uint_eq(dms_count_cpus("0 1"), 0);
	ck_assert_uint_eq(dms_count_cpus("0-4294967296"), 0);
	ck_assert_uint_eq(dms_count_cpus("4294967295"), 1);
	ck_assert_uint_eq(dms_count_cpus("3-3,7-7\n"), 2);
	ck_assert_uint_eq(dms_count_cpus("x"), 0);
	ck_assert_uint_eq(dms_count_cpus(","), 0);
	ck_assert_uint_eq(dms_count_cpus("1,,2"), 0);
	ck_assert_uint_eq(dms_count_cpus("1-x"), 0);
}
