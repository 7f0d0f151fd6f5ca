/* SPDX-License-Identifier: MIT */
/* Tasks at two times: what they did between, which are wanted, sums, orders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "proc.h"
#include "said.h"
#include "snapshot_made.h"
#include "unit_test.h"
#include "wanted.h"

static struct snapshot before, now, made;

static void stop(void)
{
	snapshot_free(&before);
	snapshot_free(&now);
	snapshot_free(&made);
}

CASE("snapshots", NULL, stop);

/* A task of a process, with CPU time, of user 10 * process. */
static struct snapshot_task *put(struct snapshot *snapshot, uint32_t id, uint32_t process,
				 const char *comm, uint64_t cpu)
{
	struct snapshot_task *task = put_task(snapshot, id, 1, comm);

	task->process = process;
	task->begin = 5;
	task->record.stats.has_comm = true;
	set(&task->record.stats, STATS_CPU_RUN_VIRTUAL, cpu);
	set(&task->record.stats, STATS_UID, 10 * process);
	return task;
}

static uint64_t cpu(const struct snapshot_task *task)
{
	return task->record.stats.value[STATS_CPU_RUN_VIRTUAL];
}

/* The numbers, in order, as text until the next call. */
static const char *numbers(const struct snapshot *snapshot)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < snapshot->count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? " " : "",
					snapshot->tasks[i].record.id);
	return text;
}

TEST(difference_of_two_times)
{
	struct snapshot_task *task;

	put(&before, 3, 3, "sh", 100);
	put(&before, 7, 7, "sh", 1000);
	put(&before, 9, 9, "gone", 5);
	set(&before.tasks[0].record.stats, STATS_HIWATER_RSS, 40);
	set(&before.tasks[0].record.stats, STATS_READ_BYTES, 4096);
	task = put(&now, 7, 7, "sh", 1250);
	/* Another one has the number. */
	task->begin = 6;
	put(&now, 11, 11, "new", 30);
	task = put(&now, 3, 3, "sh", 150);
	set(&task->record.stats, STATS_HIWATER_RSS, 50);
	/* It cannot have read less than it had. */
	set(&task->record.stats, STATS_READ_BYTES, 1024);
	now.time_ns = 77;
	snapshot_sort(&before);
	snapshot_sort(&now);
	ck_assert_int_eq(snapshot_since(&made, &before, &now), 0);
	ck_assert_str_eq(numbers(&made), "3 7 11");
	ck_assert_uint_eq(made.time_ns, 77);
	ck_assert_uint_eq(cpu(&made.tasks[0]), 50);
	ck_assert_uint_eq(cpu(&made.tasks[1]), 1250);
	ck_assert_uint_eq(cpu(&made.tasks[2]), 30);
	/* The most is no sum. */
	ck_assert_uint_eq(made.tasks[0].record.stats.value[STATS_HIWATER_RSS], 50);
	ck_assert(!made.tasks[0].record.stats.present[STATS_READ_BYTES]);
	ck_assert_uint_eq(made.tasks[0].record.stats.value[STATS_READ_BYTES], 0);
	ck_assert_uint_eq(made.tasks[0].record.stats.value[STATS_UID], 30);
}

TEST(difference_tells_what_went_back)
{
	struct stats a = { 0 }, b = { 0 }, since;

	set(&a, STATS_NVCSW, 4);
	set(&b, STATS_NVCSW, 4);
	ck_assert(stats_since(&since, &a, &b));
	ck_assert(since.present[STATS_NVCSW] && !stats_is_active(&since));
	set(&b, STATS_NVCSW, 5);
	ck_assert(stats_since(&since, &a, &b) && stats_is_active(&since));
	set(&b, STATS_NVCSW, 3);
	ck_assert(!stats_since(&since, &a, &b) && !stats_is_active(&since));
	b.present[STATS_NVCSW] = false;
	ck_assert(!stats_since(&since, &a, &b));
	/* What is no sum is no activity. */
	set(&since, STATS_ETIME, 9);
	set(&since, STATS_HIWATER_RSS, 9);
	ck_assert(!stats_is_active(&since));
}

TEST(sums_by_process)
{
	put(&now, 21, 20, "worker", 7)->state = 'R';
	put(&now, 20, 20, "main", 5)->parent = 4;
	put(&now, 22, 20, "worker", 1)->state = 'D';
	put(&now, 30, 30, "alone", 2);
	now.tasks[1].cgroup = strdup("/of/main");
	now.time_ns = 3;
	snapshot_sort(&now);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_PROCESS), 0);
	ck_assert_str_eq(numbers(&made), "20 30");
	ck_assert_uint_eq(cpu(&made.tasks[0]), 13);
	ck_assert_uint_eq(made.tasks[0].record.tasks, 3);
	ck_assert_int_eq(made.tasks[0].record.kind, STATS_PROCESS);
	ck_assert_str_eq(made.tasks[0].record.stats.comm, "main");
	ck_assert_str_eq(made.tasks[0].cgroup, "/of/main");
	ck_assert_uint_eq(made.tasks[0].parent, 4);
	ck_assert_int_eq(made.tasks[0].state, 'R');
	ck_assert_uint_eq(made.tasks[0].record.stats.value[STATS_UID], 200);
	ck_assert_uint_eq(made.tasks[1].record.tasks, 1);
	ck_assert_uint_eq(made.time_ns, 3);
}

TEST(sums_by_user_cgroup_and_command)
{
	put(&now, 1, 1, "a", 1)->cgroup = strdup("/x");
	put(&now, 2, 2, "b", 2)->cgroup = strdup("/x/y");
	put(&now, 3, 1, "ab", 4)->cgroup = strdup("/x");
	put(&now, 4, 2, "a", 8);
	snapshot_sort(&now);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_USER), 0);
	ck_assert_uint_eq(made.count, 2);
	ck_assert_str_eq(made.tasks[0].name, "10");
	ck_assert_uint_eq(cpu(&made.tasks[0]), 5);
	ck_assert_str_eq(made.tasks[1].name, "20");
	ck_assert_uint_eq(cpu(&made.tasks[1]), 10);
	ck_assert_uint_eq(made.tasks[1].record.stats.value[STATS_UID], 20);
	snapshot_free(&made);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_CGROUP), 0);
	ck_assert_uint_eq(made.count, 3);
	/* One whose cgroup is not known is a sum of its own, without a name. */
	ck_assert_ptr_null(made.tasks[0].name);
	ck_assert_uint_eq(cpu(&made.tasks[0]), 8);
	ck_assert_str_eq(made.tasks[1].name, "/x");
	ck_assert_uint_eq(cpu(&made.tasks[1]), 5);
	ck_assert_str_eq(made.tasks[2].name, "/x/y");
	snapshot_free(&made);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_COMMAND), 0);
	ck_assert_uint_eq(made.count, 3);
	ck_assert_str_eq(made.tasks[0].record.stats.comm, "a");
	ck_assert_uint_eq(cpu(&made.tasks[0]), 9);
	ck_assert_uint_eq(made.tasks[0].record.tasks, 2);
	ck_assert_str_eq(made.tasks[1].record.stats.comm, "ab");
	ck_assert_str_eq(made.tasks[2].record.stats.comm, "b");
	snapshot_free(&made);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_TASK), 0);
	ck_assert_str_eq(numbers(&made), "1 2 3 4");
	snapshot_free(&now);
	snapshot_free(&made);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_USER), 0);
	ck_assert_uint_eq(made.count, 0);
}

TEST(many_tasks)
{
	for (uint32_t id = 1000; id; id--)
		put(&now, id, 1 + id % 2, "x", id);
	snapshot_sort(&now);
	ck_assert_uint_eq(now.count, 1000);
	for (uint32_t id = 1; id <= 1000; id++) {
		ck_assert_ptr_eq(snapshot_find(&now, STATS_TASK, id), &now.tasks[id - 1]);
		ck_assert_uint_eq(now.tasks[id - 1].record.id, id);
	}
	ck_assert_ptr_null(snapshot_find(&now, STATS_TASK, 0));
	ck_assert_ptr_null(snapshot_find(&now, STATS_TASK, 1001));
	ck_assert_ptr_null(snapshot_find(&now, STATS_PROCESS, 1));
	ck_assert_ptr_null(snapshot_find(&made, STATS_TASK, 1));
	snapshot_sort(&made);
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_PROCESS), 0);
	ck_assert_str_eq(numbers(&made), "1 2");
	ck_assert_uint_eq(made.tasks[0].record.tasks, 500);
	/* The even ones, and the odd ones, as Gauss has them. */
	ck_assert_uint_eq(cpu(&made.tasks[0]), 250500);
	ck_assert_uint_eq(cpu(&made.tasks[1]), 250000);
}

/* Tasks and processes may have the same numbers: tasks come first. */
TEST(kinds_and_numbers)
{
	put(&now, 9, 9, "x", 1)->record.kind = STATS_PROCESS;
	put(&now, 7, 7, "x", 2)->record.kind = STATS_PROCESS;
	put(&now, 9, 9, "x", 3);
	put(&now, 8, 8, "x", 4);
	snapshot_sort(&now);
	ck_assert_str_eq(numbers(&now), "8 9 7 9");
	ck_assert_uint_eq(cpu(snapshot_find(&now, STATS_TASK, 9)), 3);
	ck_assert_uint_eq(cpu(snapshot_find(&now, STATS_PROCESS, 9)), 1);
	ck_assert_ptr_null(snapshot_find(&now, STATS_TASK, 7));
	ck_assert_ptr_null(snapshot_find(&now, STATS_PROCESS, 8));
}

/* Values of the whole process come from its first task, wherever that is. */
TEST(a_process_is_as_its_first_task)
{
	for (uint32_t id = 19; id <= 21; id++) {
		struct snapshot_task *task = put(&now, id, 20, id == 20 ? "main" : "worker", 1);

		set(&task->record.stats, STATS_UID, id);
		set(&task->record.stats, STATS_GID, 100 + id);
		set(&task->record.stats, STATS_NICE, 200 + id);
		set(&task->record.stats, STATS_PPID, 300 + id);
		task->record.stats.has_comm = id == 20;
		task->record.has_elapsed = id == 20;
		task->record.elapsed_us = 400 + id;
		task->begin = 500 + id;
		task->parent = 600 + id;
		task->cpu_ns = id;
	}
	for (int gone = 0; gone < 2; gone++) {
		const struct snapshot_task *sum;
		uint32_t first = gone ? 19 : 20;

		ck_assert_int_eq(snapshot_sums(&made, &now, BY_PROCESS), 0);
		ck_assert_str_eq(numbers(&made), "20");
		sum = &made.tasks[0];
		ck_assert(sum->process == 20 && sum->record.kind == STATS_PROCESS);
		ck_assert_uint_eq(sum->record.stats.value[STATS_UID], first);
		ck_assert_uint_eq(sum->record.stats.value[STATS_GID], 100 + first);
		ck_assert_uint_eq(sum->record.stats.value[STATS_NICE], 200 + first);
		ck_assert_uint_eq(sum->record.stats.value[STATS_PPID], 300 + first);
		ck_assert(sum->record.stats.present[STATS_UID] && sum->record.stats.present[STATS_PPID]);
		ck_assert(sum->record.stats.has_comm == !gone && sum->record.has_elapsed == !gone);
		ck_assert_uint_eq(sum->record.elapsed_us, 400 + first);
		ck_assert_uint_eq(sum->begin, 500 + first);
		ck_assert_uint_eq(sum->parent, 600 + first);
		ck_assert_uint_eq(sum->record.stats.comm_len, strlen(gone ? "worker" : "main"));
		ck_assert_uint_eq(sum->cpu_ns, gone ? 40 : 60);
		snapshot_free(&made);
		/* Without it, the first one that there is. */
		now.tasks[1] = now.tasks[2];
		now.count = 2;
	}
}

/* The more telling of two tasks' states wins; an unknown one says nothing. */
TEST(states_of_a_process)
{
	static const char states[] = "RDSIWtTZX?";
	const size_t count = sizeof(states);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			/* The last one has none. */
			char wanted = states[i < j ? i : j];

			put(&now, 5, 5, "x", 1)->state = states[i];
			put(&now, 6, 5, "x", 1)->state = states[j];
			ck_assert_int_eq(snapshot_sums(&made, &now, BY_PROCESS), 0);
			if (i >= count - 2 && j >= count - 2)
				wanted = states[j];
			ck_assert_msg(made.tasks[0].state == wanted, "%c, %c: %c", states[i], states[j],
				      made.tasks[0].state);
			stop();
		}
	}
}

/* Copies are not what they were copied from. */
TEST(copies_own_what_they_have)
{
	put(&before, 1, 1, "a", 1)->cgroup = strdup("/x");
	put(&before, 2, 2, "b", 1);
	ck_assert_int_eq(snapshot_sums(&now, &before, BY_USER), 0);
	for (enum stats_kind kind = STATS_USER; kind <= STATS_CGROUP; kind++) {
		ck_assert_int_eq(snapshot_sums(&made, &now, BY_TASK), 0);
		ck_assert_uint_eq(made.count, now.count);
		for (size_t i = 0; i < made.count; i++) {
			ck_assert_int_eq(made.tasks[i].record.kind, kind);
			ck_assert(!made.tasks[i].name == !now.tasks[i].name);
			if (!made.tasks[i].name)
				continue;
			ck_assert_str_eq(made.tasks[i].name, now.tasks[i].name);
			ck_assert_ptr_ne(made.tasks[i].name, now.tasks[i].name);
		}
		snapshot_free(&made);
		snapshot_free(&now);
		ck_assert_int_eq(snapshot_sums(&now, &before, BY_CGROUP), 0);
	}
	ck_assert_str_eq(now.tasks[1].cgroup, "/x");
	snapshot_free(&now);
	ck_assert_int_eq(snapshot_sums(&now, &before, BY_COMMAND), 0);
	ck_assert(now.tasks[0].record.kind == STATS_COMMAND && now.tasks[1].record.stats.has_comm);
}

/* 1 is above 10, 20 and 30; 20 above 21, and that above 22; 23 is a thread of 20. */
static void family(void)
{
	static const uint32_t parents[][3] = {
		{ 1, 1, 0 }, { 10, 10, 1 }, { 20, 20, 1 }, { 21, 21, 20 }, { 22, 22, 21 },
		{ 23, 20, 1 }, { 30, 30, 1 },
	};

	snapshot_free(&now);
	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++)
		put(&now, parents[i][0], parents[i][1], "x", 100 - parents[i][0])->parent =
			parents[i][2];
	snapshot_sort(&now);
}

static const char *wanted(struct filter filter)
{
	family();
	now.tasks[3].cgroup = strdup("/user.slice/a");
	now.tasks[4].cgroup = strdup("/user.slice");
	now.tasks[5].cgroup = strdup("/user.slices");
	set(&now.tasks[0].record.stats, STATS_CPU_RUN_VIRTUAL, 0);
	memcpy(now.tasks[6].record.stats.comm, "\0\033[2J", 6);
	now.tasks[6].record.stats.comm_len = 5;
	now.tasks[4].depth = 7;
	now.tasks[6].record.stats.present[STATS_UID] = false;
	snapshot_filter(&now, &filter);
	/* How deep they are is not known after that. */
	for (size_t i = 0; i < now.count; i++)
		ck_assert_uint_eq(now.tasks[i].depth, 0);
	return numbers(&now);
}

TEST(filters)
{
	ck_assert_str_eq(wanted((struct filter){ 0 }), "1 10 20 21 22 23 30");
	ck_assert_str_eq(wanted((struct filter){ .pids = { 30, 20 }, .pid_count = 2 }), "20 30");
	ck_assert_str_eq(wanted((struct filter){ .pids = { 2 }, .pid_count = 1 }), "");
	ck_assert_str_eq(wanted((struct filter){ .pids = { 30, 21 }, .pid_count = 2, .tree = 20 }),
			 "21");
	ck_assert_str_eq(wanted((struct filter){ .tree = 20 }), "20 21 22 23");
	ck_assert_str_eq(wanted((struct filter){ .tree = 22 }), "22");
	ck_assert_str_eq(wanted((struct filter){ .tree = 1 }), "1 10 20 21 22 23 30");
	ck_assert_str_eq(wanted((struct filter){ .tree = 2 }), "");
	/* A thread is no process. */
	ck_assert_str_eq(wanted((struct filter){ .tree = 23 }), "");
	ck_assert_str_eq(wanted((struct filter){ .has_user = true, .user = 200 }), "20 23");
	ck_assert_str_eq(wanted((struct filter){ .has_user = true }), "");
	ck_assert_str_eq(wanted((struct filter){ .has_user = true, .user = 300 }), "");
	ck_assert_str_eq(wanted((struct filter){ .name = "x" }), "1 10 20 21 22 23");
	ck_assert_str_eq(wanted((struct filter){ .name = "[2" }), "30");
	ck_assert_str_eq(wanted((struct filter){ .name = "xx" }), "");
	ck_assert_str_eq(wanted((struct filter){ .cgroup = "/user.slice" }), "21 22");
	ck_assert_str_eq(wanted((struct filter){ .cgroup = "/user.slice/" }), "21 22");
	ck_assert_str_eq(wanted((struct filter){ .cgroup = "/" }), "21 22 23");
	ck_assert_str_eq(wanted((struct filter){ .cgroup = "/user.slice//" }), "21 22");
	ck_assert_str_eq(wanted((struct filter){ .cgroup = "/user" }), "");
	ck_assert_str_eq(wanted((struct filter){ .active = true }), "10 20 21 22 23 30");
	ck_assert_str_eq(wanted((struct filter){ .tree = 20, .cgroup = "/user.slice/a" }), "21");
}

/* Sorts by the most first; @context: a flag that reverses the order. */
static int most_first(const struct snapshot_task *a, const struct snapshot_task *b,
		      const void *context)
{
	int order = (cpu(a) < cpu(b)) - (cpu(a) > cpu(b));

	return *(const bool *)context ? -order : order;
}

/* A process, and so many more, each below the one before; the last one first. */
static void chain(uint32_t more)
{
	for (uint32_t id = more + 1; id; id--)
		put(&now, id, id, "x", id)->parent = id - 1;
	snapshot_sort(&now);
}

/* So many processes above each other are believed, and more are not. */
TEST(depth_of_parents)
{
	const bool straight = false;
	char last[16];

	chain(1000);
	snapshot_filter(&now, &(struct filter){ .tree = 1 });
	ck_assert_uint_eq(now.count, 1000);
	ck_assert_ptr_null(snapshot_find(&now, STATS_TASK, 1001));
	for (uint32_t more = 1000; more <= 1001; more++) {
		stop();
		chain(more);
		ck_assert_int_eq(snapshot_order_tree(&now, most_first, &straight), 0);
		snprintf(last, sizeof(last), "%u", now.tasks[more].record.id);
		/* A tree begins with the first one, the order with the one with the most. */
		ck_assert_str_eq(last, more == 1000 ? "1001" : "1");
		ck_assert_uint_eq(now.tasks[more].depth, more == 1000 ? 1000 : 0);
		ck_assert_uint_eq(now.tasks[0].record.id, more == 1000 ? 1 : 1002);
	}
}

TEST(a_circle_of_parents_ends)
{
	put(&now, 5, 5, "x", 1)->parent = 6;
	put(&now, 6, 6, "x", 1)->parent = 5;
	snapshot_sort(&now);
	snapshot_filter(&now, &(struct filter){ .tree = 7 });
	ck_assert_uint_eq(now.count, 0);
}

TEST(filters_choose_what_is_added_up)
{
	family();
	put_processes(&now);
	ck_assert_int_eq(snapshot_choose(&made, &now, &(struct filter){ .tree = 20 }, BY_COMMAND), 0);
	ck_assert_uint_eq(made.count, 1);
	ck_assert_uint_eq(cpu(&made.tasks[0]), 80 + 79 + 78 + 77);
	snapshot_free(&made);
	/* Of processes the first task says what they are called, and who is below whom. */
	family();
	memcpy(now.tasks[5].record.stats.comm, "y", 2);
	put_processes(&now);
	ck_assert_int_eq(snapshot_choose(&made, &now, &(struct filter){ .name = "x", .tree = 20 },
					 BY_PROCESS), 0);
	ck_assert_str_eq(numbers(&made), "20 21 22");
	ck_assert_uint_eq(cpu(&made.tasks[0]), 80 + 77);
	snapshot_free(&made);
	/* One thread that did something is enough. */
	family();
	set(&now.tasks[2].record.stats, STATS_CPU_RUN_VIRTUAL, 0);
	set(&now.tasks[3].record.stats, STATS_CPU_RUN_VIRTUAL, 0);
	put_processes(&now);
	ck_assert_int_eq(snapshot_choose(&made, &now, &(struct filter){ .active = true },
					 BY_PROCESS), 0);
	ck_assert_str_eq(numbers(&made), "1 10 20 22 30");
	snapshot_free(&made);
	family();
	set(&now.tasks[2].record.stats, STATS_CPU_RUN_VIRTUAL, 0);
	set(&now.tasks[3].record.stats, STATS_CPU_RUN_VIRTUAL, 0);
	put_processes(&now);
	ck_assert_int_eq(snapshot_choose(&made, &now, &(struct filter){ .active = true }, BY_USER), 0);
	ck_assert_uint_eq(made.count, 5);
	snapshot_free(&made);
	family();
	set(&now.tasks[2].record.stats, STATS_CPU_RUN_VIRTUAL, 0);
	ck_assert_int_eq(snapshot_choose(&made, &now, &(struct filter){ .active = true }, BY_TASK), 0);
	ck_assert_str_eq(numbers(&made), "1 10 21 22 23 30");
}

TEST(orders)
{
	const bool straight = false, reverse = true;

	put(&now, 4, 4, "x", 10);
	put(&now, 2, 2, "x", 30);
	put(&now, 3, 3, "x", 10);
	snapshot_order(&now, most_first, &straight);
	ck_assert_str_eq(numbers(&now), "2 3 4");
	snapshot_order(&now, most_first, &reverse);
	ck_assert_str_eq(numbers(&now), "3 4 2");
}

static const char *depths(const struct snapshot *snapshot)
{
	static char text[64];

	for (size_t i = 0; i < snapshot->count; i++)
		text[i] = (char)('0' + snapshot->tasks[i].depth);
	text[snapshot->count] = '\0';
	return text;
}

TEST(order_of_a_tree)
{
	const bool straight = false, reverse = true;

	family();
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_PROCESS), 0);
	ck_assert_int_eq(snapshot_order_tree(&made, most_first, &straight), 0);
	/* 20 has 80 and its thread's 77. */
	ck_assert_str_eq(numbers(&made), "1 20 21 22 10 30");
	ck_assert_str_eq(depths(&made), "012311");
	ck_assert_int_eq(snapshot_order_tree(&made, most_first, &reverse), 0);
	ck_assert_str_eq(numbers(&made), "1 30 10 20 21 22");
	ck_assert_str_eq(depths(&made), "011123");
	/* Without their parent they are at the top. */
	snapshot_sort(&made);
	snapshot_filter(&made, &(struct filter){ .tree = 20 });
	ck_assert_int_eq(snapshot_order_tree(&made, most_first, &straight), 0);
	ck_assert_str_eq(numbers(&made), "20 21 22");
	ck_assert_str_eq(depths(&made), "012");
	snapshot_free(&made);
	ck_assert_int_eq(snapshot_order_tree(&made, most_first, &straight), 0);
	/* A circle is sorted, and has no depths. */
	snapshot_free(&now);
	put(&now, 5, 5, "x", 1)->parent = 6;
	put(&now, 6, 6, "x", 2)->parent = 5;
	ck_assert_int_eq(snapshot_sums(&made, &now, BY_PROCESS), 0);
	ck_assert_int_eq(snapshot_order_tree(&made, most_first, &straight), 0);
	ck_assert_str_eq(numbers(&made), "6 5");
	ck_assert_str_eq(depths(&made), "00");
}

static const char *cgroup_of(const char *text)
{
	static char path[64];
	size_t len;
	const char *found = proc_parse_cgroup(text, strlen(text), &len);

	if (!found)
		return NULL;
	snprintf(path, sizeof(path), "%.*s", (int)len, found);
	return path;
}

TEST(cgroup_of_a_task)
{
	ck_assert_str_eq(cgroup_of("0::/user.slice/a\n"), "/user.slice/a");
	ck_assert_str_eq(cgroup_of("0::/"), "/");
	ck_assert_str_eq(cgroup_of("4:memory:/m\n1:name=systemd:/s\n0::/\n"), "/m");
	ck_assert_str_eq(cgroup_of("4:memory:/\n1:name=systemd:/s\n0::/u\n"), "/u");
	ck_assert_str_eq(cgroup_of("4:memory:/\n0::/\n"), "/");
	ck_assert_str_eq(cgroup_of("0::/with:colon (deleted)\n"), "/with:colon (deleted)");
	ck_assert_ptr_null(cgroup_of(""));
	ck_assert_ptr_null(cgroup_of("0::\n"));
	ck_assert_ptr_null(cgroup_of("nonsense\n:\n"));
}

/* Sets @options by one option. */
static error_t parse(unsigned int flags, const char *word, struct wanted *options)
{
	static const struct option_part parts[] = { { &wanted_options, 0, .group = 1 }, { 0 } };
	static const struct command_line line = { .parts = parts };
	static char name[] = "get", value[64];
	char *argv[] = { name, value, NULL };

	snprintf(value, sizeof(value), "%s", word);
	return command_line_parse(&line, flags, *word ? 2 : 1, argv, options);
}

/* @sentence: NULL if the word is taken. */
static void ck_refused(const char *word, const char *sentence)
{
	struct wanted options = { .by = BY_TASK };
	struct said said = said_begin(2);
	const char *text;
	int status;
	pid_t child = fork();

	if (!child) {
		argp_err_exit_status = 2;
		_exit(parse(0, word, &options) || !options.given);
	}
	waitpid(child, &status, 0);
	text = said_end(&said);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == (sentence ? 2 : 0), "%s", word);
	ck_assert_msg(sentence ? strstr(text, sentence) != NULL : !*text, "%s: %s", word, text);
}

TEST(options_that_choose)
{
	ck_refused("--user=nonsense!", "no such user: 'nonsense!' (a name or a number)");
	ck_refused("--user=4294967296", "no such user: '4294967296'");
	ck_refused("--user=4294967295", NULL);
	ck_refused("--user=root", NULL);
	ck_refused("--tree=0", "invalid --tree: '0' (the number of a process)");
	ck_refused("--cgroup=user.slice", "invalid --cgroup: 'user.slice' (a path that begins with /)");
	ck_refused("--by=colour", "invalid --by: 'colour' (task, process, user, cgroup or command)");
	ck_refused("--by=cgroup", NULL);
	ck_assert_str_eq(wanted_user_name(0), "root");
	ck_assert_str_eq(wanted_user_name(4294967294), "4294967294");
	ck_assert_str_eq(wanted_user_name(0), "root");
	ck_assert(wanted_cgroups(&(struct wanted){ .by = BY_CGROUP }));
	ck_assert(wanted_cgroups(&(struct wanted){ .filter = { .cgroup = "/" } }));
	ck_assert(!wanted_cgroups(&(struct wanted){ .by = BY_USER }));
}

TEST(each_option_sets_its_own)
{
	static const struct {
		const char *word;
		enum snapshot_by by;
	} words[] = {
		{ "--by=task", BY_TASK }, { "--by=process", BY_PROCESS }, { "--by=user", BY_USER },
		{ "--by=cgroup", BY_CGROUP }, { "--by=command", BY_COMMAND },
	};
	struct wanted options;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		options = (struct wanted){ .by = i ? BY_TASK : BY_COMMAND };
		ck_assert_int_eq(parse(0, words[i].word, &options), 0);
		ck_assert_int_eq(options.by, words[i].by);
		ck_assert(options.given && !options.filter.active && !options.filter.has_user);
	}
	options = (struct wanted){ .by = BY_USER };
	ck_assert_int_eq(parse(0, "", &options), 0);
	ck_assert(!options.given && options.by == BY_USER);
	ck_assert_int_eq(parse(0, "--active", &options), 0);
	ck_assert(options.given && options.filter.active);
	ck_assert_int_eq(parse(0, "--user=4294967293", &options), 0);
	ck_assert(options.filter.has_user && options.filter.user == 4294967293);
	ck_assert_int_eq(parse(0, "--user=root", &options), 0);
	ck_assert(options.filter.has_user && options.filter.user == 0);
	ck_assert_int_eq(parse(0, "--tree=4294967295", &options), 0);
	ck_assert_uint_eq(options.filter.tree, 4294967295);
	ck_assert_int_eq(parse(0, "--tree=1", &options), 0);
	ck_assert_uint_eq(options.filter.tree, 1);
	ck_assert_int_eq(parse(0, "--name=sh", &options), 0);
	ck_assert_str_eq(options.filter.name, "sh");
	ck_assert_int_eq(parse(0, "--cgroup=/", &options), 0);
	ck_assert_str_eq(options.filter.cgroup, "/");
	ck_assert_int_eq(options.by, BY_USER);
}

/* The heading, and below it the options in the order of their names. */
TEST(help_of_the_options)
{
	static const char *const lines[] = {
		"Selection of tasks:", "--active ", "--by=WHAT ", "--cgroup=PATH ", "--name=TEXT ", "--tree=PID ",
		"--user=USER ", "--help",
	};
	const struct option_row *row = wanted_options.rows;
	struct said said = said_begin(1);
	struct wanted options = { 0 };
	const char *text;
	int status;
	pid_t child = fork();

	if (!child) {
		/* argp would exit, and keep some bytes then. */
		parse(ARGP_NO_EXIT, "--help", &options);
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	text = said_end(&said);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		text = strstr(text, lines[i]);
		ck_assert_msg(text != NULL, "no %s in its place", lines[i]);
	}
	/* The last one would be there as well if it had a group of its own. */
	while ((++row)->name)
		ck_assert_msg(row->group == wanted_options.rows[0].group && !row->letter, "%s", row->name);
}
