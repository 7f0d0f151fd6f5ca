/* SPDX-License-Identifier: MIT */
/* IUCV: how what waits is told: interruptions of the guest, events of services and peers. */
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/storage.h"
#include "zvmlab/input.h"

#define TYPES_ALL 0x3feu

bool cp_interrupt_pending(const struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	return cp->iucv->user->ready & cp->iucv->cpu[cpu].types;
}

/* What @node tells a guest, with the damage that a fault does. */
static void encode(const struct iucv_user *user, struct iucv_node *node,
		   uint8_t image[IUCV_EVENT_SIZE])
{
	struct iucv_event event;

	if (node->kind == IUCV_NODE_DUPLICATE) {
		memcpy(image, iucv_container(node, struct iucv_duplicate, node)->image,
		       IUCV_EVENT_SIZE);
		return;
	}
	iucv_event_fill(user, node, &event);
	iucv_event_encode(&event, image);
	image[node->xor_offset] ^= node->xor_value;
}

/* What a fault holds back may come out as well: whoever is told of that asks again. */
static bool others(const struct iucv_user *user, const struct iucv_node *node, uint16_t types)
{
	return node->link.next || user->ready & types & ~(1u << node->type);
}

bool cp_interrupt_first(const struct cp *cp, unsigned int cpu, struct cp_interruption *first)
{
	const struct iucv_machine *machine = cp->iucv;
	const struct iucv_cpu *taker = &machine->cpu[cpu];
	struct iucv_node *node;

	_Static_assert(CP_INTERRUPTION_SIZE == IUCV_EVENT_SIZE, "as much as is stored");
	assert(cpu < cp->config.cpus);
	node = iucv_event_first(machine->user, taker->types);
	if (!node || cp_in_page(taker->buffer, IUCV_EVENT_SIZE) != IUCV_EVENT_SIZE ||
	    cp_page_access(cp, taker->buffer) != CP_ACCESS_WRITE)
		return false;
	first->address = taker->buffer;
	first->more = others(machine->user, node, taker->types);
	encode(machine->user, node, first->image);
	return true;
}

bool cp_interrupt_take(struct cp *cp, unsigned int cpu)
{
	struct iucv_machine *machine = cp->iucv;
	struct iucv_cpu *taker = &machine->cpu[cpu];
	struct iucv_node *node;
	uint8_t image[IUCV_EVENT_SIZE];
	uint16_t pgm;

	assert(cpu < cp->config.cpus && !cp->system->recording);
	node = iucv_event_first(machine->user, taker->types);
	if (!node)
		return false;
	TRACE_INPUT(cp, interrupt, .cpu = cpu);
	encode(machine->user, node, image);
	pgm = storage_write(cp, (int)cpu, taker->buffer, image, sizeof(image));
	if (pgm == 0) {
		iucv_event_consume(machine->user, node);
	} else {
		/* The guest has lost the page: as if it had retrieved the buffer. */
		trace_number(cp, "pgm", pgm);
		iucv_cpu_clear(machine, cpu);
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
	bool traced = trace_enabled(cp), own = user->own;
	void *owned[2] = { NULL, NULL };
	struct iucv_event event;

	assert(node && user->ops);
	fill_host(user, node, &event);
	if (event.answer) {
		struct iucv_message *m = iucv_node_message(node);

		memcpy(owned, m->owned, sizeof(owned));
		memset(m->owned, 0, sizeof(m->owned));
	}
	iucv_event_consume(user, node);
	/* What has been held back may have come out and taken a turn already. */
	if (user->ready && !user->turn.list)
		iucv_append(&cp->system->iucv->turns, &user->turn);
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
	struct iucv *iucv = cp->system->iucv;

	if (iucv->dispatching)
		return;
	iucv->dispatching = true;
	for (unsigned int n = 0; n < IUCV_DISPATCH_MAX && iucv->turns.first; n++) {
		struct iucv_link *turn = iucv->turns.first;
		struct iucv_user *user;

		iucv_unlink(turn);
		user = iucv_container(turn, struct iucv_user, turn);
		/* Services act in the record of whoever has called. */
		deliver(user->home ? user->home : cp, user);
	}
	iucv->dispatching = false;
}

void iucv_dispatch_rest(struct cp *cp)
{
	if (!cp->system->iucv->turns.first || cp->system->iucv->dispatching)
		return;
	TRACE_INPUT(cp, dispatch);
	trace_end(cp);
	iucv_dispatch(cp);
}
