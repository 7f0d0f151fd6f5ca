/* SPDX-License-Identifier: MIT */
/* Contents of a segment in a file: the bytes of its ranges, one after the other. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcss_private.h"
#include "smaller.h"
#include "zvmlab/file.h"
#include "zvmlab/input.h"

/* Bytes that one record of the trace tells of. */
#define CHUNK (UINT64_C(1) << 20)

/* All pages of one range, which dcss_has_place() has found. */
static void *map_range(struct cp *cp, const struct dcss *segment,
		       const struct cp_segment_range *range)
{
	return dcss_map(cp, segment, dcss_range_start(range) - dcss_start(segment),
			dcss_range_size(range));
}

static bool has_contents(struct cp *cp, const struct dcss *segment, char *err, size_t errlen)
{
	if (dcss_has_place(cp, segment))
		return true;
	snprintf(err, errlen, "segment %s has no contents: it overlaps the guest's storage, move "
		 "one of them", segment->config.name);
	return false;
}

static int failed(const struct dcss *segment, const char *what, const char *path, const char *why,
		  char *err, size_t errlen)
{
	assert(why);
	snprintf(err, errlen, "segment %s cannot be %s %s: %s", segment->config.name, what, path,
		 why);
	return -1;
}

static int open_checked(const struct dcss *segment, FILE *file, const char *path, char *err,
			size_t errlen)
{
	struct stat st;

	if (fstat(fileno(file), &st) != 0)
		return failed(segment, "read from", path, strerror(errno), err, errlen);
	if ((uint64_t)st.st_size != dcss_content_size(segment)) {
		snprintf(err, errlen, "segment %s cannot be read from %s: expected a file of "
			 "%llu bytes, it has %lld", segment->config.name, path,
			 (unsigned long long)dcss_content_size(segment), (long long)st.st_size);
		return -1;
	}
	return 0;
}

static void trace_write(struct cp *cp, const struct dcss *segment, uint64_t offset,
			const void *data, uint64_t len)
{
	TRACE_INPUT(cp, segment_write, .name = segment->config.name, .offset = offset,
		    .data = { data, len });
	trace_end(cp);
}

bool dcss_covers(struct cp *cp, const struct dcss *segment, uint64_t offset, uint64_t len)
{
	const uint64_t size = dcss_end(segment) - dcss_start(segment) + 1;

	if (len == 0 || offset >= size || len > size - offset)
		return false;
	for (uint64_t done = 0; done < len; done += cp_in_page(offset + done, len - done))
		if (!dcss_map(cp, segment, offset + done, 1))
			return false;
	return true;
}

void dcss_read(struct cp *cp, const struct dcss *segment, uint64_t offset, void *data, uint64_t len)
{
	uint64_t part;

	for (uint64_t done = 0; done < len; done += part) {
		part = cp_in_page(offset + done, len - done);
		memcpy((uint8_t *)data + done, dcss_map(cp, segment, offset + done, part), part);
	}
}

bool dcss_write(struct cp *cp, const struct dcss *segment, uint64_t offset, const void *data,
		uint64_t len)
{
	uint64_t part;

	if (!dcss_covers(cp, segment, offset, len))
		return false;
	for (uint64_t done = 0; done < len; done += part) {
		part = cp_in_page(offset + done, len - done);
		memcpy(dcss_map(cp, segment, offset + done, part), (const uint8_t *)data + done, part);
	}
	dcss_dirty(cp, segment, offset, len);
	trace_write(cp, segment, offset, data, len);
	return true;
}

static int read_ranges(struct cp *cp, const struct dcss *segment, FILE *file, const char *path,
		       char *err, size_t errlen)
{
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];
		uint64_t offset = dcss_range_start(range) - dcss_start(segment);
		uint64_t size = dcss_range_size(range);
		uint8_t *at = map_range(cp, segment, range);

		assert(at);
		for (uint64_t done = 0; done < size;) {
			const uint64_t part = smaller(size - done, CHUNK);

			assert(part > 0 && done + part <= size);
			if (fread(at + done, 1, part, file) != part)
				return failed(segment, "read from", path,
					      feof(file) ? "it has become shorter" : strerror(errno), err,
					      errlen);
			dcss_dirty(cp, segment, offset + done, part);
			trace_write(cp, segment, offset + done, at + done, part);
			done += part;
		}
	}
	return 0;
}

static FILE *stream(int fd, const char *mode, const char **why)
{
	FILE *file = fdopen(fd, mode);

	assert(fd >= 0);
	if (file)
		return file;
	*why = strerror(errno);
	close(fd);
	return NULL;
}

int dcss_read_file(struct cp *cp, const struct dcss *segment, const char *path, char *err,
		   size_t errlen)
{
	const char *why;
	FILE *file;
	int fd, rc;

	if (!has_contents(cp, segment, err, errlen))
		return -1;
	why = file_open_read(path, &fd);
	file = why ? NULL : stream(fd, "rb", &why);
	if (!file)
		return failed(segment, "read from", path, why, err, errlen);
	rc = open_checked(segment, file, path, err, errlen);
	if (rc == 0)
		rc = read_ranges(cp, segment, file, path, err, errlen);
	fclose(file);
	return rc;
}

static int write_ranges(struct cp *cp, const struct dcss *segment, FILE *file, const char *path,
			char *err, size_t errlen)
{
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];
		const void *at = map_range(cp, segment, range);

		assert(at);
		if (fwrite(at, 1, dcss_range_size(range), file) != dcss_range_size(range))
			return failed(segment, "written to", path, strerror(errno), err, errlen);
	}
	return 0;
}

static const struct dcss *find(struct cp *cp, const char *name, char *err, size_t errlen)
{
	const struct dcss *segment = dcss_find(cp, name);

	if (!segment)
		snprintf(err, errlen, "segment %.8s does not exist: define it first", name);
	return segment;
}

int dcss_to_file(struct cp *cp, const char *name, const char *path, char *err, size_t errlen)
{
	const struct dcss *segment = find(cp, name, err, errlen);
	const char *why;
	FILE *file;
	int fd, rc;

	/* Before a file that may exist is emptied. */
	if (!segment || !has_contents(cp, segment, err, errlen))
		return -1;
	why = file_open_write(path, false, &fd);
	file = why ? NULL : stream(fd, "wb", &why);
	if (!file)
		return failed(segment, "written to", path, why, err, errlen);
	rc = write_ranges(cp, segment, file, path, err, errlen);
	/* What was buffered may fail only now. */
	if (fclose(file) != 0 && rc == 0)
		rc = failed(segment, "written to", path, strerror(errno), err, errlen);
	return rc;
}

int dcss_from_file(struct cp *cp, const char *name, const char *path, char *err, size_t errlen)
{
	const struct dcss *segment = find(cp, name, err, errlen);

	return segment ? dcss_read_file(cp, segment, path, err, errlen) : -1;
}
