// SPDX-License-Identifier: MIT
/*
 * The kernel's log, as records of /dev/kmsg: "priority,sequence,microseconds,
 * flags;text" and further lines that begin with a blank.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	return own_open("/dev/kmsg", O_RDONLY | O_NONBLOCK, 0);
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

struct taken {
	uint64_t next;		/* number after the last record */
	uint64_t lost;		/* records that were overwritten before they could be read */
	bool more;		/* the log has further ones */
	int error;
};

/* Append the records from number @from on. */
static struct taken records(int fd, uint64_t from, struct wr *out)
{
	struct taken taken = { .next = from, .more = true };
	char text[RECORD_MAX + 1];
	size_t length_at = out->len;

	wr_u32(out, 0);
	for (unsigned int i = 0; i < RECORDS_MAX && !out->full; i++) {
		ssize_t got = read(fd, text, RECORD_MAX);
		uint64_t number;

		/* EPIPE: records were overwritten meanwhile; the next read has the oldest. */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got < 0 && errno != EAGAIN)
			taken.error = errno;
		taken.more = got > 0;
		if (got <= 0)
			break;
		text[got] = '\0';
		number = sequence_of(text);
		if (number < taken.next)
			continue;
		taken.lost += number - taken.next;
		taken.next = number + 1;
		wr_raw(out, text, (size_t)got);
		if (out->len - length_at > LOG_MAX)
			break;
	}
	if (!out->full)
		put_be32(out->data + length_at, (uint32_t)(out->len - length_at - 4));
	return taken;
}

void klog_since(int fd, struct wr *out)
{
	if (fd < 0) {
		wr_u32(out, 0);
		return;
	}
	records(fd, 0, out);
	close(fd);
}

/* "<priority>,<sequence>,<microseconds>,...;<text>\n", and lines that nobody needs to see. */
static void show(int to, unsigned int level, char *record)
{
	char *at, *text = strchr(record, ';');
	unsigned long priority = strtoul(record, &at, 10);
	uint64_t us;

	if (!text || *at != ',' || (priority & 7) > level)
		return;
	strtoull(at + 1, &at, 10);
	us = *at == ',' ? strtoull(at + 1, NULL, 10) : 0;
	text[strcspn(text, "\n")] = '\0';
	dprintf(to, "[%5llu.%06llu] %s\n", (unsigned long long)us / 1000000,
		(unsigned long long)us % 1000000, text + 1);
}

void klog_show(int to, unsigned int level)
{
	char record[RECORD_MAX + 1];
	int fd = klog_open();

	for (unsigned int i = 0; fd >= 0 && i < RECORDS_MAX; i++) {
		ssize_t got = read(fd, record, RECORD_MAX);

		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		show(to, level, record);
	}
	if (fd >= 0)
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
	struct taken taken = { .next = from };
	size_t at = out->len;
	int fd = take_kept(from);

	taken.error = fd < 0 ? errno : 0;
	wr_u32(out, 0);
	wr_u64(out, 0);
	wr_u64(out, 0);
	wr_u8(out, 0);
	if (fd >= 0) {
		taken = records(fd, from, out);
		keep(fd, taken.next);
	} else {
		wr_u32(out, 0);
	}
	if (out->full)
		return;
	put_be32(out->data + at, (uint32_t)taken.error);
	put_be64(out->data + at + 4, taken.next);
	put_be64(out->data + at + 12, taken.lost);
	out->data[at + 20] = taken.more;
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
