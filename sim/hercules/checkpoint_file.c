/* SPDX-License-Identifier: MIT */
/* Writing and reading a checkpoint's file; what is read may be anything. */
#include "checkpoint_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "ZVMLABHC"
#define VERSION 1u
#define SUM_BASIS UINT64_C(0xcbf29ce484222325)
#define SUM_PRIME UINT64_C(0x9e3779b97f4a7c15)
#define WORD sizeof(uint64_t)

struct header {
	char magic[8];
	uint64_t version;
	char machine[CHECKPOINT_MACHINE_LEN];
	uint64_t ram_size, head_len, pages, sum;
};
_Static_assert(sizeof(struct header) == 176 && offsetof(struct header, sum) == 168,
	       "as described in checkpoint_file.h");

/* A file that is being written or read, and the sum of what has been so far. */
struct stream {
	int fd;
	uint64_t sum;
	const char *defect;	/* NULL: none; "": errno says it */
};

/* Word by word, for it is done with all of guest storage at each start. */
static uint64_t add(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t word;

	assert(len % WORD == 0);
	for (; len > 0; at += WORD, len -= WORD) {
		memcpy(&word, at, WORD);
		sum = (sum ^ word) * SUM_PRIME;
		sum ^= sum >> 32;
	}
	return sum;
}

static bool put(struct stream *s, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	s->sum = add(s->sum, bytes, len);
	while (len > 0 && !s->defect) {
		ssize_t done = write(s->fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			s->defect = "";
			break;
		}
		at += done;
		len -= (size_t)done;
	}
	return !s->defect;
}

static bool get(struct stream *s, void *bytes, size_t len)
{
	uint8_t *at = bytes;
	size_t rest = len;

	while (rest > 0 && !s->defect) {
		ssize_t done = read(s->fd, at, rest);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			s->defect = done < 0 ? "" : "it is incomplete";
			break;
		}
		at += done;
		rest -= (size_t)done;
	}
	if (!s->defect)
		s->sum = add(s->sum, bytes, len);
	return !s->defect;
}

static uint64_t pages_of(const struct checkpoint_file *file)
{
	assert(file->ram_size % CHECKPOINT_PAGE == 0);
	return file->ram_size / CHECKPOINT_PAGE;
}

static size_t map_len(const struct checkpoint_file *file)
{
	return (pages_of(file) + 8 * WORD - 1) / (8 * WORD) * WORD;
}

static bool in_map(const uint8_t *map, uint64_t page)
{
	return map[page / 8] >> page % 8 & 1;
}

/* The next run of pages from *@page on.  Return: how many, from *@page; 0: no more. */
static uint64_t next_run(const uint8_t *map, uint64_t pages, uint64_t *page)
{
	uint64_t end;

	while (*page < pages && !in_map(map, *page))
		++*page;
	for (end = *page; end < pages && in_map(map, end); end++)
		;
	return end - *page;
}

static bool is_zero(const uint8_t *page)
{
	uint64_t first;

	memcpy(&first, page, WORD);
	return first == 0 && memcmp(page, page + WORD, CHECKPOINT_PAGE - WORD) == 0;
}

static uint64_t make_map(const struct checkpoint_file *file, uint8_t *map)
{
	uint64_t count = 0;

	for (uint64_t page = 0; page < pages_of(file); page++) {
		if (is_zero(file->ram + page * CHECKPOINT_PAGE))
			continue;
		map[page / 8] |= (uint8_t)(1u << page % 8);
		count++;
	}
	return count;
}

static bool write_all(struct stream *s, const struct checkpoint_file *file, uint8_t *map)
{
	struct header header = { .magic = MAGIC, .version = VERSION };
	uint64_t page = 0, run;

	snprintf(header.machine, sizeof(header.machine), "%s", file->machine);
	header.ram_size = file->ram_size;
	header.head_len = file->head_len;
	header.pages = make_map(file, map);
	put(s, &header, sizeof(header));
	put(s, file->head, file->head_len);
	put(s, map, map_len(file));
	while (!s->defect && (run = next_run(map, pages_of(file), &page)) > 0) {
		put(s, file->ram + page * CHECKPOINT_PAGE, run * CHECKPOINT_PAGE);
		page += run;
	}
	if (!s->defect &&
	    pwrite(s->fd, &s->sum, WORD, offsetof(struct header, sum)) != (ssize_t)WORD)
		s->defect = "";
	return !s->defect;
}

int checkpoint_file_write(const char *path, const struct checkpoint_file *file, char *err,
			  size_t errlen)
{
	struct stream s = { .sum = SUM_BASIS };
	uint8_t *map = calloc(1, map_len(file));
	bool done = false;

	assert(strlen(file->machine) < CHECKPOINT_MACHINE_LEN);
	assert(file->head_len % WORD == 0 && file->head_len <= CHECKPOINT_HEAD_MAX);
	s.fd = map ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (s.fd >= 0) {
		done = write_all(&s, file, map);
		done = close(s.fd) == 0 && done;
	}
	if (!done)
		snprintf(err, errlen, "the checkpoint %s cannot be written: %s", path,
			 strerror(errno));
	if (!done && s.fd >= 0)
		unlink(path);
	free(map);
	return done ? 0 : -1;
}

static const char *header_defect(const struct header *header, const struct checkpoint_file *file,
				 uint64_t size)
{
	uint64_t rest = size - sizeof(*header);

	if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0)
		return "it is not a checkpoint";
	if (header->version != VERSION)
		return "it has the format of another version";
	if (memchr(header->machine, '\0', sizeof(header->machine)) == NULL ||
	    strcmp(header->machine, file->machine) != 0 || header->ram_size != file->ram_size)
		return "it was saved on another machine, or by another Hercules";
	if (header->head_len % WORD != 0 || header->head_len > CHECKPOINT_HEAD_MAX ||
	    header->pages > pages_of(file))
		return "it is damaged";
	if (rest != header->head_len + map_len(file) + header->pages * CHECKPOINT_PAGE)
		return "its length is not what its header says";
	return NULL;
}

static bool map_agrees(const struct checkpoint_file *file, const uint8_t *map, uint64_t count)
{
	for (uint64_t page = 0; page < 8 * map_len(file); page++) {
		if (!in_map(map, page))
			continue;
		if (page >= pages_of(file) || count == 0)
			return false;
		count--;
	}
	return count == 0;
}

/* The header is read, and file->head and @map are there. */
static void read_rest(struct stream *s, const struct header *header,
		      struct checkpoint_file *file, uint8_t *map)
{
	uint64_t page = 0, run;

	if (!get(s, file->head, file->head_len) || !get(s, map, map_len(file)))
		return;
	if (!map_agrees(file, map, header->pages)) {
		s->defect = "it is damaged";
		return;
	}
	while ((run = next_run(map, pages_of(file), &page)) > 0) {
		if (!get(s, file->ram + page * CHECKPOINT_PAGE, run * CHECKPOINT_PAGE))
			return;
		page += run;
	}
	if (s->sum != header->sum)
		s->defect = "its checksum is wrong; it is damaged";
}

static void read_all(struct stream *s, struct checkpoint_file *file)
{
	struct header header, summed;
	struct stat st;
	uint8_t *map;

	if (fstat(s->fd, &st) != 0) {
		s->defect = "";
		return;
	}
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(header)) {
		s->defect = "it is not a checkpoint";
		return;
	}
	if (!get(s, &header, sizeof(header)))
		return;
	s->defect = header_defect(&header, file, (uint64_t)st.st_size);
	if (s->defect)
		return;
	summed = header;
	summed.sum = 0;
	s->sum = add(SUM_BASIS, &summed, sizeof(summed));
	file->head_len = header.head_len;
	file->head = malloc(header.head_len + 1);
	map = malloc(map_len(file));
	if (file->head && map)
		read_rest(s, &header, file, map);
	else
		s->defect = "";
	free(map);
}

int checkpoint_file_read(const char *path, struct checkpoint_file *file, char *err, size_t errlen)
{
	struct stream s = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };

	file->head = NULL;
	file->head_len = 0;
	if (s.fd < 0)
		s.defect = "";
	else
		read_all(&s, file);
	if (s.defect) {
		snprintf(err, errlen, "the checkpoint %s cannot be used: %s", path,
			 *s.defect ? s.defect : strerror(errno));
		free(file->head);
		file->head = NULL;
	}
	if (s.fd >= 0)
		close(s.fd);
	return s.defect ? -1 : 0;
}
