/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of storage have been stored to, as far as the host knows: what is mapped from a file
 * and was not stored to is the file's.  Linux 6.7 and later look through storage themselves
 * (PAGEMAP_SCAN); before, there is a word to read for each page, of which most were never touched.
 */
#include "qemu/osdep.h"
#include "port.h"

#include <sys/ioctl.h>

/* Of /proc/PID/pagemap (proc(5)), a word for each page. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61)
#define PAGES_AT_ONCE 4096u

/* As <linux/fs.h> has them since Linux 6.7, which the headers need not be of. */
#define SCAN_OF_FILE (UINT64_C(1) << 2)
#define SCAN_PRESENT (UINT64_C(1) << 3)
#define SCAN_SWAPPED (UINT64_C(1) << 4)
#define REGIONS_AT_ONCE 512u

struct region {
	uint64_t start, end, categories;
};

struct scan {
	uint64_t size, flags;
	uint64_t start, end, walk_end;	/* addresses; the last one is set: so far it has come */
	uint64_t regions, regions_len, max_pages;
	/* A page is told of if it has all of @all and one of @any, those of @inverted inverted. */
	uint64_t inverted, all, any, told;
};

#define SCAN _IOWR('f', 16, struct scan)

/* Return: false if this kernel cannot. */
static bool scan(const ZvmlabCp *s, int fd, uint8_t *stored)
{
	g_autofree struct region *regions = g_new(struct region, REGIONS_AT_ONCE);
	const uint64_t ram = (uintptr_t)s->port.ram, end = ram + s->port.ram_size;
	struct scan scan = {
		.size = sizeof(scan), .start = ram, .end = end, .regions = (uintptr_t)regions,
		.regions_len = REGIONS_AT_ONCE, .inverted = SCAN_OF_FILE, .all = SCAN_OF_FILE,
		.any = SCAN_PRESENT | SCAN_SWAPPED, .told = SCAN_PRESENT | SCAN_SWAPPED,
	};

	for (; scan.start < end; scan.start = scan.walk_end) {
		const int found = ioctl(fd, SCAN, &scan);

		if (found < 0)
			return false;
		for (int i = 0; i < found; i++)
			memset(stored + (regions[i].start - ram) / CP_PAGE_SIZE, 1,
			       (regions[i].end - regions[i].start) / CP_PAGE_SIZE);
		if (scan.walk_end <= scan.start)
			return false;
	}
	return true;
}

static bool read_words(const ZvmlabCp *s, int fd, uint8_t *stored)
{
	const uint64_t pages = s->port.ram_size / CP_PAGE_SIZE;
	const off_t start = (uintptr_t)s->port.ram / CP_PAGE_SIZE * sizeof(uint64_t);
	g_autofree uint64_t *words = g_new(uint64_t, PAGES_AT_ONCE);

	for (uint64_t from = 0; from < pages; from += PAGES_AT_ONCE) {
		const uint64_t count = MIN(pages - from, PAGES_AT_ONCE);
		const size_t len = count * sizeof(uint64_t);

		if (pread(fd, words, len, start + from * sizeof(uint64_t)) != (ssize_t)len)
			return false;
		for (uint64_t i = 0; i < count; i++)
			stored[from + i] = words[i] & PAGE_SWAPPED ||
					   (words[i] & PAGE_PRESENT && !(words[i] & PAGE_OF_FILE));
	}
	return true;
}

uint8_t *zvmlab_stored_pages(const ZvmlabCp *s)
{
	uint8_t *stored = g_new0(uint8_t, s->port.ram_size / CP_PAGE_SIZE);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (!scan(s, fd, stored) && !read_words(s, fd, stored)))
		g_clear_pointer(&stored, g_free);
	if (fd >= 0)
		close(fd);
	return stored;
}
