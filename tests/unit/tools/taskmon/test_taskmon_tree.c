/* SPDX-License-Identifier: MIT */
/* Sums over a program and what it has started; what /proc tells; the probe when fork() fails. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"
#include "listener.h"
#include "proc.h"
#include "tree.h"
#include "taskmon_bytes.h"

#define ROOT 100u

static struct tree *tree;

/* Processes that live, and their parents. */
static struct {
	uint32_t pid, parent;
} living[8];
static unsigned int living_count;

static uint32_t parent_of(uint32_t pid)
{
	for (unsigned int i = 0; i < living_count; i++)
		if (living[i].pid == pid)
			return living[i].parent;
	return 0;
}

static void lives(uint32_t pid, uint32_t parent)
{
	living[living_count].pid = pid;
	living[living_count++].parent = parent;
}

static void start(void)
{
	tree = tree_new();
	ck_assert_ptr_nonnull(tree);
	living_count = 0;
	lives(ROOT, 1);
	lives(1, 0);
}

static void stop(void)
{
	tree_free(tree);
}

CASE("taskmon tree", start, stop);

static void set(struct stats *stats, enum stats_field field, uint64_t value)
{
	stats->present[field] = true;
	stats->value[field] = value;
}

/* A task of process @pid exits, the last one if @last; it has used @used. */
static void task_exits(uint32_t pid, uint32_t parent, bool last, uint64_t used)
{
	struct stats_record record = { .kind = STATS_TASK, .id = pid };

	set(&record.stats, STATS_TGID, pid);
	set(&record.stats, STATS_PPID, parent);
	set(&record.stats, STATS_FLAG, last ? 0x22 : 0x02);
	set(&record.stats, STATS_UTIME, used);
	set(&record.stats, STATS_HIWATER_RSS, used);
	ck_assert_int_eq(tree_take(tree, &record), 0);
}

static void exits(uint32_t pid, uint32_t parent, uint64_t used)
{
	task_exits(pid, parent, true, used);
}

/* The tasks below the root; @unknown: there may be more. */
static void expect_with(uint64_t tasks, uint64_t used, uint64_t most, uint64_t unknown)
{
	struct stats_record sum = { 0 };

	ck_assert_uint_eq(tree_sum(tree, ROOT, parent_of, &sum), unknown);
	ck_assert_uint_eq(sum.tasks, tasks);
	ck_assert_uint_eq(sum.stats.value[STATS_UTIME], used);
	ck_assert_uint_eq(sum.stats.value[STATS_HIWATER_RSS], most);
	ck_assert(!sum.stats.present[STATS_TGID]);
}

static void expect(uint64_t tasks, uint64_t used, uint64_t most)
{
	expect_with(tasks, used, most, 0);
}

TEST(children_before_their_parents)
{
	expect(0, 0, 0);
	exits(103, 102, 1);
	exits(104, 102, 10);
	exits(105, 101, 100);
	exits(102, 101, 1000);
	exits(101, ROOT, 10000);
	expect(5, 11111, 10000);
	/* Another program's processes, and one below init. */
	exits(203, 202, 7);
	exits(202, 1, 7);
	exits(204, 1, 7);
	expect(5, 11111, 10000);
}

TEST(threads)
{
	task_exits(101, ROOT, false, 1);
	exits(102, 101, 10);
	task_exits(101, ROOT, false, 100);
	expect_with(0, 0, 0, 3);	/* nobody knows whose it is */
	lives(101, ROOT);
	expect(3, 111, 100);
	exits(101, ROOT, 1000);
	living_count--;
	expect(4, 1111, 1000);
	/* Late: the last one's message came first. */
	task_exits(101, ROOT, false, 10000);
	expect(5, 11111, 10000);
}

TEST(orphans_and_late_ones)
{
	/* A child that exits together with its parent is told of after it. */
	exits(101, ROOT, 1);
	exits(102, 101, 10);
	exits(103, 102, 100);
	expect(3, 111, 100);
	/* One whose parent has exited has the root as its parent. */
	exits(105, 104, 1000);
	exits(104, ROOT, 10000);
	expect(5, 11111, 10000);
	/* Below one that still runs: it is in the tree if that is. */
	lives(106, 107);
	lives(107, ROOT);
	lives(206, 1);
	exits(108, 106, 100000);
	exits(208, 206, 1000000);
	expect(6, 111111, 100000);
	/* Below one that has gone without being told of. */
	exits(308, 306, 1000000);
	exits(309, 306, 1000000);
	expect_with(6, 111111, 100000, 2);
}

TEST(numbers_that_are_used_again)
{
	/* The first 101 is another program's. */
	exits(102, 101, 1);
	exits(101, 1, 1);
	exits(103, 101, 10);
	exits(101, ROOT, 100);
	expect(2, 110, 100);
	/* Now it is one that lives, under another parent than the last one had. */
	lives(101, 1);
	exits(104, 101, 1000);
	expect(2, 110, 100);
	/* A circle, and a process that says it is its own parent. */
	exits(111, 112, 1);
	exits(112, 111, 1);
	exits(113, 113, 1);
	expect_with(2, 110, 100, 3);
}

static uint32_t one_less(uint32_t pid)
{
	return pid - 1;
}

/* 10,000 above each other are believed; more are a circle. */
TEST(depth_of_a_tree)
{
	struct stats_record sum = { 0 };

	task_exits(ROOT + 10000, 1, false, 5);
	ck_assert_uint_eq(tree_sum(tree, ROOT, one_less, &sum), 0);
	ck_assert_uint_eq(sum.tasks, 1);
	task_exits(ROOT + 10001, 1, false, 7);
	sum = (struct stats_record){ 0 };
	ck_assert_uint_eq(tree_sum(tree, ROOT, one_less, &sum), 1);
	ck_assert(sum.tasks == 1 && sum.stats.value[STATS_UTIME] == 5);
}

/* Parents with numbers that no process has, and the father of the kernel's threads. */
static uint32_t far_away(uint32_t pid)
{
	return pid == 300 ? 1u << 22 : pid == 301 ? UINT32_MAX : pid == 302 ? 2 : pid == 303 ? 3 : 0;
}

TEST(odd_parents)
{
	struct stats_record sum = { 0 };

	for (uint32_t pid = 300; pid <= 303; pid++)
		task_exits(pid, 1, false, 1);
	ck_assert_uint_eq(tree_sum(tree, ROOT, far_away, &sum), 3);
	ck_assert_uint_eq(sum.tasks, 0);
}

TEST(what_is_not_taken)
{
	struct stats_record record = { .kind = STATS_PROCESS };

	ck_assert_int_eq(tree_take(tree, &record), 0);
	record.kind = STATS_TASK;
	ck_assert_int_eq(tree_take(tree, &record), -ENODATA);
	set(&record.stats, STATS_TGID, 1u << 22);
	ck_assert_int_eq(tree_take(tree, &record), -ENODATA);
	set(&record.stats, STATS_TGID, (1u << 22) - 1);
	set(&record.stats, STATS_PPID, 1u << 22);
	ck_assert_int_eq(tree_take(tree, &record), -ENODATA);
	set(&record.stats, STATS_PPID, ROOT);
	ck_assert_int_eq(tree_take(tree, &record), 0);
	/* The highest number there can be. */
	expect_with(0, 0, 0, 1);
	tree_free(NULL);
}

TEST(how_fields_are_added)
{
	struct stats sum = { 0 }, one = { 0 };

	set(&one, STATS_UTIME, 5);
	set(&one, STATS_NICE, 5);
	set(&one, STATS_ETIME, 5);
	set(&one, STATS_HIWATER_VM, 50);
	set(&one, STATS_CPU_DELAY_MAX, 5);
	set(&one, STATS_CPU_DELAY_MIN, 0);
	set(&one, STATS_CPU_DELAY_MAX_AT, 1000);
	set(&one, STATS_IRQ_DELAY_MAX, 9);
	set(&one, STATS_IRQ_DELAY_MAX_AT, 3000);
	stats_add(&sum, &one);
	ck_assert(!sum.present[STATS_NICE] && !sum.present[STATS_ETIME]);
	ck_assert(sum.present[STATS_CPU_DELAY_MIN] && !sum.present[STATS_STIME]);
	set(&one, STATS_HIWATER_VM, 40);
	set(&one, STATS_CPU_DELAY_MAX, 7);
	set(&one, STATS_CPU_DELAY_MIN, 3);
	set(&one, STATS_CPU_DELAY_MAX_AT, 500);
	set(&one, STATS_IRQ_DELAY_MAX, 8);
	set(&one, STATS_IRQ_DELAY_MAX_AT, 4000);
	stats_add(&sum, &one);
	set(&one, STATS_CPU_DELAY_MAX, 6);
	set(&one, STATS_CPU_DELAY_MIN, 4);
	stats_add(&sum, &one);
	ck_assert_uint_eq(sum.value[STATS_UTIME], 15);
	ck_assert_uint_eq(sum.value[STATS_HIWATER_VM], 50);
	ck_assert_uint_eq(sum.value[STATS_CPU_DELAY_MAX], 7);
	ck_assert_uint_eq(sum.value[STATS_CPU_DELAY_MIN], 3);
	ck_assert_uint_eq(sum.value[STATS_CPU_DELAY_MAX_AT], 500);
	ck_assert_uint_eq(sum.value[STATS_IRQ_DELAY_MAX], 9);
	ck_assert_uint_eq(sum.value[STATS_IRQ_DELAY_MAX_AT], 3000);
	/* Of two that are equally long the first. */
	set(&one, STATS_CPU_DELAY_MAX, 7);
	set(&one, STATS_CPU_DELAY_MAX_AT, 600);
	stats_add(&sum, &one);
	ck_assert_uint_eq(sum.value[STATS_CPU_DELAY_MAX_AT], 500);
}

/* A line of /proc of @size bytes, whose last field that is read ends with it. */
static void write_stat(const char *path, int size)
{
	static const char rest[] = ") S 17 5 5 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0 987654321";
	FILE *file = fopen(path, "w");

	fprintf(file, "4321 (%*s%s", size - 6 - (int)strlen(rest), "x", rest);
	ck_assert_int_eq(ftell(file), size);
	fclose(file);
}

TEST(lines_of_proc)
{
	static const char rest[] = " 17 5 5 0 -1 4194820 1 2 3 4 5 6 7 8 20 0 3 0 987654 1 2\n";
	static const char *const names[] = { "sh", "a) S 1 (b", "", "two words", "line\nbreak" };
	char path[] = "/tmp/stat-XXXXXX";
	struct proc_task task;
	char line[256];
	FILE *file;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line), "4321 (%s) S%s", names[i], rest);
		ck_assert(proc_parse(&task, line));
		ck_assert(task.pid == 4321 && task.parent == 17 && task.state == 'S');
		ck_assert(task.flags == 4194820 && task.begin == 987654);
	}
	ck_assert(!proc_parse(&task, "") && !proc_parse(&task, "4321 (sh) S 17 5"));
	ck_assert(!proc_parse(&task, "sh S 17 5 5 0 -1 4194820 1 2"));
	/* On its way out, and there. */
	ck_assert(proc_is_exiting(&task) && !proc_has_exited(&task));
	task.state = 'Z';
	ck_assert(!proc_is_exiting(&task) && proc_has_exited(&task));
	task.state = 'X';
	ck_assert(!proc_is_exiting(&task) && proc_has_exited(&task));
	task.state = 'D';
	task.flags = 0x400000;
	ck_assert(!proc_is_exiting(&task) && !proc_has_exited(&task));
	ck_assert(!proc_read(&task, "/proc/nonsense"));
	/* Longer than a line of /proc is. */
	file = fdopen(mkstemp(path), "w");
	for (int i = 0; i < 3000; i++)
		fputc('1', file);
	fclose(file);
	ck_assert(!proc_read(&task, path));
	write_stat(path, 1023);
	ck_assert(proc_read(&task, path) && task.begin == 987654321);
	unlink(path);
	ck_assert(proc_read(&task, "/proc/self/stat"));
	ck_assert_uint_eq(task.pid, (uint32_t)getpid());
	ck_assert_uint_eq(proc_parent((uint32_t)getpid()), (uint32_t)getppid());
	ck_assert_uint_eq(proc_parent(UINT32_MAX), 0);
}

/* No process can be made from now on, as on a machine that has too many. */
static void forbid_fork(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(probe_without_a_process)
{
	struct collector collector;
	struct listener listener = { .collector = &collector,
				     .lock = PTHREAD_MUTEX_INITIALIZER,
				     .own_came = PTHREAD_COND_INITIALIZER };

	int status;
	pid_t child;

	ck_assert(collector_init(&collector));
	/* In a process of its own: who looks for leaks makes one, too. */
	child = fork();
	if (child == 0) {
		forbid_fork();
		_exit(listener_probe(&listener, 0) == -EAGAIN && !collector.own_pid ? 17 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 17 << 8);
	collector_free(&collector);
}
