/* SPDX-License-Identifier: MIT */
/* IUCV: faults of interruptions, of peers' events and of messages. */
#include <string.h>

#include "iucv_private.h"

/* @further events have to be presented to @user before @node is: seq counts them down. */
static void hold(struct iucv_user *user, struct iucv_node *node, uint32_t further)
{
	assert(further > 0 && !iucv_user_is_own(user));
	node->seq = further;
	iucv_append(&user->held, &node->link);
	user->waiting++;
}

/* The copy does not depend on its cause any more.  No copy if too many wait. */
static void duplicate(struct iucv_user *user, struct iucv_node *node)
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

static enum fault_point point_of(enum iucv_type type)
{
	switch (type) {
	case IUCV_PENDING:
	case IUCV_COMPLETE:
		return FAULT_PEER_CONNECT;
	case IUCV_SEVERED:
		return FAULT_PEER_SEVER;
	case IUCV_PATH_QUIESCED:
	case IUCV_PATH_RESUMED:
		return FAULT_PEER_QUIESCE;
	case IUCV_PRIO_COMPLETE:
	case IUCV_MSG_COMPLETE:
		return FAULT_PEER_REPLY;
	case IUCV_PRIO_PENDING:
	case IUCV_MSG_PENDING:
		break;
	}
	return FAULT_PEER_MESSAGE;
}

static struct fault_action action_for(const struct iucv_path *path, enum iucv_type type)
{
	const struct iucv_user *user = path->user;
	const bool guest = iucv_is_guest(user);
	const struct fault_call call = {
		.path = path->id, .user = user->name, .name = iucv_partner_name(path),
		.type = guest ? (uint8_t)type : 0,
	};

	return fault_check(user->iucv->cp, guest ? FAULT_INTERRUPT : point_of(type), &call);
}

/*
 * Ask for a fault of @node, which is about to be queued for the guest or a peer.
 * Return: is it to be queued now?
 */
bool iucv_event_fault(struct iucv_path *path, struct iucv_node *node)
{
	struct fault_action action = action_for(path, node->type);
	struct iucv_user *user = path->user;

	switch (action.kind) {
	case FAULT_DROP:
		return false;
	case FAULT_DELAY:
	case FAULT_REORDER:
		hold(user, node, action.kind == FAULT_DELAY ? action.value : 1);
		return false;
	case FAULT_DUPLICATE:
		iucv_event_link(user, node);
		duplicate(user, node);
		return false;
	case FAULT_SEVER:
		if (path->state == IUCV_PATH_SEVERED)
			return true;
		iucv_path_break(path, (uint8_t)action.value);
		return false;
	case FAULT_CORRUPT:
		node->xor_offset = (uint8_t)(action.offset % IUCV_EVENT_SIZE);
		node->xor_value = (uint8_t)action.value;
		return true;
	default:
		return true;
	}
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
		iucv_event_link_first(user, held);
	}
}

bool iucv_message_hold(struct cp *cp, uint32_t msgid, uint32_t further)
{
	struct iucv_message *m = iucv_message_find(cp->iucv, msgid);
	struct iucv_user *user;

	/* A fault of the interruption itself has gone before. */
	if (!m || m->state != IUCV_MSG_SENT || !m->event.link.list)
		return false;
	assert(m->to && m->from);
	user = m->to->user;
	iucv_event_drop(user, &m->event);
	hold(user, &m->event, further);
	return true;
}

/* Exclusive-or a byte of what RECEIVE has just stored for the guest. */
static void corrupt_received(const struct iucv_caller *by, struct iucv_parm *parm,
			     const struct fault_action *action)
{
	const struct iucv_end place = {
		by->cpu, &parm->buffer, parm->received ? action->offset % parm->received : 0,
	};
	uint8_t byte = 0;
	const struct iucv_area own = { .host = true, .ptr = &byte, .len = 1 };
	const struct iucv_end here = { by->cpu, &own, 0 };

	if (parm->flags & IPRMDATA) {
		parm->rmmsg[action->offset % sizeof(parm->rmmsg)] ^= (uint8_t)action->value;
		return;
	}
	if (parm->received == 0)
		return;
	assert(parm->received <= parm->buffer.len);
	/* The data may have come to lie over the list that says where they lie. */
	if (iucv_area_move(by->iucv->cp, &place, &here, 1).from != 0)
		return;
	byte ^= (uint8_t)action->value;
	(void)iucv_area_move(by->iucv->cp, &here, &place, 1);
}

/* Once only: a path that CP has severed has no partner any more. */
static void break_path(struct iucv_path *path, const struct fault_action *action)
{
	if (path->state != IUCV_PATH_SEVERED)
		iucv_path_break(path, (uint8_t)action->value);
}

bool iucv_call_fault(struct iucv_caller *by, struct iucv_path *path,
		     const struct fault_action *action, struct iucv_result *result)
{
	*result = iucv_cc(0);
	switch (action->kind) {
	case FAULT_CC:
		result->cc = action->value & 3;
		return true;
	case FAULT_RC:
		*result = iucv_error((uint8_t)action->value);
		return true;
	case FAULT_PGM:
		*result = iucv_program((uint16_t)action->value);
		return true;
	case FAULT_DROP:
		return true;
	case FAULT_LIMIT:
		if (action->value < by->limit)
			by->limit = (uint16_t)action->value;
		return false;
	case FAULT_SEVER:
		if (path)
			break_path(path, action);
		return false;
	default:
		return false;
	}
}

void iucv_call_fault_after(const struct iucv_caller *by, enum iucv_function function,
			   struct iucv_parm *parm, const struct fault_action *action,
			   const struct iucv_result *result)
{
	if (result->pgm != 0)
		return;
	assert(function != IUCV_CONNECT || result->cc != 0 || parm->path < by->user->max_paths);
	if (action->kind == FAULT_SEVER && function == IUCV_CONNECT && result->cc == 0)
		break_path(&by->user->path[parm->path], action);
	if (action->kind == FAULT_CORRUPT &&
	    (result->cc == 0 || (result->cc == 1 && result->code == IUCV_SHORT_BUFFER)))
		corrupt_received(by, parm, action);
}
