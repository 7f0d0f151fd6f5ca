/* SPDX-License-Identifier: MIT */
/* Counting of messages by CPU, recordings, lists of CPUs, what is said of delay accounting. */
#define _GNU_SOURCE /* fopencookie() */
#include <errno.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit_test.h"
#include "said.h"
#include "message_count.h"
#include "collector.h"
#include "cpus.h"
#include "delayacct.h"
#include "proc.h"
#include "row.h"
#include "taskmon_bytes.h"

#define CPU_LISTS "/sys/devices/system/cpu/"

static struct message_count numbered(uint64_t dropped, bool has_dropped, const uint32_t *numbers,
				     size_t count)
{
	struct message_count account = { .dropped = dropped, .has_dropped = has_dropped };

	for (size_t i = 0; i < count; i++)
		message_count_number(&account, numbers[i]);
	return account;
}

#define NUMBERED(dropped, has_dropped, ...)                                         \
	numbered(dropped, has_dropped, (const uint32_t[]){ __VA_ARGS__ },           \
		 sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* A collector whose rows are CSV in memory. */
static struct collector collector;
static char *rows_text;
static size_t rows_len;
static FILE *rows_file;

static void start(void)
{
	struct selection selection;
	char error[64];

	ck_assert(collector_init(&collector));
	rows_file = open_memstream(&rows_text, &rows_len);
	selection_standard(&selection, row_columns, ROW_COLUMNS);
	ck_assert(selection_parse(&selection, "kind,id,cpu,number,version,status", error,
				  sizeof(error)));
	collector.writer = writer_open(rows_file, WRITER_CSV, false, &selection);
}

static void stop(void)
{
	writer_close(collector.writer);
	collector_free(&collector);
	fclose(rows_file);
	free(rows_text);
}

CASE("taskmon collect", start, stop);

TEST(numbers_in_order)
{
	struct message_count account = NUMBERED(0, true, 0xfffffffe, 0xffffffff, 0, 1);

	ck_assert_uint_eq(account.missing + account.strangers, 0);
	ck_assert(message_count_is_next(&account, 2) && !message_count_is_next(&account, 3));
	ck_assert_uint_eq(message_count_lost(&account), 0);
	account = (struct message_count){ 0 };
	ck_assert(message_count_is_next(&account, 12345));
}

TEST(numbers_missing)
{
	struct message_count account = NUMBERED(6, true, 7, 8, 15, 16);

	ck_assert_uint_eq(account.missing, 6);
	ck_assert_uint_eq(account.strangers, 0);
	ck_assert_uint_eq(message_count_lost(&account), 6);
	/* A large gap is believed as far as the kernel says that it has dropped as much. */
	account = NUMBERED(100000, true, 1, 100002);
	ck_assert_uint_eq(account.missing, 100000);
	/* Without the kernel's counter every gap is. */
	account = NUMBERED(0, false, 1, 100002);
	ck_assert_uint_eq(account.missing, 100000);
	ck_assert_uint_eq(message_count_lost(&account), 100000);
}

TEST(numbers_of_others)
{
	/* 900 belongs to another CPU, and so does 3, which comes late. */
	struct message_count account = NUMBERED(0, true, 10, 900, 11, 3, 12);

	ck_assert_uint_eq(account.strangers, 2);
	ck_assert_uint_eq(account.missing, 0);
	ck_assert(message_count_is_next(&account, 13));
	/* 12 went to another CPU's listener: nothing is lost. */
	account = NUMBERED(0, true, 10, 11, 13, 14);
	ck_assert_uint_eq(account.missing, 1);
	ck_assert_uint_eq(account.strangers, 0);
	ck_assert_uint_eq(message_count_lost(&account), 0);
	/* Five were dropped, and one went elsewhere. */
	account = NUMBERED(5, true, 10, 17, 18);
	ck_assert_uint_eq(account.missing, 6);
	account = NUMBERED(0, false, 10, 11, 13, 5, 14);
	ck_assert(account.missing == 1 && account.strangers == 1);
	ck_assert_uint_eq(message_count_lost(&account), 0);
	/* The first one was a stranger; two strangers in a row; one that nothing follows. */
	account = NUMBERED(0, true, 900, 10, 11, 12);
	ck_assert(account.strangers == 1 && account.missing == 0 && account.next == 13);
	/* Two strangers in a row are taken for the sequence, until that goes on where it was. */
	account = NUMBERED(0, true, 10, 900, 901, 11, 12);
	ck_assert(account.strangers == 2 && account.missing == 0 && account.next == 13);
	/* What is in between is missing; what comes twice is of another CPU each second time. */
	account = NUMBERED(0, true, 10, 900, 901, 902);
	ck_assert(account.missing == 889 && account.strangers == 0 && account.next == 903);
	account = NUMBERED(0, true, 10, 11, 12, 13, 12, 13, 14);
	ck_assert(account.strangers == 2 && account.missing == 0 && account.next == 15);
	/* A sequence that lies before all that came: that was not of it. */
	account = NUMBERED(0, true, 10, 11, 12, 5, 6, 7);
	ck_assert(account.strangers == 3 && account.missing == 0 && account.next == 8);
	/* Up to half of all numbers lie ahead, the others behind. */
	account = NUMBERED(0, true, 10, 0x7ffffffe, 0x7fffffff);
	ck_assert(account.missing == 0x7ffffffe - 11 && account.strangers == 0);
	account = NUMBERED(0, true, 10, 0x8000000a, 0x8000000b);
	ck_assert(account.missing == 0x7fffffff && account.strangers == 0);
	account = NUMBERED(0, true, 10, 0x8000000b, 0x8000000c);
	ck_assert(account.missing == 0 && account.strangers == 1);
	account = NUMBERED(0, false, 10, 0x7ffffffe);
	ck_assert(account.missing == 0x7ffffffe - 11 && !account.holds);
	account = NUMBERED(0, false, 10, 0x8000000b);
	ck_assert(account.missing == 0 && account.holds);
	/* However many were dropped: what lies behind is late, and no gap to it. */
	account = NUMBERED(UINT64_MAX, true, 10, 0x8000000au);
	ck_assert(account.missing == 0x7fffffff && !account.holds);
	for (uint32_t back = 0x7fffffff; back > 0; back /= 2) {
		account = NUMBERED(UINT64_MAX, true, 10, 11 - back);
		ck_assert(account.missing == 0 && account.holds && account.next == 11);
	}
	/* Two that are late: their numbers were missing. */
	account = NUMBERED(2, true, 1, 4, 2, 3, 5);
	ck_assert_uint_eq(account.missing, account.strangers);
	ck_assert(message_count_is_next(&account, 6));
	account = NUMBERED(0, true, 10, 900, 700, 11);
	ck_assert(account.strangers == 2 && account.missing == 0);
	account = NUMBERED(0, true, 10, 11, 13);
	ck_assert(account.strangers == 0 && account.missing == 0);
	message_count_end(&account);
	ck_assert(account.strangers == 1 && account.missing == 0);
}

TEST(sums)
{
	struct message_count sum = { .has_dropped = true };
	struct message_count one = { .received = 5, .own = 1, .dropped = 2, .has_dropped = true,
				     .missing = 3, .strangers = 1, .overflows = 1 };

	message_count_add(&sum, &one);
	message_count_add(&sum, &one);
	ck_assert_uint_eq(sum.received, 10);
	ck_assert_uint_eq(sum.own, 2);
	ck_assert_uint_eq(sum.missing, 6);
	ck_assert_uint_eq(sum.strangers, 2);
	ck_assert_uint_eq(sum.overflows, 2);
	ck_assert_uint_eq(message_count_lost(&sum), 4);
	one.has_dropped = false;
	message_count_add(&sum, &one);
	ck_assert_uint_eq(message_count_lost(&sum), 9 - 3);
}

TEST(lists_of_cpus)
{
	static const char *const bad[] = { "", "a", "-1", "1-", "2-1", "1,,2", ",1", "1,", " 1",
					   "4096", "0x1", "1-3-5", "99999999999999999999", "1 " };
	static const char *const good[][2] = {
		{ "0", "0" }, { "0-3", "0-3" }, { "3,1,2", "1-3" }, { "0,2,4-5\n", "0,2,4-5" },
		{ "0-4095", "0-4095" }, { "4093-4094", "4093-4094" }, { "4093,4095", "4093,4095" },
		{ "4094-4095", "4094-4095" }, { "4095", "4095" }, { "1,1,1", "1" },
	};
	struct cpus cpus, few;
	char list[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!cpus_parse(&cpus, bad[i]), "%s", bad[i]);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert(cpus_parse(&cpus, good[i][0]));
		cpus_format(&cpus, list, sizeof(list));
		ck_assert_str_eq(list, good[i][1]);
	}
	ck_assert_uint_eq(cpus.count, 1);
	ck_assert(cpus_parse(&cpus, "0,2,4,6,8-1000"));
	ck_assert_uint_eq(cpus.count, 4 + 993);
	for (size_t size = 1; size < sizeof(list); size++) {
		memset(list, 'x', sizeof(list));
		cpus_format(&cpus, list, size);
		ck_assert_uint_lt(strlen(list), size);
		for (size_t i = size; i < sizeof(list); i++)
			ck_assert_int_eq(list[i], 'x');
	}
	memset(list, 'x', sizeof(list));
	memset(&few, 0, sizeof(few));
	cpus_format(&few, list, sizeof(list));
	ck_assert_str_eq(list, "");
	ck_assert(cpus_parse(&few, "2,8"));
	ck_assert_uint_eq(cpus_outside(&few, &cpus), CPUS_MAX);
	ck_assert(cpus_parse(&few, "2,7"));
	ck_assert_uint_eq(cpus_outside(&few, &cpus), 7);
	/* A build's chroot may be without /sys. */
	if (access(CPU_LISTS "online", R_OK)) {
		ck_assert_int_eq(cpus_read(&cpus, "online"), -ENOENT);
	} else {
		ck_assert_int_eq(cpus_read(&cpus, "online"), 0);
		ck_assert_uint_eq(cpus.count, sysconf(_SC_NPROCESSORS_ONLN));
	}
	ck_assert_int_eq(cpus_read(&cpus, "nonsense"), -ENOENT);
}

TEST(delay_accounting)
{
	ck_assert_int_eq(delayacct_of(NULL, "delayacct"), DELAYACCT_UNKNOWN);
	ck_assert_int_eq(delayacct_of("0\n", "delayacct"), DELAYACCT_OFF);
	ck_assert_int_eq(delayacct_of("1\n", "quiet delayacct root=1"), DELAYACCT_SINCE_BOOT);
	ck_assert_int_eq(delayacct_of("1\n", "quiet nodelayacct delayacct2"), DELAYACCT_SWITCHED);
	ck_assert_int_eq(delayacct_of("1\n", ""), DELAYACCT_SWITCHED);
	ck_assert_ptr_nonnull(strstr(delayacct_sentence(DELAYACCT_OFF), "task_delayacct=1"));
	ck_assert_ptr_nonnull(strstr(delayacct_sentence(DELAYACCT_OFF), "are unknown"));
	/* Each state has its sentence, and what is none is not known. */
	for (unsigned int state = DELAYACCT_UNKNOWN; state < DELAYACCT_STATES; state++) {
		static const char *const words[] = {
			[DELAYACCT_UNKNOWN] = "unknown whether", [DELAYACCT_OFF] = "are not accounted",
			[DELAYACCT_SINCE_BOOT] = "accounted since boot",
			[DELAYACCT_SWITCHED] = "not since boot",
		};

		ck_assert_ptr_nonnull(strstr(delayacct_sentence((enum delayacct_state)state),
					     words[state]));
	}
	for (unsigned int state = DELAYACCT_STATES; state < 200; state += 13)
		ck_assert_str_eq(delayacct_sentence((enum delayacct_state)state),
				 delayacct_sentence(DELAYACCT_UNKNOWN));
}

/* A file of @size bytes: @begin, then blanks, then @end. */
static void write_file(const char *path, const char *begin, const char *end, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "%s%*s", begin, (int)(size - strlen(begin)), end);
	fclose(file);
}

/* Files that are as long as what they are read into, and longer. */
TEST(delay_accounting_from_files)
{
	char setting[] = "/tmp/setting-XXXXXX", line[] = "/tmp/line-XXXXXX";

	close(mkstemp(setting));
	close(mkstemp(line));
	for (size_t size = 14; size < 20; size++) {
		write_file(setting, "1", "", size);
		write_file(line, "quiet", "delayacct", 8191);
		ck_assert_int_eq(delayacct_read_from(setting, line), DELAYACCT_SINCE_BOOT);
	}
	for (size_t size = 8192; size < 8200; size++) {
		write_file(line, "quiet", "delayacct", size);
		ck_assert_int_eq(delayacct_read_from(setting, line), DELAYACCT_SWITCHED);
	}
	unlink(line);
	ck_assert_int_eq(delayacct_read_from(setting, line), DELAYACCT_SWITCHED);
	unlink(setting);
	ck_assert_int_eq(delayacct_read_from(setting, line), DELAYACCT_UNKNOWN);
	/* Where the kernel has them. */
	ck_assert_int_eq(delayacct_read(),
			 delayacct_read_from("/proc/sys/kernel/task_delayacct", "/proc/cmdline"));
}

/* A message about task @id, exit status 5, of @cpu. */
static void arrive(uint32_t cpu, uint32_t number, uint32_t id, uint64_t dropped)
{
	static uint8_t bytes[12 + 416];
	const uint16_t headers[] = { 8, TASKSTATS_TYPE_PID };
	const uint16_t stats[] = { 4 + 416, TASKSTATS_TYPE_STATS };
	uint32_t status = 5 << 8;
	struct recording_frame frame = { RECORDING_MESSAGE, cpu, number, 1, dropped,
					 sizeof(bytes), bytes };

	memcpy(bytes, headers, 4);
	memcpy(bytes + 4, &id, 4);
	memcpy(bytes + 8, stats, 4);
	put_version(bytes + 12, 13, STATS_OWN_ORDER);
	memcpy(bytes + 16, &status, 4);
	collector_message(&collector, &frame);
}

TEST(messages_are_counted)
{
	arrive(0, 100, 17, 0);
	arrive(0, 103, 18, 2);
	collector.own_pid = 19;
	arrive(1, 7, 19, 0);
	arrive(1, 8, 19, 0);
	ck_assert_int_eq(writer_flush(collector.writer), 0);
	ck_assert_str_eq(rows_text, "kind,id,cpu,number,version,status\n"
				    "task,17,0,100,13,5\ntask,18,0,103,13,5\ntask,19,1,8,13,5\n");
	ck_assert(collector.own_came);
	ck_assert_uint_eq(collector.accounts[0].received, 2);
	ck_assert_uint_eq(collector.accounts[0].missing, 2);
	ck_assert_uint_eq(collector.accounts[1].received, 1);
	ck_assert_uint_eq(collector.accounts[1].own, 1);
	collector.rows_max = 4;
	ck_assert(!collector_is_done(&collector));
	arrive(1, 9, 20, 0);
	ck_assert(collector_is_done(&collector));
	arrive(1, 10, 21, 0);
	ck_assert_uint_eq(collector.rows_shown, 4);
	ck_assert_uint_eq(collector.accounts[1].received, 3);
}

/* The recorder's own task, in a recording: a number like another, and no row. */
TEST(own_messages_of_a_recording)
{
	const struct recording_frame own = { RECORDING_OWN, 3, 11, 1, 2, 0, NULL };

	arrive(3, 10, 17, 0);
	collector_own(&collector, &own);
	ck_assert_uint_eq(collector.accounts[3].own, 1);
	ck_assert_uint_eq(collector.accounts[3].received, 1);
	ck_assert_uint_eq(collector.accounts[3].dropped, 2);
	ck_assert(collector.accounts[3].has_dropped);
	ck_assert(message_count_is_next(&collector.accounts[3], 12));
	ck_assert_uint_eq(collector.rows_shown, 1);
}

/* With a CPU's counters its sequence ends: a number that is held is another CPU's. */
TEST(counters_end_a_sequence)
{
	const struct recording_frame counters = { RECORDING_COUNTERS, 3, 6, 1, 0, 0, NULL };

	arrive(3, 10, 17, 0);
	arrive(3, 900, 18, 0);
	ck_assert_uint_eq(collector.accounts[3].strangers, 0);
	collector_counters(&collector, &counters);
	ck_assert_uint_eq(collector.accounts[3].strangers, 1);
	ck_assert_uint_eq(collector.accounts[3].overflows, 6);
}

/* All rows that were asked for, or an error of either output. */
TEST(when_it_is_done)
{
	struct collector all = { .rows_shown = UINT64_MAX };

	ck_assert(!collector_is_done(&all));
	all.rows_error = -EIO;
	ck_assert(collector_is_done(&all));
	all.rows_error = 0;
	all.recording_error = -EIO;
	ck_assert(collector_is_done(&all));
}

/* A collector begins with nothing, whatever was in its storage. */
TEST(collector_from_any_storage)
{
	struct collector fresh;

	memset(&fresh, 0x5a, sizeof(fresh));
	ck_assert(collector_init(&fresh));
	ck_assert(!fresh.writer && !fresh.recording && !fresh.rows_max && !fresh.own_pid);
	ck_assert(!fresh.own_came && !fresh.rows_shown && !fresh.malformed && !fresh.unknown);
	ck_assert(!collector_is_done(&fresh));
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		ck_assert(!fresh.is_counted[cpu] && !fresh.accounts[cpu].started);
	collector_free(&fresh);
}

/* Messages that are not understood are counted. */
TEST(messages_in_part)
{
	/* An attribute of a type that is not ours; then one that says it is longer than it is. */
	const uint16_t unknown[] = { 4, 99, 4, 98 }, cut[] = { 4, 99, 8, 98 };
	struct recording_frame frame = { RECORDING_MESSAGE, 0, 1, 1, 0, sizeof(unknown),
					 (const uint8_t *)unknown };

	for (unsigned int i = 1; i < 4; i++) {
		frame.payload = (const uint8_t *)unknown;
		collector_message(&collector, &frame);
		ck_assert_uint_eq(collector.unknown, 3 * i - 1);
		ck_assert_uint_eq(collector.malformed, i - 1);
		frame.payload = (const uint8_t *)cut;
		collector_message(&collector, &frame);
		ck_assert_uint_eq(collector.unknown, 3 * i);
		ck_assert_uint_eq(collector.malformed, i);
	}
}

/* Without the kernel's counter what is missing is what is lost. */
TEST(messages_without_the_kernels_counter)
{
	arrive(2, 100, 17, RECORDING_NOT_TOLD);
	arrive(2, 103, 18, RECORDING_NOT_TOLD);
	arrive(2, 104, 18, RECORDING_NOT_TOLD);
	ck_assert(!collector.accounts[2].has_dropped && collector.accounts[2].dropped == 0);
	ck_assert_uint_eq(message_count_lost(&collector.accounts[2]), 2);
	arrive(2, 105, 18, 7);
	ck_assert(collector.accounts[2].has_dropped && collector.accounts[2].dropped == 7);
}

/* Frames begin at multiples of 8, and zeros fill what is between. */
TEST(frames_of_each_size)
{
	static const uint8_t payload[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	for (uint32_t size = 0; size <= sizeof(payload); size++) {
		const struct recording_frame frame = { RECORDING_MESSAGE, 1, 2, 3, 4, size,
						       payload };
		const size_t whole = 32 + (size + 7) / 8 * 8;
		uint8_t bytes[64], expected[64] = { 0 };
		FILE *file = tmpfile();

		ck_assert_int_eq(recording_write_frame(file, &frame), 0);
		ck_assert_int_eq(ftell(file), (long)whole);
		rewind(file);
		ck_assert_uint_eq(fread(bytes, 1, sizeof(bytes), file), whole);
		memcpy(expected, payload, size);
		ck_assert_mem_eq(bytes + 32, expected, whole - 32);
		/* One that is cut off anywhere is none. */
		for (size_t cut = 0; cut <= whole; cut++) {
			const struct recording_header header = { .order = STATS_OWN_ORDER };
			struct recording_frame read;
			uint8_t buffer[sizeof(payload)];

			rewind(file);
			fwrite(bytes, 1, whole, file);
			fflush(file);
			ck_assert_int_eq(ftruncate(fileno(file), (off_t)cut), 0);
			rewind(file);
			ck_assert_int_eq(recording_read_frame(file, &header, &read, buffer),
					 cut < whole ? RECORDING_CUT : RECORDING_FRAME);
		}
		fclose(file);
	}
}

/* A file whose n-th write fails; how many there were. */
struct failing_file {
	unsigned int fails, writes;
};

static ssize_t write_or_fail(void *context, const char *bytes, size_t size)
{
	struct failing_file *file = context;

	(void)bytes;
	if (++file->writes != file->fails)
		return (ssize_t)size;
	errno = ENOSPC;
	return 0;
}

/* A frame ends where a write fails. */
TEST(recording_to_a_file_that_fails)
{
	static const uint8_t payload[5] = { 1, 2, 3, 4, 5 };
	const struct recording_frame frame = { RECORDING_MESSAGE, 1, 2, 3, 4, sizeof(payload),
					       payload };

	/* Words, longs, payload, what it is filled up with. */
	for (unsigned int fails = 1; fails <= 5; fails++) {
		struct failing_file failing = { .fails = fails };
		FILE *file = fopencookie(&failing, "w",
					 (cookie_io_functions_t){ .write = write_or_fail });

		setvbuf(file, NULL, _IONBF, 0);
		ck_assert_int_eq(recording_write_frame(file, &frame), fails <= 4 ? -ENOSPC : 0);
		ck_assert_uint_eq(failing.writes, fails <= 4 ? fails : 4);
		fclose(file);
	}
}

/* A file that refuses bytes, and says nothing else of it. */
static ssize_t write_nothing(void *context, const char *bytes, size_t size)
{
	(void)context, (void)bytes, (void)size;
	return 0;
}

/* Then it is an error of input and output, not one that was there before. */
TEST(recording_to_a_file_that_says_nothing)
{
	const struct recording_frame frame = { RECORDING_MESSAGE, 1, 2, 3, 4, 0, NULL };
	FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write_nothing });
	int error;

	setvbuf(file, NULL, _IONBF, 0);
	errno = ENOTTY;
	error = recording_write_frame(file, &frame);
	ck_assert_int_eq(error, -EIO);
	fclose(file);
}

/* After the first error nothing more is recorded, and rows end. */
TEST(recording_that_fails_stays_so)
{
	struct failing_file failing = { .fails = 1 };

	collector.recording = fopencookie(&failing, "w",
					  (cookie_io_functions_t){ .write = write_or_fail });
	setvbuf(collector.recording, NULL, _IONBF, 0);
	arrive(0, 1, 17, 0);
	ck_assert_int_eq(collector.recording_error, -ENOSPC);
	ck_assert_uint_eq(failing.writes, 1);
	arrive(0, 2, 18, 0);
	ck_assert_int_eq(collector.recording_error, -ENOSPC);
	ck_assert_uint_eq(failing.writes, 1);
	ck_assert_uint_eq(collector.rows_shown, 1);
	fclose(collector.recording);
	collector.recording = NULL;
}

/* Checks the summary on standard error; returns the number of lost messages. */
static const char *summary_as(enum writer_format format, uint64_t *lost)
{
	struct said said = said_begin(2);

	*lost = collector_summary(&collector, format);
	return said_end(&said);
}

static const char *summary(uint64_t *lost)
{
	return summary_as(WRITER_CSV, lost);
}

/* For people: numbers stand at the right of columns that have room for large ones. */
TEST(summary_as_a_table)
{
	uint64_t lost;

	collector.accounts[4095] = (struct message_count){
		.has_dropped = true, .received = 1234567890, .dropped = 20, .missing = 300,
		.strangers = 4, .overflows = 5,
	};
	collector.is_counted[4095] = 1;
	ck_assert_str_eq(summary_as(WRITER_TABLE, &lost),
			 "cpu     received        lost     missing   strangers   overflows\n"
			 "4095  1234567890          20         300           4           5\n"
			 "all   1234567890          20         300           4           5\n");
}

/* A CPU is shown if anything of it came, was lost or is missing. */
TEST(summary_of_cpus)
{
	static const struct message_count accounts[] = {
		{ .has_dropped = true },
		{ .has_dropped = true, .received = 5 },
		{ .has_dropped = true, .dropped = 2, .overflows = 1 },
		{ .has_dropped = true, .missing = 3, .strangers = 3 },
		{ .has_dropped = true, .own = 1 },
	};
	uint64_t lost;

	for (unsigned int cpu = 0; cpu < sizeof(accounts) / sizeof(accounts[0]); cpu++) {
		collector.accounts[cpu] = accounts[cpu];
		collector.is_counted[cpu] = 1;
	}
	/* Not counted. */
	collector.accounts[7] = accounts[1];
	collector.accounts[CPUS_MAX - 1] = accounts[1];
	collector.is_counted[CPUS_MAX - 1] = 1;
	ck_assert_str_eq(summary(&lost), "cpu,received,lost,missing,strangers,overflows\n"
					 "1,5,0,0,0,0\n2,0,2,0,0,1\n3,0,0,3,3,0\n"
					 "4095,5,0,0,0,0\nall,10,2,3,3,1\n");
	ck_assert_uint_eq(lost, 2);
	collector.malformed = 3;
	collector.unknown = 4;
	ck_assert_ptr_nonnull(strstr(summary(&lost), "\ntool: 3 messages could not be read "
				     "completely\ntool: 4 attributes of unknown types were ignored\n"));
}

/* Each of them closes what it opens, whatever is in it. */
TEST(files_are_closed)
{
	char path[] = "/tmp/empty-XXXXXX";
	struct proc_task task;
	struct rlimit few;
	struct cpus cpus;
	const bool sysfs = access(CPU_LISTS, R_OK) == 0;

	close(mkstemp(path));
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &few), 0);
	few.rlim_cur = 40;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(cpus_read(&cpus, "online"), sysfs ? 0 : -ENOENT);
		ck_assert_int_eq(cpus_read(&cpus, "../../../../proc/version"),
				 sysfs ? -EINVAL : -ENOENT);
		ck_assert(proc_read(&task, "/proc/self/stat"));
		ck_assert(!proc_read(&task, path));
		ck_assert_int_eq(delayacct_read_from(path, path), DELAYACCT_OFF);
	}
	unlink(path);
}

TEST(recording_and_replay)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	const struct recording_header header = { .time_ns = 12345, .delayacct = DELAYACCT_OFF,
						 .release = "6.1.0" };
	struct recording_frame counters = { RECORDING_COUNTERS, 1, 3, 0, 9, 0, NULL };
	struct recording_frame end = { .type = RECORDING_END }, frame;
	struct recording_header read;
	unsigned int types[5] = { 0 };
	long size;

	collector.recording = tmpfile();
	ck_assert_int_eq(recording_write_header(collector.recording, &header), 0);
	collector.own_pid = 19;
	arrive(1, 7, 17, 0);
	arrive(1, 8, 19, 0);
	collector_counters(&collector, &counters);
	ck_assert_int_eq(recording_write_frame(collector.recording, &end), 0);
	size = ftell(collector.recording);
	ck_assert_int_eq(size, 96 + (32 + 432) + 32 + 32 + 32);
	rewind(collector.recording);
	ck_assert_int_eq(recording_read_header(collector.recording, &read), RECORDING_FRAME);
	ck_assert_str_eq(read.release, "6.1.0");
	ck_assert(read.time_ns == 12345 && read.delayacct == DELAYACCT_OFF);
	ck_assert(read.order == STATS_OWN_ORDER);
	while (recording_read_frame(collector.recording, &read, &frame, buffer) ==
	       RECORDING_FRAME) {
		types[frame.type]++;
		ck_assert_uint_eq(frame.cpu, 1);
		if (frame.type == RECORDING_COUNTERS)
			ck_assert(frame.number == 3 && frame.dropped == 9);
		if (frame.type == RECORDING_OWN)
			ck_assert(frame.number == 8 && frame.size == 0);
	}
	ck_assert_int_eq(frame.type, RECORDING_END);
	ck_assert(types[RECORDING_MESSAGE] == 1 && types[RECORDING_COUNTERS] == 1 &&
		  types[RECORDING_OWN] == 1);
	/* Whatever is cut off is noticed. */
	for (long cut = size - 1; cut >= 0; cut--) {
		enum recording_result result;

		ck_assert_int_eq(ftruncate(fileno(collector.recording), cut), 0);
		rewind(collector.recording);
		result = recording_read_header(collector.recording, &read);
		while (result == RECORDING_FRAME)
			result = recording_read_frame(collector.recording, &read, &frame, buffer);
		ck_assert_int_eq(result, (cut < 7 ? RECORDING_BAD : RECORDING_CUT));
	}
	fclose(collector.recording);
	collector.recording = NULL;
}

/* A recording says when delays were accounted, and no more often than that changed. */
TEST(accounting_in_a_recording)
{
	static const enum delayacct_state looks[] = {
		DELAYACCT_OFF, DELAYACCT_OFF, DELAYACCT_SWITCHED, DELAYACCT_SWITCHED, DELAYACCT_OFF,
	};
	static const struct { uint64_t time_ns; uint32_t number; } written[] = {
		{ 2, DELAYACCT_SWITCHED }, { 4, DELAYACCT_OFF },
	};
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	const struct recording_header header = { .release = "6.1.0" };
	struct recording_header read;
	struct recording_frame frame;

	collector.recording = tmpfile();
	ck_assert_int_eq(recording_write_header(collector.recording, &header), 0);
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
		collector_look(&collector, looks[i], i);
	rewind(collector.recording);
	ck_assert_int_eq(recording_read_header(collector.recording, &read), RECORDING_FRAME);
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
		ck_assert_int_eq(recording_read_frame(collector.recording, &read, &frame, buffer),
				 RECORDING_FRAME);
		ck_assert_int_eq(frame.type, RECORDING_DELAYACCT);
		ck_assert_uint_eq(frame.number, written[i].number);
		ck_assert_uint_eq(frame.time_ns, written[i].time_ns);
		ck_assert_uint_eq(frame.size, 0);
	}
	ck_assert_int_eq(recording_read_frame(collector.recording, &read, &frame, buffer),
			 RECORDING_CUT);
	fclose(collector.recording);
	collector.recording = NULL;
	ck_assert_uint_eq(collector.accounting.changes, 2);
}

/* A recording of the other byte order, byte for byte; then with one thing wrong each. */
TEST(foreign_recording)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	static const struct { size_t at; uint8_t byte; } wrong[] = {
		{ 0, 'x' }, { 8, 2 }, { 9, 'X' }, { 99, 0 }, { 99, 6 }, { 102, 0x10 }, { 108, 1 },
	};
	uint8_t bytes[96 + 32 + 32] = "taskmon";
	struct recording_header header;
	struct recording_frame frame;
	FILE *file;

	bytes[8] = 1;
	bytes[9] = 'B';
	bytes[23] = 77;			/* time */
	bytes[96 + 3] = RECORDING_COUNTERS;
	bytes[96 + 6] = 1;		/* CPU 256 */
	bytes[96 + 31] = 5;		/* dropped */
	bytes[128 + 3] = RECORDING_END;
	file = fmemopen(bytes, sizeof(bytes), "r");
	ck_assert_int_eq(recording_read_header(file, &header), RECORDING_FRAME);
	ck_assert(header.order == STATS_BIG && header.time_ns == 77);
	ck_assert_int_eq(recording_read_frame(file, &header, &frame, buffer), RECORDING_FRAME);
	ck_assert(frame.type == RECORDING_COUNTERS && frame.cpu == 256 && frame.dropped == 5);
	ck_assert_int_eq(recording_read_frame(file, &header, &frame, buffer), RECORDING_OVER);
	fclose(file);
	/* A name that fills its place ends all the same. */
	memset(bytes + 32, 'r', RECORDING_RELEASE_MAX);
	file = fmemopen(bytes, sizeof(bytes), "r");
	ck_assert_int_eq(recording_read_header(file, &header), RECORDING_FRAME);
	ck_assert_uint_eq(strnlen(header.release, RECORDING_RELEASE_MAX),
			  RECORDING_RELEASE_MAX - 1);
	fclose(file);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint8_t kept = bytes[wrong[i].at];
		enum recording_result result;

		bytes[wrong[i].at] = wrong[i].byte;
		file = fmemopen(bytes, sizeof(bytes), "r");
		result = recording_read_header(file, &header);
		if (result == RECORDING_FRAME)
			result = recording_read_frame(file, &header, &frame, buffer);
		ck_assert_msg(result == RECORDING_BAD, "%zu", i);
		fclose(file);
		bytes[wrong[i].at] = kept;
	}
}

/* Names of kernels that fill their place, and one that does not end there. */
TEST(longest_release)
{
	struct recording_header header = { .time_ns = 1 }, read;

	for (size_t len = RECORDING_RELEASE_MAX - 2; len <= RECORDING_RELEASE_MAX; len++) {
		FILE *file = tmpfile();

		memset(header.release, 'r', len);
		ck_assert_int_eq(recording_write_header(file, &header), 0);
		ck_assert_int_eq(ftell(file), 96);
		rewind(file);
		ck_assert_int_eq(recording_read_header(file, &read), RECORDING_FRAME);
		ck_assert_uint_eq(strnlen(read.release, RECORDING_RELEASE_MAX),
				  len < RECORDING_RELEASE_MAX ? len : RECORDING_RELEASE_MAX - 1);
		fclose(file);
	}
}

/* Behind its end a recording has nothing. */
TEST(bytes_behind_the_end)
{
	uint8_t buffer[8];
	const struct recording_header header = { .order = STATS_OWN_ORDER };
	const struct recording_frame end = { .type = RECORDING_END };
	struct recording_frame frame;
	FILE *file = tmpfile();

	ck_assert_int_eq(recording_write_frame(file, &end), 0);
	rewind(file);
	ck_assert_int_eq(recording_read_frame(file, &header, &frame, buffer), RECORDING_OVER);
	fputc('x', file);
	rewind(file);
	ck_assert_int_eq(recording_read_frame(file, &header, &frame, buffer), RECORDING_BAD);
	fclose(file);
}

/* The longest payload there may be, and one that is longer by a byte. */
TEST(longest_payload)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX], payload[RECORDING_PAYLOAD_MAX];
	const struct recording_header header = { .order = STATS_OWN_ORDER };
	const struct recording_frame longest = { RECORDING_MESSAGE, CPUS_MAX - 1, 1, 1, 0,
						 sizeof(payload), payload };
	const uint32_t more = RECORDING_PAYLOAD_MAX + 1;
	struct recording_frame frame;
	FILE *file = tmpfile();

	memset(payload, 0x5a, sizeof(payload));
	ck_assert_int_eq(recording_write_frame(file, &longest), 0);
	rewind(file);
	ck_assert_int_eq(recording_read_frame(file, &header, &frame, buffer), RECORDING_FRAME);
	ck_assert_uint_eq(frame.size, sizeof(payload));
	ck_assert_uint_eq(frame.cpu, CPUS_MAX - 1);
	ck_assert_mem_eq(buffer, payload, sizeof(payload));
	/* Words are type, CPU, number, size. */
	fseek(file, 12, SEEK_SET);
	ck_assert_uint_eq(fwrite(&more, sizeof(more), 1, file), 1);
	rewind(file);
	ck_assert_int_eq(recording_read_frame(file, &header, &frame, buffer), RECORDING_BAD);
	fclose(file);
}
