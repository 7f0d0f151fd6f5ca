/* SPDX-License-Identifier: MIT */
/* Data of messages on their way. */
#include "held.h"

#include <stdlib.h>

struct ctl_held *ctl_hold(struct ctl_held_list *list, uint16_t path, size_t len,
			  size_t answer_len)
{
	struct ctl_held *held;

	if (len > CTL_MAX_HELD || answer_len > CTL_MAX_HELD ||
	    len + answer_len > CTL_MAX_HELD - list->bytes)
		return NULL;
	held = calloc(1, sizeof(*held) + len + answer_len);
	if (!held)
		return NULL;
	held->path = path;
	held->len = len;
	held->answer_len = answer_len;
	held->prev = list->last;
	*(list->last ? &list->last->next : &list->first) = held;
	list->last = held;
	list->bytes += len + answer_len;
	return held;
}

void ctl_held_areas(struct ctl_held *held, struct iucv_parm *parm)
{
	parm->buffer = (struct iucv_area){
		.host = true, .ptr = held->bytes, .len = (uint32_t)held->len,
	};
	parm->answer = (struct iucv_area){
		.host = true, .ptr = held->bytes + held->len, .len = (uint32_t)held->answer_len,
	};
}

static struct ctl_held *unlink_held(struct ctl_held_list *list, struct ctl_held *held)
{
	*(held->prev ? &held->prev->next : &list->first) = held->next;
	*(held->next ? &held->next->prev : &list->last) = held->prev;
	list->bytes -= held->len + held->answer_len;
	return held;
}

/* Is it still there, its message not complete?  It is one of the last. */
static bool is_held(const struct ctl_held_list *list, const struct ctl_held *held)
{
	const struct ctl_held *h = list->last;

	while (h && h != held)
		h = h->prev;
	return h != NULL;
}

struct ctl_held *ctl_take(struct ctl_held_list *list, uint16_t path, uint32_t msgid)
{
	for (struct ctl_held *h = list->first; h; h = h->next)
		if (h->sent && h->path == path && h->msgid == msgid)
			return unlink_held(list, h);
	return NULL;
}

struct ctl_held *ctl_take_answer(struct ctl_held_list *list, const void *answer)
{
	for (struct ctl_held *h = list->first; h; h = h->next)
		if (h->bytes + h->len == answer)
			return unlink_held(list, h);
	return NULL;
}

void ctl_release(struct ctl_held_list *list, const uint16_t *path)
{
	struct ctl_held *next;

	for (struct ctl_held *h = list->first; h; h = next) {
		next = h->next;
		if (!path || h->path == *path)
			free(unlink_held(list, h));
	}
}

void ctl_settle(struct ctl_held_list *list, enum iucv_function function,
		const struct iucv_parm *parm, const struct iucv_result *result,
		struct ctl_held *held)
{
	const bool done = result->pgm == 0 && result->cc == 0;
	const bool here = is_held(list, held);

	if (done && function == IUCV_SEND) {
		if (here) {
			held->sent = true;
			held->msgid = parm->msgid;
		}
		return;
	}
	if (here)
		free(unlink_held(list, held));
	if (!done)
		return;
	if (function == IUCV_SEVER)
		ctl_release(list, parm->flags & IPALL ? NULL : &parm->path);
	else if (function == IUCV_RETRIEVE_BUFFER)
		ctl_release(list, NULL);
	else if (function == IUCV_PURGE)
		free(ctl_take(list, parm->path, parm->msgid));
}
