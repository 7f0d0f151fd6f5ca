/* SPDX-License-Identifier: MIT */
/* Writing and opening the file of a saved machine; what is read may be anything. */
#define _GNU_SOURCE /* SEEK_DATA, SEEK_HOLE, TEMP_FAILURE_RETRY */

#include "cp_machine_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"
#include "smaller.h"
#include "zvmlab/host.h"

#define MAGIC "ZVMLABMF"
#define VERSION 2u
#define WORD sizeof(uint64_t)
/* Any odd number with bits all over it. */
#define STORAGE_PRIME UINT64_C(0x9e3779b97f4a7c15)

struct header {
	char magic[8] __attribute__((nonstring));
	uint64_t version;
	char machine[CP_MACHINE_NAME_LEN];
	uint64_t ram_size, head_len, ram_sum, sum;
};
_Static_assert(sizeof(struct header) == 176 && offsetof(struct header, sum) == 168,
	       "as described in cp_machine_file.h");

static uint64_t sum_of(const struct header *header, const uint8_t *head)
{
	uint64_t sum = hash_more(HASH_START, header, offsetof(struct header, sum));

	return hash_more(sum, head, header->head_len);
}

static uint64_t storage_offset(uint64_t head_len)
{
	const uint64_t end = sizeof(struct header) + head_len;

	return (end + CP_PAGE_SIZE - 1) / CP_PAGE_SIZE * CP_PAGE_SIZE;
}

static bool put(int fd, const void *bytes, uint64_t len, uint64_t at)
{
	const uint8_t *from = bytes;

	while (len > 0) {
		const ssize_t done = TEMP_FAILURE_RETRY(pwrite(fd, from, len, (off_t)at));

		if (done < 0)
			return false;
		from += done;
		at += (uint64_t)done;
		len -= (uint64_t)done;
	}
	return true;
}

static bool get(int fd, void *bytes, uint64_t len, uint64_t at)
{
	uint8_t *to = bytes;

	while (len > 0) {
		const ssize_t done = TEMP_FAILURE_RETRY(pread(fd, to, len, (off_t)at));

		if (done <= 0)
			return false;
		to += done;
		at += (uint64_t)done;
		len -= (uint64_t)done;
	}
	return true;
}

static bool is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, CP_PAGE_SIZE - 1) == 0;
}

static uint64_t add_word(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * STORAGE_PRIME;
	return sum ^ sum >> 32;
}

/* Word by word, for it is done with all of storage at each start. */
static uint64_t add_page(uint64_t sum, uint64_t place, const uint8_t *page)
{
	uint64_t word;

	sum = add_word(sum, place);
	for (size_t at = 0; at < CP_PAGE_SIZE; at += WORD) {
		memcpy(&word, page + at, WORD);
		sum = add_word(sum, word);
	}
	return sum;
}

static uint64_t add_pages(uint64_t sum, const uint8_t *ram, uint64_t from, uint64_t end)
{
	assert(from % CP_PAGE_SIZE == 0 && end % CP_PAGE_SIZE == 0);
	for (uint64_t at = from; at < end; at += CP_PAGE_SIZE)
		if (!is_zero(ram + at))
			sum = add_page(sum, at, ram + at);
	return sum;
}

/* A page that nobody has stored to is not looked at: that would give it memory. */
static bool is_hole(const struct cp_machine_file *file, uint64_t at)
{
	return (file->used && !file->used[at / CP_PAGE_SIZE]) || is_zero(file->ram + at);
}

/* Run by run of pages that are not zero; the file's length has been set. */
static bool put_storage(int fd, const struct cp_machine_file *file, uint64_t offset, uint64_t *sum)
{
	uint64_t at = 0, end;

	*sum = HASH_START;
	while (at < file->ram_size) {
		for (end = at; end < file->ram_size && !is_hole(file, end); end += CP_PAGE_SIZE)
			*sum = add_page(*sum, end, file->ram + end);
		if (!put(fd, file->ram + at, end - at, offset + at))
			return false;
		at = end + CP_PAGE_SIZE;
	}
	return true;
}

/* The header comes last, and no file is good without. */
static bool put_all(int fd, const struct cp_machine_file *file)
{
	const uint64_t offset = storage_offset(file->head_len);
	struct header header = {
		.magic = MAGIC, .version = VERSION, .ram_size = file->ram_size,
		.head_len = file->head_len,
	};

	snprintf(header.machine, sizeof(header.machine), "%s", file->machine);
	if (!put(fd, file->head, file->head_len, sizeof(header)) ||
	    ftruncate(fd, (off_t)(offset + file->ram_size)) != 0 ||
	    !put_storage(fd, file, offset, &header.ram_sum))
		return false;
	header.sum = sum_of(&header, file->head);
	return put(fd, &header, sizeof(header), 0);
}

/* Return: -1, with the sentence; errno says what is wrong. */
static int cannot_write(const char *path, char *err, size_t errlen)
{
	snprintf(err, errlen, "the checkpoint %s cannot be written: %s", path, strerror(errno));
	return -1;
}

int cp_machine_write(const char *path, const struct cp_machine_file *file, char *err,
		     size_t errlen)
{
	bool done;
	int fd;

	assert(strlen(file->machine) < CP_MACHINE_NAME_LEN);
	assert(file->head_len <= CP_MACHINE_HEAD_MAX);
	assert(file->ram_size > 0 && file->ram_size % CP_PAGE_SIZE == 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return cannot_write(path, err, errlen);
	done = put_all(fd, file);
	done = close(fd) == 0 && done;
	if (done)
		return 0;
	cannot_write(path, err, errlen);
	unlink(path);
	return -1;
}

static const char *header_defect(const struct header *header, const struct cp_machine_file *file,
				 uint64_t size)
{
	if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0)
		return "it is not a checkpoint";
	if (header->version != VERSION)
		return "it has the format of another version";
	if (memchr(header->machine, '\0', sizeof(header->machine)) == NULL ||
	    strcmp(header->machine, file->machine) != 0 || header->ram_size != file->ram_size)
		return "it was saved on another machine, or by another emulator";
	if (header->head_len > CP_MACHINE_HEAD_MAX)
		return "it is damaged";
	if (size != storage_offset(header->head_len) + header->ram_size)
		return "its length is not what its header says";
	return NULL;
}

/* Return: NULL, "" if errno says what is wrong, or what is. */
static const char *read_head(struct cp_machine_file *file)
{
	struct header header;
	const char *defect;
	struct stat st;

	if (fstat(file->fd, &st) != 0)
		return "";
	if (!S_ISREG(st.st_mode) || !get(file->fd, &header, sizeof(header), 0))
		return "it is not a checkpoint";
	defect = header_defect(&header, file, (uint64_t)st.st_size);
	if (defect)
		return defect;
	file->head = malloc(header.head_len + 1);
	if (!file->head)
		return "";
	if (!get(file->fd, file->head, header.head_len, sizeof(header)))
		return "it cannot be read";
	if (sum_of(&header, file->head) != header.sum)
		return "its checksum is wrong; it is damaged";
	file->head_len = header.head_len;
	file->ram_offset = storage_offset(header.head_len);
	file->ram_sum = header.ram_sum;
	return NULL;
}

/* Return: -1, with the sentence; "" if errno says what is wrong. */
static int refuse(const char *path, const char *defect, char *err, size_t errlen)
{
	snprintf(err, errlen, "the checkpoint %s cannot be used: %s", path,
		 *defect ? defect : strerror(errno));
	return -1;
}

int cp_machine_open(const char *path, struct cp_machine_file *file, char *err, size_t errlen)
{
	const char *defect;

	assert(file->ram_size > 0 && file->ram_size % CP_PAGE_SIZE == 0);
	file->head = NULL;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return refuse(path, "", err, errlen);
	defect = read_head(file);
	if (!defect)
		return 0;
	refuse(path, defect, err, errlen);
	free(file->head);
	file->head = NULL;
	close(file->fd);
	file->fd = -1;
	return -1;
}

/*
 * The pages of storage from *@from on that have data, up to *@end.  Return: false if none have.
 * A file system need not know holes, and somebody may change the file meanwhile.
 */
static bool next_data(const struct cp_machine_file *file, uint64_t *from, uint64_t *end)
{
	const off_t start = (off_t)file->ram_offset, last = start + (off_t)file->ram_size;
	off_t data = lseek(file->fd, start + (off_t)*from, SEEK_DATA), hole;

	if (data == -1 && errno != ENXIO)
		data = start + (off_t)*from;
	if (data == -1 || data >= last)
		return false;
	hole = lseek(file->fd, data, SEEK_HOLE);
	if (hole <= data)
		hole = last;
	*from = (uint64_t)(data - start) / CP_PAGE_SIZE * CP_PAGE_SIZE;
	*end = ((uint64_t)(hole - start) + CP_PAGE_SIZE - 1) / CP_PAGE_SIZE * CP_PAGE_SIZE;
	*end = smaller(*end, file->ram_size);
	return true;
}

int cp_machine_read(const char *path, const struct cp_machine_file *file, uint8_t *ram, char *err,
		    size_t errlen)
{
	uint64_t sum = HASH_START;

	assert(file->fd >= 0 && file->ram_offset % CP_PAGE_SIZE == 0);
	for (uint64_t from = 0, end; next_data(file, &from, &end); from = end) {
		if (!get(file->fd, ram + from, end - from, file->ram_offset + from))
			return refuse(path, "its storage cannot be read", err, errlen);
		sum = add_pages(sum, ram, from, end);
	}
	if (sum != file->ram_sum)
		return refuse(path, "its checksum is wrong; it is damaged", err, errlen);
	return 0;
}
