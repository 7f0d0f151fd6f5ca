/* SPDX-License-Identifier: MIT */
/* taskmon replay: recordings whole, cut off, damaged and unreadable; outputs that fail. */
#include <fcntl.h>
#include <linux/taskstats.h>
#include <signal.h>
#include <sys/wait.h>

#include "unit_test.h"
#include "exit_code.h"
#include "said.h"
#include "delayacct.h"
#include "recording.h"
#include "taskmon.h"
#include "taskmon_bytes.h"

static char path[] = "/tmp/recording-XXXXXX";
static char out[4096], errors[4096];
static char expected[4096];
static const char *fields;

static void put(FILE *file, enum recording_type type, uint32_t cpu, uint32_t number,
		uint64_t dropped, const uint8_t *payload, uint32_t size)
{
	const struct recording_frame frame = { type, cpu, number, 1000 + number, dropped, size,
					       payload };

	ck_assert_int_eq(recording_write_frame(file, &frame), 0);
}

/* Two tasks, one of the recorder's own between them, three that were lost on CPU 1. */
static void record(void)
{
	static const uint16_t header[] = { 8, TASKSTATS_TYPE_PID }, stats[] = { 4 + 72,
									      TASKSTATS_TYPE_STATS };
	const struct recording_header head = { .time_ns = 1, .delayacct = DELAYACCT_SINCE_BOOT,
					       .release = "6.1.0-test" };
	uint8_t message[12 + 72] = { 0 };
	uint32_t id = 17;
	FILE *file;

	fields = "kind,id,cpu,number,time_ns,version";
	memcpy(message, header, 4);
	memcpy(message + 4, &id, 4);
	memcpy(message + 8, stats, 4);
	put_version(message + 12, 1, STATS_OWN_ORDER);
	strcpy(path, "/tmp/recording-XXXXXX");
	file = fdopen(mkstemp(path), "w");
	ck_assert_int_eq(recording_write_header(file, &head), 0);
	put(file, RECORDING_MESSAGE, 0, 7, 0, message, sizeof(message));
	put(file, RECORDING_OWN, 0, 8, 0, NULL, 0);
	id = 18;
	memcpy(message + 4, &id, 4);
	put(file, RECORDING_MESSAGE, 0, 9, 0, message, sizeof(message));
	put(file, RECORDING_COUNTERS, 0, 0, 0, NULL, 0);
	put(file, RECORDING_COUNTERS, 1, 2, 3, NULL, 0);
	put(file, RECORDING_END, 0, 0, 0, NULL, 0);
	fclose(file);
}

static void forget(void)
{
	unlink(path);
}

CASE("taskmon replay", record, forget);

/*
 * What "taskmon replay" ends with when it writes to @fd; what it says is in @errors.  It runs in a
 * process of its own, and closes what it opens.
 */
static int replay_to(int fd, const char *file)
{
	char name[] = "taskmon replay", format[] = "--format=csv", chosen[64], word[64];
	char *argv[] = { name, format, chosen, strcpy(word, file), NULL };
	struct said second = said_begin(2);
	int status;
	pid_t child;

	snprintf(chosen, sizeof(chosen), "--fields=%s", fields);
	child = fork();
	if (child == 0) {
		int next = dup(fd), code;

		dup2(fd, 1);
		close(next);
		code = cmd_replay(4, argv);
		/* Not _exit(): who looks for leaks does so at the end. */
		exit(dup(fd) == next ? code : 99);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	strcpy(errors, said_end(&second));
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The same; what it shows is in @out. */
static int replay(const char *file)
{
	struct said first = said_begin(1);
	int code = replay_to(fileno(first.file), file);

	strcpy(out, said_end(&first));
	return code;
}

TEST(whole_recording)
{
	ck_assert_int_eq(replay(path), EXIT_PASS);
	ck_assert_str_eq(out, "kind,id,cpu,number,time_ns,version\ntask,17,0,7,1007,1\n"
			      "task,18,0,9,1009,1\n");
	snprintf(expected, sizeof(expected),
		 "tool: %s was recorded on Linux 6.1.0-test; %s\n"
		 "cpu,received,lost,missing,strangers,overflows\n0,2,0,0,0,0\n1,0,3,0,0,2\n"
		 "all,2,3,0,0,2\n", path, delayacct_sentence(DELAYACCT_SINCE_BOOT));
	ck_assert_str_eq(errors, expected);
}

/* Earlier records and the summary are shown. */
TEST(recording_that_was_cut_off)
{
	ck_assert_int_eq(truncate(path, 96 + 32 + 84 + 4 + 32 + 10), 0);
	ck_assert_int_eq(replay(path), EXIT_FAILED);
	ck_assert_ptr_nonnull(strstr(out, "\ntask,17,0,7,1007,1\n"));
	snprintf(expected, sizeof(expected),
		 "all,1,0,0,0,0\ntool: %s is incomplete: the end of the recording is missing\n", path);
	ck_assert_ptr_nonnull(strstr(errors, expected));
	/* Within its header nothing is shown. */
	ck_assert_int_eq(truncate(path, 95), 0);
	ck_assert_int_eq(replay(path), EXIT_FAILED);
	ck_assert_str_eq(out, "");
	snprintf(expected, sizeof(expected),
		 "tool: %s is incomplete: the end of the recording is missing\n", path);
	ck_assert_str_eq(errors, expected);
}

TEST(file_that_is_no_recording)
{
	int fd = open(path, O_WRONLY);

	/* The type of the second frame; then the file's first byte. */
	ck_assert_int_eq(pwrite(fd, "\xff\xff\xff\xff", 4, 96 + 32 + 84 + 4), 4);
	ck_assert_int_eq(replay(path), EXIT_USAGE);
	snprintf(expected, sizeof(expected),
		 "tool: %s is not a recording of taskmon, or it is damaged\n", path);
	ck_assert_ptr_nonnull(strstr(errors, expected));
	ck_assert_ptr_nonnull(strstr(out, "\ntask,17,0,7,1007,1\n"));
	ck_assert_int_eq(pwrite(fd, "x", 1, 0), 1);
	close(fd);
	ck_assert_int_eq(replay(path), EXIT_USAGE);
	ck_assert_str_eq(errors, expected);
	ck_assert_str_eq(out, "");
}

/* Its times are seconds: the header's is 10, the accounting was switched at 20 and 30. */
static void record_switched(uint32_t off, uint32_t on)
{
	enum { S = 1000000000, SIZE = 416 };
	static const uint16_t header[] = { 8, TASKSTATS_TYPE_PID }, stats[] = { 4 + SIZE,
									      TASKSTATS_TYPE_STATS };
	static const struct { uint32_t id, second, lived; } tasks[] = {
		{ 1, 15, 1 }, { 2, 25, 1 }, { 3, 35, 1 }, { 4, 36, 20 },
	};
	const struct recording_header head = { .time_ns = 10 * (uint64_t)S, .release = "6.1.0-test",
					       .delayacct = DELAYACCT_SINCE_BOOT };
	struct recording_frame frame = { .type = RECORDING_DELAYACCT };
	FILE *file = fopen(path, "w");
	uint8_t message[12 + SIZE] = { 0 };

	ck_assert_int_eq(recording_write_header(file, &head), 0);
	memcpy(message, header, 4);
	memcpy(message + 8, stats, 4);
	put_version(message + 12, 13, STATS_OWN_ORDER);
	for (size_t i = 0; i < 4; i++) {
		const uint64_t lived_us = tasks[i].lived * UINT64_C(1000000), wait_ns = 7;
		const uint64_t began = tasks[i].second - tasks[i].lived;

		if (i == 1 || i == 2) {
			frame.number = i == 1 ? off : on;
			frame.time_ns = 10 * (i + 1) * S;
			ck_assert_int_eq(recording_write_frame(file, &frame), 0);
		}
		memcpy(message + 4, &tasks[i].id, 4);
		memcpy(message + 12 + offsetof(struct taskstats, ac_etime), &lived_us, 8);
		memcpy(message + 12 + offsetof(struct taskstats, ac_btime64), &began, 8);
		memcpy(message + 12 + offsetof(struct taskstats, blkio_delay_total), &wait_ns, 8);
		ck_assert_int_eq(recording_write_frame(file, &(struct recording_frame){
			.type = RECORDING_MESSAGE, .number = (uint32_t)i, .size = sizeof(message),
			.time_ns = tasks[i].second * (uint64_t)S, .payload = message }), 0);
	}
	put(file, RECORDING_END, 0, 0, 0, NULL, 0);
	fclose(file);
}

/* A value that was not counted is not shown as 0, neither live nor from a recording. */
TEST(accounting_that_was_switched)
{
	fields = "id,blkio_delay_ns";
	record_switched(DELAYACCT_OFF, DELAYACCT_SWITCHED);
	ck_assert_int_eq(replay(path), EXIT_PASS);
	/* The last one lived while it was off, too. */
	ck_assert_str_eq(out, "id,blkio_delay_ns\n1,7\n2,\n3,7\n4,\n");
	/* A state that nobody knows: whoever has waits was counted. */
	record_switched(DELAYACCT_STATES, UINT32_MAX);
	ck_assert_int_eq(replay(path), EXIT_PASS);
	ck_assert_str_eq(out, "id,blkio_delay_ns\n1,7\n2,7\n3,7\n4,7\n");
}

TEST(file_that_cannot_be_read)
{
	ck_assert_int_eq(replay("/nonexistent/file"), EXIT_USAGE);
	ck_assert_str_eq(errors, "tool: /nonexistent/file cannot be read: "
				 "No such file or directory\n");
	ck_assert_int_eq(replay("/tmp"), EXIT_USAGE);
	ck_assert_str_eq(errors, "tool: /tmp cannot be read: Is a directory\n");
	ck_assert_str_eq(out, "");
}

TEST(output_that_fails)
{
	int full = open("/dev/full", O_WRONLY), ends[2];

	ck_assert_int_eq(replay_to(full, path), EXIT_FAILED);
	close(full);
	ck_assert_ptr_nonnull(strstr(errors, "\ntool: the records cannot be written: "
					     "No space left on device\n"));
	/* Who reads no more wants no more; a signal would have ended the program. */
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(replay_to(ends[1], path), EXIT_PASS);
	close(ends[1]);
	ck_assert_ptr_null(strstr(errors, "cannot be written"));
}
