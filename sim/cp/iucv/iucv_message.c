/* SPDX-License-Identifier: MIT */
/* IUCV: message blocks and their states. */
#include <stdlib.h>

#include "iucv_private.h"

/*
 * A message id is the block's index and above it how often the block has been
 * used, never 0: unique among the outstanding ones, and found without a search.
 */
static uint32_t next_id(const struct iucv *iucv, uint32_t id)
{
	id += 1u << iucv->index_bits;
	if (id >> iucv->index_bits == 0)
		id += 1u << iucv->index_bits;
	return id;
}

struct iucv_message *iucv_message_alloc(struct iucv *iucv)
{
	struct iucv_link *link = iucv->free.last;
	struct iucv_message *m;

	if (link) {
		iucv_unlink(link);
		m = iucv_container(link, struct iucv_message, by_path);
	} else if (iucv->used < iucv->messages) {
		m = &iucv->message[iucv->used];
		m->id = iucv->used++;
	} else {
		return NULL;
	}
	assert(m->state == IUCV_MSG_FREE && !m->by_user.list && !m->event.link.list);
	m->id = next_id(iucv, m->id);
	assert(m->id >> iucv->index_bits != 0);
	assert((m->id & ((1u << iucv->index_bits) - 1)) == (uint32_t)(m - iucv->message));
	return m;
}

/* The user that an event of @m is for. */
struct iucv_user *iucv_message_listener(const struct iucv_message *m)
{
	assert(m->state != IUCV_MSG_FREE && (m->state == IUCV_MSG_DONE || m->to));
	return m->state == IUCV_MSG_DONE ? m->from->user : m->to->user;
}

void iucv_message_free(struct iucv_message *m)
{
	struct iucv_path *from = m->from;

	assert(m->state != IUCV_MSG_FREE);
	assert(m->state == IUCV_MSG_PURGED ? from->purged > 0 : from->outstanding > 0);
	iucv_event_drop(iucv_message_listener(m), &m->event);
	if (m->state == IUCV_MSG_PURGED)
		from->purged--;
	else
		from->outstanding--;
	iucv_unlink(&m->by_user);
	iucv_unlink(&m->by_path);
	for (int i = 0; i < 2; i++) {
		free(m->owned[i]);
		m->owned[i] = NULL;
	}
	m->state = IUCV_MSG_FREE;
	iucv_append(&from->user->iucv->free, &m->by_path);
}

struct iucv_message *iucv_message_find(const struct iucv *iucv, uint32_t id)
{
	uint32_t index = id & ((1u << iucv->index_bits) - 1);

	if (index >= iucv->used || iucv->message[index].id != id ||
	    iucv->message[index].state == IUCV_MSG_FREE)
		return NULL;
	return &iucv->message[index];
}

/* The list of its path that @m is on in its state. */
struct iucv_list *iucv_message_path_list(const struct iucv_message *m)
{
	assert(m->state != IUCV_MSG_FREE);
	if (m->state == IUCV_MSG_SENT)
		return &m->from->sent[iucv_class(m)];
	return m->state == IUCV_MSG_PURGED ? &m->from->gone : &m->from->rest;
}

/* The queue of a user that @m is on in its state, or NULL. */
struct iucv_list *iucv_message_user_list(const struct iucv_message *m)
{
	if (m->state == IUCV_MSG_SENT)
		return &m->to->user->sent[iucv_class(m)];
	if (m->state == IUCV_MSG_DONE)
		return &m->from->user->done[iucv_class(m)];
	return NULL;
}

void iucv_message_enter(struct iucv_message *m, enum iucv_message_state state)
{
	struct iucv_list *list;

	assert(state != IUCV_MSG_FREE && (state == IUCV_MSG_DONE || m->to));
	/* Nothing comes after the sender has got it back, or taken it back. */
	assert(m->state != IUCV_MSG_DONE && m->state != IUCV_MSG_PURGED);
	m->state = (uint8_t)state;
	iucv_unlink(&m->by_path);
	iucv_unlink(&m->by_user);
	iucv_append(iucv_message_path_list(m), &m->by_path);
	list = iucv_message_user_list(m);
	if (list)
		iucv_append(list, &m->by_user);
}
