/* SPDX-License-Identifier: MIT */
/* The columns of taskmon top: values, headings, what is shown, and orders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"
#include "snapshot_made.h"
#include "top.h"
#include "unit_test.h"

#define SECOND UINT64_C(1000000000)

static struct top top;
static struct snapshot now;
static char *written;

static void start(void)
{
	top = (struct top)TOP_DEFAULT;
}

static void stop(void)
{
	top_free(&top);
	/* What it would have kept belongs to nobody now, as a search for leaks sees it. */
	memset(&top, 0, sizeof(top));
	snapshot_free(&now);
	free(written);
	written = NULL;
}

CASE("columns of taskmon top", start, stop);

/* Makes the contents of @now those of this second. */
static void look(uint64_t second)
{
	now.time_ns = second * SECOND;
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert(now.count == 0 && !now.tasks);
}

/* A process that has done nothing yet, and one look at it. */
static struct snapshot_task *new_process(const char *comm)
{
	put_task(&now, 4321, 1, comm);
	look(1);
	return put_task(&now, 4321, 1, comm);
}

/* The output for a terminal or a file, with all columns. */
static const char *table(enum writer_format format, bool scaled)
{
	struct selection all = { .columns = top_columns, .count = TOP_COLUMNS };
	struct cell cells[TOP_COLUMNS];
	struct writer *writer;
	size_t size;
	FILE *out;

	free(written);
	out = open_memstream(&written, &size);
	while (all.shown_count < TOP_COLUMNS) {
		all.shown[all.shown_count] = all.shown_count;
		all.shown_count++;
	}
	writer = writer_open(out, format, scaled, &all);
	for (size_t i = 0; i < top.shown.count; i++) {
		top_cells(&top, &top.shown.tasks[i], cells);
		ck_assert_int_eq(writer_put(writer, cells), 0);
	}
	ck_assert_int_eq(writer_flush(writer), 0);
	writer_close(writer);
	fclose(out);
	return written;
}

/* Half a second of CPU a second, and a tenth of it for each wait; storage has five of them. */
static struct snapshot_task *busy_process(void)
{
	static const struct {
		enum stats_field field;
		uint64_t value;
	} fields[] = {
		{ STATS_UID, 0 }, { STATS_CPU_RUN_VIRTUAL, SECOND }, { STATS_CPU_DELAY, SECOND / 2 },
		{ STATS_BLKIO_DELAY, SECOND / 5 }, { STATS_SWAPIN_DELAY, SECOND / 100 },
		{ STATS_FREEPAGES_DELAY, SECOND / 50 }, { STATS_THRASHING_DELAY, SECOND / 25 },
		{ STATS_COMPACT_DELAY, SECOND * 2 / 25 }, { STATS_WPCOPY_DELAY, SECOND * 4 / 25 },
		{ STATS_READ_BYTES, 8192 }, { STATS_WRITE_BYTES, 6 << 20 }, { STATS_HIWATER_RSS, 3072 },
	};
	struct snapshot_task *task = new_process("busy");

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		set(&task->record.stats, fields[i].field, fields[i].value);
	task->state = 'R';
	task->cgroup = strdup("/of/it");
	return task;
}

TEST(every_column_as_people_read_it)
{
	busy_process();
	look(3);
	ck_assert_str_eq(table(WRITER_TABLE, true),
			 "    pid  user      state  tasks      cpu  cpu_wait  io_wait  storage_wait"
			 "         read        write       read      write   max_rss  cpu_time"
			 "  cgroup           interval  cpu_history  command          cmdline\n"
			 "   4321  root      R          1   50.0 %    25.0 %   10.0 %        15.5 %"
			 "   4.00 KiB/s   3.00 MiB/s   8.00 KiB   6.00 MiB  3.00 MiB    1.00 s"
			 "  /of/it                  1  50           busy             [busy]\n");
}

TEST(every_column_as_programs_read_it)
{
	busy_process();
	look(3);
	/* Of one task it is the same whether it is added up or not. */
	for (enum snapshot_by by = BY_TASK; by <= BY_PROCESS; by++) {
		top.wanted.by = by;
		ck_assert_int_eq(top_arrange(&top), 0);
		ck_assert_str_eq(table(WRITER_JSON, false),
				 "{\"pid\":4321,\"user\":\"root\",\"state\":\"R\",\"tasks\":1,"
				 "\"cpu_percent\":50,\"cpu_wait_percent\":25,\"io_wait_percent\":10,"
				 "\"storage_wait_percent\":15.5,\"read_bytes_per_s\":4096,"
				 "\"write_bytes_per_s\":3145728,\"read_bytes\":8192,"
				 "\"write_bytes\":6291456,\"max_rss_kib\":3072,"
				 "\"cpu_time_ns\":1000000000,\"cgroup\":\"/of/it\",\"interval\":1,\"cpu_history_percent\":[50],"
				 "\"command\":\"busy\",\"cmdline\":\"[busy]\"}\n");
	}
}

/* The kernel need not have told anything, and after one look there is no rate. */
TEST(what_is_not_known)
{
	static const char *const of_rates[] = {
		"cpu_percent", "cpu_wait_percent", "io_wait_percent", "storage_wait_percent",
	};
	char expected[64];

	struct snapshot_task *task = new_process("idle");

	task->state = 0;
	memset(task->record.stats.present, 0, sizeof(task->record.stats.present));
	look(3);
	ck_assert_str_eq(table(WRITER_CSV, false), strchr(
			 "\npid,user,state,tasks,cpu_percent,cpu_wait_percent,io_wait_percent,"
			 "storage_wait_percent,read_bytes_per_s,write_bytes_per_s,read_bytes,write_bytes,"
			 "max_rss_kib,cpu_time_ns,cgroup,interval,cpu_history_percent,command,cmdline\n"
			 "4321,,,1,,,,,,,,,,,,1,,idle,[idle]\n", '\n') + 1);
	top_free(&top);
	start();
	busy_process();
	snapshot_free(&now);
	ck_assert_str_eq(strchr(table(WRITER_CSV, false), '\n'),
			 "\n4321,,S,1,,,,,,,0,0,,0,,0,,busy,[busy]\n");
	busy_process();
	look(1);
	table(WRITER_JSON, false);
	for (size_t i = 0; i < sizeof(of_rates) / sizeof(of_rates[0]); i++) {
		snprintf(expected, sizeof(expected), "\"%s\":null", of_rates[i]);
		ck_assert_ptr_nonnull(strstr(written, expected));
	}
	ck_assert_ptr_nonnull(strstr(written, "\"read_bytes_per_s\":null"));
	ck_assert_ptr_nonnull(strstr(written, "\"write_bytes_per_s\":null"));
}

/* A name ends with its unit, because neither JSON nor CSV has another place for it. */
TEST(units_are_in_the_names)
{
	static const char *const ends[UNIT_COUNT] = {
		[UNIT_NS] = "_ns", [UNIT_BYTES] = "_bytes", [UNIT_KIB] = "_kib",
		[UNIT_BYTES_PER_S] = "_bytes_per_s", [UNIT_PERCENT] = "_percent",
	};

	for (size_t i = 0; i < TOP_COLUMNS; i++) {
		const char *name = top_columns[i].name;
		enum column_unit found = UNIT_NONE;

		for (enum column_unit unit = UNIT_NONE; unit < UNIT_COUNT; unit++)
			if (ends[unit] && strlen(name) > strlen(ends[unit]) &&
			    strcmp(name + strlen(name) - strlen(ends[unit]), ends[unit]) == 0)
				found = unit;
		ck_assert_msg(top_columns[i].unit == found, "%s", name);
	}
}

/* As wide as the longest value where the heading is not wider; waits for storage are rare. */
TEST(widths_of_columns)
{
	static const struct {
		enum top_column column;
		const char *longest;
	} cases[] = {
		{ TOP_PID, "4194304" }, { TOP_USER, "www-data" }, { TOP_STATE, "R" }, { TOP_TASKS, "32768" },
		{ TOP_STORAGE_WAIT, "" }, { TOP_INTERVAL, "" }, { TOP_COMMAND, "fifteen letters" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(top_columns[cases[i].column].width == strlen(cases[i].longest), "%s",
			      top_columns[cases[i].column].name);
}

/* A sum has a number of tasks, but no ID and no state. */
TEST(sums_have_no_number)
{
	set(&put_task(&now, 10, 1, "a")->record.stats, STATS_UID, 4294967290);
	set(&put_task(&now, 11, 1, "b")->record.stats, STATS_UID, 4294967290);
	now.tasks[0].cgroup = strdup("/c");
	look(1);
	top.wanted.by = BY_USER;
	ck_assert_int_eq(top_arrange(&top), 0);
	ck_assert_str_eq(strchr(table(WRITER_CSV, false), '\n'),
			 "\n,4294967290,,2,,,,,,,0,0,,0,,0,,4294967290,\n");
	top.wanted.by = BY_CGROUP;
	ck_assert_int_eq(top_arrange(&top), 0);
	/* One whose cgroup is not known has no name. */
	ck_assert_str_eq(strchr(table(WRITER_CSV, false), '\n'),
			 "\n,,,1,,,,,,,0,0,,0,,0,,-,\n,,,1,,,,,,,0,0,,0,/c,0,,/c,\n");
	top.wanted.by = BY_COMMAND;
	ck_assert_int_eq(top_arrange(&top), 0);
	ck_assert_str_eq(strchr(table(WRITER_CSV, false), '\n'),
			 "\n,,,1,,,,,,,0,0,,0,,0,,a,\n,,,1,,,,,,,0,0,,0,,0,,b,\n");
	for (size_t i = 0; i < 2; i++)
		top.now.tasks[2 + i].record.stats.present[STATS_UID] = false;
	top.wanted.by = BY_USER;
	ck_assert_int_eq(top_arrange(&top), 0);
	ck_assert_str_eq(strchr(table(WRITER_CSV, false), '\n'), "\n,,,2,,,,,,,0,0,,0,,0,,-,\n");
}

static struct cell command(const struct snapshot_task *task)
{
	static struct cell cells[TOP_COLUMNS];

	top_cells(&top, task, cells);
	return cells[TOP_COMMAND];
}

/* Two blanks for each process above it, but not without an end; names have one, too. */
TEST(depth_and_length_of_a_name)
{
	struct snapshot_task task = { .name = malloc(5001), .record = { .kind = STATS_CGROUP } };
	static const struct {
		unsigned int depth, blanks;
	} cases[] = { { 0, 0 }, { 1, 2 }, { 19, 38 }, { 20, 40 }, { 21, 40 }, { 1000, 40 } };
	struct cell cell;

	memset(task.name, 'n', 5000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		task.depth = cases[i].depth;
		task.name[5000] = '\0';
		cell = command(&task);
		ck_assert(cell.present);
		ck_assert_uint_eq(cell.text.len, cases[i].blanks + 4096);
		ck_assert_uint_eq(strspn(cell.text.bytes, " "), cases[i].blanks);
		ck_assert_mem_eq(cell.text.bytes + cases[i].blanks, task.name, 4096);
		task.name[4095] = '\0';
		ck_assert_uint_eq(command(&task).text.len, cases[i].blanks + 4095);
		task.name[4095] = 'n';
	}
	free(task.name);
}

/* The names of what is shown. */
static const char *shown(const struct selection *selection)
{
	static char text[512];
	size_t len = 0;

	ck_assert_ptr_eq(selection->columns, top_columns);
	ck_assert_uint_eq(selection->count, TOP_COLUMNS);
	for (size_t i = 0; i < selection->shown_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					top_columns[selection->shown[i]].name);
	return text;
}

static const char *selected(enum snapshot_by by, bool accumulated)
{
	top.wanted.by = by;
	top.accumulated = accumulated;
	top_select(&top);
	return shown(&top.selection);
}

#define BEFORE_OF_ONE "pid user state "
#define WAITS "cpu_percent cpu_wait_percent io_wait_percent "
#define RATES "read_bytes_per_s write_bytes_per_s "
#define BYTES "read_bytes write_bytes "
#define END "max_rss_kib cpu_time_ns command"

TEST(columns_that_suit_what_is_shown)
{
	static const enum snapshot_by sums[] = { BY_USER, BY_CGROUP, BY_COMMAND };
	struct selection standard;

	ck_assert_str_eq(selected(BY_PROCESS, false), BEFORE_OF_ONE WAITS RATES END);
	ck_assert_str_eq(selected(BY_TASK, false), BEFORE_OF_ONE WAITS RATES END);
	ck_assert_str_eq(selected(BY_PROCESS, true), BEFORE_OF_ONE WAITS BYTES END);
	ck_assert_str_eq(selected(BY_TASK, true), BEFORE_OF_ONE WAITS BYTES END);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		ck_assert_str_eq(selected(sums[i], false), "tasks " WAITS RATES END);
		ck_assert_str_eq(selected(sums[i], true), "tasks " WAITS BYTES END);
	}
	/* Of a table that is no screen. */
	selection_standard(&standard, top_columns, TOP_COLUMNS);
	ck_assert_str_eq(shown(&standard), BEFORE_OF_ONE WAITS RATES END);
	/* What somebody named stays. */
	top.named = true;
	top.selection = standard;
	ck_assert_str_eq(selected(BY_USER, true), BEFORE_OF_ONE WAITS RATES END);
}

static const char *order(enum top_column sort)
{
	static char text[256];
	size_t len = 0;

	top.sort = sort;
	text[0] = '\0';
	ck_assert_int_eq(top_arrange(&top), 0);
	for (size_t i = 0; i < top.shown.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? " " : "",
					top.shown.tasks[i].record.id);
	return text;
}

/* The third process has the most of one kind, the first one none: no other kind matters. */
TEST(sorted_by_each_number)
{
	static const struct {
		enum stats_field field;
		enum top_column columns[2];
	} kinds[] = {
		{ STATS_CPU_DELAY, { TOP_CPU_WAIT, TOP_CPU_WAIT } },
		{ STATS_BLKIO_DELAY, { TOP_IO_WAIT, TOP_IO_WAIT } },
		{ STATS_SWAPIN_DELAY, { TOP_STORAGE_WAIT, TOP_STORAGE_WAIT } },
		{ STATS_FREEPAGES_DELAY, { TOP_STORAGE_WAIT, TOP_STORAGE_WAIT } },
		{ STATS_THRASHING_DELAY, { TOP_STORAGE_WAIT, TOP_STORAGE_WAIT } },
		{ STATS_COMPACT_DELAY, { TOP_STORAGE_WAIT, TOP_STORAGE_WAIT } },
		{ STATS_WPCOPY_DELAY, { TOP_STORAGE_WAIT, TOP_STORAGE_WAIT } },
		{ STATS_READ_BYTES, { TOP_READ_RATE, TOP_READ } },
		{ STATS_WRITE_BYTES, { TOP_WRITE_RATE, TOP_WRITE } },
		{ STATS_HIWATER_RSS, { TOP_RESIDENT, TOP_RESIDENT } },
		{ STATS_CPU_RUN_VIRTUAL, { TOP_CPU, TOP_CPU_TIME } },
	};
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);
	char expected[128];

	for (size_t i = 0; i < 3; i++)
		put_task(&now, 1 + (uint32_t)i, 9, "x");
	look(1);
	for (size_t kind = 0; kind < count; kind++) {
		for (size_t i = 0; i < 3; i++)
			put_task(&now, 1 + (uint32_t)i, 9, "x");
		set(&now.tasks[2].record.stats, kinds[kind].field, 20 + kind);
		set(&now.tasks[1].record.stats, kinds[kind].field, 10);
		look(2 + kind);
		/* In the interval, not in all. */
		snapshot_free(&top.before);
		snapshot_copy(&top.before, &top.first);
		for (enum top_column column = TOP_TASKS; column <= TOP_CPU_TIME; column++) {
			bool sorts = column == kinds[kind].columns[0] ||
				     column == kinds[kind].columns[1];

			snprintf(expected, sizeof(expected), "%s", sorts ? "3 2 1" : "1 2 3");
			ck_assert_msg(strcmp(order(column), expected) == 0, "%s: %s",
				      top_columns[column].name, order(column));
		}
	}
}

TEST(sorted_by_what_is_no_number)
{
	static const char *const comms[] = { "ab", "b", "a", "", "abc" };
	static const char states[] = "SRDSD";

	/* In the order of their numbers, turned round. */
	for (uint32_t i = 0; i < 5; i++) {
		put_task(&now, 5 - i, 9, comms[i])->state = states[i];
		if (i != 2)
			set(&now.tasks[i].record.stats, STATS_UID, 4294967290 + i % 2);
	}
	now.tasks[0].cgroup = strdup("/b");
	now.tasks[1].cgroup = strdup("/");
	now.tasks[3].cgroup = strdup("/a");
	snapshot_sort(&now);
	look(1);
	ck_assert_str_eq(order(TOP_PID), "1 2 3 4 5");
	/* "", "a", "ab", "abc", "b" */
	ck_assert_str_eq(order(TOP_COMMAND), "2 3 5 1 4");
	/* D D R S S: equals by their numbers. */
	ck_assert_str_eq(order(TOP_STATE), "1 3 4 2 5");
	/* Not known, 4294967290, 4294967291; equals by their numbers. */
	ck_assert_str_eq(order(TOP_USER), "3 1 5 2 4");
	/* Not known, "/", "/a", "/b" */
	ck_assert_str_eq(order(TOP_CGROUP), "1 3 4 2 5");
	ck_assert_str_eq(order(TOP_INTERVAL), "1 2 3 4 5");
	top.reverse = true;
	ck_assert_str_eq(order(TOP_COMMAND), "4 1 5 3 2");
	ck_assert_str_eq(order(TOP_STATE), "2 5 4 1 3");
	ck_assert_str_eq(order(TOP_PID), "5 4 3 2 1");
}

/* The names of what is shown, as long as they may be. */
static const char *names_by(enum snapshot_by by, enum top_column sort)
{
	static char text[8192];
	size_t len = 0;

	top.wanted.by = by;
	top.sort = sort;
	ck_assert_int_eq(top_arrange(&top), 0);
	for (size_t i = 0; i < top.shown.count; i++) {
		struct cell cell = command(&top.shown.tasks[i]);

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i ? " " : "",
					(int)cell.text.len, cell.text.bytes);
	}
	return text;
}

static const char *names(enum snapshot_by by)
{
	return names_by(by, TOP_COMMAND);
}

TEST(sums_sorted_by_their_names)
{
	static const char *const cgroups[] = { "/z", "/b", "/a" };
	char path[600], expected[2048];

	for (uint32_t i = 0; i < 3; i++) {
		struct snapshot_task *task = put_task(&now, 10 + i, 1, "x");

		set(&task->record.stats, STATS_UID, i == 2 ? 0 : 4294967291 - i);
		task->cgroup = strdup(cgroups[i]);
	}
	look(1);
	ck_assert_str_eq(names(BY_USER), "4294967290 4294967291 root");
	ck_assert_str_eq(names(BY_CGROUP), "/a /b /z");
	/* They have no number that tells them apart. */
	for (int reverse = 0; reverse < 2; reverse++) {
		top.reverse = reverse;
		ck_assert_str_eq(names_by(BY_CGROUP, TOP_PID), "/a /b /z");
		ck_assert_str_eq(names_by(BY_CGROUP, TOP_STATE), "/a /b /z");
	}
	top.reverse = false;
	/* However long they are: the difference may be at the end. */
	for (size_t len = 50; len <= 500; len += 450) {
		for (size_t i = 0; i < 3; i++) {
			memset(path, 'd', len);
			snprintf(path + len, sizeof(path) - len, "%s", cgroups[i]);
			/* Processes come after tasks. */
			free(top.now.tasks[3 + i].cgroup);
			top.now.tasks[3 + i].cgroup = strdup(path);
		}
		path[len] = '\0';
		snprintf(expected, sizeof(expected), "%s/a %s/b %s/z", path, path, path);
		ck_assert_str_eq(names(BY_CGROUP), expected);
		top.reverse = true;
		snprintf(expected, sizeof(expected), "%s/z %s/b %s/a", path, path, path);
		ck_assert_str_eq(names(BY_CGROUP), expected);
		top.reverse = false;
	}
}

/* Threads of one process, at the first look, which is compared with, too. */
TEST(tasks_of_the_first_look)
{
	put_task(&now, 10, 1, "a");
	put_task(&now, 11, 1, "a")->process = 10;
	set(&now.tasks[0].record.stats, STATS_CPU_RUN_VIRTUAL, 3 * SECOND);
	set(&now.tasks[1].record.stats, STATS_CPU_RUN_VIRTUAL, 5 * SECOND);
	look(1);
	ck_assert_uint_eq(top.interval, 0);
	ck_assert_uint_eq(top.length_ns, 0);
	for (int accumulated = 0; accumulated < 2; accumulated++) {
		top.accumulated = accumulated;
		top.wanted.by = BY_TASK;
		ck_assert_str_eq(order(TOP_CPU), "10 11");
		ck_assert_uint_eq(top.tasks, 2);
		/* Nothing was done since, so nothing is added up. */
		ck_assert_uint_eq(top.cpu.value, 0);
		ck_assert_uint_eq(top.shown.tasks[1].record.stats.value[STATS_CPU_RUN_VIRTUAL], 0);
		ck_assert_uint_eq(top.shown.tasks[1].cpu_ns, 5 * SECOND);
	}
	ck_assert_str_eq(order(TOP_CPU_TIME), "11 10");
}

/* All tasks count in the sums, whichever are shown, and each once. */
TEST(sums_over_all)
{
	for (uint32_t i = 0; i < 3; i++)
		put_task(&now, 10 + i, 1, "a");
	look(1);
	for (uint32_t i = 0; i < 3; i++)
		set(&put_task(&now, 10 + i, 1, i ? "b" : "a")->record.stats, STATS_WRITE_BYTES, 1 << i);
	look(2);
	top.wanted.filter.name = "a";
	for (int times = 0; times < 3; times++) {
		ck_assert_str_eq(order(TOP_WRITE), "10");
		ck_assert_uint_eq(top.tasks, 3);
		ck_assert_uint_eq(top.write.value, 7);
		ck_assert(top.write.known == 3 && top.write.unknown == 0);
	}
	ck_assert_uint_eq(top.interval, 1);
	for (uint32_t i = 0; i < 2; i++)
		set(&put_task(&now, 10 + i, 1, "a")->record.stats, STATS_WRITE_BYTES, 1);
	look(3);
	ck_assert_uint_eq(top.tasks, 2);
	ck_assert_uint_eq(top.write.value, 0);
	ck_assert_uint_eq(top.interval, 2);
}

/* Processes below their parents, which threads and sums do not have. */
TEST(only_processes_are_a_forest)
{
	put_task(&now, 10, 1, "a");
	put_task(&now, 11, 12, "b");
	put_task(&now, 12, 10, "c");
	look(1);
	top.forest = true;
	ck_assert_str_eq(order(TOP_PID), "10 12 11");
	ck_assert_uint_eq(top.shown.tasks[2].depth, 2);
	top.wanted.by = BY_TASK;
	ck_assert_str_eq(order(TOP_PID), "10 11 12");
	ck_assert_str_eq(names(BY_COMMAND), "a b c");
	top.forest = false;
	top.wanted.by = BY_PROCESS;
	ck_assert_str_eq(order(TOP_PID), "10 11 12");
	ck_assert_uint_eq(top.shown.tasks[2].depth, 0);
}
