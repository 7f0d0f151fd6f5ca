/* SPDX-License-Identifier: MIT */
/*
 * The values of a process, of several sources that each lack something, and what of them is not
 * counted.  The numbers are those of a process whose second thread has exited.
 */
#include <string.h>

#include "accounting.h"
#include "process_values.h"
#include "unit_test.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static struct stats stats;
static struct process_known known;

static void set(struct stats *of, enum stats_field field, uint64_t value)
{
	of->present[field] = true;
	of->value[field] = value;
}

static void ck_value(enum stats_field field, uint64_t value)
{
	ck_assert_msg(stats.present[field], "field %d is absent", field);
	ck_assert_uint_eq(stats.value[field], value);
}

static void ck_absent(enum stats_field field)
{
	ck_assert_msg(!stats.present[field], "field %d is present", field);
	ck_assert_uint_eq(stats.value[field], 0);
}

/* The task that lives has used 20 ms, 15 of them in the kernel, and the other one the rest. */
static void start(void)
{
	memset(&stats, 0, sizeof(stats));
	memset(&known, 0, sizeof(known));
	set(&stats, STATS_CPU_COUNT, 4);
	set(&stats, STATS_CPU_RUN_VIRTUAL, 20 * MS);
	set(&stats, STATS_BLKIO_DELAY, 1);
	set(&stats, STATS_UTIME, 5000);
	set(&stats, STATS_STIME, 15000);
	set(&stats, STATS_NVCSW, 3);
	set(&stats, STATS_MINFLT, 7);
	set(&stats, STATS_READ_BYTES, 1024);
	set(&stats, STATS_COREMEM, 11);
	set(&stats, STATS_HIWATER_RSS, 500);
	set(&stats, STATS_UID, 12);
	known.has_sums = true;
	known.keeps_exited = true;
	set(&known.sums, STATS_CPU_COUNT, 9);
	set(&known.sums, STATS_CPU_RUN_VIRTUAL, 50 * MS);
	set(&known.sums, STATS_BLKIO_DELAY, 2);
	set(&known.sums, STATS_UTIME, 31000);
	set(&known.sums, STATS_STIME, 18000);
	set(&known.sums, STATS_NVCSW, 30);
	/* The kernel has the field, and never fills it. */
	set(&known.sums, STATS_READ_BYTES, 0);
	set(&known.sums, STATS_HIWATER_RSS, 0);
	known.has_clock = true;
	known.clock_ns = 51 * MS;
	known.has_shown = true;
	known.shown = (struct proc_task){ .minor_faults = 70, .major_faults = 6, .user_ticks = 3,
					  .system_ticks = 2 };
	known.has_io = true;
	known.io = (struct proc_io){ 101, 102, 103, 104, 105, 106, 107 };
}

CASE("values of a process", start, NULL);

TEST(each_value_from_who_has_it)
{
	process_values(&stats, &known);
	ck_value(STATS_CPU_RUN_VIRTUAL, 51 * MS);
	ck_value(STATS_CPU_COUNT, 9);
	ck_value(STATS_BLKIO_DELAY, 2);
	ck_value(STATS_NVCSW, 30);
	/* Finer than the 3 ticks that it begins in; and of 2 ticks, so it lacks something. */
	ck_value(STATS_UTIME, 31000);
	ck_value(STATS_STIME, 20000);
	ck_value(STATS_MINFLT, 70);
	ck_value(STATS_MAJFLT, 6);
	ck_value(STATS_READ_CHAR, 101);
	ck_value(STATS_WRITE_CHAR, 102);
	ck_value(STATS_READ_SYSCALLS, 103);
	ck_value(STATS_WRITE_SYSCALLS, 104);
	ck_value(STATS_READ_BYTES, 105);
	ck_value(STATS_WRITE_BYTES, 106);
	ck_value(STATS_CANCELLED_WRITE_BYTES, 107);
	/* What is no sum is as it was; nobody knows what the other one had of the rest. */
	ck_value(STATS_HIWATER_RSS, 500);
	ck_value(STATS_UID, 12);
	ck_absent(STATS_COREMEM);
}

/* Sums of microseconds are believed within their tick alone: from its first one to its last. */
TEST(ticks_have_the_last_word)
{
	static const struct {
		uint64_t sum, value;
	} cases[] = {
		{ 29999, 30000 }, { 30000, 30000 }, { 39999, 39999 }, { 40000, 30000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start();
		set(&known.sums, STATS_UTIME, cases[i].sum);
		process_values(&stats, &known);
		ck_value(STATS_UTIME, cases[i].value);
	}
}

/* Kernels that forget times and switches of threads that have exited. */
TEST(sums_that_lack_exited_threads)
{
	known.keeps_exited = false;
	process_values(&stats, &known);
	ck_value(STATS_BLKIO_DELAY, 2);
	ck_value(STATS_UTIME, 30000);
	ck_value(STATS_STIME, 20000);
	ck_absent(STATS_NVCSW);
	/* Nobody was on a CPU but for who lives: none has exited. */
	start();
	known.keeps_exited = false;
	set(&known.sums, STATS_CPU_COUNT, 4);
	process_values(&stats, &known);
	ck_value(STATS_NVCSW, 3);
	ck_value(STATS_COREMEM, 11);
}

/* A thread that is on its way out would be counted twice. */
TEST(sums_that_are_not_right)
{
	known.has_sums = false;
	process_values(&stats, &known);
	ck_absent(STATS_BLKIO_DELAY);
	ck_absent(STATS_CPU_COUNT);
	ck_absent(STATS_NVCSW);
	ck_absent(STATS_COREMEM);
	ck_value(STATS_CPU_RUN_VIRTUAL, 51 * MS);
	ck_value(STATS_UTIME, 30000);
	ck_value(STATS_READ_BYTES, 105);
	ck_value(STATS_HIWATER_RSS, 500);
}

/* Without privilege, without /proc. */
TEST(without_files)
{
	known.has_io = false;
	process_values(&stats, &known);
	ck_absent(STATS_READ_BYTES);
	start();
	known.has_io = known.has_shown = known.has_clock = false;
	set(&known.sums, STATS_CPU_COUNT, 4);
	process_values(&stats, &known);
	ck_value(STATS_CPU_RUN_VIRTUAL, 50 * MS);
	ck_value(STATS_READ_BYTES, 1024);
	ck_value(STATS_MINFLT, 7);
	ck_value(STATS_UTIME, 31000);
}

/* The kernel has no sums of an only task that has exited and is not waited for. */
TEST(process_that_has_exited)
{
	memset(&known.sums, 0, sizeof(known.sums));
	set(&known.sums, STATS_BLKIO_DELAY, 0);
	set(&known.sums, STATS_NVCSW, 0);
	process_values(&stats, &known);
	ck_value(STATS_BLKIO_DELAY, 1);
	ck_value(STATS_NVCSW, 3);
	ck_value(STATS_COREMEM, 11);
}

/* Accounting. */

static struct accounting accounting;

/* All fields, 0 each but for the time on a CPU, and @wait for block I/O; of a task that began then. */
static bool knows_waits(uint64_t wait, uint64_t begin)
{
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		set(&stats, field, 0);
	set(&stats, STATS_CPU_DELAY, 5);
	set(&stats, STATS_BLKIO_DELAY, wait);
	accounting_apply(&accounting, &stats, begin);
	ck_value(STATS_CPU_DELAY, 5);
	ck_value(STATS_READ_BYTES, 0);
	ck_assert(stats.present[STATS_BLKIO_DELAY] == stats.present[STATS_WPCOPY_COUNT]);
	ck_assert(stats.present[STATS_BLKIO_DELAY] == stats.present[STATS_SWAPIN_DELAY_MAX]);
	ck_assert_uint_eq(stats.value[STATS_BLKIO_DELAY], stats.present[STATS_BLKIO_DELAY] ? wait : 0);
	return stats.present[STATS_BLKIO_DELAY];
}

static void begin_accounting(enum delayacct_state state, uint64_t now)
{
	accounting = (struct accounting)ACCOUNTING_NONE;
	accounting_look(&accounting, state, now);
}

TEST(waits_that_are_not_accounted)
{
	begin_accounting(DELAYACCT_OFF, 100);
	/* Not even what was counted before. */
	ck_assert(!knows_waits(0, 1) && !knows_waits(7, 1) && !knows_waits(0, 200));
	begin_accounting(DELAYACCT_SINCE_BOOT, 100);
	ck_assert(knows_waits(0, 0) && knows_waits(7, 1) && knows_waits(0, 200));
	/* Nothing is known of it, but of who has waits. */
	begin_accounting(DELAYACCT_UNKNOWN, 100);
	ck_assert(!knows_waits(0, 50) && knows_waits(7, 50) && !knows_waits(0, 200));
}

TEST(waits_that_are_accounted_since_some_time)
{
	begin_accounting(DELAYACCT_SWITCHED, 100);
	ck_assert(!knows_waits(0, 99) && knows_waits(0, 100) && knows_waits(7, 1));
	/* A later look makes nothing unknown. */
	accounting_look(&accounting, DELAYACCT_SWITCHED, 150);
	ck_assert(!knows_waits(0, 99) && knows_waits(0, 100));
	ck_assert_uint_eq(accounting.changes, 0);
}

TEST(accounting_that_is_switched)
{
	begin_accounting(DELAYACCT_SINCE_BOOT, 100);
	accounting_look(&accounting, DELAYACCT_OFF, 200);
	ck_assert_uint_eq(accounting.changes, 1);
	ck_assert(!knows_waits(9, 50));
	/* By the words of the kernel it has been on since boot: somebody has seen better. */
	accounting_look(&accounting, DELAYACCT_SINCE_BOOT, 300);
	ck_assert_uint_eq(accounting.changes, 2);
	ck_assert(!knows_waits(0, 50) && !knows_waits(0, 250) && knows_waits(0, 300));
}

/* Kernels without an option send 0. */
TEST(kernels_that_lack_something)
{
	struct stats own = { 0 };

	ck_assert_uint_eq(accounting_lacks(&own, false), 7);
	set(&own, STATS_CPU_COUNT, 1);
	ck_assert_uint_eq(accounting_lacks(&own, true), ACCOUNTING_NO_EXTENDED);
	set(&own, STATS_HIWATER_VM, 1);
	ck_assert_uint_eq(accounting_lacks(&own, true), 0);
	ck_assert_uint_eq(accounting_lacks(&own, false), ACCOUNTING_NO_IO);
	begin_accounting(DELAYACCT_SINCE_BOOT, 1);
	accounting.lacks = ACCOUNTING_NO_IO;
	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		set(&stats, field, 0);
	accounting_apply(&accounting, &stats, 5);
	ck_absent(STATS_READ_BYTES);
	ck_absent(STATS_CANCELLED_WRITE_BYTES);
	ck_value(STATS_READ_CHAR, 0);
	ck_value(STATS_CPU_COUNT, 0);
	accounting.lacks = ACCOUNTING_NO_EXTENDED;
	accounting_apply(&accounting, &stats, 5);
	ck_absent(STATS_READ_CHAR);
	ck_absent(STATS_HIWATER_RSS);
	ck_value(STATS_CPU_COUNT, 0);
	accounting.lacks = ACCOUNTING_NO_DELAYS;
	/* What is not 0 somebody has counted. */
	set(&stats, STATS_CPU_RUN_VIRTUAL, 4);
	accounting_apply(&accounting, &stats, 5);
	ck_absent(STATS_CPU_COUNT);
	ck_value(STATS_CPU_RUN_VIRTUAL, 4);
	ck_value(STATS_MINFLT, 0);
}

/* Kernels of big-endian machines do not count the time of interrupts. */
TEST(interrupts)
{
	begin_accounting(DELAYACCT_SINCE_BOOT, 1);
	accounting.order = STATS_BIG;
	set(&stats, STATS_IRQ_DELAY, 0);
	accounting_apply(&accounting, &stats, 5);
	ck_absent(STATS_IRQ_DELAY);
	accounting.order = STATS_LITTLE;
	set(&stats, STATS_IRQ_DELAY, 0);
	accounting_apply(&accounting, &stats, 5);
	ck_value(STATS_IRQ_DELAY, 0);
	accounting_forget_waits(&stats);
	ck_absent(STATS_IRQ_DELAY);
	ck_absent(STATS_BLKIO_COUNT);
	ck_value(STATS_CPU_COUNT, 4);
}

/* A message about an exit that was read at that second: do the waits of the record count? */
static bool message_knows_waits(struct stats_record *record, uint64_t second, uint64_t wait)
{
	set(&record->stats, STATS_BLKIO_DELAY, wait);
	set(&record->stats, STATS_CPU_DELAY, 5);
	accounting_message(&accounting, record, second * SECOND);
	ck_assert(record->stats.present[STATS_CPU_DELAY]);
	return record->stats.present[STATS_BLKIO_DELAY];
}

/* A task that has lived for so long, and began in that second of the clock (0: unknown). */
static bool task_knows_waits(uint64_t second, uint64_t lived, uint64_t began, uint64_t wait)
{
	struct stats_record record = { .kind = STATS_TASK };

	set(&record.stats, STATS_ETIME, lived * 1000000);
	if (began)
		set(&record.stats, STATS_BTIME64, began);
	return message_knows_waits(&record, second, wait);
}

/* When a task began follows from how long it lived, and from its clock if the message waited. */
TEST(waits_of_who_has_exited)
{
	struct stats_record record = { .kind = STATS_TASK };

	begin_accounting(DELAYACCT_SWITCHED, 100 * SECOND);
	ck_assert(task_knows_waits(110, 10, 0, 0) && !task_knows_waits(110, 11, 0, 0));
	/* It was read late: the clock says that it began before. */
	ck_assert(task_knows_waits(200, 5, 195, 0) && !task_knows_waits(200, 5, 98, 0));
	ck_assert(task_knows_waits(200, 5, 99, 0));
	set(&record.stats, STATS_ETIME, 5000000);
	set(&record.stats, STATS_BTIME, 98);
	ck_assert(!message_knows_waits(&record, 200, 0));
	/* Of a time that cannot be, or is not told, nothing is known, but of who has waits. */
	ck_assert(!task_knows_waits(110, 111, 0, 0) && task_knows_waits(110, 111, 0, 7));
	record = (struct stats_record){ .kind = STATS_TASK };
	ck_assert(!message_knows_waits(&record, 110, 0));
}

TEST(waits_of_processes_that_have_exited)
{
	struct stats_record record = { .kind = STATS_PROCESS, .has_elapsed = true,
				       .elapsed_us = 10000000 };

	begin_accounting(DELAYACCT_SWITCHED, 100 * SECOND);
	ck_assert(message_knows_waits(&record, 110, 0));
	record.elapsed_us++;
	ck_assert(!message_knows_waits(&record, 110, 0));
	/* The sum of its tasks' times is not when it began. */
	record = (struct stats_record){ .kind = STATS_PROCESS };
	set(&record.stats, STATS_ETIME, 1);
	ck_assert(!message_knows_waits(&record, 110, 0));
}

/* A task that began before accounting was off lacks some values, though it has others. */
TEST(waits_of_who_lived_while_it_was_off)
{
	begin_accounting(DELAYACCT_SINCE_BOOT, 10 * SECOND);
	ck_assert(task_knows_waits(40, 30, 0, 0));
	accounting_look(&accounting, DELAYACCT_OFF, 50 * SECOND);
	ck_assert(!task_knows_waits(55, 30, 0, 7));
	accounting_look(&accounting, DELAYACCT_SINCE_BOOT, 60 * SECOND);
	ck_assert(!task_knows_waits(70, 21, 0, 7) && task_knows_waits(70, 19, 0, 7));
	ck_assert(!task_knows_waits(70, 19, 0, 0) && task_knows_waits(70, 10, 0, 0));
}
