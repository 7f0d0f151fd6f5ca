/* SPDX-License-Identifier: MIT */
/*
 * Data of a peer's messages on their way, and room for their replies: the CP
 * points at both until the message is complete.
 */
#ifndef CTL_HELD_H
#define CTL_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/iucv.h"

/** Bytes of messages and room for replies that one peer may have outstanding. */
#define CTL_MAX_HELD (64u << 20)

struct ctl_held {
	struct ctl_held *prev, *next;
	uint16_t path;
	bool sent;		/* msgid is known */
	uint32_t msgid;
	size_t len, answer_len;
	uint8_t bytes[];	/* data, then room for the reply */
};

/** One peer's, in the order of sending; all zero: nothing. */
struct ctl_held_list {
	struct ctl_held *first, *last;
	size_t bytes;
};

/** Areas of @len and @answer_len zero bytes for a call; NULL if too much is outstanding. */
struct ctl_held *ctl_hold(struct ctl_held_list *list, uint16_t path, size_t len,
			  size_t answer_len);
/** Let the areas of a call be those of @held. */
void ctl_held_areas(struct ctl_held *held, struct iucv_parm *parm);
/** After the call: keep what a message needs, free what a function has made an end of. */
void ctl_settle(struct ctl_held_list *list, enum iucv_function function,
		const struct iucv_parm *parm, const struct iucv_result *result,
		struct ctl_held *held);
/** The message is complete: the caller frees it.  NULL if there is none. */
struct ctl_held *ctl_take(struct ctl_held_list *list, uint16_t path, uint32_t msgid);
/**
 * The same by the area for its reply, which is never NULL: a service may
 * complete a message before iucv_call() has told its id.
 */
struct ctl_held *ctl_take_answer(struct ctl_held_list *list, const void *answer);
/** Free what is outstanding on a path, or on all (NULL). */
void ctl_release(struct ctl_held_list *list, const uint16_t *path);

#endif
