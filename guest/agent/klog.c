// SPDX-License-Identifier: MIT
/*
 * The kernel's log, as records of /dev/kmsg: "priority,sequence,microseconds,
 * flags;text" and further lines that begin with a blank.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent.h"

#define RECORD_MAX 8192		/* the kernel's own limit for one record with its dictionary */
#define RECORDS_MAX 100000	/* more than any log buffer holds */
#define LOG_MAX (4u << 20)

/* The log as the last request has left it: what follows next needs no reading from its start. */
static struct {
	pthread_mutex_t lock;
	int fd;			/* -1: none */
	uint64_t next;		/* number of the first record that has not been read */
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static int klog_open(void)
{
	return open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

int klog_mark(void)
{
	int fd = klog_open();

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static uint64_t sequence_of(const char *record)
{
	const char *at = record;

	while (*at && *at != ',' && *at != ';')
		at++;
	return *at == ',' ? strtoull(at + 1, NULL, 10) : 0;
}

/*
 * Append the records from number @from on; *@all: none was read that is not appended.
 * Return: the number after the last one.
 */
static uint64_t records(int fd, uint64_t from, struct wr *out, bool *all)
{
	char text[RECORD_MAX + 1];
	size_t length_at = out->len;
	uint64_t next = from;

	*all = false;
	wr_u32(out, 0);
	for (unsigned int i = 0; i < RECORDS_MAX && !out->full; i++) {
		ssize_t got = read(fd, text, RECORD_MAX);
		uint64_t number;

		/* EPIPE: records were overwritten meanwhile; the next read has the oldest. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		*all = got <= 0;
		if (got <= 0 || out->len - length_at > LOG_MAX)
			break;
		text[got] = '\0';
		number = sequence_of(text);
		if (number < from)
			continue;
		next = number + 1;
		wr_raw(out, text, (size_t)got);
	}
	if (!out->full)
		put_be32(out->data + length_at, (uint32_t)(out->len - length_at - 4));
	return next;
}

void klog_since(int fd, struct wr *out)
{
	bool all;

	if (fd < 0) {
		wr_u32(out, 0);
		return;
	}
	records(fd, 0, out, &all);
	close(fd);
}

/* A log that begins with record number @from, or before it; return: as open(). */
static int take_kept(uint64_t from)
{
	int fd = -1;

	pthread_mutex_lock(&kept.lock);
	if (from >= kept.next) {
		fd = kept.fd;
		kept.fd = -1;
	}
	pthread_mutex_unlock(&kept.lock);
	return fd >= 0 ? fd : klog_open();
}

static void keep(int fd, uint64_t next)
{
	int old;

	pthread_mutex_lock(&kept.lock);
	old = kept.fd;
	kept.fd = fd;
	kept.next = next;
	pthread_mutex_unlock(&kept.lock);
	if (old >= 0)
		close(old);
}

void klog_from(uint64_t from, struct wr *out)
{
	uint64_t next = from;
	size_t at = out->len;
	int fd = take_kept(from);
	bool all;

	wr_u32(out, fd < 0 ? (uint32_t)errno : 0);
	wr_u64(out, 0);
	if (fd >= 0) {
		next = records(fd, from, out, &all);
		if (all)
			keep(fd, next);
		else
			close(fd);
	} else {
		wr_u32(out, 0);
	}
	put_be64(out->data + at + 4, next);
}

enum status handle_klog(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	uint64_t from = rd_u64(in);

	(void)agent;
	(void)worker;
	if (!rd_done(in))
		return refuse(out, ST_MALFORMED, "KLOG needs the number of the first record");
	klog_from(from, out);
	return ST_OK;
}
