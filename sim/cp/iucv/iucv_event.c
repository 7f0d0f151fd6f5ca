/* SPDX-License-Identifier: MIT */
/*
 * IUCV: the queues of what waits to be told to a user.
 *
 * One queue for each IPTYPE.  Control events go before messages, priority
 * before the rest, and among those the earlier one: the heads' sequence
 * numbers decide, so that masks cost nothing.
 */
#include <string.h>

#include "iucv_private.h"

#define TYPE_BIT(type) (1u << (type))
#define TYPES_CONTROL 0x03eu
#define TYPES_PRIORITY (TYPE_BIT(IUCV_PRIO_COMPLETE) | TYPE_BIT(IUCV_PRIO_PENDING))

const char *iucv_partner_name(const struct iucv_path *path)
{
	return path->partner ? path->partner->user->name : iucv_path_cold(path)->partner;
}

static void fill_message(struct iucv_message *m, struct iucv_event *event)
{
	bool done = m->state == IUCV_MSG_DONE;

	assert(m->state != IUCV_MSG_FREE && (done || m->to));
	*event = (struct iucv_event){
		.type = m->event.type,
		.path = done ? m->from->id : m->to->id,
		.flags = m->flags,
		.msgid = m->id,
		.trgcls = m->trgcls,
		.srccls = m->srccls,
		.msgtag = m->msgtag,
		.audit = m->audit,
		.length = m->flags & IPRMDATA ? (uint32_t)sizeof(m->rmmsg) : m->buffer.len,
		.answer_length = done ? m->residual : m->answer.len,
		.answer = m->answer.host && done ? m->answer.ptr : NULL,
	};
	if (done)
		event->flags = (m->flags & (IPPRTY | IPNORPY)) | (m->rmreply ? IPRMDATA : 0);
	if (event->flags & IPRMDATA)
		memcpy(event->rmmsg, m->rmmsg, sizeof(event->rmmsg));
}

static void fill_control(const struct iucv_user *user, const struct iucv_control *control,
			 struct iucv_event *event)
{
	const struct iucv_path *path = &user->path[control->path];

	assert(control->path < user->max_paths && path->state != IUCV_PATH_FREE);
	*event = (struct iucv_event){ .type = control->node.type, .path = control->path };
	memcpy(event->ipuser, control->ipuser, sizeof(event->ipuser));
	if (event->type == IUCV_PENDING || event->type == IUCV_COMPLETE) {
		assert(path->partner);
		event->flags = path->partner->flags;
		event->msglim = path->partner->msglim;
	}
	if (event->type == IUCV_PENDING)
		memcpy(event->vmid, path->partner->user->name, sizeof(event->vmid));
}

void iucv_event_fill(const struct iucv_user *user, struct iucv_node *node,
		     struct iucv_event *event)
{
	if (node->kind == IUCV_NODE_MESSAGE)
		fill_message(iucv_node_message(node), event);
	else
		fill_control(user, iucv_container(node, struct iucv_control, node), event);
}

/* @node is on its queue: whoever can take it is told. */
static void announce(struct iucv_user *user, const struct iucv_node *node)
{
	const struct iucv_machine *machine = user->machine;

	assert(node->link.list == &user->queue[node->type]);
	user->ready |= (uint16_t)TYPE_BIT(node->type);
	user->waiting++;
	if (machine) {
		for (uint64_t cpus = machine->enabled[node->type]; cpus; cpus &= cpus - 1)
			cp_kick(machine->cp, (unsigned int)__builtin_ctzll(cpus));
	} else if (user->ops && !user->turn.list) {
		iucv_append(&user->iucv->turns, &user->turn);
	}
}

void iucv_event_link(struct iucv_user *user, struct iucv_node *node)
{
	assert(node->type > 0 && node->type < IUCV_TYPES);
	node->seq = ++user->iucv->seq;
	iucv_append(&user->queue[node->type], &node->link);
	announce(user, node);
}

/* Before all others of its kind: a fault has held it back long enough. */
static void link_first(struct iucv_user *user, struct iucv_node *node)
{
	assert(node->type > 0 && node->type < IUCV_TYPES);
	node->seq = 0;
	iucv_prepend(&user->queue[node->type], &node->link);
	announce(user, node);
}

void iucv_event_drop(struct iucv_user *user, struct iucv_node *node)
{
	struct iucv_list *list = node->link.list;

	if (!list)
		return;
	assert(list == &user->held || list == &user->queue[node->type]);
	iucv_unlink(&node->link);
	assert(user->waiting > 0);
	user->waiting--;
	if (list != &user->held && !list->first)
		user->ready &= (uint16_t)~TYPE_BIT(node->type);
	if (!user->ready)
		iucv_unlink(&user->turn);
}

enum iucv_slot iucv_slot_of(enum iucv_type type)
{
	if (type == IUCV_PATH_QUIESCED)
		return IUCV_SLOT_QUIESCED;
	if (type == IUCV_PATH_RESUMED)
		return IUCV_SLOT_RESUMED;
	return IUCV_SLOT_CONNECTION;
}

void iucv_control_drop(struct iucv_path *path, enum iucv_slot slot)
{
	iucv_event_drop(path->user, &iucv_path_cold(path)->control[slot].node);
}

struct iucv_node *iucv_event_first(const struct iucv_user *user, uint16_t types)
{
	unsigned int ready = user->ready & types;
	struct iucv_node *best = NULL;

	if (ready & TYPES_CONTROL)
		ready &= TYPES_CONTROL;
	else if (ready & TYPES_PRIORITY)
		ready &= TYPES_PRIORITY;
	for (; ready; ready &= ready - 1) {
		struct iucv_link *link = user->queue[__builtin_ctz(ready)].first;
		struct iucv_node *node = iucv_container(link, struct iucv_node, link);

		assert(link && node->type == __builtin_ctz(ready));
		if (!best || node->seq < best->seq)
			best = node;
	}
	return best;
}

uint32_t iucv_events_waiting(const struct iucv_user *user)
{
	return user->waiting;
}

void iucv_event_hold(struct iucv_user *user, struct iucv_node *node, uint32_t further)
{
	assert(further > 0 && !user->own);
	node->seq = further;
	iucv_append(&user->held, &node->link);
	user->waiting++;
}

void iucv_event_duplicate(struct iucv_user *user, struct iucv_node *node)
{
	struct iucv_link *link = user->iucv->spare.first;
	struct iucv_duplicate *copy;
	struct iucv_event event;

	if (!link)
		return;
	assert(node->link.list);
	iucv_unlink(link);
	copy = iucv_container(link, struct iucv_duplicate, node.link);
	copy->node.kind = IUCV_NODE_DUPLICATE;
	copy->node.type = node->type;
	iucv_event_fill(user, node, &event);
	iucv_event_encode(&event, copy->image);
	iucv_event_link(user, &copy->node);
}

/* Is @node about a path to the agent's channel, whose traffic follows no script? */
static bool is_agents(const struct iucv_user *user, struct iucv_node *node)
{
	const struct iucv_message *m;
	const struct iucv_path *path = NULL;

	if (node->kind == IUCV_NODE_CONTROL) {
		path = iucv_path_find(user, iucv_container(node, struct iucv_control, node)->path);
	} else if (node->kind == IUCV_NODE_MESSAGE) {
		m = iucv_container(node, struct iucv_message, event);
		path = m->state == IUCV_MSG_DONE ? m->from : m->to;
	}
	return path && cp_is_agent(iucv_partner_name(path));
}

void iucv_event_told(struct iucv_user *user, struct iucv_node *node)
{
	struct iucv_link *prev;

	if (is_agents(user, node))
		return;
	for (struct iucv_link *link = user->held.first; link; link = link->next) {
		assert(iucv_container(link, struct iucv_node, link)->seq > 0);
		iucv_container(link, struct iucv_node, link)->seq--;
	}
	/* From the last to the first, as each comes to stand before all others. */
	for (struct iucv_link *link = user->held.last; link; link = prev) {
		struct iucv_node *held = iucv_container(link, struct iucv_node, link);

		prev = link->prev;
		if (held->seq > 0)
			continue;
		iucv_event_drop(user, held);
		link_first(user, held);
	}
}
