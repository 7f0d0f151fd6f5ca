/* SPDX-License-Identifier: MIT */
/* IUCV: message blocks and their states; SEND, DESCRIBE and TEST MESSAGE. */
#include <stdlib.h>
#include <string.h>

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

/*
 * There is no completion of a one-way message whose data were in the parameter
 * list, unless something has gone wrong (af_iucv of Linux relies on it).
 */
void iucv_message_done(struct iucv_message *m, uint32_t audit)
{
	assert(m->to && m->to == m->from->partner);
	iucv_event_drop(m->to->user, &m->event);
	m->audit |= audit;
	if (m->audit == 0 && m->flags & IPRMDATA && m->flags & IPNORPY) {
		iucv_message_free(m);
		return;
	}
	iucv_message_enter(m, IUCV_MSG_DONE);
	iucv_event_queue(m->from, &m->event,
			 m->flags & IPPRTY ? IUCV_PRIO_COMPLETE : IUCV_MSG_COMPLETE);
}

void iucv_message_told(struct iucv_message *m)
{
	m->told = true;
	if (!(m->flags & IPRMDATA) || m->state != IUCV_MSG_SENT)
		return;
	if (m->flags & IPNORPY)
		iucv_message_done(m, 0);
	else
		iucv_message_enter(m, IUCV_MSG_RECEIVED);
}

static struct iucv_result send_check(const struct iucv_path *path, const struct iucv_parm *parm)
{
	if (!path || path->state != IUCV_PATH_OPEN)
		return iucv_error(IUCV_INVALID_PATH);
	if (parm->buffer.len > IUCV_MESSAGE_MAX || parm->answer.len > IUCV_MESSAGE_MAX)
		return iucv_error(IUCV_BAD_LENGTH);
	if ((parm->buffer.list && parm->buffer.addr % 8 != 0) ||
	    (parm->answer.list && parm->answer.addr % 8 != 0))
		return iucv_program(PGM_SPECIFICATION);
	if (path->partner->quiesced)
		return iucv_error(IUCV_QUIESCED);
	if (parm->flags & IPPRTY && !(path->flags & IPPRTY))
		return iucv_error(IUCV_NO_PRIORITY);
	if (parm->flags & IPRMDATA && !(path->partner->flags & IPRMDATA))
		return iucv_error(IUCV_NO_RMDATA);
	if (path->outstanding >= path->msglim)
		return iucv_error(IUCV_MSGLIMIT);
	return iucv_cc(0);
}

struct iucv_result iucv_send(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_path *path = iucv_path_find(by->user, parm->path);
	struct iucv_result result = send_check(path, parm);
	struct iucv_message *m;

	if (result.cc != 0 || result.pgm != 0)
		return result;
	assert(path->partner->state == IUCV_PATH_OPEN && path->partner->partner == path);
	m = iucv_message_alloc(by->iucv);
	if (!m)
		return iucv_error(IUCV_MSGLIMIT);
	m->from = path;
	m->to = path->partner;
	m->trgcls = parm->trgcls;
	m->srccls = parm->srccls;
	m->msgtag = parm->msgtag;
	m->received = m->residual = m->audit = 0;
	m->flags = parm->flags & (IPRMDATA | IPPRTY | IPNORPY);
	m->told = m->rmreply = false;
	m->cpu = by->cpu;
	memcpy(m->rmmsg, parm->rmmsg, sizeof(m->rmmsg));
	m->buffer = m->answer = (struct iucv_area){ 0 };
	if (!(parm->flags & IPRMDATA))
		m->buffer = parm->buffer;
	/* There is no reply to a one-way message, but its sender finds its areas by this pointer. */
	if (!(parm->flags & IPNORPY))
		m->answer = parm->answer;
	else if (parm->answer.host)
		m->answer = (struct iucv_area){ .host = true, .ptr = parm->answer.ptr };
	m->event.kind = IUCV_NODE_MESSAGE;
	path->outstanding++;
	parm->msgid = m->id;
	iucv_message_enter(m, IUCV_MSG_SENT);
	iucv_event_queue(m->to, &m->event,
			 m->flags & IPPRTY ? IUCV_PRIO_PENDING : IUCV_MSG_PENDING);
	return iucv_cc(0);
}

/* Report the contents of the interruption instead of presenting it. */
struct iucv_result iucv_describe(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_user *user = by->user;
	struct iucv_message *m = NULL;

	for (unsigned int type = IUCV_PRIO_PENDING; type <= IUCV_MSG_PENDING && !m; type++) {
		struct iucv_link *link = user->queue[type].first;

		/* A duplicated interruption (fault) is not a message. */
		for (unsigned int n = 0; link && n <= IUCV_DUPLICATES && !m; n++) {
			struct iucv_node *node = iucv_container(link, struct iucv_node, link);

			if (node->kind == IUCV_NODE_MESSAGE)
				m = iucv_container(node, struct iucv_message, event);
			link = link->next;
		}
	}
	if (!m)
		return iucv_cc(2);
	assert(m->state == IUCV_MSG_SENT && m->to->user == user);
	parm->path = m->to->id;
	parm->flags = m->flags;
	parm->msgid = m->id;
	parm->trgcls = m->trgcls;
	parm->buffer.len = m->buffer.len;
	parm->answer.len = m->answer.len;
	memcpy(parm->rmmsg, m->rmmsg, sizeof(parm->rmmsg));
	iucv_event_consume(user, &m->event);
	return iucv_cc(0);
}

/* CP would wait if there is nothing; a caller that wants to wait enables interruptions. */
struct iucv_result iucv_test_message(const struct iucv_caller *by)
{
	const struct iucv_user *user = by->user;
	bool messages = user->sent[0].first || user->sent[1].first;
	bool replies = user->done[0].first || user->done[1].first;

	return iucv_cc((uint8_t)(messages | replies << 1));
}
