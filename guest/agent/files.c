// SPDX-License-Identifier: MIT
/* READ_FILE and WRITE_FILE: one chunk of a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

/* Files below /proc/sys take memory for a whole read and refuse large ones. */
#define READ_PART (256u << 10)

/* Append up to @count bytes as bytes; return: 0 or errno. */
static int read_chunk(const char *path, uint64_t offset, uint32_t count, struct wr *out)
{
	uint8_t *at = out->data + out->len + 4;
	int error = 0, fd = own_open(path, O_RDONLY, 0);
	uint32_t done = 0;

	if (fd < 0)
		return errno;
	/* Files that cannot seek are read from where they are: they have no other place. */
	if (offset && lseek(fd, (off_t)offset, SEEK_SET) < 0)
		error = errno;
	while (!error && done < count) {
		const uint32_t part = count - done < READ_PART ? count - done : READ_PART;
		ssize_t got = read(fd, at + done, part);

		if (got < 0 && errno != EINTR)
			error = errno;
		if (got == 0)
			break;
		if (got > 0)
			done += (uint32_t)got;
	}
	close(fd);
	put_be32(at - 4, done);
	out->len += 4 + done;
	return error;
}

enum status handle_read_file(struct agent *agent, struct worker *worker, struct rd *in,
			     struct wr *out)
{
	char *path = rd_string(in);
	uint64_t offset = rd_u64(in);
	uint32_t count = rd_u32(in);
	size_t error_at = out->len;
	enum status status = ST_OK;
	int error;

	(void)agent;
	(void)worker;
	if (!rd_done(in) || !path || count > CHUNK_MAX) {
		status = refuse(out, ST_MALFORMED, "READ_FILE needs a file, an offset and a length");
	} else {
		wr_u32(out, 0);
		error = read_chunk(path, offset, count, out);
		if (out->len == error_at + 4)
			wr_u32(out, 0);
		put_be32(out->data + error_at, (uint32_t)error);
	}
	free(path);
	return status;
}

static int write_chunk(const char *path, int flags, mode_t mode, uint64_t offset,
		       const uint8_t *data, uint32_t len, uint32_t *done)
{
	int error = 0, fd = own_open(path, O_WRONLY | flags, mode);

	*done = 0;
	if (fd < 0)
		return errno;
	/* The mode is meant as it is, whatever the umask. */
	if (flags & O_CREAT && fchmod(fd, mode))
		error = errno;
	if (!error && offset && lseek(fd, (off_t)offset, SEEK_SET) < 0)
		error = errno;
	while (!error && *done < len) {
		ssize_t put = write(fd, data + *done, len - *done);

		if (put > 0)
			*done += (uint32_t)put;
		else if (put == 0 || errno != EINTR)
			error = put ? errno : EIO;
	}
	if (close(fd) && !error)
		error = errno;
	return error;
}

enum status handle_write_file(struct agent *agent, struct worker *worker, struct rd *in,
			      struct wr *out)
{
	char *path = rd_string(in);
	uint8_t how = rd_u8(in);
	mode_t mode = rd_u32(in) & 07777;
	uint64_t offset = rd_u64(in);
	uint32_t len, done;
	const uint8_t *data = rd_bytes(in, &len);
	enum status status = ST_OK;
	int flags = (how & WRITE_CREATE ? O_CREAT : 0) | (how & WRITE_TRUNCATE ? O_TRUNC : 0) |
		    (how & WRITE_APPEND ? O_APPEND : 0);

	(void)agent;
	(void)worker;
	if (!rd_done(in) || !path) {
		status = refuse(out, ST_MALFORMED,
				"WRITE_FILE needs a file, flags, a mode, an offset and data");
	} else {
		wr_u32(out, (uint32_t)write_chunk(path, flags, mode, offset, data, len, &done));
		wr_u32(out, done);
	}
	free(path);
	return status;
}
