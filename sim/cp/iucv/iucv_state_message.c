/* SPDX-License-Identifier: MIT */
/* IUCV: saving and loading messages, their queues, and the events that wait. */
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/state.h"

/*
 * The storage of a peer is not part of the CP: what it holds travels with the
 * image, and the message owns the copy.  @content: is there something to keep?
 */
static void area_state(struct state *s, struct iucv_area *area, void **owned, bool content)
{
	state_bool(s, &area->host);
	state_bool(s, &area->list);
	state_u32(s, &area->addr);
	state_u32(s, &area->len);
	state_require(s, area->len <= IUCV_MESSAGE_MAX);
	state_require(s, !area->host || !area->list);
	if (s->loading)
		area->ptr = NULL;
	if (s->failed || !area->host || area->len == 0)
		return;
	if (s->loading) {
		state_require(s, !content || area->len <= s->len - s->pos);
		*owned = s->failed ? NULL : calloc(1, area->len);
		state_require(s, *owned);
		area->ptr = *owned;
	}
	if (content && !s->failed)
		state_bytes(s, area->ptr, area->len);
}

static bool ends_agree(const struct iucv_message *m)
{
	const struct iucv_path *from = m->from;

	assert(m->state != IUCV_MSG_FREE);
	if (!from || from->state == IUCV_PATH_FREE)
		return false;
	if (!m->to)
		return m->state == IUCV_MSG_DONE && from->state == IUCV_PATH_SEVERED;
	return from->state == IUCV_PATH_OPEN && m->to == from->partner;
}

static bool fields_agree(const struct iucv_message *m, unsigned int cpus)
{
	bool guest = iucv_is_guest(m->from->user);

	if (m->flags & ~(IPRMDATA | IPPRTY | IPNORPY))
		return false;
	if (guest && (m->cpu < 0 || m->buffer.host || m->answer.host))
		return false;
	if (m->cpu < CP_ABSOLUTE || m->cpu >= (int)cpus)
		return false;
	return m->received <= m->buffer.len || m->state == IUCV_MSG_PURGED;
}

static void block_state(struct iucv *iucv, struct state *s, struct iucv_message *m)
{
	uint16_t cpu = (uint16_t)(m->cpu + 1);

	iucv_path_ref(iucv, s, &m->from);
	iucv_path_ref(iucv, s, &m->to);
	state_u32(s, &m->trgcls);
	state_u32(s, &m->srccls);
	state_u32(s, &m->msgtag);
	state_u32(s, &m->received);
	state_u32(s, &m->residual);
	state_u32(s, &m->audit);
	state_u8(s, &m->flags);
	state_bool(s, &m->told);
	state_bool(s, &m->rmreply);
	state_u16(s, &cpu);
	state_bytes(s, m->rmmsg, sizeof(m->rmmsg));
	m->cpu = (int)cpu - 1;
	area_state(s, &m->buffer, &m->owned[0],
		   m->state == IUCV_MSG_SENT || m->state == IUCV_MSG_PARTIAL);
	area_state(s, &m->answer, &m->owned[1], m->state == IUCV_MSG_DONE);
	state_require(s, s->failed || (ends_agree(m) &&
				       fields_agree(m, iucv->cp->config.cpus)));
	if (!s->loading || s->failed)
		return;
	assert(m->from && m->state != IUCV_MSG_FREE);
	m->event.kind = IUCV_NODE_MESSAGE;
	if (m->state == IUCV_MSG_PURGED) {
		state_require(s, m->from->purged < IUCV_PURGED_MAX);
		m->from->purged++;
	} else {
		state_require(s, m->from->outstanding < m->from->msglim);
		m->from->outstanding++;
	}
}

/* Blocks in use; the order of the free ones decides which id comes next. */
void iucv_message_state(struct iucv *iucv, struct state *s)
{
	uint32_t used = iucv->used, index = 0, spare = 0;
	struct iucv_link *link = iucv->free.first;

	state_u32(s, &used);
	state_require(s, used <= iucv->messages);
	for (uint32_t i = 0; i < used && !s->failed; i++) {
		struct iucv_message *m = &iucv->message[i];

		if (s->loading)
			iucv->used = i + 1;
		state_u32(s, &m->id);
		state_u8(s, &m->state);
		state_require(s, m->state <= IUCV_MSG_PURGED && m->id >> iucv->index_bits != 0 &&
					 (m->id & ((1u << iucv->index_bits) - 1)) == i);
		if (s->failed)
			return;
		if (m->state != IUCV_MSG_FREE)
			block_state(iucv, s, m);
		else
			spare++;
	}
	for (; spare > 0 && !s->failed; spare--) {
		if (!s->loading) {
			assert(link);
			index = (uint32_t)(iucv_container(link, struct iucv_message, by_path) -
					   iucv->message);
			link = link->next;
		}
		state_u32(s, &index);
		state_require(s, index < used && iucv->message[index].state == IUCV_MSG_FREE &&
					 (!s->loading || !iucv->message[index].by_path.list));
		if (s->loading && !s->failed)
			iucv_append(&iucv->free, &iucv->message[index].by_path);
	}
}

enum chain { BY_PATH, BY_USER };

static struct iucv_message *chained(struct iucv_link *link, enum chain chain)
{
	return chain == BY_PATH ? iucv_container(link, struct iucv_message, by_path)
				: iucv_container(link, struct iucv_message, by_user);
}

static void load_link(struct iucv *iucv, struct state *s, struct iucv_list *list,
		      enum chain chain)
{
	struct iucv_message *m;
	struct iucv_link *link;
	uint32_t index = 0;

	state_u32(s, &index);
	state_require(s, index < iucv->used && iucv->message[index].state != IUCV_MSG_FREE);
	if (s->failed)
		return;
	m = &iucv->message[index];
	link = chain == BY_PATH ? &m->by_path : &m->by_user;
	state_require(s, !link->list && list == (chain == BY_PATH ? iucv_message_path_list(m)
								  : iucv_message_user_list(m)));
	if (!s->failed)
		iucv_append(list, link);
}

static void list_state(struct iucv *iucv, struct state *s, struct iucv_list *list,
		       enum chain chain)
{
	struct iucv_link *link;
	uint32_t count = 0;

	for (link = s->loading ? NULL : list->first; link; link = link->next)
		count++;
	state_u32(s, &count);
	state_require(s, count <= iucv->used);
	for (link = list->first; !s->loading && link; link = link->next) {
		uint32_t index = (uint32_t)(chained(link, chain) - iucv->message);

		state_u32(s, &index);
	}
	for (uint32_t i = 0; s->loading && i < count && !s->failed; i++)
		load_link(iucv, s, list, chain);
}

/* The order of messages on paths and users. */
void iucv_list_state(struct iucv *iucv, struct state *s)
{
	for (unsigned int u = 0; u < iucv->in_image && !s->failed; u++) {
		struct iucv_user *user = iucv->user[u];

		for (int i = 0; i < 2; i++) {
			list_state(iucv, s, &user->sent[i], BY_USER);
			list_state(iucv, s, &user->done[i], BY_USER);
		}
		for (uint32_t id = 0; id < user->max_paths && !s->failed; id++) {
			struct iucv_path *path = &user->path[id];

			if (path->state == IUCV_PATH_FREE)
				continue;
			list_state(iucv, s, &path->sent[0], BY_PATH);
			list_state(iucv, s, &path->sent[1], BY_PATH);
			list_state(iucv, s, &path->rest, BY_PATH);
			list_state(iucv, s, &path->gone, BY_PATH);
		}
	}
	for (uint32_t i = 0; s->loading && i < iucv->used && !s->failed; i++) {
		const struct iucv_message *m = &iucv->message[i];

		if (m->state != IUCV_MSG_FREE)
			state_require(s, m->by_path.list &&
						 (m->by_user.list || !iucv_message_user_list(m)));
	}
}

static bool message_may_wait(const struct iucv_user *user, const struct iucv_message *m,
			     uint8_t type)
{
	bool priority = m->flags & IPPRTY;

	if (m->state == IUCV_MSG_SENT)
		return m->to->user == user &&
		       type == (priority ? IUCV_PRIO_PENDING : IUCV_MSG_PENDING);
	return m->state == IUCV_MSG_DONE && m->to && m->from->user == user &&
	       type == (priority ? IUCV_PRIO_COMPLETE : IUCV_MSG_COMPLETE);
}

static bool control_may_wait(const struct iucv_path *path, unsigned int slot, uint8_t type)
{
	if (iucv_slot_of(type) != slot)
		return false;
	if (type == IUCV_PENDING)
		return path->state == IUCV_PATH_PENDING;
	return path->state == (type == IUCV_SEVERED ? IUCV_PATH_SEVERED : IUCV_PATH_OPEN);
}

/* The node that an image speaks of, or NULL if it cannot wait there. */
static struct iucv_node *find_node(struct iucv_user *user, uint8_t kind, uint8_t type,
				   uint32_t key)
{
	struct iucv *iucv = user->iucv;
	struct iucv_path *path;

	if (kind == IUCV_NODE_MESSAGE) {
		if (key >= iucv->used || !message_may_wait(user, &iucv->message[key], type))
			return NULL;
		return &iucv->message[key].event;
	}
	if (kind == IUCV_NODE_CONTROL) {
		path = iucv_path_find(user, key / IUCV_SLOTS);
		if (!path || type > IUCV_PATH_RESUMED ||
		    !control_may_wait(path, key % IUCV_SLOTS, type))
			return NULL;
		iucv_path_cold(path)->control[key % IUCV_SLOTS].path = path->id;
		return &iucv_path_cold(path)->control[key % IUCV_SLOTS].node;
	}
	if (kind != IUCV_NODE_DUPLICATE || iucv_user_is_own(user) || !iucv->spare.first)
		return NULL;
	return iucv_container(iucv->spare.first, struct iucv_node, link);
}

static uint32_t node_key(const struct iucv_user *user, struct iucv_node *node)
{
	struct iucv_control *control = iucv_container(node, struct iucv_control, node);

	assert(node->type > 0 && node->type < IUCV_TYPES);
	if (node->kind == IUCV_NODE_MESSAGE)
		return (uint32_t)(iucv_container(node, struct iucv_message, event) -
				  user->iucv->message);
	if (node->kind == IUCV_NODE_CONTROL)
		return (uint32_t)(control->path * IUCV_SLOTS + iucv_slot_of(node->type));
	return 0;
}

static void node_state(struct iucv_user *user, struct state *s, struct iucv_list *list,
		       struct iucv_node *node)
{
	struct iucv_node fields = { 0 };
	uint32_t key = 0;

	if (node) {
		fields = *node;
		key = node_key(user, node);
	}
	state_u8(s, &fields.kind);
	state_u8(s, &fields.type);
	state_u64(s, &fields.seq);
	state_u8(s, &fields.xor_offset);
	state_u8(s, &fields.xor_value);
	state_u32(s, &key);
	state_require(s, fields.type > 0 && fields.type < IUCV_TYPES &&
				 fields.xor_offset < IUCV_EVENT_SIZE &&
				 (list == &user->held ? fields.seq > 0
						      : list == &user->queue[fields.type]));
	if (s->loading && !s->failed) {
		node = find_node(user, fields.kind, fields.type, key);
		state_require(s, node && (!node->link.list ||
					  (node->link.list == &user->iucv->spare &&
					   list != &user->held)));
		if (s->failed)
			return;
		iucv_unlink(&node->link);
		fields.link = node->link;
		*node = fields;
		iucv_append(list, &node->link);
		user->waiting++;
		if (list != &user->held)
			user->ready |= (uint16_t)(1u << node->type);
	}
	if (!s->failed && fields.kind == IUCV_NODE_DUPLICATE)
		state_bytes(s, iucv_container(node, struct iucv_duplicate, node)->image,
			    IUCV_EVENT_SIZE);
}

static void event_list_state(struct iucv_user *user, struct state *s, struct iucv_list *list)
{
	struct iucv_link *link;
	uint32_t count = 0;

	for (link = s->loading ? NULL : list->first; link; link = link->next)
		count++;
	state_u32(s, &count);
	state_require(s, list != &user->held || count == 0 || !iucv_user_is_own(user));
	for (link = list->first; !s->loading && link; link = link->next)
		node_state(user, s, list, iucv_container(link, struct iucv_node, link));
	/* Ends: every turn takes a node that was not yet on a list, or fails. */
	for (uint32_t i = 0; s->loading && i < count && !s->failed; i++)
		node_state(user, s, list, NULL);
}

void iucv_queue_state(struct iucv *iucv, struct state *s)
{
	for (unsigned int u = 0; u < iucv->in_image && !s->failed; u++) {
		struct iucv_user *user = iucv->user[u];

		for (unsigned int t = 1; t < IUCV_TYPES; t++)
			event_list_state(user, s, &user->queue[t]);
		event_list_state(user, s, &user->held);
	}
}
