/* SPDX-License-Identifier: MIT */
/* What a read is given and what it gives back, for the read machine and for its model. */
#ifndef FUZZ_READ_H
#define FUZZ_READ_H

#include <errno.h>

#include "mon_types.h"

/**
 * enum read_place - where in a read something else could happen
 * @READ_BEGUN:   behind the begin of a set
 * @READ_COPY:    before bytes are copied
 * @READ_COPIED:  behind that, before they count as read
 * @READ_REPLY:   before the reply
 * @READ_REPLIED: behind it, before the end of the set
 * @READ_PLACES:  how many there are
 */
enum read_place {
	READ_BEGUN,
	READ_COPY,
	READ_COPIED,
	READ_REPLY,
	READ_REPLIED,
	READ_PLACES,
};

/**
 * struct read_request - one read(2) of a non-blocking reader
 * @size:     bytes asked for
 * @writable: bytes of the buffer that can be stored into, from its first one on; a copy that
 *            goes beyond fails
 * @out:      where to; at least @size bytes
 * @between:  called wherever the service or the message handler could do something; may
 *            change the segment, notify and sever.  It is told the place
 * @reply:    send CP a reply, with the id and the class of the message; true if it takes it
 * @ctx:      for both
 *
 * The read returns bytes copied, or -EAGAIN, -EOVERFLOW, -EIO or -EFAULT.
 */
struct read_request {
	size_t size;
	size_t writable;
	u8 *out;
	void (*between)(void *ctx, enum read_place place);
	bool (*reply)(void *ctx, u32 id, u32 class);
	void *ctx;
};

#endif /* FUZZ_READ_H */
