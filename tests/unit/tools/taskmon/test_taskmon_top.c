/* SPDX-License-Identifier: MIT */
/* taskmon top: keys, what they change, and what is on the screen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "living.h"
#include "snapshot_made.h"
#include "terminal_seen.h"
#include "top.h"
#include "unit_test.h"

#define SECOND UINT64_C(1000000000)

static struct top top;
static struct seen seen;
static struct text screen;

static struct snapshot_task *put(struct snapshot *snapshot, uint32_t id, uint32_t parent,
				 const char *comm, uint64_t cpu, uint64_t read)
{
	struct snapshot_task *task = put_task(snapshot, id, parent, comm);

	set(&task->record.stats, STATS_CPU_RUN_VIRTUAL, cpu);
	set(&task->record.stats, STATS_READ_BYTES, read);
	set(&task->record.stats, STATS_UID, id < 20 ? 0 : 4294967294);
	return task;
}

/* Between two looks, 2 s: 10 used 1 s of CPU, 11 0.5 s, 20 read 8 KiB, 21 did nothing. */
static void start(void)
{
	struct snapshot now = { .time_ns = SECOND };

	top = (struct top)TOP_DEFAULT;
	memset(&seen, 0, sizeof(seen));
	put(&now, 10, 1, "make", 4 * SECOND, 0);
	put(&now, 11, 10, "cc1", 0, 0);
	put(&now, 20, 10, "dd", 0, 4096);
	put(&now, 21, 1, "idle", 7 * SECOND, 0);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_uint_eq(now.count, 0);
	now.time_ns = 3 * SECOND;
	put(&now, 10, 1, "make", 5 * SECOND, 0);
	put(&now, 11, 10, "cc1", SECOND / 2, 0);
	put(&now, 20, 10, "dd", 0, 12288);
	put(&now, 21, 1, "idle", 7 * SECOND, 0);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
}

static void stop(void)
{
	top_free(&top);
	/* What it would have kept belongs to nobody now, as a search for leaks sees it. */
	memset(&top, 0, sizeof(top));
	text_free(&screen);
}

CASE("taskmon top", start, stop);

/* The numbers of what is shown, in order. */
static const char *order(void)
{
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	ck_assert_int_eq(top_arrange(&top), 0);
	for (size_t i = 0; i < top.shown.count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? " " : "",
					top.shown.tasks[i].record.id);
	return text;
}

/*
 * On a screen that is full, and larger than was said: nothing of what was there shows through,
 * wherever the cursor was.
 */
static void draw(unsigned int rows, unsigned int columns)
{
	text_clear(&screen);
	ck_assert_int_eq(top_draw(&top, "12:00:00", rows, columns, &screen), 0);
	memset(&seen, 0, sizeof(seen));
	for (unsigned int row = 0; row <= rows; row++)
		memset(seen.line[row], '~', columns + 1);
	seen.row = rows / 2;
	seen.column = 7;
	seen_take(&seen, screen.bytes, screen.len);
	ck_assert_uint_eq(seen_find(&seen, "~"), SEEN_ROWS);
}

/* A key that asks for a word, and that word: none of them needs another look. */
static void type(const char *word)
{
	for (; *word; word++)
		ck_assert_int_eq(top_key(&top, (unsigned char)*word), TOP_DRAW);
}

/* The same, and the end of the word. */
static void answer(const char *word, enum top_action action)
{
	type(word);
	ck_assert_int_ne(top.prompt, TOP_NO_PROMPT);
	ck_assert_int_eq(top_key(&top, KEY_ENTER), action);
	ck_assert_int_eq(top.prompt, TOP_NO_PROMPT);
}

/* The first line of the screen, after a drawing. */
static const char *title(void)
{
	ck_assert_int_eq(top_arrange(&top), 0);
	draw(10, 400);
	return seen.line[0];
}

TEST(sorted_by_what_was_done_meanwhile)
{
	ck_assert_uint_eq(top.interval, 1);
	ck_assert_uint_eq(top.length_ns, 2 * SECOND);
	/* Equals by their numbers. */
	ck_assert_str_eq(order(), "10 11 20 21");
	top.sort = TOP_READ_RATE;
	ck_assert_str_eq(order(), "20 10 11 21");
	top.reverse = true;
	ck_assert_str_eq(order(), "10 11 21 20");
	top.reverse = false;
	top.sort = TOP_CPU_TIME;
	ck_assert_str_eq(order(), "21 10 11 20");
	top.sort = TOP_COMMAND;
	ck_assert_str_eq(order(), "11 20 21 10");
	top.sort = TOP_USER;
	/* "4294967294" comes before "root". */
	ck_assert_str_eq(order(), "20 21 10 11");
	top.sort = TOP_PID;
	top.reverse = true;
	ck_assert_str_eq(order(), "21 20 11 10");
}

static double real(enum top_column column, uint32_t id)
{
	struct cell cells[TOP_COLUMNS];

	for (size_t i = 0; i < top.shown.count; i++) {
		if (top.shown.tasks[i].record.id != id)
			continue;
		top_cells(&top, &top.shown.tasks[i], cells);
		ck_assert(cells[column].present);
		return cells[column].real;
	}
	ck_abort_msg("no task %u", id);
}

TEST(parts_and_rates)
{
	struct snapshot now = { .time_ns = 4 * SECOND };

	ck_assert_double_eq(real(TOP_CPU, 10), 50);
	ck_assert_double_eq(real(TOP_CPU, 11), 25);
	ck_assert_double_eq(real(TOP_READ_RATE, 20), 4096);
	/* Another second, in which 10 used half, and a new one came. */
	put(&now, 10, 1, "make", 5 * SECOND + SECOND / 2, 0);
	set(&put(&now, 30, 1, "new", SECOND / 10, 0)->record.stats, STATS_BLKIO_DELAY, SECOND / 5);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_double_eq(real(TOP_CPU, 10), 50);
	ck_assert_double_eq(real(TOP_CPU, 30), 10);
	ck_assert_double_eq(real(TOP_IO_WAIT, 30), 20);
	/* Since the first look: 1.5 s of 3. */
	top.accumulated = true;
	ck_assert_str_eq(order(), "10 30");
	ck_assert_double_eq(real(TOP_CPU, 10), 50);
	ck_assert_uint_eq(top.length_ns, 3 * SECOND);
}

/* The kernel is asked for one task after the other: each has an interval of its own. */
TEST(rates_are_of_the_time_between_two_answers)
{
	struct snapshot now = { .time_ns = 5 * SECOND };

	put(&now, 10, 1, "make", 6 * SECOND, 0)->time_ns = 5 * SECOND;
	put(&now, 11, 10, "cc1", SECOND / 2, 0)->time_ns = 5 * SECOND;
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	now.time_ns = 7 * SECOND;
	/* 10 was asked late, 11 early. */
	put(&now, 10, 1, "make", 7 * SECOND, 0)->time_ns = 9 * SECOND;
	put(&now, 11, 10, "cc1", SECOND, 0)->time_ns = 6 * SECOND;
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_double_eq(real(TOP_CPU, 10), 25);
	ck_assert_double_eq(real(TOP_CPU, 11), 50);
}

/* An exit as the kernel tells it: a thread's totals, its process. */
static struct snapshot_task *exit_of(uint32_t id, uint32_t process, const char *comm, uint64_t cpu)
{
	struct snapshot_task *task = put(&top.exited, id, 0, comm, cpu, 0);

	task->process = process;
	task->state = 0;
	set(&task->record.stats, STATS_PPID, 1);
	return task;
}

static const struct snapshot_task *row(uint32_t id)
{
	for (size_t i = 0; i < top.shown.count; i++)
		if (top.shown.tasks[i].record.id == id)
			return &top.shown.tasks[i];
	return NULL;
}

/*
 * 10 exits after another second of CPU; 50 came and went with two threads; 60 is a thread of 11,
 * whose process has what it used.
 */
TEST(processes_that_exited)
{
	struct snapshot now = { .time_ns = 5 * SECOND };
	struct cell cells[TOP_COLUMNS];

	put(&now, 11, 10, "cc1", SECOND / 2, 0);
	put(&now, 20, 10, "dd", 0, 12288);
	put_processes(&now);
	exit_of(10, 10, "make", 6 * SECOND);
	exit_of(50, 50, "short", SECOND / 2);
	exit_of(51, 50, "thread", SECOND / 4);
	exit_of(60, 11, "cc1", SECOND);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_str_eq(order(), "10 50 11 20");
	ck_assert_double_eq(real(TOP_CPU, 10), 50);
	ck_assert_double_eq(real(TOP_CPU, 50), 37.5);
	ck_assert_double_eq(real(TOP_CPU, 11), 0);
	top_cells(&top, row(50), cells);
	ck_assert_mem_eq(cells[TOP_STATE].text.bytes, "X", 1);
	ck_assert_mem_eq(cells[TOP_COMMAND].text.bytes, "short", 5);
	ck_assert_uint_eq(cells[TOP_TASKS].number, 2);
	ck_assert_uint_eq(cells[TOP_CPU_TIME].number, 3 * SECOND / 4);
	/* Two live; what all used is in the sum. */
	ck_assert_uint_eq(top.tasks, 2);
	ck_assert_uint_eq(top.cpu.value, SECOND + 3 * SECOND / 4);
	top.wanted.by = BY_TASK;
	ck_assert_str_eq(order(), "10 50 51 11 20");
	top.wanted.by = BY_PROCESS;
	top.accumulated = true;
	ck_assert_str_eq(order(), "11 20");
	top.accumulated = false;
	/* They have gone in the next interval; an exit twice, or of the number of a living one. */
	top_free(&top);
	top.exited = (struct snapshot){ 0 };
	start();
	now.time_ns = 5 * SECOND;
	put(&now, 10, 1, "make", SECOND, 0)->begin = 99;
	put_processes(&now);
	exit_of(10, 10, "old", 5 * SECOND);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_uint_eq(top.shown.count, 2);
	now.time_ns = 6 * SECOND;
	put(&now, 10, 1, "make", SECOND, 0)->begin = 99;
	put_processes(&now);
	snapshot_free(&top.exited);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_str_eq(order(), "10");
}

TEST(lost_exits_are_said)
{
	draw(24, 200);
	ck_assert_ptr_null(strstr(seen.line[1], "lost"));
	top.lost = 7;
	draw(24, 200);
	ck_assert_ptr_nonnull(strstr(seen.line[1], "; exits lost: 7"));
}

/* 50, then ten times 0 to 9 percent: the first is forgotten. */
TEST(history_of_ten_intervals)
{
	struct cell cells[TOP_COLUMNS];
	uint64_t used = 5 * SECOND;

	top_cells(&top, row(10), cells);
	ck_assert_uint_eq(cells[TOP_HISTORY].list.count, 1);
	ck_assert_uint_eq(cells[TOP_HISTORY].list.items[0], 50);
	for (unsigned int i = 0; i < 10; i++) {
		struct snapshot now = { .time_ns = (4 + i) * SECOND };

		used += i * SECOND / 100;
		put(&now, 10, 1, "make", used, 0);
		put_processes(&now);
		ck_assert_int_eq(top_take(&top, &now), 0);
	}
	top_cells(&top, row(10), cells);
	ck_assert_uint_eq(cells[TOP_HISTORY].list.count, 10);
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_uint_eq(cells[TOP_HISTORY].list.items[i], i);
}

TEST(command_lines)
{
	struct cell cells[TOP_COLUMNS];

	ck_assert_uint_eq(top_parts(&top), LIVING_PROCESSES);
	ck_assert_int_eq(top_key(&top, 'C'), TOP_LOOK);
	ck_assert_uint_eq(top_parts(&top), LIVING_PROCESSES | LIVING_ARGUMENTS);
	snapshot_find(&top.now, STATS_PROCESS, 10)->arguments = strdup("make -j2 \x1b[2J all");
	order();
	top_cells(&top, row(10), cells);
	ck_assert_str_eq(cells[TOP_ARGUMENTS].text.bytes, "make -j2 \x1b[2J all");
	top_cells(&top, row(21), cells);
	ck_assert_str_eq(cells[TOP_ARGUMENTS].text.bytes, "[idle]");
	draw(24, 120);
	ck_assert_uint_lt(seen_find(&seen, "make -j2 \\x1b[2J all"), SEEN_ROWS);
	ck_assert_uint_lt(seen_find(&seen, "cmdline"), SEEN_ROWS);
	ck_assert_int_eq(top_key(&top, 'C'), TOP_LOOK);
	ck_assert_uint_eq(top_parts(&top), LIVING_PROCESSES);
	/* Sums have a name, and no command line. */
	top.arguments = true;
	top.wanted.by = BY_USER;
	top_select(&top);
	for (size_t i = 0; i < top.selection.shown_count; i++)
		ck_assert_uint_ne(top.selection.shown[i], TOP_ARGUMENTS);
}

/* --fields +cgroup,cmdline: with whatever is shown by itself. */
TEST(added_columns_stay)
{
	top.more[top.more_count++] = TOP_CGROUP;
	top.more[top.more_count++] = TOP_ARGUMENTS;
	for (unsigned int by = BY_TASK; by <= BY_COMMAND; by++) {
		unsigned int found = 0;

		top.wanted.by = by;
		top_select(&top);
		for (size_t i = 0; i < top.selection.shown_count; i++)
			found += top.selection.shown[i] == TOP_CGROUP ||
				 top.selection.shown[i] == TOP_ARGUMENTS;
		ck_assert_uint_eq(found, 2);
	}
	ck_assert_uint_eq(top_parts(&top), LIVING_PROCESSES | LIVING_CGROUPS | LIVING_ARGUMENTS);
}

TEST(first_look_has_no_rates)
{
	struct snapshot now = { .time_ns = SECOND };
	struct cell cells[TOP_COLUMNS];

	top_free(&top);
	top = (struct top)TOP_DEFAULT;
	put(&now, 10, 1, "make", SECOND, 0);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	top_cells(&top, &top.shown.tasks[0], cells);
	ck_assert(!cells[TOP_CPU].present && !cells[TOP_READ_RATE].present);
	ck_assert_uint_eq(cells[TOP_CPU_TIME].number, SECOND);
	draw(24, 100);
	ck_assert_str_eq(seen.line[0],
			 "taskmon top, 12:00:00, interval -; 1 process, by cpu_percent");
	ck_assert_str_eq(seen.line[1], "1 task in all: CPU - %, read -, write -");
}

TEST(title_says_what_is_shown)
{
	static const struct {
		enum snapshot_by by;
		const char *what;
	} sums[] = {
		{ BY_TASK, "4 tasks" }, { BY_PROCESS, "4 processes" }, { BY_USER, "2 users" },
		{ BY_CGROUP, "1 cgroup" }, { BY_COMMAND, "4 commands" },
	};
	char expected[128];

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		top.wanted.by = sums[i].by;
		snprintf(expected, sizeof(expected),
			 "taskmon top, 12:00:00, interval 2.00 s; %s, by cpu_percent", sums[i].what);
		ck_assert_str_eq(title(), expected);
	}
	top.wanted = (struct wanted){ .by = BY_PROCESS, .filter = {
		.has_user = true, .user = 0, .name = "ma\007ke", .tree = 10, .cgroup = "/a\033",
		.active = true } };
	top.sort = TOP_READ;
	top.accumulated = top.reverse = top.paused = true;
	ck_assert_str_eq(title(), "taskmon top, 12:00:00, in the last 2.00 s; 0 processes, user root, "
			 "name with 'ma\\x07ke', tree of 10, cgroup /a\\x1b, active, "
			 "by read_bytes reversed; PAUSED");
	top.wanted.filter = (struct filter){ .has_user = true, .user = 4294967294 };
	ck_assert_str_eq(title(), "taskmon top, 12:00:00, in the last 2.00 s; 2 processes, "
			 "user 4294967294, by read_bytes reversed; PAUSED");
}

TEST(totals_are_of_all_tasks)
{
	struct snapshot now = { .time_ns = 7 * SECOND };

	set(&put(&now, 10, 1, "a", 9 * SECOND, 4096)->record.stats, STATS_WRITE_BYTES, 8192);
	set(&put(&now, 30, 1, "b", 0, 4096)->record.stats, STATS_WRITE_BYTES, 4 << 20);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	top.wanted.filter.name = "a";
	title();
	/* In 4 s: 4 s, 8 KiB, 4 MiB and 8 KiB. */
	ck_assert_str_eq(seen.line[1],
			 "2 tasks in all: CPU 100.0 %, read 2.00 KiB/s, write 1.00 MiB/s");
}

/* Totals say that they lack the I/O of tasks whose I/O may not be read, like another user's. */
TEST(totals_say_what_they_lack)
{
	struct snapshot now = { .time_ns = 5 * SECOND };

	put(&now, 10, 1, "a", 6 * SECOND, 8192);
	put(&now, 20, 1, "b", 0, 4096)->record.stats.present[STATS_READ_BYTES] = false;
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	title();
	ck_assert_str_eq(seen.line[1], "2 tasks in all: CPU 50.0 %, read 4.00 KiB/s, write 0.00 B/s; "
				       "without I/O of 1 process");
	now.time_ns = 7 * SECOND;
	for (uint32_t id = 30; id < 32; id++) {
		struct stats *stats = &put(&now, id, 1, "c", SECOND, 0)->record.stats;

		stats->present[STATS_WRITE_BYTES] = stats->present[STATS_CPU_RUN_VIRTUAL] = false;
	}
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	title();
	ck_assert_str_eq(seen.line[1], "2 tasks in all: CPU - %, read 0.00 B/s, write -; "
				       "without CPU time of 2 processes; without I/O of 2 processes");
}

TEST(screen_has_title_heading_rows_and_keys)
{
	draw(10, 120);
	ck_assert_str_eq(seen.line[0],
			 "taskmon top, 12:00:00, interval 2.00 s; 4 processes, by cpu_percent");
	/* 1.5 s of 2, 8 KiB in 2 s. */
	ck_assert_str_eq(seen.line[1], "4 tasks in all: CPU 75.0 %, read 4.00 KiB/s, write 0.00 B/s");
	ck_assert_ptr_nonnull(strstr(seen.line[2], "pid  user"));
	ck_assert(seen.reverse[2] && !seen.reverse[1] && !seen.reverse[3]);
	ck_assert_uint_eq(seen_find(&seen, "make"), 3);
	ck_assert_ptr_nonnull(strstr(seen.line[3], "50.0 %"));
	ck_assert_ptr_nonnull(strstr(seen.line[5], "4.00 KiB/s"));
	ck_assert_str_eq(seen.line[7], "");
	ck_assert_uint_eq(seen_find(&seen, "q quit"), 9);
	ck_assert_uint_eq(seen.strange, 0);
	/* The cursor is never below the screen. */
	ck_assert_uint_eq(seen.row, 9);
}

TEST(every_size_is_kept_to)
{
	for (unsigned int rows = 1; rows < 12; rows++) {
		for (unsigned int columns = 1; columns < 140; columns += 3) {
			draw(rows, columns);
			ck_assert_uint_eq(seen.row, rows - 1);
			for (unsigned int row = 0; row < rows; row++)
				ck_assert_uint_le(strlen(seen.line[row]), columns);
			ck_assert_uint_eq(seen.strange, 0);
		}
	}
	/* On a narrow one the name is what stays. */
	draw(10, 80);
	ck_assert_ptr_nonnull(strstr(seen.line[3], "make"));
	ck_assert_ptr_null(strstr(seen.line[2], "cpu_time"));
	top.sort = TOP_CPU_TIME;
	draw(10, 80);
	ck_assert_ptr_nonnull(strstr(seen.line[2], "cpu_time"));
}

TEST(hostile_names_do_nothing)
{
	static const char *const names[] = {
		"\033[2J\033[31m", "a\r\nb", "\x9b" "31m", "\xc2\x9b" "1m", "\007\177", "\033]0;x\007",
	};
	struct snapshot now = { .time_ns = 4 * SECOND };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put(&now, 40 + (uint32_t)i, 1, names[i], 0, 0)->cgroup = strdup(names[i]);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	for (enum snapshot_by by = BY_TASK; by <= BY_COMMAND; by++) {
		top.wanted.by = by;
		ck_assert_int_eq(top_arrange(&top), 0);
		draw(20, 140);
		ck_assert_uint_eq(seen.strange, 0);
		for (size_t i = 0; i < screen.len; i++)
			ck_assert_uint_ne((unsigned char)screen.bytes[i], 0x9b);
		if (by != BY_USER)
			ck_assert_uint_lt(seen_find(&seen, "\\x1b[2J\\x1b[31m"), SEEN_ROWS);
	}
	/* Neither what is typed does. */
	type("/\xc2\x9b" "2J");
	draw(20, 140);
	ck_assert_uint_eq(seen.strange, 0);
	ck_assert_uint_lt(seen_find(&seen, "name (nothing for all): \\xc2\\x9b2J_"), SEEN_ROWS);
	top_key(&top, KEY_ENTER);
	ck_assert_int_eq(top_arrange(&top), 0);
	draw(20, 140);
	ck_assert_uint_eq(seen_find(&seen, "name with '\\xc2\\x9b2J'"), 0);
}

TEST(keys_change_what_is_shown)
{
	draw(10, 140);
	ck_assert_int_eq(top_key(&top, 'o'), TOP_DRAW);
	ck_assert_str_eq(order(), "10 11 20");
	ck_assert_int_eq(top_key(&top, 'o'), TOP_DRAW);
	ck_assert_int_eq(top_key(&top, 'r'), TOP_DRAW);
	ck_assert_str_eq(order(), "20 21 11 10");
	top_key(&top, 'I');
	ck_assert(!top.reverse);
	/* Columns to the left and right; not beyond. */
	top_key(&top, KEY_RIGHT);
	ck_assert_int_eq(top.sort, TOP_CPU_WAIT);
	top_key(&top, KEY_RIGHT);
	top_key(&top, KEY_RIGHT);
	ck_assert_int_eq(top.sort, TOP_READ_RATE);
	for (int i = 0; i < 20; i++)
		top_key(&top, KEY_RIGHT);
	ck_assert_int_eq(top.sort, TOP_COMMAND);
	for (int i = 0; i < 20; i++)
		top_key(&top, KEY_LEFT);
	ck_assert_int_eq(top.sort, TOP_PID);
	top_key(&top, 'T');
	ck_assert_int_eq(top.sort, TOP_CPU_TIME);
	top_key(&top, 'M');
	ck_assert_int_eq(top.sort, TOP_RESIDENT);
	top_key(&top, 'P');
	ck_assert_int_eq(top.sort, TOP_CPU);
	/* A rate has a total. */
	top.sort = TOP_READ_RATE;
	top_key(&top, 'a');
	ck_assert(top.accumulated && top.sort == TOP_READ);
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "in the last 2.00 s"), 0);
	ck_assert_ptr_nonnull(strstr(seen.line[3], "8.00 KiB"));
	top_key(&top, 'a');
	ck_assert_int_eq(top.sort, TOP_READ_RATE);
	/* Unknown keys look again; not while it pauses. */
	ck_assert_int_eq(top_key(&top, 'x'), TOP_LOOK);
	ck_assert_int_eq(top_key(&top, ' '), TOP_DRAW);
	ck_assert(top.paused);
	ck_assert_int_eq(top_key(&top, KEY_UNKNOWN), TOP_DRAW);
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "; PAUSED"), 0);
	top_key(&top, 'Z');
	ck_assert(!top.paused);
	ck_assert_int_eq(top_key(&top, 'q'), TOP_QUIT);
	ck_assert_int_eq(top_key(&top, KEY_F10), TOP_QUIT);
}

TEST(keys_add_up_and_make_a_forest)
{
	top_key(&top, 'p');
	ck_assert_int_eq(top.wanted.by, BY_TASK);
	top_key(&top, 't');
	ck_assert(top.forest && top.wanted.by == BY_PROCESS);
	ck_assert_str_eq(order(), "10 11 20 21");
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "  make"), 3);
	ck_assert_uint_eq(seen_find(&seen, "    cc1"), 4);
	ck_assert_uint_eq(seen_find(&seen, "    dd"), 5);
	ck_assert_uint_eq(seen_find(&seen, "    idle"), SEEN_ROWS);
	top_key(&top, KEY_F5);
	ck_assert(!top.forest);
	top.sort = TOP_PID;
	ck_assert_int_eq(top_key(&top, 'g'), TOP_DRAW);
	ck_assert_int_eq(top.wanted.by, BY_USER);
	/* Users have no number. */
	ck_assert_int_eq(top.sort, TOP_CPU);
	ck_assert_int_eq(top_arrange(&top), 0);
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "2 users"), 0);
	ck_assert_uint_eq(seen_find(&seen, "root"), 3);
	ck_assert_ptr_nonnull(strstr(seen.line[3], "75.0 %"));
	ck_assert_ptr_null(strstr(seen.line[2], "pid"));
	/* The last look does not know the cgroups. */
	ck_assert_int_eq(top_key(&top, 'g'), TOP_LOOK);
	ck_assert_int_eq(top.wanted.by, BY_CGROUP);
	ck_assert_int_eq(top_key(&top, 'g'), TOP_DRAW);
	ck_assert_int_eq(top.wanted.by, BY_COMMAND);
	top_key(&top, 'g');
	ck_assert_int_eq(top.wanted.by, BY_PROCESS);
}

/* Root has two tasks, the other user three. */
TEST(sorted_by_tasks)
{
	struct snapshot now = { .time_ns = 5 * SECOND };

	for (uint32_t id = 10; id <= 11; id++)
		put(&now, id, 1, "a", 20 * SECOND, 0);
	for (uint32_t id = 20; id <= 22; id++)
		put(&now, id, 1, "b", 0, 0);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	top.wanted.by = BY_USER;
	top.sort = TOP_TASKS;
	ck_assert_int_eq(top_arrange(&top), 0);
	ck_assert_uint_eq(top.shown.count, 2);
	ck_assert_uint_eq(top.shown.tasks[0].record.tasks, 3);
	top.reverse = true;
	ck_assert_int_eq(top_arrange(&top), 0);
	ck_assert_uint_eq(top.shown.tasks[0].record.tasks, 2);
}

/* A key that asks for a word, and what the last line asks then. */
TEST(questions)
{
	static const struct {
		int key;
		const char *asked;
	} keys[] = {
		{ 'u', "user (name or number; nothing for all): ab_" },
		{ '/', "text in the name (nothing for all): ab_" },
		{ '\\', "text in the name (nothing for all): ab_" },
		{ KEY_F4, "text in the name (nothing for all): ab_" },
		{ 'c', "path of a cgroup, as /user.slice (nothing for all): ab_" },
		{ 'f', "number of a process (nothing for all): ab_" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ck_assert_int_eq(top_key(&top, keys[i].key), TOP_DRAW);
		ck_assert_int_ne(top.prompt, TOP_NO_PROMPT);
		type("ab");
		draw(10, 140);
		ck_assert_str_eq(seen.line[9], keys[i].asked);
		ck_assert_int_eq(top_key(&top, KEY_ESCAPE), TOP_DRAW);
		ck_assert_int_eq(top.prompt, TOP_NO_PROMPT);
		draw(10, 140);
		ck_assert_uint_eq(seen_find(&seen, "q quit  h help"), 9);
	}
}

/* One character back, however many bytes it has. */
TEST(typed_characters_are_taken_back)
{
	/* The last byte of all but the first is odd. */
	static const char *const characters[] = {
		"x", "\xc3\xa5", "\xe2\x82\xad", "\xf0\x9f\x98\x81", "\xc2\xbf",
	};
	const size_t count = sizeof(characters) / sizeof(characters[0]);

	type("/");
	for (size_t i = 0; i < count; i++)
		type(characters[i]);
	ck_assert_uint_eq(top.typed_len, 12);
	for (size_t i = count; i > 0; i--) {
		ck_assert_str_eq(top.typed + top.typed_len - strlen(characters[i - 1]),
				 characters[i - 1]);
		ck_assert_int_eq(top_key(&top, KEY_BACKSPACE), TOP_DRAW);
	}
	ck_assert_uint_eq(top.typed_len, 0);
	ck_assert_int_eq(top_key(&top, KEY_BACKSPACE), TOP_DRAW);
	ck_assert_str_eq(top.typed, "");
	/* Any byte but control characters can be typed. */
	for (int key = 0; key <= 0x110; key++) {
		size_t len = top.typed_len;

		if (key == KEY_ENTER || key == KEY_ESCAPE || key == KEY_BACKSPACE)
			continue;
		ck_assert_int_eq(top_key(&top, key), TOP_DRAW);
		ck_assert_uint_eq(top.typed_len, len + (key >= 0x20 && key <= 0xff));
	}
}

TEST(answers_change_one_filter)
{
	struct filter *filter = &top.wanted.filter;

	answer("unobody!", TOP_DRAW);
	ck_assert(!filter->has_user && *top.note);
	answer("uroot", TOP_DRAW);
	ck_assert(filter->has_user && filter->user == 0);
	answer("u4294967295", TOP_DRAW);
	ck_assert(filter->has_user && filter->user == 4294967295);
	answer("u4294967296", TOP_DRAW);
	ck_assert_str_eq(top.note, "no such user: '4294967296' (a name or a number)");
	ck_assert(filter->has_user && filter->user == 4294967295);
	answer("u", TOP_DRAW);
	ck_assert(!filter->has_user);
	ck_assert_str_eq(top.note, "");
	answer("f4294967295", TOP_DRAW);
	ck_assert_uint_eq(filter->tree, 4294967295);
	answer("f4294967296", TOP_DRAW);
	ck_assert_str_eq(top.note, "invalid number: '4294967296' (that of a process)");
	answer("f0", TOP_DRAW);
	ck_assert_str_eq(top.note, "invalid number: '0' (that of a process)");
	ck_assert_uint_eq(filter->tree, 4294967295);
	answer("f1", TOP_DRAW);
	ck_assert_uint_eq(filter->tree, 1);
	answer("f", TOP_DRAW);
	ck_assert_uint_eq(filter->tree, 0);
	answer("c/b", TOP_LOOK);
	answer("/a", TOP_DRAW);
	ck_assert_str_eq(filter->cgroup, "/b");
	ck_assert_str_eq(filter->name, "a");
	/* Refused or given up: the one before stays. */
	answer("cb", TOP_LOOK);
	ck_assert_str_eq(filter->cgroup, "/b");
	type("/b");
	top_key(&top, KEY_ESCAPE);
	ck_assert_str_eq(filter->name, "a");
	answer("c", TOP_LOOK);
	ck_assert_ptr_null(filter->cgroup);
	answer("\\", TOP_DRAW);
	ck_assert_ptr_null(filter->name);
	ck_assert(!filter->has_user && !filter->tree && !filter->active);
	/* A note is about the last key. */
	answer("fx", TOP_DRAW);
	ck_assert_str_ne(top.note, "");
	top_key(&top, 'r');
	ck_assert_str_eq(top.note, "");
}

/* Against what one would do by hand; no row is shown above the first one, or below the last one. */
TEST(each_way_to_scroll)
{
	static const int keys[] = { KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END };
	const size_t all = top.shown.count;

	for (int at = 0; at < 4 * 6 * 5 * 6; at++) {
		int row = at % 4, page = at / 4 % 6, count = at / 24 % 5, key = keys[at / 120];
		int step = page > 1 ? page : 1, to = row;

		top.scrolled = (size_t)row;
		top.page = (size_t)page;
		top.shown.count = (size_t)count;
		if (row && row >= count)
			continue;
		to += key == KEY_UP ? -1 : key == KEY_DOWN ? 1 : key == KEY_PAGE_UP ? -step :
		      key == KEY_PAGE_DOWN ? step : 0;
		to = key == KEY_HOME ? 0 : key == KEY_END ? count - step : to;
		while (to >= count)
			to--;
		while (to < 0)
			to++;
		ck_assert_int_eq(top_key(&top, key), TOP_DRAW);
		ck_assert_msg(top.scrolled == (size_t)to, "key %x: row %d, page %d of %d: %zu", key, row,
			      page, count, top.scrolled);
	}
	top.shown.count = all;
}

/* The sort column is a column that is shown. */
TEST(order_stays_where_its_column_does)
{
	static const struct {
		enum top_column sort;
		const char *keys;
		enum top_column then;
	} cases[] = {
		{ TOP_READ_RATE, "a", TOP_READ }, { TOP_WRITE_RATE, "a", TOP_WRITE },
		{ TOP_READ_RATE, "aa", TOP_READ_RATE }, { TOP_WRITE_RATE, "aa", TOP_WRITE_RATE },
		{ TOP_CPU_WAIT, "a", TOP_CPU_WAIT }, { TOP_COMMAND, "aa", TOP_COMMAND },
		{ TOP_PID, "a", TOP_PID }, { TOP_PID, "p", TOP_PID }, { TOP_PID, "g", TOP_CPU },
		{ TOP_USER, "g", TOP_CPU }, { TOP_STATE, "g", TOP_CPU }, { TOP_COMMAND, "g", TOP_COMMAND },
		{ TOP_WRITE_RATE, "ga", TOP_WRITE }, { TOP_READ_RATE, "ag", TOP_READ },
		{ TOP_IO_WAIT, "gp", TOP_IO_WAIT }, { TOP_STATE, "H", TOP_STATE },
		{ TOP_STORAGE_WAIT, "p", TOP_CPU }, { TOP_INTERVAL, "a", TOP_CPU },
		{ TOP_CGROUP, "t", TOP_CPU },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		top.wanted.by = BY_PROCESS;
		top.accumulated = false;
		top.sort = cases[i].sort;
		top_select(&top);
		for (const char *key = cases[i].keys; *key; key++)
			top_key(&top, *key);
		ck_assert_msg(top.sort == cases[i].then, "%s, %s: %s", top_columns[cases[i].sort].name,
			      cases[i].keys, top_columns[top.sort].name);
	}
	/* How many tasks there are is known of sums alone. */
	for (const char *key = "ptH"; *key; key++) {
		top.wanted.by = BY_USER;
		top.sort = TOP_TASKS;
		top_key(&top, 'a');
		ck_assert_int_eq(top.sort, TOP_TASKS);
		ck_assert_int_eq(top_key(&top, *key), TOP_DRAW);
		ck_assert_int_eq(top.sort, TOP_CPU);
	}
	/* From a column that is not shown to the first one that is. */
	top.wanted.by = BY_PROCESS;
	draw(10, 140);
	for (int key = KEY_LEFT; key <= KEY_RIGHT; key++) {
		top.sort = TOP_STORAGE_WAIT;
		ck_assert_int_eq(top_key(&top, key), TOP_DRAW);
		ck_assert_int_eq(top.sort, TOP_PID);
	}
	for (int key = KEY_RIGHT; key >= KEY_LEFT; key--) {
		top.sort = TOP_STATE;
		top_key(&top, key);
		ck_assert_int_eq(top.sort, key == KEY_RIGHT ? TOP_CPU : TOP_USER);
	}
	top_key(&top, KEY_LEFT);
	top_key(&top, KEY_RIGHT);
	ck_assert_int_eq(top.sort, TOP_USER);
	/* What is left behind those that are shown is none of them. */
	top.selection = (struct selection){ .columns = top_columns, .count = TOP_COLUMNS,
					    .shown = { TOP_PID, TOP_USER, TOP_STATE, TOP_CPU, TOP_READ },
					    .shown_count = 2 };
	top_key(&top, KEY_RIGHT);
	ck_assert_int_eq(top.sort, TOP_USER);
	for (int key = KEY_LEFT; key <= KEY_RIGHT; key++) {
		top.sort = TOP_IO_WAIT;
		top_key(&top, key);
		ck_assert_int_eq(top.sort, TOP_PID);
	}
}

/* The settings that keys can change, after one key. */
struct state {
	int key;
	enum top_action action;
	enum top_column sort;
	enum snapshot_by by;
	bool reverse, active, accumulated, forest, paused, help;
	int prompt;
};

static void ck_state(const struct state *state)
{
	static const struct top fresh = TOP_DEFAULT;

	top.wanted = fresh.wanted;
	top.sort = TOP_IO_WAIT;
	top.reverse = top.accumulated = top.forest = top.paused = top.help = false;
	top.prompt = TOP_NO_PROMPT;
	top.scrolled = 0;
	top.page = 2;
	top_select(&top);
	ck_assert_msg(top_key(&top, state->key) == state->action, "key %x", state->key);
	ck_assert_msg(top.sort == (state->sort ? state->sort : TOP_IO_WAIT), "key %x", state->key);
	ck_assert_msg(top.wanted.by == (state->by ? state->by : BY_PROCESS), "key %x", state->key);
	ck_assert_msg(top.reverse == state->reverse && top.wanted.filter.active == state->active &&
		      top.accumulated == state->accumulated && top.forest == state->forest,
		      "key %x", state->key);
	ck_assert_msg(top.paused == state->paused && top.help == state->help, "key %x", state->key);
	ck_assert_msg((int)top.prompt == state->prompt, "key %x", state->key);
	ck_assert_msg(!top.scrolled && !*top.note && !top.wanted.filter.has_user, "key %x", state->key);
}

/* Each key changes one thing, and nothing else. */
TEST(each_key_alone)
{
	static const struct state states[] = {
		{ .key = 'P', .sort = TOP_CPU }, { .key = 'M', .sort = TOP_RESIDENT },
		{ .key = 'T', .sort = TOP_CPU_TIME }, { .key = 'r', .reverse = true },
		{ .key = 'I', .reverse = true }, { .key = 'o', .active = true },
		{ .key = 'a', .accumulated = true }, { .key = 't', .forest = true },
		{ .key = KEY_F5, .forest = true }, { .key = 'g', .by = BY_USER },
		{ .key = ' ', .paused = true }, { .key = 'Z', .paused = true },
		{ .key = 'h', .help = true }, { .key = '?', .help = true }, { .key = KEY_F1, .help = true },
		{ .key = 'u', .prompt = TOP_ASK_USER }, { .key = '/', .prompt = TOP_ASK_NAME },
		{ .key = '\\', .prompt = TOP_ASK_NAME }, { .key = KEY_F4, .prompt = TOP_ASK_NAME },
		{ .key = 'c', .prompt = TOP_ASK_CGROUP }, { .key = 'f', .prompt = TOP_ASK_TREE },
		{ .key = KEY_LEFT, .sort = TOP_CPU_WAIT }, { .key = KEY_RIGHT, .sort = TOP_READ_RATE },
		{ .key = KEY_UP }, { .key = KEY_PAGE_UP }, { .key = KEY_HOME },
		{ .key = 'q', .action = TOP_QUIT }, { .key = KEY_F10, .action = TOP_QUIT },
		{ .key = 'x', .action = TOP_LOOK }, { .key = KEY_UNKNOWN, .action = TOP_LOOK },
		{ .key = KEY_ESCAPE, .action = TOP_LOOK }, { .key = KEY_ENTER, .action = TOP_LOOK },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		ck_state(&states[i]);
	/* Tasks are the first of what is added up. */
	for (const char *key = "pH"; *key; key++) {
		top.wanted.by = BY_PROCESS;
		ck_assert_int_eq(top_key(&top, *key), TOP_DRAW);
		ck_assert(top.wanted.by == BY_TASK && !top.forest && !top.reverse && !top.accumulated);
	}
}

/* A key that changes what is added up, whatever was added up before. */
TEST(what_is_added_up)
{
	static const struct {
		enum snapshot_by by;
		int key;
		enum snapshot_by then;
		enum top_action action;
	} cases[] = {
		{ BY_TASK, 'p', BY_PROCESS, TOP_DRAW }, { BY_PROCESS, 'p', BY_TASK, TOP_DRAW },
		{ BY_USER, 'p', BY_PROCESS, TOP_DRAW }, { BY_TASK, 'H', BY_PROCESS, TOP_DRAW },
		{ BY_PROCESS, 'H', BY_TASK, TOP_DRAW }, { BY_TASK, 'g', BY_USER, TOP_DRAW },
		{ BY_PROCESS, 'g', BY_USER, TOP_DRAW }, { BY_USER, 'g', BY_CGROUP, TOP_LOOK },
		{ BY_CGROUP, 'g', BY_COMMAND, TOP_DRAW }, { BY_COMMAND, 'g', BY_PROCESS, TOP_DRAW },
		{ BY_COMMAND, 't', BY_PROCESS, TOP_DRAW }, { BY_TASK, KEY_F5, BY_PROCESS, TOP_DRAW },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		top.wanted.by = cases[i].by;
		top.scrolled = 1;
		ck_assert_msg(top_key(&top, cases[i].key) == cases[i].action, "case %zu", i);
		ck_assert_msg(top.wanted.by == cases[i].then, "case %zu", i);
		/* Sums are others: the first one is shown. */
		ck_assert_uint_eq(top.scrolled, cases[i].key != 'g');
	}
	/* A cgroup that is wanted has to be known, whatever is added up. */
	top.wanted.filter.cgroup = "/";
	top.wanted.by = BY_CGROUP;
	ck_assert_int_eq(top_key(&top, 'g'), TOP_LOOK);
	/* The forest stays where processes come back, and is left where they were there. */
	top.forest = true;
	top.wanted.by = BY_TASK;
	top_key(&top, 't');
	ck_assert(top.forest && top.wanted.by == BY_PROCESS);
	top_key(&top, 't');
	ck_assert(!top.forest && top.wanted.by == BY_PROCESS);
}

TEST(filters_are_typed)
{
	type("/c");
	ck_assert_int_eq(top.prompt, TOP_ASK_NAME);
	top_key(&top, KEY_BACKSPACE);
	type("d\xc3\xa4");
	top_key(&top, KEY_BACKSPACE);
	ck_assert_str_eq(top.typed, "d");
	ck_assert_int_eq(top_key(&top, KEY_ENTER), TOP_DRAW);
	ck_assert_str_eq(order(), "20 21");
	/* Keys that are no characters are not typed. */
	type("/");
	for (int key = KEY_UP; key <= KEY_UNKNOWN; key++)
		ck_assert_int_eq(top_key(&top, key), TOP_DRAW);
	ck_assert_str_eq(top.typed, "");
	type("d");
	top_key(&top, KEY_ENTER);
	/* Given up, it stays; with nothing, all are shown. */
	type("\\zzz");
	top_key(&top, KEY_ESCAPE);
	ck_assert_str_eq(order(), "20 21");
	top_key(&top, KEY_F4);
	top_key(&top, KEY_ENTER);
	ck_assert_str_eq(order(), "10 11 20 21");
	type("u4294967294");
	top_key(&top, KEY_ENTER);
	ck_assert_str_eq(order(), "20 21");
	type("unobody!");
	top_key(&top, KEY_ENTER);
	ck_assert_str_eq(top.note, "no such user: 'nobody!' (a name or a number)");
	ck_assert_str_eq(order(), "20 21");
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "no such user: 'nobody!'"), 9);
	type("u");
	top_key(&top, KEY_ENTER);
	type("f10");
	top_key(&top, KEY_ENTER);
	ck_assert_str_eq(order(), "10 11 20");
	type("fx");
	top_key(&top, KEY_ENTER);
	ck_assert_str_eq(top.note, "invalid number: 'x' (that of a process)");
	ck_assert_str_eq(order(), "10 11 20");
	type("f");
	top_key(&top, KEY_ENTER);
	type("cx");
	top_key(&top, KEY_ENTER);
	ck_assert_str_eq(top.note, "invalid cgroup: 'x' (a path that begins with /)");
	type("c/x");
	ck_assert_int_eq(top_key(&top, KEY_ENTER), TOP_LOOK);
	ck_assert_str_eq(order(), "");
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "0 processes, cgroup /x, by cpu_percent"), 0);
	top.wanted.filter.active = true;
	draw(10, 140);
	ck_assert_uint_eq(seen_find(&seen, "0 processes, cgroup /x, active, by cpu_percent"), 0);
	top.wanted.filter.active = false;
	/* More than there is room for is not taken. */
	type("/");
	for (int i = 0; i < 1000; i++)
		top_key(&top, 'y');
	ck_assert_uint_eq(strlen(top.typed), TOP_TYPED_MAX);
	top_key(&top, KEY_ENTER);
	ck_assert_uint_eq(strlen(top.wanted.filter.name), TOP_TYPED_MAX);
}

TEST(rows_are_scrolled)
{
	draw(6, 140);
	ck_assert_uint_eq(top.page, 2);
	ck_assert_uint_eq(seen_find(&seen, "dd"), SEEN_ROWS);
	top_key(&top, KEY_DOWN);
	draw(6, 140);
	ck_assert_uint_eq(seen_find(&seen, "dd"), 4);
	top_key(&top, KEY_PAGE_DOWN);
	ck_assert_uint_eq(top.scrolled, 3);
	top_key(&top, KEY_PAGE_DOWN);
	ck_assert_uint_eq(top.scrolled, 3);
	top_key(&top, KEY_UP);
	ck_assert_uint_eq(top.scrolled, 2);
	top_key(&top, KEY_HOME);
	ck_assert_uint_eq(top.scrolled, 0);
	top_key(&top, KEY_UP);
	ck_assert_uint_eq(top.scrolled, 0);
	top_key(&top, KEY_END);
	ck_assert_uint_eq(top.scrolled, 2);
	/* Fewer rows: none are beyond. */
	top.wanted.filter.name = "make";
	ck_assert_str_eq(order(), "10");
	ck_assert_uint_eq(top.scrolled, 0);
}

/* Fewer tasks than rows above the first one shown: the last one is. */
TEST(scrolled_rows_that_go)
{
	struct snapshot now = { .time_ns = 9 * SECOND };

	top.scrolled = 3;
	ck_assert_str_eq(order(), "10 11 20 21");
	ck_assert_uint_eq(top.scrolled, 3);
	top.wanted.filter.active = true;
	ck_assert_str_eq(order(), "10 11 20");
	ck_assert_uint_eq(top.scrolled, 2);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	ck_assert_str_eq(order(), "");
	ck_assert_uint_eq(top.scrolled, 0);
}

/* The words of the heading. */
static const char *heading(unsigned int columns)
{
	static char text[512];
	size_t len = 0;

	draw(10, columns);
	text[0] = '\0';
	for (const char *at = seen.line[2]; *at;) {
		size_t word = strcspn(at, " ");

		if (word)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", len ? " " : "",
						(int)word, at);
		at += word + (at[word] == ' ');
	}
	return text;
}

/*
 * With two blanks between them: pid 7, user 8, state 5, cpu 7, cpu_wait 8, io_wait 7, read 11,
 * write 11, max_rss 8, cpu_time 8, command 15, together 115.
 */
TEST(narrow_terminals_have_fewer_columns)
{
#define LAST "read write max_rss cpu_time command"
	static const struct {
		unsigned int columns;
		enum top_column sort;
		const char *heading;
	} cases[] = {
		{ 400, TOP_CPU, "pid user state cpu cpu_wait io_wait " LAST },
		{ 115, TOP_CPU, "pid user state cpu cpu_wait io_wait " LAST },
		{ 114, TOP_CPU, "pid user state cpu cpu_wait io_wait read write max_rss command" },
		{ 105, TOP_CPU, "pid user state cpu cpu_wait io_wait read write max_rss command" },
		{ 104, TOP_CPU, "pid user state cpu cpu_wait io_wait read write command" },
		{ 95, TOP_CPU, "pid user state cpu cpu_wait io_wait read write command" },
		{ 94, TOP_CPU, "pid state cpu cpu_wait io_wait read write command" },
		{ 85, TOP_CPU, "pid state cpu cpu_wait io_wait read write command" },
		{ 84, TOP_CPU, "pid state cpu io_wait read write command" },
		{ 75, TOP_CPU, "pid state cpu io_wait read write command" },
		{ 74, TOP_CPU, "pid cpu io_wait read write command" },
		{ 68, TOP_CPU, "pid cpu io_wait read write command" },
		/* What it is sorted by stays. */
		{ 114, TOP_CPU_TIME, "pid user state cpu cpu_wait io_wait read write cpu_time command" },
		{ 104, TOP_RESIDENT, "pid state cpu cpu_wait io_wait read write max_rss command" },
		{ 68, TOP_USER, "pid user cpu io_wait read write command" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		top.sort = cases[i].sort;
		/* The heading of the last column may be cut. */
		ck_assert_msg(strncmp(heading(cases[i].columns), cases[i].heading,
				      strlen(heading(cases[i].columns))) == 0 &&
			      strlen(heading(cases[i].columns)) + 7 >= strlen(cases[i].heading),
			      "%u: %s", cases[i].columns, heading(cases[i].columns));
	}
	/* So does what somebody named. */
	top.sort = TOP_CPU;
	heading(400);
	top.named = true;
	ck_assert_str_eq(heading(400), "pid user state cpu cpu_wait io_wait " LAST);
	draw(10, 68);
	ck_assert_uint_eq(top.selection.shown_count, 11);
}

/* A line is cut after so many characters, not bytes. */
TEST(characters_of_several_bytes_are_whole)
{
	const char name[] = "\xc3\xa5\xe2\x82\xad\xf0\x9f\x98\x81" "e\xc3\xa5\xc3\xa5";
	struct snapshot now = { .time_ns = 4 * SECOND };
	size_t cut[] = { 0, 2, 5, 9, 10, 12, 14, 14 };

	put(&now, 10, 1, name, 5 * SECOND + SECOND / 2, 0);
	put_processes(&now);
	ck_assert_int_eq(top_take(&top, &now), 0);
	top.named = true;
	top.selection = (struct selection){ .columns = top_columns, .count = TOP_COLUMNS,
					    .shown = { TOP_PID, TOP_COMMAND }, .shown_count = 2 };
	for (unsigned int i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		draw(10, 9 + i);
		ck_assert_uint_eq(strlen(seen.line[3]), 9 + cut[i]);
		ck_assert_mem_eq(seen.line[3], "     10  ", 9);
		ck_assert_mem_eq(seen.line[3] + 9, name, cut[i]);
	}
}

/* However long the typed word is, and whatever storage its line takes. */
TEST(typed_words_of_each_length)
{
	char expected[400] = "text in the name (nothing for all): ";
	size_t len = strlen(expected);

	type("/");
	for (; top.typed_len < TOP_TYPED_MAX; len++) {
		type("y");
		snprintf(expected + len, sizeof(expected) - len, "y_");
		draw(6, 400);
		ck_assert_str_eq(seen.line[5], expected);
	}
	type("yy");
	draw(6, 400);
	ck_assert_str_eq(seen.line[5], expected);
	/* A new question begins with nothing. */
	top_key(&top, KEY_ESCAPE);
	type("/");
	draw(6, 400);
	ck_assert_str_eq(seen.line[5], "text in the name (nothing for all): _");
	type("a");
	ck_assert_str_eq(top.typed, "a");
}

TEST(few_lines_have_no_rows)
{
	static const char *const keys =
		"q quit  h help  left/right sort  r reverse  o active  u user  / name  space pause";

	for (unsigned int rows = 1; rows < 9; rows++) {
		draw(rows, 140);
		ck_assert_uint_eq(top.page, rows > 4 ? rows - 4 : 0);
		/* Two lines of the title, the heading, the last line; of these what there is room for. */
		ck_assert_uint_eq(seen_find(&seen, keys), rows < 4 ? SEEN_ROWS : rows - 1);
		ck_assert_uint_eq(seen_find(&seen, "cpu_wait"), rows < 3 ? SEEN_ROWS : 2);
		ck_assert_uint_eq(seen_find(&seen, "make"), rows < 5 ? SEEN_ROWS : 3);
		ck_assert_uint_eq(seen_find(&seen, "cc1"), rows < 6 ? SEEN_ROWS : 4);
		ck_assert_uint_eq(seen_find(&seen, "idle"), rows < 8 ? SEEN_ROWS : 6);
		top.help = true;
		draw(rows, 140);
		ck_assert_uint_eq(seen_find(&seen, "any key: back"), rows < 3 ? SEEN_ROWS : rows - 1);
		ck_assert_uint_eq(seen_find(&seen, "q  F10       quit"), rows < 4 ? SEEN_ROWS : 2);
		ck_assert_uint_eq(seen_find(&seen, "cpu_wait"), SEEN_ROWS);
		top.help = false;
	}
}

TEST(help_lists_the_keys)
{
	static const int keys[] = { 'h', '?', KEY_F1 };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		ck_assert_int_eq(top_key(&top, keys[i]), TOP_DRAW);
		ck_assert(top.help);
		draw(24, 80);
		ck_assert_str_eq(seen.line[2], "q  F10       quit");
		ck_assert_str_eq(seen.line[18], "h  ?  F1     this list; any other key: look again now");
		ck_assert_str_eq(seen.line[19], "");
		ck_assert_int_eq(top_key(&top, KEY_LEFT), TOP_DRAW);
		ck_assert(!top.help && top.sort == TOP_CPU);
	}
	top_key(&top, 'h');
	ck_assert_int_eq(top_key(&top, KEY_F10), TOP_QUIT);
	top_key(&top, 'h');
	draw(24, 80);
	ck_assert_uint_lt(seen_find(&seen, "only a process, and all processes below it"), SEEN_ROWS);
	ck_assert_uint_eq(seen_find(&seen, "make"), SEEN_ROWS);
	ck_assert_int_eq(top_key(&top, 'o'), TOP_DRAW);
	ck_assert(!top.help && !top.wanted.filter.active);
	top_key(&top, '?');
	ck_assert_int_eq(top_key(&top, 'q'), TOP_QUIT);
}

static int pressed[16];
static size_t pressed_count;

static void press(void *context, int key)
{
	(void)context;
	ck_assert_uint_lt(pressed_count, 16);
	pressed[pressed_count++] = key;
}

/* Keys are NULL-ended by 0. */
static void ck_keys(const char *bytes, size_t count, const int *keys)
{
	struct keys state = { 0 };

	pressed_count = 0;
	keys_take(&state, (const unsigned char *)bytes, count, press, NULL);
	for (size_t i = 0; keys[i] || pressed_count > i; i++)
		ck_assert_msg(i < pressed_count && pressed[i] == keys[i], "%s: key %zu", bytes + 1, i);
	/* Byte by byte the same, but for an escape, which ends what was read. */
	if (memchr(bytes, KEY_ESCAPE, count))
		return;
	pressed_count = 0;
	for (size_t i = 0; i < count; i++)
		keys_take(&state, (const unsigned char *)bytes + i, 1, press, NULL);
	for (size_t i = 0; keys[i]; i++)
		ck_assert_int_eq(pressed[i], keys[i]);
}

#define CK_KEYS(bytes, ...) ck_keys(bytes, sizeof(bytes) - 1, (const int[]){ __VA_ARGS__, 0 })

TEST(keys_of_terminals)
{
	struct keys state = { 0 };

	CK_KEYS("q", 'q');
	CK_KEYS("a\r\n\b\177", 'a', KEY_ENTER, KEY_ENTER, KEY_BACKSPACE, KEY_BACKSPACE);
	CK_KEYS("\033[A\033[B\033[C\033[D", KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT);
	CK_KEYS("\033OA\033OB\033OC\033OD", KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT);
	CK_KEYS("\033[5~\033[6~", KEY_PAGE_UP, KEY_PAGE_DOWN);
	CK_KEYS("\033[H\033[F\033[1~\033[4~\033[7~\033[8~", KEY_HOME, KEY_END, KEY_HOME, KEY_END,
		KEY_HOME, KEY_END);
	CK_KEYS("\033OP\033OS\033[11~\033[14~\033[15~\033[21~", KEY_F1, KEY_F4, KEY_F1, KEY_F4,
		KEY_F5, KEY_F10);
	CK_KEYS("\033", KEY_ESCAPE);
	CK_KEYS("\033x", KEY_UNKNOWN);
	CK_KEYS("\033[1;5Cz", KEY_UNKNOWN, 'z');
	CK_KEYS("\033[3~\033OQ", KEY_UNKNOWN, KEY_UNKNOWN);
	CK_KEYS("\033[99999999999999999999999~z", KEY_UNKNOWN, 'z');
	CK_KEYS("\xc3\xa4", 0xc3, 0xa4);
	/* Digits of either end count: 10 is not 1, nor is 19. */
	CK_KEYS("\033[10~\033[19~\033[01~", KEY_UNKNOWN, KEY_UNKNOWN, KEY_HOME);
	/* 5 and 6, if a number began again at 2 to the power of 32. */
	CK_KEYS("\033[4294967301~\033[4294967302~z", KEY_UNKNOWN, KEY_UNKNOWN, 'z');
	/* A sequence ends with '@' to '~'; what is before and after these is in it. */
	CK_KEYS("\033[@z\033[?z\033[1\177~", KEY_UNKNOWN, 'z', KEY_UNKNOWN, KEY_HOME);
	/* A sequence knows nothing of the one before. */
	CK_KEYS("\033[1;5C\033[C\033[5~\033[~\033[6~", KEY_UNKNOWN, KEY_RIGHT, KEY_PAGE_UP, KEY_UNKNOWN,
		KEY_PAGE_DOWN);
	/* In parts. */
	pressed_count = 0;
	keys_take(&state, (const unsigned char *)"\033[", 2, press, NULL);
	keys_take(&state, (const unsigned char *)"2", 1, press, NULL);
	keys_take(&state, (const unsigned char *)"1~", 2, press, NULL);
	ck_assert_uint_eq(pressed_count, 1);
	ck_assert_int_eq(pressed[0], KEY_F10);
	/* An escape alone begins nothing, neither does what is empty end it. */
	pressed_count = 0;
	keys_take(&state, (const unsigned char *)"\033", 1, press, NULL);
	keys_take(&state, (const unsigned char *)"x", 1, press, NULL);
	keys_take(&state, (const unsigned char *)"", 0, press, NULL);
	ck_assert_uint_eq(pressed_count, 2);
	ck_assert_int_eq(pressed[0], KEY_ESCAPE);
	ck_assert_int_eq(pressed[1], 'x');
}
