/* SPDX-License-Identifier: MIT */
/* IUCV: what the target does with a message: RECEIVE, REPLY and REJECT. */
#include <string.h>

#include "iucv_private.h"
#include "smaller.h"

static bool class_fits(const struct iucv_message *m, const struct iucv_parm *parm)
{
	return !(parm->flags & IPFGMCL) || m->trgcls == parm->trgcls;
}

/* The first message in a pair of lists, linked at @offset, that nothing was received of. */
static struct iucv_message *first_sent(const struct iucv_list lists[2], size_t offset,
				       const struct iucv_parm *parm)
{
	for (int i = 0; i < 2; i++) {
		for (struct iucv_link *link = lists[i].first; link; link = link->next) {
			struct iucv_message *m = (void *)((char *)link - offset);

			assert(m->state == IUCV_MSG_SENT);
			if (class_fits(m, parm))
				return m;
		}
	}
	return NULL;
}

/* The target has asked for a message that its sender took back. */
static struct iucv_result purged(struct iucv_message *m)
{
	assert(m->state == IUCV_MSG_PURGED && m->told);
	iucv_message_free(m);
	return iucv_error(IUCV_PURGED);
}

static struct iucv_result find_by_id(const struct iucv_caller *by, const struct iucv_parm *parm,
				     const struct iucv_path *path, bool class_given,
				     struct iucv_message **found)
{
	struct iucv_message *m = iucv_message_find(by->iucv, parm->msgid);

	if (!m || m->state == IUCV_MSG_DONE || m->to->user != by->user)
		return iucv_cc(2);
	if ((path && m->to != path) || (class_given && m->trgcls != parm->trgcls))
		return iucv_error(IUCV_WRONG_CLASS);
	if (m->state == IUCV_MSG_PURGED)
		return purged(m);
	*found = m;
	return iucv_cc(0);
}

/* RECEIVE and REJECT: the message that the flags select. */
static struct iucv_result find(const struct iucv_caller *by, const struct iucv_parm *parm,
			       struct iucv_message **found)
{
	const struct iucv_path *path = NULL;

	if (parm->flags & IPFGPID) {
		path = iucv_path_find(by->user, parm->path);
		if (!path || path->state != IUCV_PATH_OPEN)
			return iucv_error(IUCV_INVALID_PATH);
	}
	if (parm->flags & IPFGMID)
		return find_by_id(by, parm, path, parm->flags & IPFGMCL, found);
	if (path)
		*found = first_sent(path->partner->sent, offsetof(struct iucv_message, by_path),
				    parm);
	else
		*found = first_sent(by->user->sent, offsetof(struct iucv_message, by_user), parm);
	return iucv_cc(*found ? 0 : 2);
}

/* Length and alignment of the caller's own area. */
static struct iucv_result own_area(const struct iucv_area *area)
{
	if (area->len > IUCV_LENGTH_MAX)
		return iucv_error(IUCV_BAD_LENGTH);
	if (area->list && area->addr % 8 != 0)
		return iucv_program(PGM_SPECIFICATION);
	return iucv_cc(0);
}

static struct iucv_result receive_parameter(struct iucv_message *m, struct iucv_parm *parm)
{
	memcpy(parm->rmmsg, m->rmmsg, sizeof(parm->rmmsg));
	iucv_event_drop(m->to->user, &m->event);
	iucv_message_told(m);
	return iucv_cc(0);
}

static struct iucv_result receive_buffer(const struct iucv_caller *by, struct iucv_message *m,
					 struct iucv_parm *parm)
{
	const struct iucv_end from = { m->from->user, m->cpu, &m->buffer, m->received };
	const struct iucv_end to = { by->user, by->cpu, &parm->buffer, 0 };
	uint32_t left = m->buffer.len - m->received;
	uint32_t len = (uint32_t)smaller(left, parm->buffer.len);
	struct iucv_moved moved;

	assert(m->state == IUCV_MSG_SENT || m->state == IUCV_MSG_PARTIAL);
	assert(m->received <= m->buffer.len);
	moved = iucv_area_move(&from, &to, len);
	if (moved.to != 0)
		return iucv_area_result(moved.to);
	if (moved.from != 0) {
		iucv_message_done(m, moved.from == PGM_PROTECTION ? IUCV_AUDIT_SEND_PROTECTION
								  : IUCV_AUDIT_SEND_ADDRESSING);
		return iucv_error(iucv_area_code(moved.from));
	}
	iucv_event_drop(by->user, &m->event);
	m->told = true;
	m->received += len;
	parm->received = len;
	parm->residual = left - len;
	if (parm->residual > 0) {
		if (m->state == IUCV_MSG_SENT)
			iucv_message_enter(m, IUCV_MSG_PARTIAL);
		return iucv_error(IUCV_SHORT_BUFFER);
	}
	if (m->flags & IPNORPY)
		iucv_message_done(m, 0);
	else
		iucv_message_enter(m, IUCV_MSG_RECEIVED);
	return iucv_cc(0);
}

struct iucv_result iucv_receive(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_result result = own_area(&parm->buffer);
	struct iucv_message *m = NULL;

	if (result.cc == 0 && result.pgm == 0)
		result = find(by, parm, &m);
	if (result.cc != 0 || result.pgm != 0)
		return result;
	if (m->state == IUCV_MSG_RECEIVED)
		return iucv_cc(2);
	parm->path = m->to->id;
	parm->msgid = m->id;
	parm->trgcls = m->trgcls;
	parm->answer.len = m->answer.len;
	parm->flags = (parm->flags & (IPBUFLST | IPFGMID | IPFGPID | IPFGMCL)) | m->flags;
	if (m->flags & IPRMDATA)
		return receive_parameter(m, parm);
	return receive_buffer(by, m, parm);
}

static struct iucv_result reply_buffer(const struct iucv_caller *by, struct iucv_message *m,
				       struct iucv_parm *parm)
{
	const struct iucv_end from = { by->user, by->cpu, &parm->buffer, 0 };
	const struct iucv_end to = { m->from->user, m->cpu, &m->answer, 0 };
	uint32_t room = m->answer.len;
	uint32_t len = (uint32_t)smaller(room, parm->buffer.len);
	struct iucv_moved moved;

	assert(m->state == IUCV_MSG_PARTIAL || m->state == IUCV_MSG_RECEIVED);
	assert(room <= IUCV_MESSAGE_MAX);
	moved = iucv_area_move(&from, &to, len);
	if (moved.from != 0)
		return iucv_area_result(moved.from);
	if (moved.to != 0) {
		m->residual = room;
		iucv_message_done(m, moved.to == PGM_PROTECTION ? IUCV_AUDIT_ANSWER_PROTECTION
								: IUCV_AUDIT_ANSWER_ADDRESSING);
		return iucv_error(iucv_area_code(moved.to));
	}
	m->residual = room - len;
	parm->residual = parm->buffer.len - len;
	iucv_message_done(m, parm->residual > 0 ? IUCV_AUDIT_ANSWER_SHORT : 0);
	return parm->residual > 0 ? iucv_error(IUCV_SHORT_BUFFER) : iucv_cc(0);
}

struct iucv_result iucv_reply(const struct iucv_caller *by, struct iucv_parm *parm)
{
	const struct iucv_path *path = iucv_path_find(by->user, parm->path);
	struct iucv_result result = own_area(&parm->buffer);
	struct iucv_message *m = NULL;

	if (!path || path->state != IUCV_PATH_OPEN)
		return iucv_error(IUCV_INVALID_PATH);
	if (result.cc == 0 && result.pgm == 0)
		result = find_by_id(by, parm, path, true, &m);
	if (result.cc != 0 || result.pgm != 0)
		return result;
	if (m->state == IUCV_MSG_SENT)
		return iucv_cc(2);
	if (!(parm->flags & IPRMDATA))
		return reply_buffer(by, m, parm);
	if (!(m->from->flags & IPRMDATA) && !iucv_user_is_service(m->from->user))
		return iucv_error(IUCV_NO_RMDATA);
	memcpy(m->rmmsg, parm->rmmsg, sizeof(m->rmmsg));
	m->rmreply = true;
	m->residual = m->answer.len;
	iucv_message_done(m, 0);
	return iucv_cc(0);
}

struct iucv_result iucv_reject(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_message *m = NULL;
	struct iucv_result result = find(by, parm, &m);

	if (result.cc != 0)
		return result;
	m->residual = m->answer.len;
	iucv_message_done(m, IUCV_AUDIT_REJECTED);
	return iucv_cc(0);
}
