/* SPDX-License-Identifier: MIT */
/* libmonrec: bytes from the read function, and what its errors mean. */
#include "monrec_private.h"

#include <errno.h>
#include <unistd.h>

ssize_t monrec_read_fd(void *context, void *buffer, size_t len)
{
	const int *fd = context;
	ssize_t got = read(*fd, buffer, len);

	return got < 0 ? -errno : got;
}

enum monrec_gathered monrec_gather(struct monrec_reader *r, uint8_t *to, size_t want)
{
	while (r->have < want) {
		ssize_t got = r->read(r->context, to + r->have, want - r->have);

		if (got == 0)
			return MONREC_ENDED;
		if (got == -EAGAIN || got == -EINTR)
			return MONREC_WAIT;
		if (got < 0) {
			r->error = (int)-got;
			return MONREC_FAILED;
		}
		assert((size_t)got <= want - r->have);
		r->have += (size_t)got;
	}
	r->have = 0;
	r->offset += want;
	return MONREC_ALL;
}

void monrec_skip(struct monrec_reader *r)
{
	ssize_t got = r->read(r->context, r->buffer, sizeof(r->buffer));

	if (got > 0)
		return;
	if (got == -EAGAIN || got == -EINTR) {
		monrec_push(r, MONREC_AGAIN, r->offset);
	} else if (got == 0 || got == -EIO) {
		r->state = MONREC_AT_SET;
	} else {
		monrec_push(r, MONREC_ERROR, r->offset)->error = (int)-got;
		r->state = MONREC_DONE;
	}
}

/*
 * The device ends a set by 0 bytes, or by EIO if CP does not take the reply; any
 * other error, EFAULT for one, leaves it where it was.
 */
void monrec_interrupted(struct monrec_reader *r, enum monrec_gathered result,
			enum monrec_rule cut)
{
	const bool device = r->format == MONREC_DEVICE;

	switch (result) {
	case MONREC_WAIT:
		monrec_push(r, MONREC_AGAIN, r->offset + r->have);
		break;
	case MONREC_ENDED:
		monrec_violation(r, cut, r->offset, r->have, 0);
		monrec_lose(r, 0, device ? MONREC_AT_SET : MONREC_DONE);
		break;
	default:
		if (device)
			monrec_lose(r, r->error, r->error == EIO ? MONREC_AT_SET : MONREC_SKIPPING);
		else
			monrec_lose(r, r->error, MONREC_DONE);
	}
}
