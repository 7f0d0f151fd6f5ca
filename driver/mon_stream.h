/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The read machine of monreader: which bytes a read gets, when CP gets a
 * reply, and what ends a data set.
 *
 * Pure C: no kernel, no lock, no memory allocation, no loop that the contents
 * of the segment could prolong.  The module (and a test) moves the bytes.
 *
 * The *MONITOR service announces a data set by a message that holds two
 * addresses in the saved segment: of the first and of the last byte of an array
 * of control elements.  Each element has the addresses of the first and of the
 * last byte of its records.  The stream of a set is, for each element in turn,
 * its 12 bytes and then its records.  A set ends with a read of 0 bytes, before
 * which CP is sent the reply that lets it use the areas again.
 *
 * A read of SIZE bytes goes like this (DONE counts what it has copied so far,
 * and is what the read returns unless something else is said):
 *
 *   for (;;) {
 *           switch (mon_stream_next(s, size, done, &span)) {
 *           case MON_NEXT_SPAN:
 *                   copy span.len bytes from span.addr;
 *                   if (that failed)
 *                           return done ? done : -EFAULT;
 *                   mon_stream_copied(s, &span);
 *                   done += span.len;
 *                   break;
 *           case MON_NEXT_SET:
 *                   switch (mon_stream_begin(s)) {
 *                   case MON_BEGIN_SET:      break;
 *                   case MON_BEGIN_OVERFLOW: return -EOVERFLOW;
 *                   case MON_BEGIN_EMPTY:    return -EAGAIN, or wait and try again;
 *                   case MON_BEGIN_SEVERED:  return -EIO;
 *                   }
 *                   break;
 *           case MON_NEXT_REPLY:
 *                   replied = not severed, and CP took the reply to mon_stream_note(s);
 *                   return mon_stream_finish(s, replied) == MON_FINISH_COMPLETE ? 0 : -EIO;
 *           case MON_NEXT_DONE:
 *                   return done;
 *           }
 *   }
 *
 * Guarantees:
 *  - A read returns bytes of one set only: as many elements, and records of
 *    elements, as there is room for.  Only the first of them is cut short if it
 *    has no room; another one is left to the next read.  So a read of 12 bytes at
 *    the begin of an element gets just the element, and records larger than the
 *    buffer are read from their first byte on, aligned as they are.
 *  - What ends a set is always a read of its own: 0 bytes, or EIO.
 *  - A read of size 0 returns 0 and has no effect.
 *  - EFAULT changes nothing: the next read gets the same bytes.  A span counts
 *    as read only when all of it was copied; if an earlier span of the same
 *    read was copied, the read returns that one's bytes, and the next read gets
 *    the EFAULT.
 *  - EIO ends the set: CP has been sent the reply, and the next read begins the
 *    next set.  It is given if the set is malformed (after the bytes of the
 *    elements before the malformed one), if the reply failed, and if CP has
 *    severed the connection: a reply that CP takes is the only proof that the
 *    areas were not used again while they were read.
 *  - EOVERFLOW comes once for each queued message that filled the queue up to
 *    the limit that CP has granted, behind the end of that set.
 *  - After a sever the sets in the queue can still be read, each ends with EIO;
 *    then every read gets EIO.
 *
 * Locking: "queue" functions (open, limit, notify, sever, state, finish) need the
 * queue's lock, which the message handler takes, too; "set" functions (begin,
 * next, copied, note, finish) need the lock that serialises reads.  Hence finish
 * needs both, and no lock that a handler waits for is held while bytes are copied.
 * begin may run beside notify and sever: it finds what they had done before it.
 */
#ifndef MON_STREAM_H
#define MON_STREAM_H

#include "mon_types.h"

/* Message limit asked for in CONNECT, and the most that the queue holds. */
#define MON_LIMIT 255
/* Room in the queue: a power of two, for the ring's sake. */
#define MON_RING 256
/* Bytes of a control element: z/VM Performance (SC24-6301), appendix A. */
#define MON_ELEMENT_SIZE 12

/**
 * enum mon_defect - why a set is malformed; the first that applies, in this order
 * @MON_DEFECT_NONE:          it is not
 * @MON_DEFECT_NO_ADDRESSES:  the message has no data in its parameter list
 * @MON_DEFECT_AREA_EMPTY:    the control area does not end behind its first byte
 * @MON_DEFECT_AREA_LENGTH:   its length is no multiple of 12
 * @MON_DEFECT_AREA_BEGIN:    it begins before the segment
 * @MON_DEFECT_AREA_END:      it ends behind the segment
 * @MON_DEFECT_TYPE:          byte 0 of an element is zero
 * @MON_DEFECT_DOMAINS:       bytes 1 and 2 of an element are both zero
 * @MON_DEFECT_RECORDS_EMPTY: an element's records end before they begin
 * @MON_DEFECT_RECORDS_BEGIN: they begin before the segment
 * @MON_DEFECT_RECORDS_END:   they end behind the segment
 */
enum mon_defect {
	MON_DEFECT_NONE,
	MON_DEFECT_NO_ADDRESSES,
	MON_DEFECT_AREA_EMPTY,
	MON_DEFECT_AREA_LENGTH,
	MON_DEFECT_AREA_BEGIN,
	MON_DEFECT_AREA_END,
	MON_DEFECT_TYPE,
	MON_DEFECT_DOMAINS,
	MON_DEFECT_RECORDS_EMPTY,
	MON_DEFECT_RECORDS_BEGIN,
	MON_DEFECT_RECORDS_END,
};

/**
 * enum mon_state - where the reader is
 * @MON_IDLE:     between two sets
 * @MON_ELEMENT:  in a control element
 * @MON_RECORDS:  in its records
 * @MON_COMPLETE: behind the last byte of the set; the reply is due
 * @MON_INVALID:  at a defect; the reply is due
 */
enum mon_state {
	MON_IDLE,
	MON_ELEMENT,
	MON_RECORDS,
	MON_COMPLETE,
	MON_INVALID,
};

/**
 * struct mon_note - a notification: one message of the service, one data set
 * @id:        IPMSGID, for the reply
 * @class:     IPTRGCLS, for the reply
 * @first:     guest real address of the first byte of the control area
 * @last:      of its last byte
 * @addressed: the message has data in its parameter list; else @first and @last
 *             mean nothing
 * @full:      with this one the limit was reached
 */
struct mon_note {
	u32 id;
	u32 class;
	u32 first;
	u32 last;
	bool addressed;
	bool full;
};

/**
 * struct mon_span - contiguous bytes to be copied
 * @addr: first byte, in the segment or in the stream's copy of an element
 * @len:  bytes, at least 1
 */
struct mon_span {
	const u8 *addr;
	size_t len;
};

/**
 * struct mon_counts - what has happened since mon_stream_init()
 * @sets:      complete sets, that is reads that returned 0 as the end of a set
 * @bytes:     bytes of all sets that have ended, however they ended
 * @overflows: messages that filled the queue up to the limit or found it full
 * @severs:    calls of mon_stream_sever()
 * @invalid_sets: malformed sets
 */
struct mon_counts {
	u64 sets;
	u64 bytes;
	u64 overflows;
	u64 severs;
	u64 invalid_sets;
};

/**
 * struct mon_stream - the read machine; its users look at @counts, @severed,
 * @index and @defect, and change nothing
 * @segment:  what the segment's first byte is mapped to
 * @start:    guest real address of that byte
 * @end:      guest real address of the segment's last byte
 * @head:     index of the oldest
 * @count:    how many
 * @limit:    CP never has more than these outstanding
 * @overflow: the set read last had filled the queue, EOVERFLOW is due
 * @severed:  CP has severed the path
 * @counts:   see there
 * @state:    where the reader is
 * @index:    number of the current element, from 0
 * @elements: how many the set has
 * @element:  copy of the current one: what is validated is what is delivered
 * @from:     what is being read: @element or, for its records, @segment
 * @at:       offset of the next byte in it
 * @stop:     offset behind the last one
 * @bytes:    bytes of this set copied so far
 * @defect:   of the current set; between two sets, of the one before
 * @queue:    messages not replied to, a ring
 */
struct mon_stream {
	const u8 *segment;
	u32 start;
	u32 end;

	unsigned int head;
	unsigned int count;
	unsigned int limit;
	bool overflow;
	bool severed;
	struct mon_counts counts;

	enum mon_state state;
	u32 index;
	u32 elements;
	u8 element[MON_ELEMENT_SIZE];
	const u8 *from;
	u64 at;
	u64 stop;
	u64 bytes;
	enum mon_defect defect;

	struct mon_note queue[MON_RING];
};

enum mon_poll { MON_POLL_EMPTY, MON_POLL_READABLE, MON_POLL_SEVERED };
enum mon_begin { MON_BEGIN_SET, MON_BEGIN_OVERFLOW, MON_BEGIN_EMPTY, MON_BEGIN_SEVERED };
enum mon_next { MON_NEXT_SPAN, MON_NEXT_SET, MON_NEXT_REPLY, MON_NEXT_DONE };
enum mon_finish { MON_FINISH_COMPLETE, MON_FINISH_REPLY_FAILED, MON_FINISH_INVALID };

/**
 * mon_stream_init() - set up for a segment, all counts 0
 * @s:       the stream, not in use
 * @segment: mapping of the segment, readable; CP may change its contents at any time
 * @start:   guest real address of the first byte
 * @end:     guest real address of the last byte
 *
 * Return: false if messages, which have 32 bits for an address, cannot point
 * into such a segment or @end is not behind @start; the stream is unusable then.
 */
bool mon_stream_init(struct mon_stream *s, const u8 *segment, u64 start, u64 end);

/**
 * mon_stream_open() - forget queue, set, overflow and sever; the counts stay
 * @s: the stream
 *
 * The limit is %MON_LIMIT until mon_stream_limit() says otherwise.
 */
void mon_stream_open(struct mon_stream *s);

/**
 * mon_stream_limit() - take over what CP has granted
 * @s:       the stream
 * @granted: IPMSGLIM of the connection; 0 is taken as 1, more than %MON_LIMIT as
 *           %MON_LIMIT
 */
void mon_stream_limit(struct mon_stream *s, unsigned int granted);

/**
 * mon_stream_notify() - a message has come
 * @s:    the stream
 * @note: the message; its @full is not looked at
 *
 * If the queue reaches the limit with it, EOVERFLOW will follow its set, and
 * @counts has one overflow more.
 *
 * Return: false if the queue has no room, which takes a CP that ignores its own
 * limit: the message is not queued, EOVERFLOW will follow the last one that was.
 */
bool mon_stream_notify(struct mon_stream *s, const struct mon_note *note);

/**
 * mon_stream_sever() - CP has severed the path: there will be no more messages
 * @s: the stream
 */
void mon_stream_sever(struct mon_stream *s);

/**
 * mon_stream_poll() - what would a read find?
 * @s: the stream
 *
 * Return: %MON_POLL_READABLE if bytes, the end of a set or EOVERFLOW;
 * %MON_POLL_SEVERED if the end of the connection, behind all that was queued;
 * %MON_POLL_EMPTY if it would have to wait.
 */
enum mon_poll mon_stream_poll(const struct mon_stream *s);

/**
 * mon_stream_begin() - begin with the oldest set of the queue
 * @s: the stream, between two sets
 *
 * Return: %MON_BEGIN_SET: begun.  %MON_BEGIN_OVERFLOW: the overflow that is due;
 * it is reported with this and not due any more.  %MON_BEGIN_EMPTY: nothing
 * there.  %MON_BEGIN_SEVERED: nothing there, nor will there be.
 */
enum mon_begin mon_stream_begin(struct mon_stream *s);

/**
 * mon_stream_next() - what has a read to do now?
 * @s:    the stream
 * @size: bytes asked for
 * @done: bytes this read has copied so far, at most @size
 * @span: output of %MON_NEXT_SPAN, at most @size - @done bytes
 *
 * Asking again without a mon_stream_copied() in between gives the same answer.
 *
 * Return: %MON_NEXT_SPAN: copy @span.  %MON_NEXT_SET: call mon_stream_begin().
 * %MON_NEXT_REPLY: reply, call mon_stream_finish().  %MON_NEXT_DONE: return @done.
 */
static inline enum mon_next mon_stream_next(const struct mon_stream *s, size_t size, size_t done,
					    struct mon_span *span)
{
	size_t room = size - done;

	MON_ASSERT(done <= size);
	switch (s->state) {
	case MON_ELEMENT:
	case MON_RECORDS:
		if (!room)
			break;
		span->addr = s->from + s->at;
		span->len = s->stop - s->at;
		if (span->len <= room)
			return MON_NEXT_SPAN;
		/* What does not fit behind something else is left to the next read. */
		if (done)
			break;
		span->len = room;
		return MON_NEXT_SPAN;
	case MON_IDLE:
		/* A read of size 0 neither begins nor ends a set. */
		if (size)
			return MON_NEXT_SET;
		break;
	case MON_COMPLETE:
	case MON_INVALID:
		/* What ends a set is a read of its own. */
		if (size && !done)
			return MON_NEXT_REPLY;
		break;
	}
	return MON_NEXT_DONE;
}

/**
 * mon_stream_advance() - go on behind the end of an element, or of its records
 * @s: the stream; for mon_stream_copied() only
 */
void mon_stream_advance(struct mon_stream *s);

/**
 * mon_stream_copied() - the span that mon_stream_next() gave has been copied
 * @s:    the stream
 * @span: that span
 */
static inline void mon_stream_copied(struct mon_stream *s, const struct mon_span *span)
{
	MON_ASSERT(span->len >= 1 && span->len <= s->stop - s->at);
	s->at += span->len;
	s->bytes += span->len;
	if (s->at == s->stop)
		mon_stream_advance(s);
}

/**
 * mon_stream_note() - the message of the current set
 * @s: the stream, not between two sets
 *
 * Return: valid until mon_stream_finish().
 */
static inline const struct mon_note *mon_stream_note(const struct mon_stream *s)
{
	MON_ASSERT(s->state != MON_IDLE && s->head < MON_RING);
	return &s->queue[s->head];
}

/**
 * mon_stream_finish() - end the current set
 * @s:       the stream after %MON_NEXT_REPLY
 * @replied: CP has taken the reply
 *
 * Return: %MON_FINISH_INVALID if the set was malformed (@defect of the stream says
 * how, @index in which element), else %MON_FINISH_REPLY_FAILED if not @replied,
 * else %MON_FINISH_COMPLETE.
 */
static inline enum mon_finish mon_stream_finish(struct mon_stream *s, bool replied)
{
	enum mon_state state = s->state;

	MON_ASSERT((state == MON_COMPLETE || state == MON_INVALID) && s->count >= 1);
	s->overflow = s->queue[s->head].full;
	s->head = (s->head + 1) % MON_RING;
	s->count--;
	s->state = MON_IDLE;
	s->counts.bytes += s->bytes;
	if (state == MON_INVALID) {
		s->counts.invalid_sets++;
		return MON_FINISH_INVALID;
	}
	if (!replied)
		return MON_FINISH_REPLY_FAILED;
	s->counts.sets++;
	return MON_FINISH_COMPLETE;
}

/**
 * mon_defect_text() - a defect in words
 * @defect: one of the enumeration
 *
 * Return: a part of a sentence, such as "the control area begins before the segment".
 */
const char *mon_defect_text(enum mon_defect defect);

#endif /* MON_STREAM_H */
