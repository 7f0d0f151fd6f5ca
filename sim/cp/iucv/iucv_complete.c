/* SPDX-License-Identifier: MIT */
/* IUCV: what the sender does with its message: TEST COMPLETION and PURGE. */
#include <string.h>

#include "iucv_private.h"

static bool class_fits(const struct iucv_message *m, const struct iucv_parm *parm)
{
	return !(parm->flags & IPFGMCL) || m->srccls == parm->srccls;
}

static struct iucv_message *by_path(struct iucv_link *link)
{
	return iucv_container(link, struct iucv_message, by_path);
}

/* The path that the flags name, if they do; *@path stays NULL if not. */
static struct iucv_result find_path(const struct iucv_caller *by, const struct iucv_parm *parm,
				    struct iucv_path **path)
{
	*path = NULL;
	if (!(parm->flags & IPFGPID))
		return iucv_cc(0);
	*path = iucv_path_find(by->user, parm->path);
	return *path ? iucv_cc(0) : iucv_error(IUCV_INVALID_PATH);
}

static struct iucv_result find_by_id(const struct iucv_caller *by, const struct iucv_parm *parm,
				     const struct iucv_path *path, struct iucv_message **found)
{
	struct iucv_message *m = iucv_message_find(by->iucv, parm->msgid);

	if (!m || m->state == IUCV_MSG_PURGED || m->from->user != by->user)
		return iucv_cc(2);
	if ((path && m->from != path) || !class_fits(m, parm))
		return iucv_error(IUCV_WRONG_CLASS);
	assert(m->from && m->state != IUCV_MSG_FREE);
	*found = m;
	return iucv_cc(0);
}

static void describe(const struct iucv_message *m, struct iucv_parm *parm)
{
	assert(m->state != IUCV_MSG_FREE && m->state != IUCV_MSG_PURGED);
	parm->path = m->from->id;
	parm->msgid = m->id;
	parm->srccls = m->srccls;
	parm->msgtag = m->msgtag;
}

static struct iucv_message *done_on_path(const struct iucv_path *path,
					 const struct iucv_parm *parm)
{
	for (unsigned int wanted = 0; wanted < 2; wanted++) {
		for (struct iucv_link *link = path->rest.first; link; link = link->next) {
			struct iucv_message *m = by_path(link);

			if (m->state == IUCV_MSG_DONE && iucv_class(m) == wanted &&
			    class_fits(m, parm))
				return m;
		}
	}
	return NULL;
}

static struct iucv_message *done_anywhere(const struct iucv_user *user,
					  const struct iucv_parm *parm)
{
	for (int i = 0; i < 2; i++) {
		for (struct iucv_link *link = user->done[i].first; link; link = link->next) {
			struct iucv_message *m = iucv_container(link, struct iucv_message,
								by_user);

			assert(m->state == IUCV_MSG_DONE && m->from->user == user);
			if (class_fits(m, parm))
				return m;
		}
	}
	return NULL;
}

struct iucv_result iucv_test_completion(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_message *m = NULL;
	struct iucv_path *path;
	struct iucv_result result = find_path(by, parm, &path);

	if (result.cc == 0 && parm->flags & IPFGMID)
		result = find_by_id(by, parm, path, &m);
	else if (result.cc == 0)
		m = path ? done_on_path(path, parm) : done_anywhere(by->user, parm);
	if (result.cc != 0)
		return result;
	if (!m || m->state != IUCV_MSG_DONE)
		return iucv_cc(2);
	describe(m, parm);
	parm->flags = (parm->flags & (IPFGMID | IPFGPID | IPFGMCL)) |
		      (m->flags & (IPPRTY | IPNORPY)) | (m->rmreply ? IPRMDATA : 0);
	parm->audit = m->audit;
	parm->residual = 0;
	parm->answer.len = m->residual;
	if (m->rmreply)
		memcpy(parm->rmmsg, m->rmmsg, sizeof(parm->rmmsg));
	iucv_message_free(m);
	return iucv_cc(parm->audit ? 3 : 0);
}

/* The first message of the path on its way to the end of its life. */
static struct iucv_message *first_on_path(const struct iucv_path *path,
					  const struct iucv_parm *parm)
{
	const struct iucv_list *lists[] = { &path->sent[0], &path->sent[1], &path->rest };

	for (int i = 0; i < 3; i++) {
		for (struct iucv_link *link = lists[i]->first; link; link = link->next) {
			struct iucv_message *m = by_path(link);

			assert(m->state != IUCV_MSG_FREE && m->from == path);
			if (class_fits(m, parm))
				return m;
		}
	}
	return NULL;
}

/*
 * The target may still ask for the message and then learns of its fate; of each
 * path IUCV_PURGED_MAX are remembered, the oldest go first.
 */
static void remember(struct iucv_message *m)
{
	struct iucv_path *path = m->from;

	assert(m->to && m->told && path->outstanding > 0);
	assert(path->purged <= IUCV_PURGED_MAX);
	iucv_event_drop(m->to->user, &m->event);
	m->buffer = m->answer = (struct iucv_area){ 0 };
	iucv_message_enter(m, IUCV_MSG_PURGED);
	path->outstanding--;
	path->purged++;
	if (path->purged > IUCV_PURGED_MAX)
		iucv_message_free(by_path(path->gone.first));
	assert(path->purged <= IUCV_PURGED_MAX);
}

struct iucv_result iucv_purge(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_message *m = NULL;
	struct iucv_path *path;
	struct iucv_result result = find_path(by, parm, &path);

	if (result.cc == 0 && parm->flags & IPFGMID)
		result = find_by_id(by, parm, path, &m);
	else if (result.cc == 0 && !path)
		result = iucv_error(IUCV_INVALID_PATH);
	else if (result.cc == 0)
		m = first_on_path(path, parm);
	if (result.cc != 0)
		return result;
	if (!m)
		return iucv_cc(2);
	describe(m, parm);
	parm->audit = m->state == IUCV_MSG_DONE ? m->audit : IUCV_AUDIT_PURGED;
	if (m->state != IUCV_MSG_DONE && m->told)
		remember(m);
	else
		iucv_message_free(m);
	return iucv_cc(0);
}
