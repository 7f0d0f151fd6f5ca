/* SPDX-License-Identifier: MIT */
/* Reading files like those of /proc; test_taskmon_tree.c has single lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proc.h"
#include "scratch.h"
#include "storage_fails.h"
#include "unit_test.h"

static char path[] = "/tmp/test_proc_XXXXXX";

static void start(void)
{
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void stop(void)
{
	storage_left = -1;
	unlink(path);
}

CASE("tool proc", start, stop);

/* As prctl(PR_SET_NAME) has set it. */
TEST(name_of_a_process)
{
	char name[PROC_NAME_SIZE];

	ck_assert_int_eq(prctl(PR_SET_NAME, "fifteen bytes!!"), 0);
	ck_assert(proc_read_name((uint32_t)getpid(), name));
	ck_assert_str_eq(name, "fifteen bytes!!");
	ck_assert(!proc_read_name(UINT32_MAX, name));
}

static char *arguments_of(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
	return proc_read_arguments(path);
}

/* As the kernel has it: a NUL behind each word; a kernel thread's is empty; one that is cut. */
TEST(arguments_of_a_process)
{
	static char words[5000];
	char *found = arguments_of("make\0-j2\0a b\0", 13);

	ck_assert_str_eq(found, "make -j2 a b");
	free(found);
	ck_assert_ptr_null(arguments_of("\0\0", 2));
	ck_assert_ptr_null(arguments_of("", 0));
	ck_assert_ptr_null(proc_read_arguments("/nothing/is/there"));
	memset(words, 'w', sizeof(words));
	found = arguments_of(words, sizeof(words));
	ck_assert_uint_eq(strlen(found), 4096);
	free(found);
}

TEST(cgroup_of_a_file)
{
	char *found;
	int before = dup(1), after;

	close(before);
	file_write(path, "4:memory:/\n0::/user.slice/a\n");
	found = proc_read_cgroup(path);
	ck_assert_str_eq(found, "/user.slice/a");
	free(found);
	file_write(path, "0::/");
	found = proc_read_cgroup(path);
	ck_assert_str_eq(found, "/");
	free(found);
	file_write(path, "");
	ck_assert_ptr_null(proc_read_cgroup(path));
	ck_assert_ptr_null(proc_read_cgroup("/no/such"));
	/* Nothing is left open. */
	after = dup(1);
	ck_assert_int_eq(after, before);
	close(after);
}

/* A unified hierarchy counts most, the last one of several; of the others the first one does. */
TEST(which_of_several)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "1:a:/x\n2:b:/y\n", "/x" }, { "1:a:/x\n0::/u\n", "/u" }, { "0::/u\n1:a:/x\n", "/u" },
		{ "0::/u\n0::/v\n", "/v" }, { "1:a:/\n2:b:/y\n", "/y" }, { "10::/x\n0::/u\n", "/u" },
		{ "1:a:/xy\n0:", "/xy" }, { "1:a:/xy\n0::", "/xy" }, { "0::x", "x" }, { "0::/ab\n\n", "/ab" },
		{ "00:a:/x\n1::/y\n", "/x" }, { "\n\n0::/n\n", "/n" }, { "a:b", NULL }, { "a:b:", NULL },
		{ ":", NULL }, { "::", NULL }, { "::x", "x" }, { "a:b\n:c", NULL }, { "ab\n0:", NULL },
		{ "a:\n:/x", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* Nothing beyond its size is looked at. */
		const size_t size = strlen(cases[i].text);
		char *text = malloc(size);
		const char *found;
		size_t len = 0;

		memcpy(text, cases[i].text, size);
		found = proc_parse_cgroup(text, size, &len);
		ck_assert_msg(!found == !cases[i].path, "%zu", i);
		if (found) {
			ck_assert_msg(len == strlen(cases[i].path), "%zu: %zu", i, len);
			ck_assert_mem_eq(found, cases[i].path, len);
		}
		free(text);
	}
}

/* 64 KiB are read: a path that is longer is cut there. */
TEST(long_file)
{
	static char text[70000];
	char *found;

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "0::/", 4);
	file_write(path, text);
	found = proc_read_cgroup(path);
	ck_assert_uint_eq(strlen(found), 65536 - 3);
	free(found);
}

TEST(without_storage)
{
	char *found = NULL;
	long place;

	file_write(path, "0::/a\n");
	for (place = 0; !found && place < 10; place++) {
		storage_left = place;
		found = proc_read_cgroup(path);
		storage_left = -1;
	}
	ck_assert_int_eq(place, 3);
	ck_assert_str_eq(found, "/a");
	free(found);
}

TEST(parents)
{
	ck_assert_uint_eq(proc_parent(UINT32_MAX), 0);
	ck_assert_uint_eq(proc_parent((uint32_t)getpid()), (uint32_t)getppid());
}

/* Bits of another task's flags, as <linux/sched.h> has them: PF_EXITING is 0x4. */
TEST(states)
{
	static const struct {
		char state;
		uint32_t flags;
		bool exiting, exited;
	} cases[] = {
		{ 'S', 0, false, false }, { 'R', 4, true, false }, { 'S', UINT32_MAX, true, false },
		{ 'S', UINT32_MAX - 4, false, false }, { 'Z', 4, false, true }, { 'X', 4, false, true },
		{ 'Z', 0, false, true }, { 'x', 4, true, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct proc_task task = { .state = cases[i].state, .flags = cases[i].flags };

		ck_assert_int_eq(proc_is_exiting(&task), cases[i].exiting);
		ck_assert_int_eq(proc_has_exited(&task), cases[i].exited);
	}
}

/* As Linux writes it; and with a line that is missing. */
TEST(io_of_a_process)
{
	static const char text[] = "rchar: 1\nwchar: 18446744073709551615\nsyscr: 3\nsyscw: 4\n"
				   "read_bytes: 5\nwrite_bytes: 6\n";
	struct proc_io io;
	char whole[256];

	snprintf(whole, sizeof(whole), "%scancelled_write_bytes: 7\n", text);
	file_write(path, whole);
	ck_assert(proc_read_io(&io, path));
	ck_assert(io.read_characters == 1 && io.written_characters == UINT64_MAX);
	ck_assert(io.read_calls == 3 && io.write_calls == 4);
	ck_assert(io.read_bytes == 5 && io.written_bytes == 6 && io.cancelled_bytes == 7);
	file_write(path, text);
	ck_assert(!proc_read_io(&io, path));
	file_write(path, "");
	ck_assert(!proc_read_io(&io, path) && !proc_read_io(&io, "/no/such"));
}

/* The fields 10, 12, 14, 15 and 22 of proc(5), whatever the name is. */
TEST(times_and_faults_of_a_process)
{
	struct proc_task task;

	ck_assert(proc_parse(&task, "7 (a) b) S 1 2 3 4 5 6 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"));
	ck_assert(task.pid == 7 && task.parent == 1 && task.flags == 6 && task.begin == 22);
	ck_assert(task.minor_faults == 10 && task.major_faults == 12);
	ck_assert(task.user_ticks == 14 && task.system_ticks == 15);
}
