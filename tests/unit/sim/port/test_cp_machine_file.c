/* SPDX-License-Identifier: MIT */
/*
 * The file of a saved machine: what was saved comes back, and nothing else is taken for it.
 *
 * Linked with --wrap for every function below (module.mk).
 */
#define _GNU_SOURCE /* SEEK_DATA, SEEK_HOLE */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cp_machine_file.h"
#include "scratch.h"

/* Storage has holes, and is longer than one of a file system's blocks. */
#define PAGE 4096u
#define RAM (300u * PAGE)
#define HEADER 176u
/* Header and head fill one page and a part of another. */
#define HEAD 5000u
#define STORAGE_AT (2u * PAGE)
/* The least of the bytes that the length of the head is made of, and the sum. */
#define HEAD_LENGTH_AT 152
#define SUM_AT 168

static char path[80], err[256];
static uint8_t ram[RAM], back[RAM], head[HEAD];
static struct cp_machine_file saved = {
	.machine = "machine 1", .head = head, .head_len = HEAD, .ram = ram, .ram_size = RAM,
};

/* Behaviour of system calls: the first one is interrupted, each does at most a part … */
static size_t at_most;	/* 0: nothing of that */
static unsigned int interrupted, calls;
/* … or the one that fails is so many calls away, 0: none.  An error of 0: it does nothing. */
static unsigned int left;
static int error;

static bool fails(void)
{
	/* Nobody calls so often, unless forever. */
	ck_assert_uint_lt(++calls, 100000);
	if (left == 0 || --left > 0)
		return false;
	errno = error;
	return true;
}

#define WRAP_IO(name, pointer) \
	ssize_t __real_##name(int fd, pointer bytes, size_t len, off_t at); \
	ssize_t __wrap_##name(int fd, pointer bytes, size_t len, off_t at); \
	ssize_t __wrap_##name(int fd, pointer bytes, size_t len, off_t at) \
	{ \
		if (fails()) \
			return error ? -1 : 0; \
		if (at_most > 0 && calls % 2 == 1) { \
			interrupted++; \
			errno = EINTR; \
			return -1; \
		} \
		return __real_##name(fd, bytes, at_most > 0 && len > at_most ? at_most : len, at); \
	}
#define WRAP(type, name, parameters, arguments, failed) \
	type __real_##name parameters; \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return fails() ? failed : __real_##name arguments; \
	}

WRAP_IO(pwrite, const void *)
WRAP_IO(pread, void *)
WRAP(int, ftruncate, (int fd, off_t len), (fd, len), -1)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1)
WRAP(void *, malloc, (size_t size), (size), NULL)

/* When it fails it has closed. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	const int result = __real_close(fd);

	ck_assert_int_eq(result, 0);
	return fails() ? -1 : result;
}

/* A file system that has its own idea of where there are holes. */
static off_t (*seek)(off_t at, int whence);

off_t __real_lseek(int fd, off_t at, int whence);
off_t __wrap_lseek(int fd, off_t at, int whence);
off_t __wrap_lseek(int fd, off_t at, int whence)
{
	ck_assert_uint_lt(++calls, 100000);
	return seek ? seek(at, whence) : __real_lseek(fd, at, whence);
}

static void start(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/file", folder);
	memset(head, 0x5a, sizeof(head));
	memset(ram, 0, sizeof(ram));
	/* The first and last page, a run, and one that begins and one that ends with zeros. */
	memset(ram, 1, PAGE);
	memset(ram + 3 * PAGE, 2, 3 * PAGE);
	ram[10 * PAGE - 1] = 3;
	ram[12 * PAGE] = 4;
	ram[RAM - 1] = 5;
}

static void stop(void)
{
	unlink(path);
	rmdir(folder);
}

CASE("file", start, stop);

/* The sentence in err says why a file is refused.  Return: only that. */
static const char *reason(void)
{
	const char *found = strstr(err, "cannot be used: ");

	ck_assert_int_eq(strncmp(err, "the checkpoint ", 15), 0);
	ck_assert_ptr_nonnull(found);
	return found + strlen("cannot be used: ");
}

static void save(void)
{
	ck_assert_msg(cp_machine_write(path, &saved, err, sizeof(err)) == 0, "%s", err);
}

/* Return: the reason of the refusal, or NULL; storage is mapped as a port does it. */
static const char *load(const char *machine, uint64_t size)
{
	struct cp_machine_file file = { .machine = machine, .ram_size = size };
	const int result = cp_machine_open(path, &file, err, sizeof(err));
	uint8_t *at;

	ck_assert_int_eq(result, file.head ? 0 : -1);
	ck_assert_int_eq(result == 0, file.fd >= 0);
	if (result == 0) {
		ck_assert_uint_eq(file.head_len, HEAD);
		ck_assert_mem_eq(file.head, head, HEAD);
		ck_assert_uint_eq(file.ram_offset, STORAGE_AT);
		at = mmap(NULL, RAM, PROT_READ, MAP_PRIVATE, file.fd, (off_t)file.ram_offset);
		ck_assert_ptr_ne(at, MAP_FAILED);
		ck_assert_mem_eq(at, ram, RAM);
		munmap(at, RAM);
		free(file.head);
		close(file.fd);
		return NULL;
	}
	ck_assert_int_eq(file.fd, -1);
	return reason();
}

/* Storage as a port reads it that cannot map it.  Return: as load(). */
static const char *read_storage(void)
{
	struct cp_machine_file file = { .machine = "machine 1", .ram_size = RAM };
	int result;

	ck_assert_msg(cp_machine_open(path, &file, err, sizeof(err)) == 0, "%s", err);
	memset(back, 0, sizeof(back));
	result = cp_machine_read(path, &file, back, err, sizeof(err));
	free(file.head);
	close(file.fd);
	return result == 0 ? NULL : reason();
}

static struct stat status(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st;
}

static void store(off_t at, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, bytes, len, at), len);
	close(fd);
}

TEST(what_was_saved_comes_back)
{
	save();
	ck_assert_int_eq(status().st_size, STORAGE_AT + RAM);
	ck_assert_uint_eq(status().st_mode & 0777, 0600);
	ck_assert_ptr_null(load("machine 1", RAM));
}

/* Storage begins at the next page: behind a head that fills its page, and one of a byte more. */
TEST(where_storage_begins)
{
	static const struct { uint64_t head_len, offset; } cases[] = {
		{ 0, PAGE }, { PAGE - HEADER - 1, PAGE }, { PAGE - HEADER, PAGE },
		{ PAGE - HEADER + 1, 2 * PAGE }, { PAGE - HEADER + 2, 2 * PAGE },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_machine_file file = { .machine = "machine 1", .ram_size = RAM };

		saved.head_len = cases[i].head_len;
		save();
		saved.head_len = HEAD;
		ck_assert_int_eq(status().st_size, cases[i].offset + RAM);
		ck_assert_int_eq(cp_machine_open(path, &file, err, sizeof(err)), 0);
		ck_assert_uint_eq(file.head_len, cases[i].head_len);
		ck_assert_uint_eq(file.ram_offset, cases[i].offset);
		ck_assert_mem_eq(file.head, head, file.head_len);
		memset(back, 0, sizeof(back));
		ck_assert_int_eq(cp_machine_read(path, &file, back, err, sizeof(err)), 0);
		ck_assert_mem_eq(back, ram, RAM);
		free(file.head);
		close(file.fd);
		unlink(path);
	}
}

TEST(zeros_take_no_room)
{
	save();
	/* Two pages of header and head, seven that are not zero; a file system adds little. */
	ck_assert_int_le(status().st_blocks * 512, 40 * PAGE);
}

TEST(pages_that_nobody_stored_to_are_not_looked_at)
{
	const struct cp_machine_file all = saved;
	uint8_t used[RAM / PAGE];
	uint8_t *far;

	memset(used, 1, sizeof(used));
	used[3] = 0;
	saved.used = used;
	save();
	saved = all;
	ck_assert_ptr_null(read_storage());
	ck_assert_mem_eq(back, ram, 3 * PAGE);
	far = back + 3 * PAGE;
	for (size_t i = 0; i < PAGE; i++)
		ck_assert_uint_eq(far[i], 0);
	ck_assert_mem_eq(back + 4 * PAGE, ram + 4 * PAGE, RAM - 4 * PAGE);
}

TEST(nothing_is_overwritten)
{
	save();
	ck_assert_int_eq(cp_machine_write(path, &saved, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "cannot be written: File exists"));
	ck_assert_ptr_null(load("machine 1", RAM));
}

TEST(what_cannot_be_written_is_not_there)
{
	rmdir(folder);
	ck_assert_int_eq(cp_machine_write(path, &saved, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "cannot be written: No such file or directory"));
}

TEST(it_belongs_to_its_machine)
{
	static const char others[] = "it was saved on another machine, or by another emulator";

	save();
	ck_assert_str_eq(load("machine 2", RAM), others);
	ck_assert_str_eq(load("machine 1", RAM - PAGE), others);
}

TEST(other_files_are_told)
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
	store(8, "\3", 1);
	ck_assert_str_eq(load("machine 1", RAM), "it has the format of another version");
	/* Of whose header a byte is missing. */
	unlink(path);
	save();
	ck_assert_ptr_null(load("machine 1", RAM));
	ck_assert_int_eq(truncate(path, HEADER - 1), 0);
	ck_assert_str_eq(load("machine 1", RAM), "it is not a checkpoint");
}

TEST(every_length_but_the_right_one_is_refused)
{
	const off_t whole = STORAGE_AT + RAM;

	save();
	ck_assert_int_eq(truncate(path, whole + 1), 0);
	ck_assert_str_eq(load("machine 1", RAM), "its length is not what its header says");
	for (off_t len = whole - 1; len > 0; len -= 997) {
		ck_assert_int_eq(truncate(path, len), 0);
		ck_assert_ptr_nonnull(load("machine 1", RAM));
	}
}

TEST(every_changed_byte_of_the_head_is_noticed)
{
	int fd;

	save();
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < HEADER + HEAD; at += at < HEADER + 16 ? 1 : 61) {
		uint8_t byte;

		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		ck_assert_msg(load("machine 1", RAM) != NULL, "byte %ld", (long)at);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	ck_assert_ptr_null(load("machine 1", RAM));
}

TEST(a_sum_that_is_wrong_is_told)
{
	save();
	store(SUM_AT, "12345678", 8);
	ck_assert_str_eq(load("machine 1", RAM), "its checksum is wrong; it is damaged");
}

TEST(a_head_as_long_as_it_likes_is_refused)
{
	uint64_t len = CP_MACHINE_HEAD_MAX + 1;

	save();
	store(HEAD_LENGTH_AT, &len, sizeof(len));
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
	len = UINT64_MAX - 7;
	store(HEAD_LENGTH_AT, &len, sizeof(len));
	ck_assert_str_eq(load("machine 1", RAM), "it is damaged");
}

TEST(storage_can_be_read)
{
	save();
	ck_assert_ptr_null(read_storage());
	ck_assert_mem_eq(back, ram, RAM);
}

TEST(storage_of_zeros_can_be_read)
{
	memset(ram, 0, sizeof(ram));
	save();
	ck_assert_ptr_null(read_storage());
	ck_assert_mem_eq(back, ram, RAM);
}

TEST(every_changed_byte_of_storage_is_noticed_by_who_reads_it)
{
	int fd;

	save();
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* Pages that are holes, too. */
	for (off_t at = 0; at < RAM; at += 1021) {
		uint8_t byte;

		ck_assert_int_eq(pread(fd, &byte, 1, STORAGE_AT + at), 1);
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, STORAGE_AT + at), 1);
		ck_assert_str_eq(read_storage(), "its checksum is wrong; it is damaged");
		byte ^= 0x10;
		ck_assert_int_eq(pwrite(fd, &byte, 1, STORAGE_AT + at), 1);
	}
	close(fd);
	ck_assert_ptr_null(read_storage());
	ck_assert_mem_eq(back, ram, RAM);
}

/* The highest bits of two consecutive words do not cancel out in the sum, in either byte order. */
TEST(two_changed_bits_are_noticed)
{
	static const size_t highest[] = { 0, 7 };
	uint8_t words[16];

	for (size_t i = 0; i < sizeof(highest) / sizeof(highest[0]); i++) {
		save();
		memcpy(words, ram, sizeof(words));
		words[highest[i]] ^= 0x80;
		words[8 + highest[i]] ^= 0x80;
		store(STORAGE_AT, words, sizeof(words));
		ck_assert_str_eq(read_storage(), "its checksum is wrong; it is damaged");
		unlink(path);
	}
	save();
}

TEST(a_page_at_anothers_place_is_noticed)
{
	static const uint8_t zeros[PAGE];

	save();
	store(STORAGE_AT, zeros, PAGE);
	store(STORAGE_AT + PAGE, ram, PAGE);
	ck_assert_str_eq(read_storage(), "its checksum is wrong; it is damaged");
}

/* As often as it takes; a call that has done nothing is none that failed. */
TEST(parts_and_interruptions)
{
	at_most = 1000;
	save();
	ck_assert_uint_ge(interrupted, 2 + (HEAD + 7 * PAGE) / 1000);
	ck_assert_ptr_null(load("machine 1", RAM));
	interrupted = 0;
	ck_assert_ptr_null(read_storage());
	ck_assert_mem_eq(back, ram, RAM);
	ck_assert_uint_ge(interrupted, 2 + (HEAD + 7 * PAGE) / 1000);
	unlink(path);
	/* Of which one byte is left. */
	at_most = HEAD - 1;
	save();
	ck_assert_ptr_null(load("machine 1", RAM));
	unlink(path);
	at_most = 0;
	calls = 0;
	left = 1;
	save();
	ck_assert_ptr_null(load("machine 1", RAM));
	ck_assert_ptr_null(read_storage());
	ck_assert_mem_eq(back, ram, RAM);
}

static unsigned int descriptors(void)
{
	unsigned int count = 0;

	for (int fd = 0; fd < 100; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Every call in turn: the header, the head, the length, five runs of storage, the end. */
TEST(every_call_that_writes_can_fail)
{
	const unsigned int open_before = descriptors();
	unsigned int failed = 0;

	error = ENOSPC;
	while (left = failed + 1, cp_machine_write(path, &saved, err, sizeof(err)) != 0) {
		char said[200];

		failed++;
		snprintf(said, sizeof(said), "the checkpoint %s cannot be written: %s", path,
			 strerror(ENOSPC));
		ck_assert_str_eq(err, said);
		ck_assert_int_ne(access(path, F_OK), 0);
		ck_assert_uint_eq(descriptors(), open_before);
	}
	left = 0;
	ck_assert_uint_eq(failed, 9);
	ck_assert_uint_eq(descriptors(), open_before);
	ck_assert_ptr_null(load("machine 1", RAM));
}

/* The status, the header, storage for the head, the head. */
TEST(every_call_that_opens_can_fail)
{
	static const struct {
		int error;
		const char *reason;
	} calls_to[] = {
		{ EIO, "Input/output error" }, { EIO, "it is not a checkpoint" },
		{ ENOMEM, "Cannot allocate memory" }, { EIO, "it cannot be read" },
	};
	const unsigned int open_before = descriptors();

	save();
	for (unsigned int i = 0; i < 4; i++) {
		left = i + 1;
		error = calls_to[i].error;
		ck_assert_str_eq(load("machine 1", RAM), calls_to[i].reason);
		ck_assert_uint_eq(left, 0);
		ck_assert_uint_eq(descriptors(), open_before);
	}
	ck_assert_ptr_null(load("machine 1", RAM));
}

/* Descriptor 0 is as good as any, and closed like any. */
TEST(the_first_descriptor)
{
	unsigned int open_before;

	close(0);
	open_before = descriptors();
	save();
	ck_assert_uint_eq(descriptors(), open_before);
	ck_assert_int_eq(cp_machine_write(path, &saved, err, sizeof(err)), -1);
	ck_assert_uint_eq(descriptors(), open_before);
	ck_assert_ptr_null(load("machine 1", RAM));
	ck_assert_ptr_null(read_storage());
	ck_assert_ptr_nonnull(load("machine 2", RAM));
	ck_assert_uint_eq(descriptors(), open_before);
}

/* Holes as small as a disk's block: they begin and end within pages. */
static off_t seek_blocks(off_t at, int whence)
{
	static const uint8_t zeros[512];

	ck_assert_int_ge(at, STORAGE_AT);
	for (; at < STORAGE_AT + RAM; at = at / 512 * 512 + 512) {
		const bool hole = memcmp(ram + (at - STORAGE_AT) / 512 * 512, zeros, 512) == 0;

		if (hole == (whence == SEEK_HOLE))
			return at;
	}
	errno = ENXIO;
	return whence == SEEK_HOLE ? (off_t)(STORAGE_AT + RAM) : -1;
}

static off_t seek_unknown(off_t at, int whence)
{
	(void)at;
	(void)whence;
	errno = EINVAL;
	return -1;
}

static off_t seek_data_alone(off_t at, int whence)
{
	return whence == SEEK_DATA ? seek_blocks(at, whence) : seek_unknown(at, whence);
}

/* Somebody has made a hole meanwhile. */
static off_t seek_hole_at_once(off_t at, int whence)
{
	return whence == SEEK_DATA ? seek_blocks(at, whence) : at;
}

TEST(holes_as_the_file_system_knows_them)
{
	static off_t (*const all[])(off_t at, int whence) = {
		seek_blocks, seek_unknown, seek_data_alone, seek_hole_at_once,
	};

	save();
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		seek = all[i];
		ck_assert_ptr_null(read_storage());
		ck_assert_mem_eq(back, ram, RAM);
	}
}

/* Looking only where there are data reads only those. */
TEST(holes_are_not_read)
{
	struct cp_machine_file file = { .machine = "machine 1", .ram_size = RAM };

	save();
	ck_assert_int_eq(cp_machine_open(path, &file, err, sizeof(err)), 0);
	seek = seek_blocks;
	memset(back, 0xee, sizeof(back));
	for (unsigned int page = 0; page < RAM / PAGE; page++)
		if (ram[page * PAGE] || ram[page * PAGE + PAGE - 1])
			memset(back + page * PAGE, 0, PAGE);
	ck_assert_int_eq(cp_machine_read(path, &file, back, err, sizeof(err)), 0);
	for (unsigned int page = 0; page < RAM / PAGE; page++)
		if (ram[page * PAGE] || ram[page * PAGE + PAGE - 1])
			ck_assert_mem_eq(back + page * PAGE, ram + page * PAGE, PAGE);
		else
			ck_assert_uint_eq(back[page * PAGE], 0xee);
	free(file.head);
	close(file.fd);
}

/* Behind its end there may be anything by now, at once or after a hole. */
TEST(a_file_that_has_grown)
{
	static const off_t at[] = { 0, 3 * PAGE + 1 };

	for (unsigned int last = 0; last < 2; last++)
		for (unsigned int i = 0; i < 2; i++) {
			struct cp_machine_file file = { .machine = "machine 1", .ram_size = RAM };

			ram[RAM - 1] = (uint8_t)last;
			save();
			ck_assert_int_eq(cp_machine_open(path, &file, err, sizeof(err)), 0);
			store(STORAGE_AT + RAM + at[i], ram, PAGE);
			memset(back, 0, sizeof(back));
			ck_assert_int_eq(cp_machine_read(path, &file, back, err, sizeof(err)), 0);
			ck_assert_mem_eq(back, ram, RAM);
			free(file.head);
			close(file.fd);
			unlink(path);
		}
}

TEST(storage_that_has_gone_is_told)
{
	struct cp_machine_file file = { .machine = "machine 1", .ram_size = RAM };

	save();
	ck_assert_int_eq(cp_machine_open(path, &file, err, sizeof(err)), 0);
	ck_assert_int_eq(truncate(path, STORAGE_AT + 100), 0);
	ck_assert_int_eq(cp_machine_read(path, &file, back, err, sizeof(err)), -1);
	ck_assert_int_eq(strncmp(reason(), "its storage cannot be read", 26), 0);
	free(file.head);
	close(file.fd);
}
