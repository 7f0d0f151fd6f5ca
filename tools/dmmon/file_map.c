// SPDX-License-Identifier: MIT
#define _GNU_SOURCE /* reallocarray() */
#include "file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "command.h"
#include "dms_region.h"

/* Extents that the kernel is asked for at a time. */
#define BATCH 256u
/* Where such an extent is on the device is not known, or not its place alone. */
#define NOWHERE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED | \
		 FIEMAP_EXTENT_NOT_ALIGNED)

bool file_map_add(struct file_map *map, const struct fiemap_extent *extent)
{
	const uint64_t start = extent->fe_physical / DMS_SECTOR_SIZE;
	const uint64_t length = extent->fe_length / DMS_SECTOR_SIZE;
	struct device_segment *last = map->count ? &map->segment[map->count - 1] : NULL;

	if ((extent->fe_flags & NOWHERE) || !length) {
		map->left_out++;
		return true;
	}
	if (last && last->start + last->length == start) {
		last->length += length;
		return true;
	}
	if (map->count == map->room) {
		size_t room = map->room ? 2 * map->room : 16;
		struct device_segment *more = reallocarray(map->segment, room, sizeof(*more));

		if (!more)
			return false;
		map->segment = more;
		map->room = room;
	}
	map->segment[map->count++] = (struct device_segment){ start, length };
	return true;
}

/* The next extents, from *@from on.  Return: 1: there may be more; 0: there are none; -errno. */
static int read_batch(struct file_map *map, int file, struct fiemap *batch, uint64_t *from)
{
	const struct fiemap_extent *last = NULL;

	memset(batch, 0, sizeof(*batch));
	batch->fm_start = *from;
	batch->fm_length = FIEMAP_MAX_OFFSET - *from;
	batch->fm_flags = FIEMAP_FLAG_SYNC;
	batch->fm_extent_count = BATCH;
	if (ioctl(file, FS_IOC_FIEMAP, batch))
		return -errno;
	for (unsigned int i = 0; i < batch->fm_mapped_extents && i < BATCH; i++) {
		last = &batch->fm_extents[i];
		if (!file_map_add(map, last))
			return -ENOMEM;
	}
	/* A file system that does not go on would have this go on for ever. */
	if (!last || (last->fe_flags & FIEMAP_EXTENT_LAST) ||
	    last->fe_logical + last->fe_length <= *from)
		return 0;
	*from = last->fe_logical + last->fe_length;
	return 1;
}

static int read_extents(struct file_map *map, int file)
{
	struct fiemap *batch = malloc(sizeof(*batch) + BATCH * sizeof(batch->fm_extents[0]));
	uint64_t from = 0;
	int more = batch ? 1 : -ENOMEM;

	while (more == 1)
		more = read_batch(map, file, batch, &from);
	free(batch);
	return more;
}

static int read_open(struct file_map *map, int file, const char *path)
{
	struct stat found;
	int error = fstat(file, &found) ? -errno : 0;

	if (!error && !S_ISREG(found.st_mode)) {
		complain("%s is not a regular file", path);
		return EXIT_USAGE;
	}
	if (!error) {
		map->major = major(found.st_dev);
		map->minor = minor(found.st_dev);
		error = read_extents(map, file);
	}
	if (error == -EOPNOTSUPP || error == -ENOTTY) {
		complain("the file system of %s does not tell where its files are", path);
		return EXIT_USAGE;
	}
	if (error) {
		complain("the map of %s cannot be read: %s", path, strerror(-error));
		return EXIT_FAILED;
	}
	if (map->count)
		return EXIT_PASS;
	complain("%s has no place on its device: it is empty, or its data are stored with others or "
		 "compressed", path);
	return EXIT_USAGE;
}

int file_map_read(struct file_map *map, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), code;

	*map = (struct file_map){ 0 };
	if (file < 0) {
		complain("%s cannot be opened: %s", path, strerror(errno));
		return EXIT_USAGE;
	}
	code = read_open(map, file, path);
	close(file);
	if (code != EXIT_PASS)
		file_map_free(map);
	else if (map->left_out)
		complain("%llu extents of %s have no place of their own on the device, and no region",
			 (unsigned long long)map->left_out, path);
	return code;
}

void file_map_free(struct file_map *map)
{
	free(map->segment);
	*map = (struct file_map){ 0 };
}
