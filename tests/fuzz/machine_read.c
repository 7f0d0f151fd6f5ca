// SPDX-License-Identifier: MIT
/* The read machine as a reader of the device uses it. */
#include "machine_read.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "the read machine breaks its contract: %s\n", #condition); \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/*
 * Steps of a read: one begins a set, one goes to the rest of some records, then each two spans
 * have 13 bytes at least, one finds the end.
 */
static size_t machine_steps(size_t size)
{
	return 2 * (size / (MON_ELEMENT_SIZE + 1)) + 5;
}

static enum mon_next machine_next(const struct mon_stream *s, const struct read_request *request,
				  size_t done, struct mon_span *span)
{
	struct mon_span again = { 0 };
	enum mon_next next = mon_stream_next(s, request->size, done, span);

	REQUIRE(mon_stream_next(s, request->size, done, &again) == next);
	if (next == MON_NEXT_SPAN) {
		REQUIRE(again.addr == span->addr && again.len == span->len);
		REQUIRE(span->len >= 1 && span->len <= request->size - done);
	}
	return next;
}

/* What begins where; 0 if a set, else what the read returns. */
static int machine_begin(struct mon_stream *s, const struct read_request *request)
{
	switch (mon_stream_begin(s)) {
	case MON_BEGIN_SET:
		request->between(request->ctx, READ_BEGUN);
		return 0;
	case MON_BEGIN_OVERFLOW:
		return -EOVERFLOW;
	case MON_BEGIN_EMPTY:
		return -EAGAIN;
	case MON_BEGIN_SEVERED:
		return -EIO;
	}
	abort();
}

static int machine_finish(struct mon_stream *s, const struct read_request *request)
{
	const struct mon_note *note = mon_stream_note(s);
	bool malformed = s->defect != MON_DEFECT_NONE, replied = false;
	enum mon_finish finish;

	request->between(request->ctx, READ_REPLY);
	if (!s->severed)
		replied = request->reply(request->ctx, note->id, note->class);
	request->between(request->ctx, READ_REPLIED);
	finish = mon_stream_finish(s, replied);
	REQUIRE((finish == MON_FINISH_INVALID) == malformed);
	REQUIRE(malformed || (finish == MON_FINISH_COMPLETE) == replied);
	REQUIRE(mon_defect_text(s->defect)[0]);
	return finish == MON_FINISH_COMPLETE ? 0 : -EIO;
}

int machine_read(struct mon_stream *s, const struct read_request *request)
{
	size_t done = 0, most = machine_steps(request->size);
	struct mon_span span;
	int result;

	for (size_t step = 0; step < most; step++) {
		switch (machine_next(s, request, done, &span)) {
		case MON_NEXT_SPAN:
			request->between(request->ctx, READ_COPY);
			if (done + span.len > request->writable)
				return done ? (int)done : -EFAULT;
			memcpy(request->out + done, span.addr, span.len);
			request->between(request->ctx, READ_COPIED);
			mon_stream_copied(s, &span);
			done += span.len;
			break;
		case MON_NEXT_SET:
			result = machine_begin(s, request);
			if (result)
				return result;
			break;
		case MON_NEXT_REPLY:
			return machine_finish(s, request);
		case MON_NEXT_DONE:
			return (int)done;
		}
	}
	REQUIRE(!"a read ends");
	abort();
}
