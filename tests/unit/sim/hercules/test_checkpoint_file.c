/* SPDX-License-Identifier: MIT */
/* The file of a checkpoint: what was saved comes back, and nothing else is taken for it. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint_file.h"

#define PAGES 70u
#define RAM (PAGES * CHECKPOINT_PAGE)
#define HEADER 176u
#define MAP_BYTES 16u

static char folder[64], path[80], err[256];
static uint8_t ram[RAM], back[RAM], head[24] = "head of the machine....";
static struct checkpoint_file saved = {
	.machine = "machine 1", .head = head, .head_len = sizeof(head), .ram = ram, .ram_size = RAM,
};

static void start(void)
{
	strcpy(folder, "/tmp/zvmlab-checkpoint-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	memset(ram, 0, sizeof(ram));
	memset(back, 0, sizeof(back));
	/* The first and last page, a run, and one that begins and one that ends with zeros. */
	memset(ram, 1, CHECKPOINT_PAGE);
	memset(ram + 3 * CHECKPOINT_PAGE, 2, 3 * CHECKPOINT_PAGE);
	ram[10 * CHECKPOINT_PAGE - 1] = 3;
	ram[12 * CHECKPOINT_PAGE] = 4;
	ram[RAM - 1] = 5;
}

static void stop(void)
{
	unlink(path);
	rmdir(folder);
}

static void save(void)
{
	ck_assert_msg(checkpoint_file_write(path, &saved, err, sizeof(err)) == 0, "%s", err);
}

/* Return: the reason of the refusal, or NULL. */
static const char *load(const char *machine, uint64_t size)
{
	struct checkpoint_file file = { .machine = machine, .ram = back, .ram_size = size };
	const char *reason;
	int result = checkpoint_file_read(path, &file, err, sizeof(err));

	ck_assert_int_eq(result == 0, file.head != NULL);
	if (result == 0) {
		ck_assert_uint_eq(file.head_len, sizeof(head));
		ck_assert_mem_eq(file.head, head, sizeof(head));
		free(file.head);
		return NULL;
	}
	ck_assert_int_eq(strncmp(err, "the checkpoint ", 15), 0);
	reason = strstr(err, "cannot be used: ");
	ck_assert_ptr_nonnull(reason);
	return reason + strlen("cannot be used: ");
}

static off_t length(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_size;
}

static void store(off_t at, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes, len, at), len);
	close(fd);
}

START_TEST(what_was_saved_comes_back)
{
	save();
	/* Seven pages are not zero. */
	ck_assert_int_eq(length(), HEADER + sizeof(head) + MAP_BYTES + 7 * CHECKPOINT_PAGE);
	ck_assert_ptr_null(load("machine 1", RAM));
	ck_assert_mem_eq(back, ram, RAM);
}
END_TEST

START_TEST(nothing_is_overwritten)
{
	save();
	ck_assert_int_eq(checkpoint_file_write(path, &saved, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "cannot be written: File exists"));
	ck_assert_ptr_null(load("machine 1", RAM));
}
END_TEST

START_TEST(what_cannot_be_written_is_not_there)
{
	rmdir(folder);
	ck_assert_int_eq(checkpoint_file_write(path, &saved, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "cannot be written: No such file or directory"));
}
END_TEST

START_TEST(it_belongs_to_its_machine)
{
	static const char reason[] = "it was saved on another machine, or by another Hercules";

	save();
	ck_assert_str_eq(load("machine 2", RAM), reason);
	ck_assert_str_eq(load("machine 1", RAM - CHECKPOINT_PAGE), reason);
}
END_TEST

START_TEST(other_files_are_told)
{
	ck_assert_str_eq(load("machine 1", RAM), "No such file or directory");
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	ck_assert_str_eq(load("machine 1", RAM), "it is not a checkpoint");
	ck_assert_int_eq(truncate(path, 1000), 0);
	ck_assert_str_eq(load("machine 1", RAM), "it is not a checkpoint");
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_str_eq(load("machine 1", RAM), "it is not a checkpoint");
	unlink(path);
	save();
	store(8, "\2", 1);
	ck_assert_str_eq(load("machine 1", RAM), "it has the format of another version");
}
END_TEST

START_TEST(every_length_but_the_right_one_is_refused)
{
	off_t whole;

	save();
	whole = length();
	ck_assert_int_eq(truncate(path, whole + 1), 0);
	ck_assert_str_eq(load("machine 1", RAM), "its length is not what its header says");
	for (off_t len = whole - 1; len > 0; len -= 97) {
		ck_assert_int_eq(truncate(path, len), 0);
		ck_assert_ptr_nonnull(load("machine 1", RAM));
	}
}
END_TEST

START_TEST(every_changed_byte_is_noticed)
{
	off_t whole;
	int fd;

	save();
	whole = length();
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < whole; at += at < HEADER + 64 ? 1 : 211) {
		uint8_t byte;

		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		ck_assert_msg(load("machine 1", RAM) != NULL, "byte %ld", (long)at);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	memset(back, 0, sizeof(back));
	ck_assert_ptr_null(load("machine 1", RAM));
}
END_TEST

START_TEST(a_map_that_lies_is_refused_before_a_page_is_read)
{
	const off_t map = HEADER + sizeof(head);

	save();
	/* One page fewer, one more, one behind the end of storage. */
	store(map, "\0", 1);
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
	store(map, "\3", 1);
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
	store(map, "\0", 1);
	store(map + MAP_BYTES - 1, "\200", 1);
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
	for (size_t i = 0; i < RAM; i++)
		ck_assert_uint_eq(back[i], 0);
}
END_TEST

START_TEST(a_head_as_long_as_it_likes_is_refused)
{
	uint64_t len = CHECKPOINT_HEAD_MAX + 8;

	save();
	store(152, &len, sizeof(len));
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
	len = UINT64_MAX - 7;
	store(152, &len, sizeof(len));
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("checkpoint_file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, what_was_saved_comes_back);
	tcase_add_test(tc, nothing_is_overwritten);
	tcase_add_test(tc, what_cannot_be_written_is_not_there);
	tcase_add_test(tc, it_belongs_to_its_machine);
	tcase_add_test(tc, other_files_are_told);
	tcase_add_test(tc, every_length_but_the_right_one_is_refused);
	tcase_add_test(tc, every_changed_byte_is_noticed);
	tcase_add_test(tc, a_map_that_lies_is_refused_before_a_page_is_read);
	tcase_add_test(tc, a_head_as_long_as_it_likes_is_refused);
	suite_add_tcase(suite, tc);
	return check_run_suite(suite);
}
