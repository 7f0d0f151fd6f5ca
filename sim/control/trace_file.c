/* SPDX-License-Identifier: MIT */
/* The trace in a file: one writev() a line, so that a kill loses nothing that was complete. */
#define _GNU_SOURCE /* memmem, TEMP_FAILURE_RETRY */
#include "number.h"
#include "smaller.h"
#include "trace_file.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "zvmlab/file.h"

/* The limit's own record, and a count before it. */
#define RESERVED 512u
#define HEAD_MAX 96u
#define TOD_SECOND (UINT64_C(4096) * 1000000)

struct trace_file {
	char *path;
	int fd;
	uint64_t limit, written;
	char ended[96];			/* why there will be no more; "": it goes on */
	char last[TRACE_SAME_MAX];	/* what counts of the last record, from its CPU on … */
	size_t last_len;		/* … 0: there is none to compare with */
	unsigned int lines;		/* of it that have been written, up to TRACE_SAME_LINES */
	uint64_t times;			/* that it has come again since */
	uint64_t tod;			/* of the first of those */
	char head[HEAD_MAX];		/* number and time of the last of those */
};

int trace_file_limit(const char *text, uint64_t *limit, char *err, size_t errlen)
{
	uint64_t mib;

	if (!number_parse(text, 1, 1u << 20, &mib)) {
		snprintf(err, errlen, "trace-limit \"%s\" is not valid: expected 1 to %u (MiB)", text,
			 1u << 20);
		return -1;
	}
	*limit = mib << 20;
	return 0;
}

struct trace_file *trace_file_open(const char *path, uint64_t limit, char *err, size_t errlen)
{
	struct trace_file *file = calloc(1, sizeof(*file));
	const char *why;

	assert(limit >= 2 * RESERVED);
	if (!file || !(file->path = strdup(path))) {
		snprintf(err, errlen, "not enough memory for the trace file %s", path);
		free(file);
		return NULL;
	}
	file->limit = limit;
	why = file_open_write(path, true, &file->fd);
	if (why) {
		snprintf(err, errlen, "trace file %s cannot be written: %s", path, why);
		free(file->path);
		free(file);
		return NULL;
	}
	return file;
}

static void end(struct trace_file *file, const char *why)
{
	snprintf(file->ended, sizeof(file->ended), "%s", why);
	fprintf(stderr, "zvmlab: trace file %s ends here: %s\n", file->path, why);
}

static void skip(struct iovec *part, size_t len)
{
	part->iov_base = (char *)part->iov_base + len;
	part->iov_len -= len;
}

static bool write_parts(int fd, struct iovec part[2], size_t left)
{
	while (left > 0) {
		const ssize_t done = TEMP_FAILURE_RETRY(writev(fd, part, 2));
		size_t first;

		if (done == 0)
			errno = EIO;
		if (done <= 0)
			return false;
		left -= (size_t)done;
		first = smaller((size_t)done, part[0].iov_len);
		skip(&part[0], first);
		skip(&part[1], (size_t)done - first);
	}
	return true;
}

static void write_line(struct trace_file *file, const char *line, size_t len)
{
	struct iovec part[2] = { { (void *)(uintptr_t)line, len }, { (void *)(uintptr_t)"\n", 1 } };

	if (file->ended[0])
		return;
	if (write_parts(file->fd, part, len + 1))
		file->written += len + 1;
	else
		end(file, strerror(errno));
}

/* The end of the record's number and time; NULL if the core would not write it so. */
static const char *body_of(const char *line, size_t len)
{
	static const char member[] = ",\"cpu\":";
	const char *at = memmem(line, smaller(len, HEAD_MAX), member, sizeof(member) - 1);

	return at && (size_t)(line + len - at) <= TRACE_SAME_MAX ? at : NULL;
}

static void reach_limit(struct trace_file *file, const char *line, size_t len)
{
	const char *body = body_of(line, smaller(len, TRACE_SAME_MAX));
	char record[RESERVED / 2], why[sizeof(file->ended)];

	snprintf(record, sizeof(record), "%.*s%s\"cpu\":null,\"call\":\"trace.limit\",\"limit\":%" PRIu64
		 ",\"missing\":\"this record and all after it\"}", body ? (int)(body - line) : 0, line,
		 body ? "," : "{", file->limit);
	write_line(file, record, strlen(record));
	snprintf(why, sizeof(why), "its limit of %" PRIu64 " MiB is reached (trace-limit)",
		 file->limit >> 20);
	if (!file->ended[0])
		end(file, why);
}

static void write_record(struct trace_file *file, const char *line, size_t len)
{
	if (file->written + len + 1 > file->limit - RESERVED)
		reach_limit(file, line, len);
	else
		write_line(file, line, len);
}

static uint64_t tod_of(const char *head)
{
	static const char member[] = "\"tod\":\"";
	const char *at = strstr(head, member);

	return at ? strtoull(at + sizeof(member) - 1, NULL, 16) : 0;
}

void trace_file_flush(struct trace_file *file)
{
	char line[HEAD_MAX + 96];
	int cpu;

	if (file->times == 0)
		return;
	/* ,"cpu":0, … */
	cpu = (int)strcspn(file->last + 1, ",");
	snprintf(line, sizeof(line), "%s%.*s,\"call\":\"repeat\",\"times\":%" PRIu64 "}", file->head,
		 cpu < 16 ? cpu + 1 : 0, file->last, file->times);
	file->times = 0;
	write_record(file, line, strlen(line));
}

/* A time slice given away: of the registers CP looks at one at most, and the result shows it. */
static bool waits(const char *body, size_t len)
{
	static const char *const calls[] = { "\"call\":\"diag.44\"", "\"call\":\"diag.9c\"" };

	return memmem(body, len, calls[0], strlen(calls[0])) ||
	       memmem(body, len, calls[1], strlen(calls[1]));
}

/* The part of a record to compare: a waiting program has other register contents each time. */
static size_t essence(char to[TRACE_SAME_MAX], const char *body, size_t len)
{
	static const char registers[] = ",\"gr\":[";
	const char *gr, *end;
	size_t head;

	assert(len <= TRACE_SAME_MAX);
	gr = waits(body, len) ? memmem(body, len, registers, sizeof(registers) - 1) : NULL;
	end = gr ? memchr(gr, ']', (size_t)(body + len - gr)) : NULL;
	head = end ? (size_t)(gr - body) : len;
	memcpy(to, body, head);
	if (!end)
		return len;
	memcpy(to + head, end, (size_t)(body + len - end));
	return head + (size_t)(body + len - end);
}

/* Is it the record before once more, so that counting is enough? */
static bool counted(struct trace_file *file, const char *line, const char *body, size_t len)
{
	const size_t head_len = body ? (size_t)(body - line) : 0;
	char same[TRACE_SAME_MAX];
	const size_t same_len = body ? essence(same, body, len - head_len) : 0;

	if (!body || same_len != file->last_len || memcmp(same, file->last, same_len) != 0) {
		trace_file_flush(file);
		file->last_len = same_len;
		memcpy(file->last, same, same_len);
		file->lines = 1;
		return false;
	}
	if (file->lines < TRACE_SAME_LINES) {
		file->lines++;
		return false;
	}
	memcpy(file->head, line, head_len);
	file->head[head_len] = '\0';
	if (file->times++ == 0)
		file->tod = tod_of(file->head);
	if (file->times == TRACE_SAME_TIMES || tod_of(file->head) - file->tod >= TOD_SECOND)
		trace_file_flush(file);
	return true;
}

void trace_file_line(void *opaque, const char *line, size_t len)
{
	struct trace_file *file = opaque;

	if (!file->ended[0] && !counted(file, line, body_of(line, len), len))
		write_record(file, line, len);
}

const char *trace_file_ended(const struct trace_file *file)
{
	return file->ended[0] ? file->ended : NULL;
}

void trace_file_close(struct trace_file *file)
{
	if (!file)
		return;
	trace_file_flush(file);
	close(file->fd);
	free(file->path);
	free(file);
}
