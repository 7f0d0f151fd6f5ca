/* SPDX-License-Identifier: MIT */
/*
 * IUCV as a part of the CP: made, reset, saved and loaded: users, CPUs, paths, messages, and what
 * waits to be told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"
#include "table.h"
#include "zvmlab/state.h"

#define NO_USER 0xffff

/* A single machine's users need not say whose peers they are. */
static bool many(const struct iucv *iucv)
{
	return iucv->machines != 1;
}

/* Not a cause, not an effect: the state of a CP whose machines have just been created. */
static void forget(struct iucv *iucv)
{
	assert(iucv->used <= iucv->messages);
	for (uint32_t i = 0; i < iucv->used; i++) {
		for (int j = 0; j < 2; j++)
			free(iucv->message[i].owned[j]);
		iucv->message[i] = (struct iucv_message){ 0 };
	}
	iucv->used = 0;
	iucv->seq = 0;
	iucv->free = iucv->spare = iucv->turns = (struct iucv_list){ 0 };
	for (unsigned int i = 0; i < IUCV_DUPLICATES; i++) {
		iucv->duplicate[i] = (struct iucv_duplicate){ 0 };
		iucv_append(&iucv->spare, &iucv->duplicate[i].node.link);
	}
	for (unsigned int i = 0; i < iucv->users; i++) {
		struct iucv_user *user = iucv->user[i];

		for (uint32_t id = 0; id < user->max_paths && user->paths > 0; id++) {
			user->paths -= user->path[id].state != IUCV_PATH_FREE;
			user->path[id].state = IUCV_PATH_FREE;
		}
		memset(user->queue, 0, sizeof(user->queue));
		memset(user->sent, 0, sizeof(user->sent));
		memset(user->done, 0, sizeof(user->done));
		user->held = (struct iucv_list){ 0 };
		user->turn.list = NULL;
		user->waiting = user->ready = 0;
		iucv_user_clear(user);
		for (unsigned int cpu = 0; user->machine && cpu < user->home->config.cpus; cpu++)
			iucv_cpu_clear(user->machine, cpu);
	}
}

/* The user of an entry of the image: one that is there, or a new one.  @home: NULL: a service. */
static struct iucv_user *user_for(struct iucv *iucv, const char *name, uint32_t max_paths,
				  struct cp *home)
{
	struct iucv_user *user = iucv_user_known(iucv, home ? home->iucv->user : NULL, name);

	if (user)
		return user->max_paths == max_paths && (user->home == home || !many(iucv)) ?
		       user : NULL;
	if (!name[0] || max_paths == 0 || max_paths > CP_MAX_PATHS || !home ||
	    iucv->users >= IUCV_MAX_USERS)
		return NULL;
	user = iucv_user_new(iucv, name, max_paths);
	if (user) {
		/* In the table at once: whoever fails frees what is in it. */
		user->loaded = true;
		user->home = home;
		iucv_user_enter(user, iucv->users);
	}
	return user;
}

static unsigned int index_in(struct iucv_user *const *table, unsigned int count,
			     const struct iucv_user *user)
{
	unsigned int i = 0;

	while (i < count && table[i] != user)
		i++;
	return i;
}

/* The machine that a user belongs to, by its place; of a service none. */
static void home_state(struct iucv *iucv, struct state *s, struct cp **home)
{
	uint16_t place = 0;

	while (!s->loading && place < iucv->machines && iucv->user[place]->home != *home)
		place++;
	state_u16(s, &place);
	state_require(s, place <= iucv->machines);
	if (s->loading && !s->failed)
		*home = place < iucv->machines ? iucv->user[place]->home : NULL;
}

/* Users come in the image's order, those it does not know after them. */
static void load_users(struct iucv *iucv, struct state *s, unsigned int count)
{
	struct iucv_user *table[IUCV_MAX_USERS], *user;
	unsigned int users = 0;
	char name[9];
	uint32_t max_paths;

	for (unsigned int i = 0; i < count && !s->failed; i++) {
		struct cp *home = many(iucv) ? NULL : iucv->system->machine[0];

		state_name(s, name);
		state_u32(s, &max_paths);
		if (many(iucv))
			home_state(iucv, s, &home);
		user = s->failed ? NULL : user_for(iucv, name, max_paths, home);
		state_require(s, user && index_in(table, users, user) == users &&
					 (i < iucv->machines) == iucv_is_machine(user) &&
					 (i >= iucv->machines || user == iucv->user[i]));
		table[users++] = user;
	}
	if (s->failed)
		return;
	for (unsigned int i = 0; i < iucv->users; i++)
		if (index_in(table, users, iucv->user[i]) == users)
			table[users++] = iucv->user[i];
	assert(users == iucv->users);
	memcpy(iucv->user, table, users * sizeof(table[0]));
}

static void users_state(struct iucv *iucv, struct state *s)
{
	uint16_t count = (uint16_t)iucv->users;

	state_u16(s, &count);
	state_require(s, count >= iucv->machines && count <= IUCV_MAX_USERS);
	iucv->in_image = count;
	if (s->loading) {
		load_users(iucv, s, count);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		state_name(s, iucv->user[i]->name);
		state_u32(s, &iucv->user[i]->max_paths);
		if (many(iucv))
			home_state(iucv, s, &iucv->user[i]->home);
	}
}

static void cpus_state(struct iucv_machine *machine, struct state *s)
{
	for (unsigned int i = 0; i < machine->cp->config.cpus; i++) {
		struct iucv_cpu *cpu = &machine->cpu[i];

		state_bool(s, &cpu->declared);
		state_u32(s, &cpu->buffer);
		state_u8(s, &cpu->mask);
		state_u8(s, &cpu->control_mask);
		state_require(s, cpu->buffer <= IUCV_LENGTH_MAX + 1u - IUCV_EVENT_SIZE);
		/* Without a buffer no interruption may be enabled. */
		state_require(s, ((cpu->mask | cpu->control_mask) &
				  ~(cpu->declared ? IUCV_ALL_MASKS : 0)) == 0);
	}
}

/* A path by its user's place in the table and its id. */
static void path_ref(struct iucv *iucv, struct state *s, struct iucv_path **path)
{
	uint16_t user = NO_USER, id = 0;

	if (!s->loading && *path) {
		user = (uint16_t)index_in(iucv->user, iucv->users, (*path)->user);
		id = (*path)->id;
	}
	state_u16(s, &user);
	state_u16(s, &id);
	if (!s->loading)
		return;
	assert(!*path);
	if (user == NO_USER)
		return;
	state_require(s, user < iucv->in_image && id < iucv->user[user]->max_paths);
	if (!s->failed)
		*path = &iucv->user[user]->path[id];
}

static void path_state(struct iucv *iucv, struct state *s, struct iucv_path *path)
{
	struct iucv_path_cold *cold = iucv_path_cold(path);

	state_u8(s, &path->state);
	state_u8(s, &path->flags);
	state_u16(s, &path->msglim);
	state_bool(s, &path->quiesced);
	path_ref(iucv, s, &path->partner);
	state_bool(s, &cold->target);
	state_bool(s, &cold->told);
	state_name(s, cold->partner);
	for (int i = 0; i < IUCV_SLOTS; i++)
		state_bytes(s, cold->control[i].ipuser, sizeof(cold->control[i].ipuser));
	state_require(s, path->state >= IUCV_PATH_CONNECTING && path->state <= IUCV_PATH_SEVERED &&
				 (path->state == IUCV_PATH_SEVERED) == !path->partner);
	state_require(s, path->msglim > 0 || path->state == IUCV_PATH_PENDING ||
				 path->state == IUCV_PATH_SEVERED);
	/* If it cannot be loaded it must still count as one, so that it is forgotten. */
	if (s->loading && s->failed)
		path->state = IUCV_PATH_SEVERED;
}

static void save_paths(struct iucv *iucv, struct state *s, struct iucv_user *user)
{
	assert(user->paths <= user->max_paths);
	state_u32(s, &user->paths);
	for (uint32_t id = 0; id < user->max_paths; id++) {
		if (user->path[id].state == IUCV_PATH_FREE)
			continue;
		state_u16(s, &user->path[id].id);
		path_state(iucv, s, &user->path[id]);
	}
}

static void load_paths(struct iucv *iucv, struct state *s, struct iucv_user *user)
{
	uint32_t count = 0;
	uint16_t id = 0;

	state_u32(s, &count);
	state_require(s, count <= user->max_paths);
	for (uint32_t i = 0; i < count && !s->failed; i++) {
		state_u16(s, &id);
		state_require(s, id < user->max_paths && user->path[id].state == IUCV_PATH_FREE);
		if (s->failed)
			return;
		iucv_path_take(user, id);
		path_state(iucv, s, &user->path[id]);
	}
}

/* Two sides of one path must agree on it. */
static bool path_agrees(const struct iucv_path *path)
{
	const struct iucv_path *partner = path->partner;

	if (path->state == IUCV_PATH_FREE || !partner)
		return true;
	if (partner == path || partner->partner != path)
		return false;
	if (strcmp(iucv_path_cold(path)->partner, partner->user->name) != 0)
		return false;
	if (path->state == IUCV_PATH_OPEN)
		return partner->state == IUCV_PATH_OPEN;
	return path->state + partner->state == IUCV_PATH_CONNECTING + IUCV_PATH_PENDING;
}

static void paths_state(struct iucv *iucv, struct state *s)
{
	for (unsigned int i = 0; i < iucv->in_image && !s->failed; i++) {
		if (s->loading)
			load_paths(iucv, s, iucv->user[i]);
		else
			save_paths(iucv, s, iucv->user[i]);
	}
	for (unsigned int i = 0; i < iucv->in_image && s->loading && !s->failed; i++) {
		const struct iucv_user *user = iucv->user[i];

		for (uint32_t id = 0; id < user->max_paths; id++)
			state_require(s, path_agrees(&user->path[id]));
	}
}

/* Nothing of a damaged image stays, nor the peers it brought. */
static void load_failed(struct iucv *iucv)
{
	unsigned int users = 0;

	forget(iucv);
	for (unsigned int i = 0; i < iucv->users; i++) {
		if (iucv->user[i]->loaded)
			iucv_user_free(iucv->user[i]);
		else
			iucv->user[users++] = iucv->user[i];
	}
	/* Machines and services were there before. */
	assert(users > 0);
	iucv->users = users;
}

static void load_done(struct iucv *iucv)
{
	for (unsigned int i = 0; i < iucv->users; i++) {
		struct iucv_user *user = iucv->user[i];

		if (user->ops && user->ready)
			iucv_append(&iucv->turns, &user->turn);
		for (unsigned int cpu = 0; user->machine && cpu < user->home->config.cpus; cpu++)
			iucv_cpu_changed(user->machine, cpu);
	}
	assert(iucv->used <= iucv->messages);
}

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

/* Areas of a machine are in its storage, by the prefix of a CPU; those of others on the host. */
static bool places_agree(const struct iucv_message *m)
{
	const struct iucv_user *user = m->from->user;

	if (iucv_is_machine(user))
		return m->cpu >= 0 && m->cpu < (int)user->home->config.cpus && !m->buffer.host &&
		       !m->answer.host;
	return m->cpu == CP_ABSOLUTE && (m->buffer.host || m->buffer.len == 0) &&
	       (m->answer.host || m->answer.len == 0);
}

static bool fields_agree(const struct iucv_message *m)
{
	if (m->flags & ~(IPRMDATA | IPPRTY | IPNORPY) || !places_agree(m))
		return false;
	return m->received <= m->buffer.len || m->state == IUCV_MSG_PURGED;
}

static void block_state(struct iucv *iucv, struct state *s, struct iucv_message *m)
{
	uint16_t cpu = (uint16_t)(m->cpu + 1);

	path_ref(iucv, s, &m->from);
	path_ref(iucv, s, &m->to);
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
	state_require(s, s->failed || (ends_agree(m) && fields_agree(m)));
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
static void messages_state(struct iucv *iucv, struct state *s)
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
static void lists_state(struct iucv *iucv, struct state *s)
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
	if (kind != IUCV_NODE_DUPLICATE || user->own || !iucv->spare.first)
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
	state_require(s, list != &user->held || count == 0 || !user->own);
	for (link = list->first; !s->loading && link; link = link->next)
		node_state(user, s, list, iucv_container(link, struct iucv_node, link));
	/* Ends: every turn takes a node that was not yet on a list, or fails. */
	for (uint32_t i = 0; s->loading && i < count && !s->failed; i++)
		node_state(user, s, list, NULL);
}

static void queues_state(struct iucv *iucv, struct state *s)
{
	for (unsigned int u = 0; u < iucv->in_image && !s->failed; u++) {
		struct iucv_user *user = iucv->user[u];

		for (unsigned int t = 1; t < IUCV_TYPES; t++)
			event_list_state(user, s, &user->queue[t]);
		event_list_state(user, s, &user->held);
	}
}

static void iucv_state(struct cp *cp, struct state *s)
{
	struct iucv *iucv = cp->system->iucv;

	assert(!iucv->dispatching);
	if (s->loading)
		forget(iucv);
	state_tag(s, "IUCV");
	state_u64(s, &iucv->seq);
	users_state(iucv, s);
	for (unsigned int i = 0; i < iucv->machines && !s->failed; i++)
		cpus_state(iucv->user[i]->machine, s);
	paths_state(iucv, s);
	if (!s->failed)
		messages_state(iucv, s);
	if (!s->failed)
		lists_state(iucv, s);
	if (!s->failed)
		queues_state(iucv, s);
	if (s->loading && s->failed)
		load_failed(iucv);
	else if (s->loading)
		load_done(iucv);
}

static void iucv_fini_system(struct cp_system *system)
{
	struct iucv *iucv = system->iucv;

	if (!iucv)
		return;
	forget(iucv);
	for (unsigned int i = 0; i < iucv->users; i++)
		iucv_user_free(iucv->user[i]);
	table_free(iucv->message, iucv->messages, sizeof(*iucv->message));
	free(iucv);
	system->iucv = NULL;
}

static int iucv_init_system(struct cp_system *system, char *err, size_t errlen)
{
	uint32_t messages = system->config.max_messages;
	struct iucv *iucv;

	if (messages == 0 || messages > IUCV_MESSAGES_MAX) {
		snprintf(err, errlen, "%u message blocks: give 1 to %u in the configuration",
			 messages, IUCV_MESSAGES_MAX);
		return -1;
	}
	iucv = calloc(1, sizeof(*iucv));
	if (iucv)
		iucv->message = table_new(messages, sizeof(*iucv->message));
	if (!iucv || !iucv->message) {
		snprintf(err, errlen, "not enough memory for %u IUCV messages", messages);
		free(iucv);
		return -1;
	}
	iucv->system = system;
	iucv->messages = messages;
	while (1u << iucv->index_bits < messages)
		iucv->index_bits++;
	assert(iucv->index_bits < 32);
	system->iucv = iucv;
	forget(iucv);
	return 0;
}

static bool name_taken(const struct iucv *iucv, const char *name)
{
	for (unsigned int i = 0; i < iucv->users; i++)
		if (strcmp(iucv->user[i]->name, name) == 0)
			return true;
	return false;
}

/* OPTION MAXCONN, and one id for the harness. */
static struct iucv_machine *machine_new(struct cp *cp)
{
	const struct cp_config *config = &cp->config;
	const uint32_t ids = (uint32_t)smaller(config->max_paths + 1u, CP_MAX_PATHS);
	struct iucv_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return NULL;
	machine->cp = cp;
	machine->user = iucv_user_new(cp->system->iucv, config->userid, ids);
	if (!machine->user) {
		free(machine);
		return NULL;
	}
	machine->user->machine = machine;
	machine->user->home = cp;
	machine->user->limit = config->max_paths;
	return machine;
}

static int iucv_init(struct cp *cp, char *err, size_t errlen)
{
	struct iucv *iucv = cp->system->iucv;

	if (name_taken(iucv, cp->config.userid) || iucv->users == IUCV_MAX_USERS) {
		snprintf(err, errlen, iucv->users == IUCV_MAX_USERS ?
			 "%s cannot log on: there are too many users of IUCV" :
			 "%s cannot log on: there is a user of that name", cp->config.userid);
		return -1;
	}
	cp->iucv = machine_new(cp);
	if (!cp->iucv) {
		snprintf(err, errlen, "not enough memory for %u IUCV paths", cp->config.max_paths);
		return -1;
	}
	iucv_user_enter(cp->iucv->user, iucv->machines++);
	return 0;
}

/* Whoever has a path to it is told. */
static void log_off(struct iucv_user *user)
{
	static const uint8_t ipuser[16];

	iucv_sever_all(user, ipuser);
	iucv_user_leave(user);
	iucv_user_free(user);
}

static void iucv_fini(struct cp *cp)
{
	struct iucv *iucv = cp->system->iucv;

	if (!cp->iucv)
		return;
	if (cp->system->ending)
		forget(iucv);
	for (unsigned int i = iucv->users; i-- > iucv->machines;)
		if (iucv->user[i]->home == cp)
			log_off(iucv->user[i]);
	log_off(cp->iucv->user);
	iucv->machines--;
	free(cp->iucv);
	cp->iucv = NULL;
}

static bool iucv_logged_on(const struct cp *cp, const char *name)
{
	const struct iucv_user *user = iucv_user_find(cp, name);

	return user && !iucv_user_is_service(user) && !cp_is_agent(name);
}

static void iucv_reset_cpu(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	iucv_cpu_clear(cp->iucv, cpu);
}

/* Partners see IPUSER zero, as when a user logs off. */
static void iucv_reset(struct cp *cp)
{
	static const uint8_t ipuser[16];
	struct iucv_user *guest = cp->iucv->user;

	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++)
		iucv_cpu_clear(cp->iucv, cpu);
	iucv_sever_all(guest, ipuser);
	for (unsigned int t = 1; t < IUCV_TYPES; t++) {
		while (guest->queue[t].first)
			iucv_event_consume(guest, iucv_container(guest->queue[t].first,
								 struct iucv_node, link));
	}
	assert(guest->waiting == 0);
}

const struct cp_part iucv_part = {
	.logged_on = iucv_logged_on,
	.init_system = iucv_init_system,
	.fini_system = iucv_fini_system,
	.init = iucv_init,
	.fini = iucv_fini,
	.reset = iucv_reset,
	.reset_cpu = iucv_reset_cpu,
	.state_system = iucv_state,
};
