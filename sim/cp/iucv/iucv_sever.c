/* SPDX-License-Identifier: MIT */
/* IUCV: SEVER, QUIESCE and RESUME. */
#include "iucv_private.h"

static struct iucv_message *first_of(const struct iucv_list *list)
{
	return list->first ? iucv_container(list->first, struct iucv_message, by_path) : NULL;
}

static void free_all(struct iucv_list *list)
{
	struct iucv_message *m;

	while ((m = first_of(list)) != NULL)
		iucv_message_free(m);
	assert(!list->first);
}

/* Messages that are on their way when the target severs end without an interruption. */
static void end_message(struct iucv_message *m)
{
	iucv_event_drop(iucv_message_listener(m), &m->event);
	m->to = NULL;
	if (m->state == IUCV_MSG_DONE)
		return;
	m->audit |= IUCV_AUDIT_SEVERED;
	m->residual = m->answer.len;
	iucv_message_enter(m, IUCV_MSG_DONE);
}

static void end_all(struct iucv_path *path)
{
	struct iucv_link *next;

	free_all(&path->gone);
	/* What enters DONE goes to the end of rest, where it is left alone. */
	for (struct iucv_link *link = path->rest.first; link; link = next) {
		next = link->next;
		end_message(iucv_container(link, struct iucv_message, by_path));
	}
	for (int i = 0; i < 2; i++)
		while (path->sent[i].first)
			end_message(first_of(&path->sent[i]));
	assert(!path->sent[0].first && !path->sent[1].first && !path->gone.first);
}

/* The other side has gone: tell this one, unless it has never heard of the path. */
static void left_alone(struct iucv_path *path, const uint8_t ipuser[16])
{
	assert(path->state != IUCV_PATH_FREE && path->state != IUCV_PATH_SEVERED);
	end_all(path);
	path->partner = NULL;
	if (path->state == IUCV_PATH_PENDING && !iucv_path_cold(path)->told) {
		iucv_path_free(path);
		return;
	}
	path->state = IUCV_PATH_SEVERED;
	for (enum iucv_slot slot = IUCV_SLOT_CONNECTION; slot < IUCV_SLOTS; slot++)
		iucv_control_drop(path, slot);
	iucv_control_queue(path, IUCV_SEVERED, ipuser);
}

void iucv_path_sever(struct iucv_path *path, const uint8_t ipuser[16])
{
	struct iucv_path *partner = path->partner;

	assert(path->state != IUCV_PATH_FREE);
	assert(!partner == (path->state == IUCV_PATH_SEVERED));
	for (int i = 0; i < 2; i++)
		free_all(&path->sent[i]);
	free_all(&path->rest);
	free_all(&path->gone);
	iucv_path_free(path);
	if (partner)
		left_alone(partner, ipuser);
}

void iucv_path_break(struct iucv_path *path, uint8_t code)
{
	struct iucv_path *partner = path->partner;
	const uint8_t ipuser[16] = { code };

	assert(partner && partner != path && partner->partner == path);
	left_alone(partner, ipuser);
	left_alone(path, ipuser);
}

void iucv_sever_all(struct iucv_user *user, const uint8_t ipuser[16])
{
	for (uint32_t id = 0; id < user->max_paths && user->paths > 0; id++)
		if (user->path[id].state != IUCV_PATH_FREE)
			iucv_path_sever(&user->path[id], ipuser);
	assert(user->paths == 0);
}

struct iucv_result iucv_sever(const struct iucv_caller *by, const struct iucv_parm *parm)
{
	struct iucv_path *path;

	if (parm->flags & IPALL) {
		iucv_sever_all(by->user, parm->ipuser);
		return iucv_cc(0);
	}
	path = iucv_path_find(by->user, parm->path);
	if (!path)
		return iucv_error(IUCV_INVALID_PATH);
	iucv_path_sever(path, parm->ipuser);
	return iucv_cc(0);
}

static void set_quiesced(struct iucv_path *path, bool quiesce, const uint8_t ipuser[16])
{
	assert(path->state == IUCV_PATH_OPEN && path->partner);
	if (path->quiesced == quiesce)
		return;
	path->quiesced = quiesce;
	iucv_control_queue(path->partner, quiesce ? IUCV_PATH_QUIESCED : IUCV_PATH_RESUMED,
			   ipuser);
}

struct iucv_result iucv_quiesce(const struct iucv_caller *by, const struct iucv_parm *parm,
				bool quiesce)
{
	struct iucv_user *user = by->user;
	struct iucv_path *path;

	if (parm->flags & IPALL) {
		uint32_t seen = 0;

		for (uint32_t id = 0; id < user->max_paths && seen < user->paths; id++) {
			seen += user->path[id].state != IUCV_PATH_FREE;
			if (user->path[id].state == IUCV_PATH_OPEN)
				set_quiesced(&user->path[id], quiesce, parm->ipuser);
		}
		return iucv_cc(0);
	}
	path = iucv_path_find(user, parm->path);
	if (!path || path->state != IUCV_PATH_OPEN)
		return iucv_error(IUCV_INVALID_PATH);
	set_quiesced(path, quiesce, parm->ipuser);
	return iucv_cc(0);
}
