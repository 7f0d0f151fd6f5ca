/* SPDX-License-Identifier: MIT */
/* IUCV: saving and loading users, CPUs and paths. */
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/state.h"

#define NO_USER 0xffff

/* The user of an entry of the image: one that is there, or a new one. */
static struct iucv_user *user_for(struct iucv *iucv, const char *name, uint32_t max_paths)
{
	struct iucv_user *user = iucv_user_find(iucv->cp, name);

	if (user)
		return user->max_paths == max_paths ? user : NULL;
	if (!name[0] || max_paths == 0 || max_paths > CP_MAX_PATHS ||
	    iucv->users >= IUCV_MAX_USERS)
		return NULL;
	user = iucv_user_new(iucv, name, max_paths);
	if (user) {
		/* In the table at once: whoever fails frees what is in it. */
		user->loaded = true;
		iucv->user[iucv->users++] = user;
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

/* Users come in the image's order, those it does not know after them. */
static void load_users(struct iucv *iucv, struct state *s, unsigned int count)
{
	struct iucv_user *table[IUCV_MAX_USERS], *user;
	unsigned int users = 0;
	char name[9];
	uint32_t max_paths;

	for (unsigned int i = 0; i < count && !s->failed; i++) {
		state_name(s, name);
		state_u32(s, &max_paths);
		user = s->failed ? NULL : user_for(iucv, name, max_paths);
		state_require(s, user && index_in(table, users, user) == users &&
					 (i == 0) == iucv_is_guest(user));
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
	state_require(s, count >= 1 && count <= IUCV_MAX_USERS);
	iucv->in_image = count;
	if (s->loading) {
		load_users(iucv, s, count);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		state_name(s, iucv->user[i]->name);
		state_u32(s, &iucv->user[i]->max_paths);
	}
}

static void cpus_state(struct iucv *iucv, struct state *s)
{
	for (unsigned int i = 0; i < iucv->cp->config.cpus; i++) {
		struct iucv_cpu *cpu = &iucv->cpu[i];

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
void iucv_path_ref(struct iucv *iucv, struct state *s, struct iucv_path **path)
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
	iucv_path_ref(iucv, s, &path->partner);
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

	iucv_forget(iucv);
	for (unsigned int i = 0; i < iucv->users; i++) {
		if (iucv->user[i]->loaded)
			iucv_user_free(iucv->user[i]);
		else
			iucv->user[users++] = iucv->user[i];
	}
	/* The guest and the services were there before. */
	assert(users > 0);
	iucv->users = users;
}

static void load_done(struct iucv *iucv)
{
	for (unsigned int i = 1; i < iucv->users; i++) {
		struct iucv_user *user = iucv->user[i];

		if (user->ops && user->ready)
			iucv_append(&iucv->turns, &user->turn);
	}
	assert(iucv->used <= iucv->messages);
	for (unsigned int cpu = 0; cpu < iucv->cp->config.cpus; cpu++)
		iucv_cpu_changed(iucv, cpu);
}

void iucv_state(struct cp *cp, struct state *s)
{
	struct iucv *iucv = cp->iucv;

	assert(!iucv->dispatching);
	if (s->loading)
		iucv_forget(iucv);
	state_tag(s, "IUCV");
	state_u64(s, &iucv->seq);
	users_state(iucv, s);
	if (!s->failed)
		cpus_state(iucv, s);
	paths_state(iucv, s);
	if (!s->failed)
		iucv_message_state(iucv, s);
	if (!s->failed)
		iucv_list_state(iucv, s);
	if (!s->failed)
		iucv_queue_state(iucv, s);
	if (s->loading && s->failed)
		load_failed(iucv);
	else if (s->loading)
		load_done(iucv);
}
