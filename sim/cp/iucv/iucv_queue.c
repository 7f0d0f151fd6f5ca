/* SPDX-License-Identifier: MIT */
/*
 * IUCV: what becomes of messages and paths when something is queued or has been told.
 *
 * Before an event is queued, a fault is asked for its verdict.  One of them severs the path, which
 * ends messages and queues further events: so all that does is here.
 */
#include <string.h>

#include "iucv_private.h"

void iucv_event_queue(struct iucv_path *path, struct iucv_node *node, enum iucv_type type)
{
	struct iucv_user *user = path->user;
	struct iucv_verdict verdict = { .what = IUCV_EVENT_DELIVER };

	assert(!node->link.list);
	node->type = (uint8_t)type;
	node->xor_value = 0;
	if (!user->own)
		verdict = iucv_event_verdict(path, type);
	switch (verdict.what) {
	case IUCV_EVENT_DROP:
		return;
	case IUCV_EVENT_HOLD:
		iucv_event_hold(user, node, verdict.further);
		return;
	case IUCV_EVENT_SEVER:
		/* Once only: a path that CP has severed has no partner any more. */
		if (path->state == IUCV_PATH_SEVERED)
			break;
		iucv_path_break(path, verdict.code);
		return;
	case IUCV_EVENT_CORRUPT:
		node->xor_offset = verdict.xor_offset;
		node->xor_value = verdict.xor_value;
		break;
	case IUCV_EVENT_DELIVER:
	case IUCV_EVENT_TWICE:
		break;
	}
	iucv_event_link(user, node);
	if (verdict.what == IUCV_EVENT_TWICE)
		iucv_event_duplicate(user, node);
}

/* A second event of the same kind replaces the first, at the queue's end. */
void iucv_control_queue(struct iucv_path *path, enum iucv_type type, const uint8_t ipuser[16])
{
	struct iucv_control *control = &iucv_path_cold(path)->control[iucv_slot_of(type)];

	iucv_event_drop(path->user, &control->node);
	control->node.kind = IUCV_NODE_CONTROL;
	control->path = path->id;
	memcpy(control->ipuser, ipuser, sizeof(control->ipuser));
	iucv_event_queue(path, &control->node, type);
}

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

void iucv_path_break(struct iucv_path *path, uint8_t code)
{
	struct iucv_path *partner = path->partner;
	const uint8_t ipuser[16] = { code };

	assert(partner && partner != path && partner->partner == path);
	left_alone(partner, ipuser);
	left_alone(path, ipuser);
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

/* @node has been told to @user. */
void iucv_event_consume(struct iucv_user *user, struct iucv_node *node)
{
	assert(node->link.list == &user->queue[node->type]);
	iucv_event_drop(user, node);
	if (user->held.first)
		iucv_event_told(user, node);
	if (node->kind == IUCV_NODE_DUPLICATE) {
		iucv_append(&user->iucv->spare, &node->link);
	} else if (node->kind == IUCV_NODE_CONTROL) {
		user->cold[iucv_container(node, struct iucv_control, node)->path].told = true;
	} else if (iucv_node_message(node)->state == IUCV_MSG_DONE) {
		iucv_message_free(iucv_node_message(node));
	} else {
		iucv_message_told(iucv_node_message(node));
	}
}
