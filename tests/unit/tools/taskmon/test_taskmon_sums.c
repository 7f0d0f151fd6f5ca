/* SPDX-License-Identifier: MIT */
/* Sums over tasks that have exited, as values for monitoring systems. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sums.h"
#include "unit_test.h"

static struct sums sums;
static struct collector collector;
static struct metric_family families[SUMS_FAMILIES];
static struct text out;
static uint64_t now_ns;

static void start(void)
{
	memset(&sums, 0, sizeof(sums));
	now_ns = 5;
	ck_assert(collector_init(&collector));
}

static void stop(void)
{
	collector_free(&collector);
	sums_free(&sums);
	text_free(&out);
}

CASE("taskmon_sums", start, stop);

static const char *written(void)
{
	struct metrics metrics;

	sums_families(sums.by, families);
	ck_assert(metrics_open(&metrics, families, SUMS_FAMILIES));
	sums_values(&sums, &collector, now_ns, &metrics);
	text_clear(&out);
	metrics_write(&metrics, METRICS_TEXT, &out);
	text_append(&out, "", 1);
	metrics_close(&metrics);
	return out.bytes;
}

static void ck_has(const char *text, const char *line)
{
	char whole[160];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	ck_assert_msg(strstr(text, whole), "no %s in\n%s", line, text);
}

static struct stats_record task(const char *comm, uint64_t uid)
{
	struct stats_record record = { .kind = STATS_TASK };

	strcpy(record.stats.comm, comm);
	record.stats.comm_len = strlen(comm);
	record.stats.has_comm = true;
	record.stats.value[STATS_UID] = uid;
	return record;
}

static void set(struct stats_record *record, enum stats_field field, uint64_t value)
{
	record->stats.present[field] = true;
	record->stats.value[field] = value;
}

/* Each field of struct taskstats, where it goes, in which unit. */
TEST(every_field)
{
	static const struct {
		enum stats_field field;
		const char *line;
	} cases[] = {
		{ STATS_CPU_RUN_REAL, "taskmon_cpu_seconds_total{command=\"sh\"} 7.000000001" },
		{ STATS_UTIME, "taskmon_cpu_mode_seconds_total{command=\"sh\",mode=\"user\"} 7000.000001" },
		{ STATS_STIME, "taskmon_cpu_mode_seconds_total{command=\"sh\",mode=\"system\"} 7000.000001" },
		{ STATS_CPU_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"cpu\"} 7.000000001" },
		{ STATS_BLKIO_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"block_io\"} 7.000000001" },
		{ STATS_SWAPIN_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"swap_in\"} 7.000000001" },
		{ STATS_FREEPAGES_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"reclaim\"} 7.000000001" },
		{ STATS_THRASHING_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"thrashing\"} 7.000000001" },
		{ STATS_COMPACT_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"compaction\"} 7.000000001" },
		{ STATS_WPCOPY_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"page_copy\"} 7.000000001" },
		{ STATS_IRQ_DELAY, "taskmon_delay_seconds_total{command=\"sh\",reason=\"interrupts\"} 7.000000001" },
		{ STATS_CPU_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"cpu\"} 7000000001" },
		{ STATS_BLKIO_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"block_io\"} 7000000001" },
		{ STATS_SWAPIN_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"swap_in\"} 7000000001" },
		{ STATS_FREEPAGES_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"reclaim\"} 7000000001" },
		{ STATS_THRASHING_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"thrashing\"} 7000000001" },
		{ STATS_COMPACT_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"compaction\"} 7000000001" },
		{ STATS_WPCOPY_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"page_copy\"} 7000000001" },
		{ STATS_IRQ_COUNT, "taskmon_delays_total{command=\"sh\",reason=\"interrupts\"} 7000000001" },
		{ STATS_MINFLT, "taskmon_page_faults_total{command=\"sh\",kind=\"minor\"} 7000000001" },
		{ STATS_MAJFLT, "taskmon_page_faults_total{command=\"sh\",kind=\"major\"} 7000000001" },
		{ STATS_READ_BYTES, "taskmon_io_bytes_total{command=\"sh\",direction=\"read\"} 7000000001" },
		{ STATS_WRITE_BYTES, "taskmon_io_bytes_total{command=\"sh\",direction=\"write\"} 7000000001" },
		{ STATS_CANCELLED_WRITE_BYTES,
		  "taskmon_io_bytes_total{command=\"sh\",direction=\"cancelled_write\"} 7000000001" },
		{ STATS_NVCSW, "taskmon_context_switches_total{command=\"sh\",kind=\"voluntary\"} 7000000001" },
		{ STATS_NIVCSW, "taskmon_context_switches_total{command=\"sh\",kind=\"involuntary\"} 7000000001" },
		{ STATS_HIWATER_RSS, "taskmon_most_resident_bytes{command=\"sh\"} 7168000001024" },
	};
	char name[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stats_record record = task("sh", 0);

		memset(&sums, 0, sizeof(sums));
		set(&record, cases[i].field, 7000000001);
		sums_take(&sums, &record);
		ck_has(written(), cases[i].line);
		ck_has(out.bytes, "taskmon_exits_total{command=\"sh\"} 1");
		/* What the kernel's version has not is left out. */
		memset(&sums, 0, sizeof(sums));
		record.stats.present[cases[i].field] = false;
		sums_take(&sums, &record);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(cases[i].line, "{"), cases[i].line);
		ck_assert_ptr_null(strstr(written(), name));
	}
}

TEST(several_commands)
{
	struct stats_record one = task("sh", 5), two = task("a \"b\"", 7), process = one;

	set(&one, STATS_MINFLT, 10);
	set(&one, STATS_HIWATER_RSS, 3);
	set(&two, STATS_MINFLT, 100);
	process.kind = STATS_PROCESS;
	sums_take(&sums, &one);
	sums_take(&sums, &two);
	sums_take(&sums, &process);
	one.stats.value[STATS_HIWATER_RSS] = 2;
	sums_take(&sums, &one);
	written();
	ck_has(out.bytes, "taskmon_exits_total{command=\"sh\"} 2");
	ck_has(out.bytes, "taskmon_exits_total{command=\"a \\\"b\\\"\"} 1");
	ck_has(out.bytes, "taskmon_page_faults_total{command=\"sh\",kind=\"minor\"} 20");
	ck_has(out.bytes, "taskmon_page_faults_total{command=\"a \\\"b\\\"\",kind=\"minor\"} 100");
	ck_has(out.bytes, "taskmon_most_resident_bytes{command=\"sh\"} 3072");
	ck_assert_ptr_null(strstr(out.bytes, "{command=\"(other)\""));
}

static void thread_exits(uint32_t id, uint32_t process, const char *comm)
{
	struct stats_record record = task(comm, 0);

	record.id = id;
	set(&record, STATS_TGID, process);
	set(&record, STATS_MINFLT, 1);
	sums_take(&sums, &record);
}

/* Process 10 lives. */
static bool lives(uint32_t process, char name[STATS_COMM_MAX + 1])
{
	strcpy(name, "server");
	return process == 10;
}

/* Threads with other names: living ones, and those that exit before or after the first thread. */
TEST(threads_count_for_their_program)
{
	sums.program_of = lives;
	thread_exits(11, 10, "conn-1");
	thread_exits(12, 10, "conn-2");
	ck_has(written(), "taskmon_exits_total{command=\"server\"} 2");
	thread_exits(21, 20, "work-1");
	thread_exits(22, 20, "work-2");
	ck_assert_ptr_null(strstr(written(), "work"));
	thread_exits(20, 20, "batch");
	thread_exits(23, 20, "work-3");
	ck_has(written(), "taskmon_exits_total{command=\"batch\"} 4");
	ck_has(out.bytes, "taskmon_page_faults_total{command=\"batch\",kind=\"minor\"} 4");
	ck_assert_ptr_null(strstr(out.bytes, "work"));
	/* The number is used again. */
	thread_exits(20, 20, "other");
	thread_exits(24, 20, "work-4");
	ck_has(written(), "taskmon_exits_total{command=\"other\"} 2");
	ck_assert_ptr_null(strstr(out.bytes, "conn"));
	sums.by = SUMS_BY_USER;
	thread_exits(31, 30, "work-5");
	ck_has(written(), "taskmon_exits_total{user=\"0\"} 1");
}

/* The message about a process was lost: its threads are one, and nothing of them is lost. */
TEST(program_that_is_never_known)
{
	char line[80];

	thread_exits(11, 10, "conn-1");
	thread_exits(12, 10, "conn-2");
	ck_assert_ptr_null(strstr(written(), "taskmon_exits_total"));
	thread_exits(13, 10, "conn-3");
	now_ns += SUMS_PATIENCE_NS - 1;
	ck_assert_ptr_null(strstr(written(), "taskmon_exits_total"));
	now_ns++;
	ck_has(written(), "taskmon_exits_total{command=\"conn-1\"} 3");
	ck_assert_ptr_null(strstr(out.bytes, "conn-2"));
	/* More than can wait: the oldest one first. */
	for (uint32_t i = 0; i <= SUMS_WAITING; i++) {
		snprintf(line, sizeof(line), "p%u", i);
		thread_exits(2000 + i, 1000 + i, line);
	}
	ck_assert_uint_eq(sums.count, 2);
	sums_end(&sums);
	written();
	for (uint32_t i = 0; i <= SUMS_WAITING; i++) {
		snprintf(line, sizeof(line), "taskmon_exits_total{command=\"p%u\"} 1", i);
		ck_has(out.bytes, line);
	}
	/* Old kernels do not tell of the process. */
	thread_exits(50, 0, "old");
	ck_has(written(), "taskmon_exits_total{command=\"old\"} 1");
}

TEST(by_user)
{
	struct stats_record one = task("sh", 4294967295), two = task("sh", 0);

	sums.by = SUMS_BY_USER;
	set(&one, STATS_MINFLT, 10);
	sums_take(&sums, &one);
	sums_take(&sums, &two);
	sums_take(&sums, &two);
	written();
	ck_has(out.bytes, "taskmon_exits_total{user=\"4294967295\"} 1");
	ck_has(out.bytes, "taskmon_exits_total{user=\"0\"} 2");
	ck_has(out.bytes, "taskmon_page_faults_total{user=\"4294967295\",kind=\"minor\"} 10");
	ck_assert_ptr_null(strstr(out.bytes, "command"));
}

/* The number of program names is limited, and nothing is lost. */
TEST(more_than_there_is_room_for)
{
	char name[STATS_COMM_MAX];
	const char *other = "taskmon_exits_total{command=\"(other)\"} 3";

	for (unsigned int i = 0; i < SUMS_MAX; i++) {
		struct stats_record record;

		snprintf(name, sizeof(name), "task%u", i);
		record = task(name, 0);
		sums_take(&sums, &record);
	}
	ck_assert_ptr_null(strstr(written(), "{command=\"(other)\""));
	for (unsigned int i = 0; i < 3; i++) {
		struct stats_record record;

		snprintf(name, sizeof(name), "more%u", i);
		record = task(name, 0);
		sums_take(&sums, &record);
	}
	struct stats_record known = task("task499", 0);

	sums_take(&sums, &known);
	ck_has(written(), other);
	ck_has(out.bytes, "taskmon_exits_total{command=\"task499\"} 2");
	ck_has(out.bytes, "taskmon_exits_total{command=\"task0\"} 1");
}

/* A name of the longest length that the interface has. */
static void exit_of(const char *name)
{
	struct stats_record record = task(name, 0);

	set(&record, STATS_MINFLT, 3);
	sums_take(&sums, &record);
}

static unsigned long all_exits(void)
{
	unsigned long sum = 0;
	const char *at = written();

	while ((at = strstr(at, "\ntaskmon_exits_total{"))) {
		at = strchr(at, '}') + 1;
		sum += strtoul(at, NULL, 10);
	}
	return sum;
}

/* All places are taken; after ten minutes without an exit one is free, the oldest first. */
TEST(places_free_themselves)
{
	char name[STATS_COMM_MAX + 1];

	for (unsigned int i = 0; i < SUMS_MAX; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		exit_of(name);
	}
	exit_of("early");
	ck_has(written(), "taskmon_exits_without_place_total 1");
	/* One goes on; of the others it is 1 ns too early. */
	now_ns += SUMS_IDLE_NS - 1;
	exit_of("program0");
	written();
	exit_of("new");
	ck_has(written(), "taskmon_exits_without_place_total 2");
	ck_assert_ptr_null(strstr(out.bytes, "command=\"new\""));
	now_ns++;
	written();
	exit_of("new");
	exit_of("new");
	exit_of("newer");
	ck_has(written(), "taskmon_exits_total{command=\"new\"} 2");
	ck_has(out.bytes, "taskmon_exits_total{command=\"newer\"} 1");
	ck_has(out.bytes, "taskmon_exits_total{command=\"program0\"} 2");
	ck_has(out.bytes, "taskmon_groups_folded_total 2");
	ck_has(out.bytes, "taskmon_exits_without_place_total 2");
	ck_assert_ptr_null(strstr(out.bytes, "command=\"program1\""));
	ck_assert_ptr_null(strstr(out.bytes, "command=\"program2\""));
	ck_has(out.bytes, "taskmon_exits_total{command=\"(other)\"} 4");
	ck_has(out.bytes, "taskmon_page_faults_total{command=\"(other)\",kind=\"minor\"} 12");
	/* Nothing is lost. */
	ck_assert_uint_eq(all_exits(), SUMS_MAX + 6);
	/* Values that nobody has asked for yet are no time. */
	memset(&sums, 0, sizeof(sums));
	for (unsigned int i = 0; i <= SUMS_MAX; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		exit_of(name);
	}
	ck_assert_uint_eq(sums.without_place, 1);
}

TEST(long_name)
{
	struct stats_record record = task("", 0);

	memset(record.stats.comm, 'n', STATS_COMM_MAX);
	record.stats.comm_len = STATS_COMM_MAX;
	sums_take(&sums, &record);
	ck_has(written(), "taskmon_exits_total{command=\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\"} 1");
}

TEST(losses)
{
	collector.is_counted[0] = 1;
	collector.is_counted[4095] = 1;
	collector.accounts[0] = (struct message_count){
		.received = 5, .has_dropped = true, .dropped = 7,
		.missing = 8, .strangers = 1, .overflows = 2,
	};
	collector.accounts[4095] = (struct message_count){
		.received = 10, .missing = 20, .strangers = 4, .overflows = 30,
	};
	/* Not listened to. */
	collector.accounts[1] = (struct message_count){ .received = 1000, .missing = 1000 };
	collector.malformed = 11;
	collector.unknown = 12;
	ck_assert_str_eq(strstr(written(), "# TYPE taskmon_messages_received_total"),
			 "# TYPE taskmon_messages_received_total counter\n"
			 "# HELP taskmon_messages_received_total Messages about exits that came\n"
			 "taskmon_messages_received_total 15\n"
			 "# TYPE taskmon_messages_lost_total counter\n"
			 "# HELP taskmon_messages_lost_total Messages about exits that the kernel had no "
			 "room for\n"
			 "taskmon_messages_lost_total 23\n"
			 "# TYPE taskmon_message_numbers_missing_total counter\n"
			 "# HELP taskmon_message_numbers_missing_total Numbers of the sequence of a CPU "
			 "that never came\n"
			 "taskmon_message_numbers_missing_total 28\n"
			 "# TYPE taskmon_message_numbers_strange_total counter\n"
			 "# HELP taskmon_message_numbers_strange_total Numbers that are of the sequence "
			 "of another CPU\n"
			 "taskmon_message_numbers_strange_total 5\n"
			 "# TYPE taskmon_buffer_overflows_total counter\n"
			 "# HELP taskmon_buffer_overflows_total Times that a receive buffer was full\n"
			 "taskmon_buffer_overflows_total 32\n"
			 "# TYPE taskmon_messages_malformed_total counter\n"
			 "# HELP taskmon_messages_malformed_total Messages that could not be read "
			 "completely\n"
			 "taskmon_messages_malformed_total 11\n"
			 "# TYPE taskmon_attributes_unknown_total counter\n"
			 "# HELP taskmon_attributes_unknown_total Attributes of unknown types, which were "
			 "ignored\n"
			 "taskmon_attributes_unknown_total 12\n"
			 "# TYPE taskmon_groups_folded_total counter\n"
			 "# HELP taskmon_groups_folded_total Sums that got nothing for ten minutes, and "
			 "count as (other) since a new one took their place\n"
			 "taskmon_groups_folded_total 0\n"
			 "# TYPE taskmon_exits_without_place_total counter\n"
			 "# HELP taskmon_exits_without_place_total Tasks that count as (other) because "
			 "all places were taken\n"
			 "taskmon_exits_without_place_total 0\n"
			 "# TYPE taskmon_looks_failed_total counter\n"
			 "# HELP taskmon_looks_failed_total Times that it was not possible to look at the "
			 "tasks that live\n"
			 "taskmon_looks_failed_total 0\n");
}

/* Between messages, what the kernel has dropped since. */
TEST(losses_before_the_end)
{
	collector.is_counted[3] = 1;
	collector_losses(&collector, 3, 42, 2);
	ck_has(written(), "taskmon_messages_lost_total 42");
	ck_has(out.bytes, "taskmon_buffer_overflows_total 2");
	collector.accounts[3].missing = 6;
	collector_losses(&collector, 3, RECORDING_NOT_TOLD, 3);
	ck_has(written(), "taskmon_messages_lost_total 6");
	ck_has(out.bytes, "taskmon_buffer_overflows_total 3");
}

/* A value that is unknown for a task is left out of the sum, and the task is counted. */
TEST(delays_that_are_not_accounted)
{
	struct stats_record old = task("sh", 0), new = task("sh", 0);

	set(&old, STATS_CPU_DELAY, 2000000000);
	set(&new, STATS_CPU_DELAY, 1000000001);
	set(&new, STATS_BLKIO_DELAY, 4000000001);
	sums_take(&sums, &old);
	ck_has(written(), "taskmon_exits_without_delays_total{command=\"sh\"} 1");
	ck_assert_ptr_null(strstr(out.bytes, "block_io"));
	sums_take(&sums, &new);
	sums_take(&sums, &old);
	ck_has(written(), "taskmon_exits_without_delays_total{command=\"sh\"} 2");
	ck_has(out.bytes, "taskmon_delay_seconds_total{command=\"sh\",reason=\"cpu\"} 5.000000001");
	ck_has(out.bytes, "taskmon_delay_seconds_total{command=\"sh\",reason=\"block_io\"} 4.000000001");
}

/* Tasks of a machine: a server with a thread, a task of the kernel. */
static struct snapshot living;

static void lives_on(uint32_t id, uint32_t process, const char *comm, uint64_t faults)
{
	struct snapshot_task one = { .record = task(comm, 7), .process = process, .begin = 1000 };

	one.record.id = id;
	set(&one.record, STATS_UID, 7);
	set(&one.record, STATS_ETIME, 5000);
	set(&one.record, STATS_MINFLT, faults);
	ck_assert_int_eq(snapshot_add(&living, &one), 0);
}

static void looked(void)
{
	snapshot_sort(&living);
	sums_looked(&sums, &living, now_ns);
	snapshot_free(&living);
	living = (struct snapshot){ 0 };
}

static void exits(uint32_t id, uint32_t process, const char *comm, uint64_t faults)
{
	struct stats_record record = task(comm, 7);

	record.id = id;
	set(&record, STATS_TGID, process);
	set(&record, STATS_UID, 7);
	set(&record, STATS_ETIME, 9000);
	set(&record, STATS_MINFLT, faults);
	sums_take(&sums, &record);
}

/* What was counted at a look is not counted again at the exit, and threads are the program's. */
TEST(living_tasks)
{
	const char *faults = "taskmon_page_faults_total{command=\"server\",kind=\"minor\"} ";
	char line[80];

	ck_assert_ptr_null(strstr(written(), "taskmon_tasks{"));
	for (unsigned int i = 0; i < 2; i++) {
		sums_look(&sums);
		lives_on(10, 10, "server", 100 + i);
		lives_on(11, 10, "conn-1", 20 + i);
		looked();
		ck_has(written(), "taskmon_tasks{command=\"server\"} 2");
		ck_has(out.bytes, "taskmon_exits_total{command=\"server\"} 0");
		snprintf(line, sizeof(line), "%s%u", faults, 120 + 2 * i);
		ck_has(out.bytes, line);
	}
	exits(11, 10, "conn-1", 25);
	exits(10, 10, "server", 110);
	snprintf(line, sizeof(line), "%s%u", faults, 135u);
	ck_has(written(), line);
	ck_has(out.bytes, "taskmon_exits_total{command=\"server\"} 2");
	ck_assert_ptr_null(strstr(out.bytes, "conn"));
	/* Its number is used again, and its message came while somebody looked. */
	sums_look(&sums);
	lives_on(10, 10, "server", 1);
	lives_on(12, 12, "brief", 5);
	exits(12, 12, "brief", 6);
	looked();
	snprintf(line, sizeof(line), "%s%u", faults, 136u);
	ck_has(written(), line);
	ck_has(out.bytes, "taskmon_tasks{command=\"server\"} 1");
	ck_has(out.bytes, "taskmon_page_faults_total{command=\"brief\",kind=\"minor\"} 6");
	ck_has(out.bytes, "taskmon_tasks{command=\"brief\"} 0");
}

/* One on its way out is counted by its message; if that is lost, what was seen stays. */
TEST(living_tasks_that_go)
{
	const char *line = "taskmon_page_faults_total{command=\"job\",kind=\"minor\"} 8";

	sums_look(&sums);
	lives_on(20, 20, "job", 8);
	looked();
	sums_look(&sums);
	lives_on(20, 20, "job", 9);
	living.tasks[0].exiting = true;
	looked();
	ck_has(written(), line);
	ck_has(out.bytes, "taskmon_tasks{command=\"job\"} 0");
	now_ns += SUMS_PATIENCE_NS - 1;
	sums_look(&sums);
	looked();
	exits(20, 20, "job", 12);
	ck_has(written(), "taskmon_page_faults_total{command=\"job\",kind=\"minor\"} 12");
	/* Another one of this number, younger than what was seen: the message about that was lost. */
	sums_look(&sums);
	lives_on(30, 30, "lost", 8);
	living.tasks[0].record.stats.value[STATS_ETIME] = 9001;
	looked();
	exits(30, 30, "lost", 2);
	ck_has(written(), "taskmon_page_faults_total{command=\"lost\",kind=\"minor\"} 10");
	now_ns += 2 * SUMS_PATIENCE_NS;
	for (unsigned int i = 0; i < 2; i++) {
		sums_look(&sums);
		looked();
		now_ns += SUMS_PATIENCE_NS;
	}
	ck_assert_uint_eq(sums.seen_count, 0);
	sums_look(&sums);
	sums_looked(&sums, NULL, now_ns);
	ck_has(written(), "taskmon_looks_failed_total 1");
	ck_has(out.bytes, "taskmon_page_faults_total{command=\"lost\",kind=\"minor\"} 10");
}

/* Names of the kernel's tasks change all the time. */
TEST(tasks_of_the_kernel)
{
	char name[STATS_COMM_MAX];

	sums_look(&sums);
	for (uint32_t i = 0; i < SUMS_MAX + 2; i++) {
		snprintf(name, sizeof(name), "kworker/%u:1", i);
		lives_on(100 + i, 100 + i, name, 1);
		set(&living.tasks[i].record, STATS_PPID, 2);
	}
	looked();
	ck_has(written(), "taskmon_tasks{command=\"(kernel)\"} 502");
	ck_assert_uint_eq(sums.count, 1);
}

static struct rules rules;

/* A process with all that rules ask for. */
static void in_group(uint32_t id, const char *comm, const char *cgroup, const char *arguments)
{
	lives_on(id, id, comm, 1);
	living.tasks[living.count - 1].cgroup = cgroup ? strdup(cgroup) : NULL;
	living.tasks[living.count - 1].arguments = arguments ? strdup(arguments) : NULL;
}

TEST(groups_by_rule)
{
	static const char *const words[] = {
		"web=name:nginx*", "ci=cgroup:/ci.slice", "java=cmdline:*-jar app?.jar*",
		"web=name:httpd", "seven=user:7", "none=name:nothing",
	};

	rules = (struct rules){ 0 };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_ptr_null(rules_add(&rules, words[i]));
	sums.by = SUMS_BY_RULE;
	sums.rules = &rules;
	sums_look(&sums);
	in_group(40, "nginx-1", "/ci.slice", NULL);	/* the first one that fits */
	in_group(41, "httpd", NULL, NULL);
	in_group(42, "make", "/ci.slice/run-5.scope", NULL);
	in_group(43, "make", "/ci.slice2", NULL);
	in_group(44, "java", "/", "java -jar app1.jar --x");
	in_group(45, "sh", NULL, NULL);
	living.tasks[5].record.stats.value[STATS_UID] = 8;
	looked();
	ck_has(written(), "taskmon_tasks{group=\"web\"} 2");
	ck_has(out.bytes, "taskmon_tasks{group=\"ci\"} 1");
	ck_has(out.bytes, "taskmon_tasks{group=\"java\"} 1");
	ck_has(out.bytes, "taskmon_tasks{group=\"seven\"} 1");
	ck_has(out.bytes, "taskmon_tasks{group=\"(other)\"} 1");
	ck_assert_ptr_null(strstr(out.bytes, "none"));
	ck_assert_uint_eq(rules.rule[5].matched, 0);
	/* What was seen tells the group of what exits; of others name and user do. */
	exits(42, 42, "make", 3);
	ck_has(written(), "taskmon_exits_total{group=\"ci\"} 1");
	ck_has(out.bytes, "taskmon_page_faults_total{group=\"ci\",kind=\"minor\"} 3");
	exits(50, 50, "nginx-2", 3);
	ck_has(written(), "taskmon_exits_total{group=\"web\"} 1");
	exits(51, 51, "make", 3);
	ck_has(written(), "taskmon_exits_total{group=\"seven\"} 1");
	ck_has(out.bytes, "taskmon_exits_without_place_total 0");
}

TEST(rules_that_are_none)
{
	static const struct {
		const char *word, *wrong;
	} cases[] = {
		{ "web", "GROUP=WHAT:PATTERN, for example web=name:nginx*" },
		{ "=name:x", "GROUP=WHAT:PATTERN, for example web=name:nginx*" },
		{ "web=name", "GROUP=WHAT:PATTERN, for example web=name:nginx*" },
		{ "web=name:", "GROUP=WHAT:PATTERN, for example web=name:nginx*" },
		{ "a=names:x", "WHAT is name, cgroup, user or cmdline" },
		{ "a=na:x", "WHAT is name, cgroup, user or cmdline" },
		{ "a=user:no such user", "no such user: a name or a number" },
		{ "a=user:4294967296", "no such user: a name or a number" },
		{ "a=cgroup:ci", "a cgroup is a path that begins with /" },
		{ "123456789012345678901234567890123=name:x", "the name of a group may have 32 bytes" },
	};

	rules = (struct rules){ 0 };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_str_eq(rules_add(&rules, cases[i].word), cases[i].wrong);
		ck_assert_uint_eq(rules.count, 0);
	}
	for (unsigned int i = 0; i < RULES_MAX; i++)
		ck_assert_ptr_null(rules_add(&rules, "12345678901234567890123456789012=user:4294967295"));
	ck_assert_str_eq(rules_add(&rules, "a=name:x"), "there may be 64");
	ck_assert(rules_ask(&rules, RULE_USER));
	ck_assert(!rules_ask(&rules, RULE_NAME));
}
