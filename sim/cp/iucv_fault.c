/* SPDX-License-Identifier: MIT */
/* IUCV: faults of the interruptions that are queued for the guest. */
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/fault.h"

static void hold(struct iucv_user *user, struct iucv_node *node, uint32_t further)
{
	node->seq = user->iucv->arrivals + further;
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
	iucv_unlink(link);
	copy = iucv_container(link, struct iucv_duplicate, node.link);
	copy->node.kind = IUCV_NODE_DUPLICATE;
	copy->node.type = node->type;
	iucv_event_fill(user, node, &event);
	iucv_event_encode(&event, copy->image);
	iucv_event_link(user, &copy->node);
}

/*
 * Ask for a fault of @node, which is about to be queued for the guest.
 * Return: is it to be queued now?
 */
bool iucv_event_fault(struct iucv_path *path, struct iucv_node *node)
{
	struct iucv_user *user = path->user;
	struct fault_action action = fault_check(user->iucv->cp, FAULT_INTERRUPT, path->id,
						 iucv_partner_name(path));

	switch (action.kind) {
	case FAULT_DROP:
		return false;
	case FAULT_DELAY:
		hold(user, node, action.value);
		return false;
	case FAULT_REORDER:
		hold(user, node, 1);
		return false;
	case FAULT_DUPLICATE:
		iucv_event_link(user, node);
		duplicate(user, node);
		return false;
	case FAULT_CORRUPT:
		node->xor_offset = (uint8_t)(action.offset % IUCV_EVENT_SIZE);
		node->xor_value = (uint8_t)action.value;
		return true;
	default:
		return true;
	}
}

/* Queue what has been held back long enough. */
void iucv_event_release(struct iucv_user *user)
{
	struct iucv_link *next;

	for (struct iucv_link *link = user->held.first; link; link = next) {
		struct iucv_node *node = iucv_container(link, struct iucv_node, link);

		next = link->next;
		if (node->seq > user->iucv->arrivals)
			continue;
		iucv_event_drop(user, node);
		iucv_event_link(user, node);
	}
}
