/* SPDX-License-Identifier: MIT */
/* taskmon's tables when storage runs out: said so, and nothing leaks. */
#include <sys/wait.h>

#include "unit_test.h"
#include "exit_code.h"
#include "said.h"
#include "storage_fails.h"
#include "taskmon.h"
#include "collector.h"
#include "top.h"
#include "tree.h"

TEST(tree_without_storage)
{
	struct stats_record record = { .kind = STATS_TASK };
	struct tree *tree;
	int ret;

	for (long place = 0; place < 2; place++) {
		storage_left = place;
		tree = tree_new();
		ck_assert_ptr_null(tree);
	}
	tree = tree_new();
	ck_assert_ptr_nonnull(tree);
	record.stats.present[STATS_TGID] = true;
	record.stats.value[STATS_TGID] = 5;
	storage_left = 0;
	ret = tree_take(tree, &record);
	ck_assert_int_eq(ret, -ENOMEM);
	/* The next one has room again. */
	ck_assert_int_eq(tree_take(tree, &record), 0);
	tree_free(tree);
}

TEST(collector_without_storage)
{
	struct collector collector;
	bool made;

	storage_left = 0;
	made = collector_init(&collector);
	ck_assert(!made && !collector.accounts);
	ck_assert(collector_init(&collector));
	ck_assert(collector.accounts && collector.order == STATS_OWN_ORDER);
	collector_free(&collector);
	ck_assert_ptr_null(collector.accounts);
}

/* The summary is counted, though no row of it can be written. */
TEST(summary_without_storage)
{
	struct collector collector;
	uint64_t lost;

	ck_assert(collector_init(&collector));
	collector.is_counted[3] = 1;
	collector.accounts[3] = (struct message_count){ .has_dropped = true, .dropped = 7 };
	storage_left = 0;
	lost = collector_summary(&collector, WRITER_TABLE);
	ck_assert_uint_eq(lost, 7);
	collector_free(&collector);
}

FILE *__real_open_memstream(char **bytes, size_t *size);
FILE *__wrap_open_memstream(char **bytes, size_t *size);
int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);

FILE *__wrap_open_memstream(char **bytes, size_t *size)
{
	return storage_fails() ? NULL : __real_open_memstream(bytes, size);
}

int __wrap_fclose(FILE *file)
{
	bool fails = storage_fails();

	return __real_fclose(file) || fails ? EOF : 0;
}

/* Two looks at some processes in a forest, and at what they are sums of. */
static int show_all(struct top *top, struct text *screen)
{
	struct snapshot now = { 0 };
	int ret = 0;

	for (uint64_t second = 1; second < 3 && !ret; second++) {
		for (uint32_t id = 10; id < 13 && !ret; id++) {
			struct snapshot_task task = { .process = id, .parent = id - 1 };

			task.record.kind = STATS_PROCESS;
			task.record.id = id;
			task.cgroup = strdup("/a");
			ret = task.cgroup ? snapshot_add(&now, &task) : -ENOMEM;
		}
		now.time_ns = second;
		if (!ret)
			ret = top_take(top, &now);
	}
	snapshot_free(&now);
	top->forest = true;
	for (enum snapshot_by by = BY_TASK; by <= BY_COMMAND && !ret; by++) {
		top->wanted.by = by;
		ret = top_arrange(top);
		if (!ret)
			ret = top_draw(top, "12:00:00", 10, 100, screen);
	}
	return ret;
}

/* A sum with both a name and a cgroup, and the table of sums. */
TEST(copies_without_storage)
{
	struct snapshot_task task = { .process = 1, .name = strdup("/n"), .cgroup = strdup("/c") };
	struct snapshot all = { 0 };
	long place = 0;
	int ret = snapshot_add(&all, &task);

	ck_assert_int_eq(ret, 0);
	for (bool failed = true; failed; place++) {
		struct snapshot copies = { 0 }, since = { 0 };

		storage_left = place;
		ret = snapshot_copy(&copies, &all);
		if (!ret)
			ret = snapshot_since(&since, &copies, &all);
		failed = storage_left < 0;
		storage_left = -1;
		ck_assert_int_eq(ret, failed ? -ENOMEM : 0);
		ck_assert_uint_eq(since.count, !failed);
		snapshot_free(&copies);
		snapshot_free(&since);
	}
	/* Two texts and a table, twice. */
	ck_assert_int_eq(place, 7);
	snapshot_free(&all);
}

TEST(screen_without_storage)
{
	int ret = -ENOMEM;
	long place = 0;

	for (bool failed = true; failed; place++) {
		struct top top = TOP_DEFAULT;
		struct text screen = { 0 };

		storage_left = place;
		ret = show_all(&top, &screen);
		failed = storage_left < 0;
		storage_left = -1;
		ck_assert_msg((ret == -ENOMEM) == failed && (failed || ret == 0), "place %ld: %d", place,
			      ret);
		top_free(&top);
		text_free(&screen);
	}
	ck_assert_int_eq(ret, 0);
	/* For each copy of a task one, and more. */
	ck_assert_int_gt(place, 50);
}

/* It ends with a sentence wherever storage runs out, and reads the recording when it does not. */
TEST(replay_without_storage)
{
	char path[] = "/tmp/recording-XXXXXX", name[] = "taskmon replay";
	char *argv[] = { name, path, NULL };
	const struct recording_header header = { .time_ns = 1, .release = "6.1.0" };
	const struct recording_frame end = { .type = RECORDING_END };
	FILE *file = fdopen(mkstemp(path), "w");
	int code = EXIT_FAILED;
	long place = 0;

	ck_assert_int_eq(recording_write_header(file, &header), 0);
	ck_assert_int_eq(recording_write_frame(file, &end), 0);
	fclose(file);
	for (; code == EXIT_FAILED; place++) {
		struct said said = said_begin(2);
		pid_t child = fork();
		int status;

		if (child == 0) {
			storage_left = place;
			exit(cmd_replay(2, argv));
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status));
		code = WEXITSTATUS(status);
		ck_assert_int_lt(place, 50);
		if (code == EXIT_FAILED)
			ck_assert_ptr_nonnull(strstr(said_end(&said), "memory"));
		else
			ck_assert_ptr_null(strstr(said_end(&said), "memory"));
	}
	ck_assert_int_eq(code, EXIT_PASS);
	/* For the accounts, and for the rows at least. */
	ck_assert_int_gt(place, 2);
	unlink(path);
}
