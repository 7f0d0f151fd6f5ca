/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "keep.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_regular(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

int keep_open(struct keep *keep, const char *name, const void *tail, size_t tail_len)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	int ret;

	*keep = (struct keep){ .tail = tail, .tail_len = tail_len };
	if (fd < 0)
		return -errno;
	if (!is_regular(fd)) {
		close(fd);
		return -ESPIPE;
	}
	if (ftruncate(fd, 0) == 0)
		keep->file = fdopen(fd, "w");
	if (!keep->file) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return keep_mark(keep);
}

bool keep_stream(struct keep *keep, FILE *file)
{
	off_t at;

	*keep = (struct keep){ 0 };
	if (!is_regular(fileno(file)))
		return false;
	/* Of a file that is appended to, the place is known only here. */
	at = fcntl(fileno(file), F_GETFL) & O_APPEND ? lseek(fileno(file), 0, SEEK_END) :
						      ftello(file);
	keep->file = file;
	keep->kept = (uint64_t)at;
	return at >= 0;
}

int keep_write(struct keep *keep, const void *bytes, size_t len)
{
	return fwrite(bytes, 1, len, keep->file) == len ? 0 : -errno;
}

/* No signal interrupts this: they come only while input is waited for. */
static int write_at(int fd, uint64_t at, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		const ssize_t done = pwrite(fd, bytes, len, (off_t)at);

		if (done < 1)
			return done ? -errno : -EIO;
		bytes += done;
		at += (uint64_t)done;
		len -= (size_t)done;
	}
	return 0;
}

int keep_patch(struct keep *keep, uint64_t at, const void *bytes, size_t len)
{
	assert(at >= keep->kept && at + len <= keep_at(keep));
	if (fflush(keep->file))
		return -errno;
	return write_at(fileno(keep->file), at, bytes, len);
}

uint64_t keep_at(const struct keep *keep)
{
	const off_t at = ftello(keep->file);

	/* Of a regular file it is always known. */
	assert(at >= 0);
	return (uint64_t)at;
}

int keep_flush(struct keep *keep)
{
	return fflush(keep->file) ? -errno : 0;
}

int keep_mark(struct keep *keep)
{
	int ret = keep_flush(keep);

	if (!ret && keep->tail)
		ret = write_at(fileno(keep->file), keep_at(keep), keep->tail, keep->tail_len);
	if (ret)
		return ret;
	keep->kept = keep_at(keep);
	return 0;
}

int keep_back(struct keep *keep)
{
	const int fd = fileno(keep->file);
	int ret = 0;

	/* What stdio still holds must not come behind. */
	__fpurge(keep->file);
	clearerr(keep->file);
	if (keep->tail)
		ret = write_at(fd, keep->kept, keep->tail, keep->tail_len);
	if (ftruncate(fd, (off_t)(keep->kept + keep->tail_len)) && !ret)
		ret = -errno;
	if (fseeko(keep->file, (off_t)keep->kept, SEEK_SET) && !ret)
		ret = -errno;
	return ret;
}

int keep_close(struct keep *keep)
{
	int ret;

	if (!keep->file)
		return 0;
	ret = keep_back(keep);
	if (fclose(keep->file) && !ret)
		ret = -errno;
	keep->file = NULL;
	return ret;
}
