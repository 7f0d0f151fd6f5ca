/* SPDX-License-Identifier: MIT */
/*
 * IUCV: the queues of what waits to be told to a user, and how it is told.
 *
 * One queue for each IPTYPE.  Control events go before messages, priority
 * before the rest, and among those the earlier one: the heads' sequence
 * numbers decide, so that masks cost nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/storage.h"
#include "zvmlab/input.h"

#define TYPE_BIT(type) (1u << (type))
#define TYPES_ALL 0x3feu
#define TYPES_CONTROL 0x03eu
#define TYPES_PRIORITY (TYPE_BIT(IUCV_PRIO_COMPLETE) | TYPE_BIT(IUCV_PRIO_PENDING))

const char *iucv_partner_name(const struct iucv_path *path)
{
	return path->partner ? path->partner->user->name : iucv_path_cold(path)->partner;
}

static struct iucv_message *node_message(struct iucv_node *node)
{
	assert(node->kind == IUCV_NODE_MESSAGE);
	return iucv_container(node, struct iucv_message, event);
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
		fill_message(node_message(node), event);
	else
		fill_control(user, iucv_container(node, struct iucv_control, node), event);
}

/* @node is on its queue: whoever can take it is told. */
static void announce(struct iucv_user *user, const struct iucv_node *node)
{
	struct iucv *iucv = user->iucv;

	assert(node->link.list == &user->queue[node->type]);
	user->ready |= (uint16_t)TYPE_BIT(node->type);
	user->waiting++;
	if (iucv_is_guest(user)) {
		for (uint64_t cpus = iucv->enabled[node->type]; cpus; cpus &= cpus - 1)
			cp_kick(iucv->cp, (unsigned int)__builtin_ctzll(cpus));
	} else if (user->ops && !user->turn.list) {
		iucv_append(&iucv->turns, &user->turn);
	}
}

/* The event can be taken from now on. */
void iucv_event_link(struct iucv_user *user, struct iucv_node *node)
{
	assert(node->type > 0 && node->type < IUCV_TYPES);
	node->seq = ++user->iucv->seq;
	iucv_append(&user->queue[node->type], &node->link);
	announce(user, node);
}

/* The same, before all others of its kind: a fault has held it back long enough. */
void iucv_event_link_first(struct iucv_user *user, struct iucv_node *node)
{
	assert(node->type > 0 && node->type < IUCV_TYPES);
	node->seq = 0;
	iucv_prepend(&user->queue[node->type], &node->link);
	announce(user, node);
}

void iucv_event_queue(struct iucv_path *path, struct iucv_node *node, enum iucv_type type)
{
	struct iucv_user *user = path->user;

	assert(!node->link.list);
	node->type = (uint8_t)type;
	node->xor_value = 0;
	if (iucv_user_is_own(user) || iucv_event_fault(path, node))
		iucv_event_link(user, node);
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
	} else if (node_message(node)->state == IUCV_MSG_DONE) {
		iucv_message_free(node_message(node));
	} else {
		iucv_message_told(node_message(node));
	}
}

bool cp_interrupt_pending(const struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	return cp->iucv->guest->ready & cp->iucv->cpu[cpu].types;
}

bool cp_interrupt_take(struct cp *cp, unsigned int cpu)
{
	struct iucv_user *guest = cp->iucv->guest;
	struct iucv_cpu *taker = &cp->iucv->cpu[cpu];
	struct iucv_node *node;
	struct iucv_event event;
	uint8_t image[IUCV_EVENT_SIZE];
	uint16_t pgm;

	assert(cpu < cp->config.cpus && !cp->recording);
	node = iucv_event_first(guest, taker->types);
	if (!node)
		return false;
	TRACE_INPUT(cp, interrupt, .cpu = cpu);
	if (node->kind == IUCV_NODE_DUPLICATE) {
		memcpy(image, iucv_container(node, struct iucv_duplicate, node)->image,
		       sizeof(image));
	} else {
		iucv_event_fill(guest, node, &event);
		iucv_event_encode(&event, image);
		image[node->xor_offset] ^= node->xor_value;
	}
	pgm = storage_write(cp, (int)cpu, taker->buffer, image, sizeof(image));
	if (pgm == 0) {
		iucv_event_consume(guest, node);
	} else {
		/* The guest has lost the page: as if it had retrieved the buffer. */
		trace_number(cp, "pgm", pgm);
		iucv_cpu_clear(cp->iucv, cpu);
	}
	trace_end(cp);
	return pgm == 0;
}

static void trace_event(struct cp *cp, const struct iucv_user *user,
			const struct iucv_event *event)
{
	uint8_t image[IUCV_EVENT_SIZE];

	iucv_event_encode(event, image);
	trace_begin(cp, TRACE_NO_CPU, "event");
	trace_text(cp, "user", user->name);
	trace_bytes(cp, "event", image, sizeof(image));
}

/* A peer's events are damaged and doubled like the guest's interruptions. */
static void fill_host(const struct iucv_user *user, struct iucv_node *node,
		      struct iucv_event *event)
{
	uint8_t image[IUCV_EVENT_SIZE];
	void *answer;

	if (node->kind == IUCV_NODE_DUPLICATE) {
		iucv_event_decode(iucv_container(node, struct iucv_duplicate, node)->image,
				  node->type, event);
		return;
	}
	iucv_event_fill(user, node, event);
	if (node->xor_value == 0)
		return;
	answer = event->answer;
	iucv_event_encode(event, image);
	image[node->xor_offset] ^= node->xor_value;
	iucv_event_decode(image, node->type, event);
	event->answer = answer;
}

/* Actions of CP's own services belong to the event's record; a peer's calls have their own. */
static void deliver(struct cp *cp, struct iucv_user *user)
{
	struct iucv_node *node = iucv_event_first(user, TYPES_ALL);
	bool traced = trace_enabled(cp), own = iucv_user_is_own(user);
	void *owned[2] = { NULL, NULL };
	struct iucv_event event;

	assert(node && user->ops);
	fill_host(user, node, &event);
	if (event.answer) {
		struct iucv_message *m = node_message(node);

		memcpy(owned, m->owned, sizeof(owned));
		memset(m->owned, 0, sizeof(m->owned));
	}
	iucv_event_consume(user, node);
	/* What has been held back may have come out and taken a turn already. */
	if (user->ready && !user->turn.list)
		iucv_append(&cp->iucv->turns, &user->turn);
	if (traced)
		trace_event(cp, user, &event);
	if (traced && !own)
		trace_end(cp);
	user->ops->event(cp, user, user->opaque, &event);
	if (traced && own)
		trace_end(cp);
	free(owned[0]);
	free(owned[1]);
}

void iucv_dispatch(struct cp *cp)
{
	struct iucv *iucv = cp->iucv;

	if (iucv->dispatching)
		return;
	iucv->dispatching = true;
	for (unsigned int n = 0; n < IUCV_DISPATCH_MAX && iucv->turns.first; n++) {
		struct iucv_link *turn = iucv->turns.first;

		iucv_unlink(turn);
		deliver(cp, iucv_container(turn, struct iucv_user, turn));
	}
	iucv->dispatching = false;
}

void iucv_dispatch_rest(struct cp *cp)
{
	if (!cp->iucv->turns.first || cp->iucv->dispatching)
		return;
	TRACE_INPUT(cp, dispatch);
	trace_end(cp);
	iucv_dispatch(cp);
}

uint32_t iucv_events_waiting(const struct iucv_user *user)
{
	return user->waiting;
}
