/* SPDX-License-Identifier: MIT */
/* IUCV: SEND, and what the target can ask of what has come: DESCRIBE and TEST MESSAGE. */
#include <string.h>

#include "iucv_private.h"

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
