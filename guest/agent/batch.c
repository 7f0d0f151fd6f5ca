// SPDX-License-Identifier: MIT
/* BATCH: operations in one round trip, with a time limit for all of them. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent.h"

#define DONE_AT FRAME_HEADER		/* u16 and u8 at the start of the reply's payload */
#define ENTRY 8u			/* one read: return value and errno */

static void put_result(struct wr *out, int64_t ret, int error, uint8_t flags, uint16_t buffers)
{
	wr_u64(out, (uint64_t)ret);
	wr_u32(out, (uint32_t)error);
	wr_u8(out, flags);
	wr_u16(out, buffers);
}

static enum status op_poll(struct rd *in, const struct results *earlier, struct wr *out,
			   int64_t *ret)
{
	struct pollfd fds[POLL_MAX];
	unsigned int count = rd_u16(in);
	int32_t timeout;

	if (count > POLL_MAX)
		return ST_MALFORMED;
	for (unsigned int i = 0; i < count; i++) {
		int fd = (int)arg_number(in, earlier);

		fds[i] = (struct pollfd){ .fd = fd, .events = (short)rd_u16(in) };
	}
	timeout = (int32_t)rd_u32(in);
	if (in->bad)
		return ST_MALFORMED;
	*ret = poll(fds, count, timeout);
	put_result(out, *ret, *ret < 0 ? errno : 0, 0, 1);
	wr_u32(out, 2 * count);
	for (unsigned int i = 0; i < count; i++)
		wr_u16(out, (uint16_t)fds[i].revents);
	return ST_OK;
}

/* The request of an OP_READS, and its state. */
struct reads {
	int fd;
	uint32_t count, most, zeros;
	uint64_t most_bytes;
	int32_t poll_ms;
	uint8_t *list;			/* entries of ENTRY bytes */
	uint32_t done, cap;
	uint8_t flags;
	int error;
};

static bool reads_note(struct reads *r, int64_t ret, int error)
{
	uint8_t *at;

	if (r->done == r->cap) {
		uint32_t cap = r->cap ? r->cap * 2 : 64;
		uint8_t *more = realloc(r->list, (size_t)cap * ENTRY);

		if (!more)
			return false;
		r->list = more;
		r->cap = cap;
	}
	at = r->list + (size_t)r->done++ * ENTRY;
	put_be32(at, (uint32_t)(int32_t)ret);
	put_be32(at + 4, (uint32_t)error);
	r->error = error;
	return true;
}

/* Return: whether a read may follow; *@ret is what this one returned. */
static bool reads_once(struct reads *r, uint8_t *at, int64_t *ret)
{
	struct pollfd fd = { .fd = r->fd, .events = POLLIN };

	*ret = -1;
	if (r->poll_ms >= 0) {
		int ready = poll(&fd, 1, r->poll_ms);

		if (ready <= 0) {
			reads_note(r, -1, ready ? errno : ETIMEDOUT);
			return false;
		}
	}
	*ret = read(r->fd, at, r->count);
	if (!reads_note(r, *ret, *ret < 0 ? errno : 0) || *ret < 0)
		return false;
	return *ret || r->zeros == 0 || --r->zeros;
}

static enum status op_reads(struct rd *in, const struct results *earlier, struct wr *out,
			    int64_t *ret, const struct limit *limit)
{
	struct reads r = { .fd = (int)arg_number(in, earlier) };
	size_t header = out->len, room;
	uint64_t total = 0;
	int64_t got;

	r.count = rd_u32(in);
	r.most = rd_u32(in);
	r.most_bytes = rd_u64(in);
	r.zeros = rd_u32(in);
	r.poll_ms = (int32_t)rd_u32(in);
	if (in->bad || r.most > READS_MAX || r.count > REPLY_MAX)
		return ST_MALFORMED;
	put_result(out, 0, 0, 0, 2);
	wr_u32(out, 0);
	if (out->full)
		return ST_LIMIT;
	while (r.done < r.most && !limit_expired(limit)) {
		/* The list of the reads follows the data. */
		room = out->cap - out->len - (size_t)total;
		if (total + r.count > r.most_bytes ||
		    room < r.count + ENTRY * (size_t)(r.done + 2)) {
			r.flags = RESULT_FULL;
			break;
		}
		if (!reads_once(&r, out->data + out->len + total, &got))
			break;
		total += (uint64_t)got;
	}
	put_be32(out->data + out->len - 4, (uint32_t)total);
	out->len += (size_t)total;
	wr_bytes(out, r.list, r.done * ENTRY);
	free(r.list);
	*ret = r.done;
	put_be64(out->data + header, r.done);
	put_be32(out->data + header + 8, (uint32_t)r.error);
	out->data[header + 12] = r.flags;
	return ST_OK;
}

static enum status one(struct rd *in, struct results *earlier, struct wr *out, int64_t *ret,
		       const struct limit *limit)
{
	switch (rd_u8(in)) {
	case OP_CALL:
		return op_call(in, earlier, out, ret);
	case OP_POLL:
		return op_poll(in, earlier, out, ret);
	case OP_READS:
		return op_reads(in, earlier, out, ret, limit);
	default:
		return ST_MALFORMED;
	}
}

/* The errno of the result that begins at @at. */
static bool failed(const struct wr *out, size_t at)
{
	struct rd in = { out->data + at + 8, out->data + out->len, false };

	return rd_u32(&in) != 0;
}

enum status handle_batch(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	uint32_t ms = rd_u32(in), flags = rd_u32(in);
	unsigned int count = rd_u16(in);
	int64_t ret[OPS_MAX];
	struct results earlier = { ret, 0 };
	enum status status = ST_OK;
	bool timed_out = false;

	(void)agent;
	if (in->bad || !ms || ms > LIMIT_MAX_MS || count > OPS_MAX)
		return refuse(out, ST_MALFORMED, "BATCH needs a time limit and up to 1024 operations");
	wr_u16(out, 0);
	wr_u8(out, 0);
	limit_start(&worker->limit, ms);
	while (earlier.count < count && status == ST_OK) {
		size_t at = out->len;

		timed_out = limit_expired(&worker->limit);
		if (timed_out)
			break;
		ret[earlier.count] = -1;
		status = one(in, &earlier, out, &ret[earlier.count], &worker->limit);
		worker_progress(worker, ++earlier.count);
		if (status == ST_OK && !out->full && flags & BATCH_STOP && failed(out, at))
			break;
	}
	timed_out = limit_expired(&worker->limit);
	limit_stop(&worker->limit);
	if (status == ST_OK && earlier.count == count && !rd_done(in))
		status = ST_MALFORMED;
	if (status != ST_OK)
		return refuse(out, status, "an operation is malformed or exceeds a limit");
	put_be16(out->data + DONE_AT, (uint16_t)earlier.count);
	out->data[DONE_AT + 2] = timed_out;
	return ST_OK;
}
