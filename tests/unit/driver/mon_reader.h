/* SPDX-License-Identifier: MIT */
/* A segment and a reader of the read machine (driver/mon_stream.h), for unit tests. */
#ifndef MON_READER_H
#define MON_READER_H

#include "fixture.h"

#include "mon_stream.h"

#define MR_START 0x09000000u
#define MR_SIZE 0x4000u
#define MR_END (MR_START + MR_SIZE - 1)

/* Results of a read that are not a number of bytes. */
enum { MR_AGAIN = -1, MR_OVERFLOW = -2, MR_IO = -3, MR_FAULT = -4 };

static struct mon_stream mr;
static u8 mr_segment[MR_SIZE];
static u8 mr_buffer[4 * MR_SIZE];
static u32 mr_replied_id, mr_replied_class;	/* of the last reply */
static unsigned int mr_replies;
static bool mr_reply_fails;
static size_t mr_mapped;			/* bytes of the reader's buffer that can be written */

static inline void mr_setup_at(u64 start)
{
	for (unsigned int i = 0; i < MR_SIZE; i++)
		mr_segment[i] = (u8)(i * 37 + i / 256);
	memset(&mr, 0xaa, sizeof(mr));
	ck_assert(mon_stream_init(&mr, mr_segment, start, start + MR_SIZE - 1));
	mr_replies = 0;
	mr_reply_fails = false;
	mr_mapped = sizeof(mr_buffer);
}

static inline void mr_setup(void)
{
	mr_setup_at(MR_START);
}

static inline void mr_put32(u8 *p, u32 value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (u8)(value >> (24 - 8 * i));
}

/* A control element at that offset in the segment; first and last are offsets, too. */
static inline void mr_element(u32 at, u32 first, u32 last)
{
	u8 *e = mr_segment + at;

	e[0] = 0xe2;
	e[1] = 0x80;
	e[2] = 0;
	e[3] = 0;
	mr_put32(e + 4, mr.start + first);
	mr_put32(e + 8, mr.start + last);
}

/* A message; first and last are offsets of the control area's first and last byte. */
static inline bool mr_notify(u32 id, u32 first, u32 last)
{
	const struct mon_note note = {
		.id = id, .class = ~id, .first = mr.start + first, .last = mr.start + last,
		.addressed = true,
	};

	return mon_stream_notify(&mr, &note);
}

/* A set of one element at 0 and 16 bytes of records at 256. */
static inline bool mr_simple(u32 id)
{
	mr_element(0, 256, 271);
	return mr_notify(id, 0, MON_ELEMENT_SIZE - 1);
}

static inline int mr_finish(void)
{
	const struct mon_note *note = mon_stream_note(&mr);
	bool replied = false;

	if (!mr.severed) {
		mr_replied_id = note->id;
		mr_replied_class = note->class;
		mr_replies++;
		replied = !mr_reply_fails;
	}
	return mon_stream_finish(&mr, replied) == MON_FINISH_COMPLETE ? 0 : MR_IO;
}

/* The read of the header's example. */
static inline int mr_read(size_t size)
{
	struct mon_span span;
	size_t done = 0;

	ck_assert_uint_le(size, sizeof(mr_buffer));
	for (;;) {
		switch (mon_stream_next(&mr, size, done, &span)) {
		case MON_NEXT_SPAN:
			ck_assert_uint_ge(span.len, 1);
			ck_assert_uint_le(span.len, size - done);
			if (done + span.len > mr_mapped)
				return done ? (int)done : MR_FAULT;
			memcpy(mr_buffer + done, span.addr, span.len);
			mon_stream_copied(&mr, &span);
			done += span.len;
			break;
		case MON_NEXT_SET:
			switch (mon_stream_begin(&mr)) {
			case MON_BEGIN_SET:
				break;
			case MON_BEGIN_OVERFLOW:
				return MR_OVERFLOW;
			case MON_BEGIN_EMPTY:
				return MR_AGAIN;
			case MON_BEGIN_SEVERED:
				return MR_IO;
			}
			break;
		case MON_NEXT_REPLY:
			return mr_finish();
		case MON_NEXT_DONE:
			return (int)done;
		}
	}
}

/* Reads so many bytes of a set of one element. */
static inline void mr_skip(size_t bytes)
{
	const size_t element = bytes < MON_ELEMENT_SIZE ? bytes : MON_ELEMENT_SIZE;

	ck_assert_int_eq(mr_read(element), (int)element);
	ck_assert_int_eq(mr_read(bytes - element), (int)(bytes - element));
}

#endif /* MON_READER_H */
