/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Storage that other processes see, as that of a member of a system: a checkpoint is copied into it.
 * What is there already stays, and what was translated from it.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "cp_machine_file.h"

/* The next address from @at on of what @whence says, at most @end; @offset: of storage in the file. */
static uint64_t next(int fd, uint64_t offset, uint64_t at, uint64_t end, int whence)
{
	const off_t found = lseek(fd, offset + at, whence);

	return found < 0 ? end : MIN((uint64_t)found - offset, end);
}

static bool clear(const ZvmlabCp *s, uint64_t at, uint64_t end)
{
	const uint64_t first = next(s->port.ram_fd, 0, at, end, SEEK_DATA);

	if (first == end)
		return true;
	zvmlab_forget_code(s, first, end - first);
	return fallocate(s->port.ram_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first,
			 end - first) == 0;
}

static bool put(const ZvmlabCp *s, const uint8_t *pages, uint64_t at, uint64_t end)
{
	while (at < end) {
		const ssize_t done = TEMP_FAILURE_RETRY(pwrite(s->port.ram_fd, pages + at, end - at,
							       at));

		if (done <= 0)
			return false;
		zvmlab_forget_code(s, at, done);
		at += done;
	}
	return true;
}

static bool is_same(const ZvmlabCp *s, const uint8_t *pages, uint64_t at)
{
	return memcmp(s->port.ram + at, pages + at, CP_PAGE_SIZE) == 0;
}

/* All of it is there on both sides. */
static bool put_others(const ZvmlabCp *s, const uint8_t *pages, uint64_t at, uint64_t end)
{
	while (at < end) {
		uint64_t first = at;

		while (first < end && is_same(s, pages, first))
			first += CP_PAGE_SIZE;
		at = first;
		while (at < end && !is_same(s, pages, at))
			at += CP_PAGE_SIZE;
		if (!put(s, pages, first, at))
			return false;
	}
	return true;
}

/* To look at a page that is not there would make it. */
static bool copy(const ZvmlabCp *s, const uint8_t *pages, uint64_t at, uint64_t end)
{
	while (at < end) {
		const uint64_t data = next(s->port.ram_fd, 0, at, end, SEEK_DATA);
		const uint64_t hole = next(s->port.ram_fd, 0, data, end, SEEK_HOLE);

		if (!put(s, pages, at, data) || !put_others(s, pages, data, hole))
			return false;
		at = hole;
	}
	return true;
}

bool zvmlab_share_file(const ZvmlabCp *s, const struct cp_machine_file *file, const uint8_t *pages)
{
	const uint64_t size = s->port.ram_size;
	bool shared = true;

	for (uint64_t at = 0, data, hole; shared && at < size; at = hole) {
		data = next(file->fd, file->ram_offset, at, size, SEEK_DATA);
		hole = next(file->fd, file->ram_offset, data, size, SEEK_HOLE);
		shared = clear(s, at, data) && copy(s, pages, data, hole);
	}
	return shared;
}

uint8_t *zvmlab_shared_pages(const ZvmlabCp *s)
{
	const uint64_t size = s->port.ram_size;
	uint8_t *there = g_new0(uint8_t, size / CP_PAGE_SIZE);

	for (uint64_t at = 0, data; at < size; at = next(s->port.ram_fd, 0, data, size, SEEK_HOLE)) {
		data = next(s->port.ram_fd, 0, at, size, SEEK_DATA);
		memset(there + data / CP_PAGE_SIZE, 1,
		       (next(s->port.ram_fd, 0, data, size, SEEK_HOLE) - data) / CP_PAGE_SIZE);
	}
	return there;
}

void *zvmlab_shared_map(const ZvmlabCp *s)
{
	return mmap(NULL, s->port.ram_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, s->port.ram_fd, 0);
}

bool zvmlab_share_nothing(const ZvmlabCp *s)
{
	return clear(s, 0, s->port.ram_size);
}
