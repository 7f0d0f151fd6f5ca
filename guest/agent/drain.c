// SPDX-License-Identifier: MIT
/* DRAIN: read at full speed and return figures only. */
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent.h"

struct drain {
	int fd;
	uint32_t size, want_sets;
	uint64_t want_reads, want_bytes;	/* 0: any number */
	uint32_t sets, empty, overflows;
	uint64_t reads, bytes;
	int error;
	bool sum;
	uint32_t crc, table[256];
};

/* CRC-32 of IEEE 802.3, as zlib has it. */
static void crc_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (int bit = 0; bit < 8; bit++)
			value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
		table[i] = value;
	}
}

static void crc_add(struct drain *d, const uint8_t *data, size_t len)
{
	uint32_t crc = ~d->crc;

	while (len--)
		crc = crc >> 8 ^ d->table[(crc ^ *data++) & 0xff];
	d->crc = ~crc;
}

static bool enough(const struct drain *d)
{
	return (d->want_sets && d->sets >= d->want_sets) ||
	       (d->want_reads && d->reads >= d->want_reads) ||
	       (d->want_bytes && d->bytes >= d->want_bytes);
}

/* Return: reading goes on after this errno. */
static bool goes_on(struct drain *d, int error)
{
	struct pollfd fd = { .fd = d->fd, .events = POLLIN };

	if (error == EOVERFLOW) {
		d->overflows++;
		return true;
	}
	if (error == EAGAIN && poll(&fd, 1, -1) > 0)
		return true;
	d->error = error;
	return false;
}

/* A set ends with a 0-byte read after data. */
static void drain(struct drain *d, uint8_t *buffer, const struct limit *limit)
{
	bool data = false;

	while (!enough(d) && !limit_expired(limit)) {
		ssize_t got = read(d->fd, buffer, d->size);

		if (got < 0) {
			if (!goes_on(d, errno))
				return;
			continue;
		}
		d->reads++;
		if (got == 0) {
			*(data ? &d->sets : &d->empty) += 1;
			data = false;
			continue;
		}
		data = true;
		d->bytes += (uint64_t)got;
		if (d->sum)
			crc_add(d, buffer, (size_t)got);
	}
}

enum status handle_drain(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	struct drain d = { .fd = (int)rd_u32(in), .size = rd_u32(in) };
	uint64_t began;
	uint32_t ms;
	void *buffer;

	(void)agent;
	d.want_sets = rd_u32(in);
	d.want_reads = rd_u64(in);
	d.want_bytes = rd_u64(in);
	ms = rd_u32(in);
	d.sum = rd_u8(in) & DRAIN_CRC;
	if (!rd_done(in) || !d.size || d.size > REPLY_MAX || !ms || ms > LIMIT_MAX_MS)
		return refuse(out, ST_MALFORMED, "DRAIN needs a buffer size and a time limit");
	/* Touched beforehand, so that the figures are those of the reads. */
	buffer = mmap(NULL, d.size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buffer == MAP_FAILED)
		return refuse(out, ST_NO_MEMORY, "no memory for the buffer");
	crc_table(d.table);
	limit_start(&worker->limit, ms);
	began = clock_ns();
	drain(&d, buffer, &worker->limit);
	wr_u64(out, clock_ns() - began);
	wr_u8(out, limit_expired(&worker->limit));
	limit_stop(&worker->limit);
	munmap(buffer, d.size);
	wr_u32(out, d.sets);
	wr_u32(out, d.empty);
	wr_u64(out, d.reads);
	wr_u64(out, d.bytes);
	wr_u32(out, d.overflows);
	wr_u32(out, (uint32_t)d.error);
	wr_u32(out, d.crc);
	return ST_OK;
}
