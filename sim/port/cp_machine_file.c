/* SPDX-License-Identifier: MIT */
/* Writing and opening the file of a saved machine; what is read may be anything. */
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
#include "zvmlab/host.h"

#define MAGIC "ZVMLABMF"
#define VERSION 1u

struct header {
	char magic[8];
	uint64_t version;
	char machine[CP_MACHINE_NAME_LEN];
	uint64_t ram_size, head_len, sum;
};
_Static_assert(sizeof(struct header) == 168 && offsetof(struct header, sum) == 160,
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
		ssize_t done = pwrite(fd, from, len, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
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
		ssize_t done = pread(fd, to, len, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
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

/* Run by run of pages that are not zero; the file's length has been set. */
static bool put_storage(int fd, const struct cp_machine_file *file, uint64_t offset)
{
	uint64_t at = 0, end;

	while (at < file->ram_size) {
		for (end = at; end < file->ram_size && !is_zero(file->ram + end);)
			end += CP_PAGE_SIZE;
		if (end > at && !put(fd, file->ram + at, end - at, offset + at))
			return false;
		at = end + CP_PAGE_SIZE;
	}
	return true;
}

static bool put_all(int fd, const struct cp_machine_file *file)
{
	const uint64_t offset = storage_offset(file->head_len);
	struct header header = {
		.magic = MAGIC, .version = VERSION, .ram_size = file->ram_size,
		.head_len = file->head_len,
	};

	snprintf(header.machine, sizeof(header.machine), "%s", file->machine);
	header.sum = sum_of(&header, file->head);
	return put(fd, &header, sizeof(header), 0) &&
	       put(fd, file->head, file->head_len, sizeof(header)) &&
	       ftruncate(fd, (off_t)(offset + file->ram_size)) == 0 &&
	       put_storage(fd, file, offset);
}

int cp_machine_write(const char *path, const struct cp_machine_file *file, char *err,
		     size_t errlen)
{
	bool done = false;
	int fd;

	assert(strlen(file->machine) < CP_MACHINE_NAME_LEN);
	assert(file->head_len <= CP_MACHINE_HEAD_MAX);
	assert(file->ram_size > 0 && file->ram_size % CP_PAGE_SIZE == 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		done = put_all(fd, file);
		done = close(fd) == 0 && done;
	}
	if (done)
		return 0;
	snprintf(err, errlen, "the checkpoint %s cannot be written: %s", path, strerror(errno));
	if (fd >= 0)
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
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(header) ||
	    !get(file->fd, &header, sizeof(header), 0))
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
	return NULL;
}

int cp_machine_open(const char *path, struct cp_machine_file *file, char *err, size_t errlen)
{
	const char *defect = "";

	assert(file->ram_size > 0 && file->ram_size % CP_PAGE_SIZE == 0);
	file->head = NULL;
	file->head_len = 0;
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd >= 0)
		defect = read_head(file);
	if (!defect)
		return 0;
	snprintf(err, errlen, "the checkpoint %s cannot be used: %s", path,
		 *defect ? defect : strerror(errno));
	free(file->head);
	file->head = NULL;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	return -1;
}
