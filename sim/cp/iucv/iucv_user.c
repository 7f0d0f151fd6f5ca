/* SPDX-License-Identifier: MIT */
/* IUCV: users, and the life of all of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/input.h"

/* Every path id of the user is free. */
void iucv_user_clear(struct iucv_user *user)
{
	assert(user->paths == 0 && user->max_paths <= CP_MAX_PATHS);
	memset(user->summary, 0, sizeof(user->summary));
	memset(user->free_id, 0, sizeof(user->free_id));
	for (uint32_t id = 0; id < user->max_paths; id++) {
		user->free_id[id / 64] |= UINT64_C(1) << id % 64;
		user->summary[id / 4096] |= UINT64_C(1) << id / 64 % 64;
	}
}

/* Without an entry in the table of users.  Return: NULL without memory. */
struct iucv_user *iucv_user_new(struct iucv *iucv, const char *name, uint32_t max_paths)
{
	struct iucv_user *user = calloc(1, sizeof(*user));

	assert(max_paths > 0 && max_paths <= CP_MAX_PATHS);
	assert(name[0] && strlen(name) <= CP_NAME_LEN);
	if (!user)
		return NULL;
	user->iucv = iucv;
	user->max_paths = user->limit = max_paths;
	user->path = calloc(max_paths, sizeof(*user->path));
	user->cold = calloc(max_paths, sizeof(*user->cold));
	if (!user->path || !user->cold) {
		iucv_user_free(user);
		return NULL;
	}
	snprintf(user->name, sizeof(user->name), "%s", name);
	iucv_user_clear(user);
	return user;
}

void iucv_user_free(struct iucv_user *user)
{
	if (!user)
		return;
	free(user->path);
	free(user->cold);
	free(user);
}

static struct iucv_user *create(struct cp *cp, const char *name, uint32_t max_paths,
				const struct iucv_user_ops *ops, void *opaque, bool own)
{
	struct iucv *iucv = cp->iucv;
	struct iucv_user *user;

	if (iucv->users >= IUCV_MAX_USERS || iucv_user_find(cp, name))
		return NULL;
	user = iucv_user_new(iucv, name, max_paths);
	if (!user)
		return NULL;
	user->ops = ops;
	user->opaque = opaque;
	user->own = own;
	iucv->user[iucv->users++] = user;
	assert(iucv->users <= IUCV_MAX_USERS);
	/* What a peer does is input from outside, also if it plays a service. */
	if (!own) {
		TRACE_INPUT(cp, logon, .user = user->name, .paths = max_paths);
		trace_end(cp);
	}
	return user;
}

struct iucv_user *iucv_user_create(struct cp *cp, const char *name, uint32_t max_paths,
				   const struct iucv_user_ops *ops, void *opaque)
{
	return create(cp, name, max_paths, ops, opaque, false);
}

struct iucv_user *iucv_service_create(struct cp *cp, const char *name, uint32_t max_paths,
				      const struct iucv_user_ops *ops, void *opaque)
{
	assert(name[0] == '*');
	return create(cp, name, max_paths, ops, opaque, true);
}

void iucv_user_destroy(struct cp *cp, struct iucv_user *user)
{
	static const uint8_t ipuser[16];
	struct iucv *iucv = cp->iucv;
	unsigned int index = 1;

	assert(!iucv_is_guest(user));
	if (!user->own) {
		TRACE_INPUT(cp, logoff, .user = user->name, .paths = user->max_paths);
		parts_logoff(cp, user->name);
		trace_end(cp);
	}
	iucv_sever_all(user, ipuser);
	/* What is left are doubled events, which belong to no path. */
	for (unsigned int t = 1; t < IUCV_TYPES; t++)
		while (user->queue[t].first)
			iucv_event_consume(user, iucv_container(user->queue[t].first,
								struct iucv_node, link));
	assert(user->waiting == 0 && user->paths == 0 && !user->turn.list);
	while (iucv->user[index] != user)
		index++;
	assert(index < iucv->users);
	iucv->users--;
	memmove(&iucv->user[index], &iucv->user[index + 1],
		(iucv->users - index) * sizeof(iucv->user[0]));
	iucv_user_free(user);
	iucv_dispatch(cp);
}

void iucv_user_attach(struct iucv_user *user, const struct iucv_user_ops *ops, void *opaque)
{
	struct cp *cp = user->iucv->cp;

	assert(!iucv_is_guest(user));
	if (!user->own) {
		TRACE_INPUT(cp, attach, .user = user->name, .paths = user->max_paths);
		trace_end(cp);
	}
	user->ops = ops;
	user->opaque = opaque;
	user->loaded = false;
	iucv_unlink(&user->turn);
	if (ops && user->ready)
		iucv_append(&user->iucv->turns, &user->turn);
}

struct iucv_user *iucv_user_find(const struct cp *cp, const char *name)
{
	struct iucv *iucv = cp->iucv;

	for (unsigned int i = 0; i < iucv->users; i++)
		if (strcmp(iucv->user[i]->name, name) == 0)
			return iucv->user[i];
	return NULL;
}

struct iucv_user *iucv_user_guest(struct cp *cp)
{
	return cp->iucv->guest;
}

struct iucv_user *iucv_user_at(struct cp *cp, unsigned int index)
{
	return index < cp->iucv->users ? cp->iucv->user[index] : NULL;
}

const char *iucv_user_name(const struct iucv_user *user)
{
	return user->name;
}

uint32_t iucv_max_paths(const struct iucv_user *user)
{
	return user->max_paths;
}

bool iucv_user_is_service(const struct iucv_user *user)
{
	return user->name[0] == '*';
}

bool iucv_user_is_own(const struct iucv_user *user)
{
	return user->own;
}

/* Not a cause, not an effect: the state of a CP whose guest has just been created. */
void iucv_forget(struct iucv *iucv)
{
	assert(iucv->used <= iucv->messages && iucv->users > 0);
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
	}
	for (unsigned int cpu = 0; cpu < iucv->cp->config.cpus; cpu++)
		iucv_cpu_clear(iucv, cpu);
}

static void iucv_fini(struct cp *cp)
{
	struct iucv *iucv = cp->iucv;

	if (!iucv)
		return;
	if (iucv->users > 0)
		iucv_forget(iucv);
	else
		iucv_user_free(iucv->guest);
	for (unsigned int i = 0; i < iucv->users; i++)
		iucv_user_free(iucv->user[i]);
	free(iucv->message);
	free(iucv);
	cp->iucv = NULL;
}

/* OPTION MAXCONN, and one id for the harness. */
static struct iucv_user *guest_new(struct iucv *iucv)
{
	const struct cp_config *config = &iucv->cp->config;
	const uint32_t ids = (uint32_t)smaller(config->max_paths + 1u, CP_MAX_PATHS);
	struct iucv_user *guest = iucv_user_new(iucv, config->userid, ids);

	if (guest)
		guest->limit = config->max_paths;
	return guest;
}

static int iucv_init(struct cp *cp, char *err, size_t errlen)
{
	uint32_t messages = cp->config.max_messages;
	struct iucv *iucv;

	if (messages == 0 || messages > IUCV_MESSAGES_MAX) {
		snprintf(err, errlen, "%u message blocks: give 1 to %u in the configuration",
			 messages, IUCV_MESSAGES_MAX);
		return -1;
	}
	iucv = calloc(1, sizeof(*iucv));
	cp->iucv = iucv;
	if (iucv) {
		iucv->cp = cp;
		iucv->messages = messages;
		iucv->message = calloc(messages, sizeof(*iucv->message));
		iucv->guest = guest_new(iucv);
	}
	if (!iucv || !iucv->message || !iucv->guest) {
		snprintf(err, errlen, "not enough memory for %u IUCV paths and %u messages",
			 cp->config.max_paths, messages);
		iucv_fini(cp);
		return -1;
	}
	while (1u << iucv->index_bits < messages)
		iucv->index_bits++;
	assert(iucv->users == 0 && iucv->index_bits < 32);
	iucv->user[iucv->users++] = iucv->guest;
	iucv_forget(iucv);
	return 0;
}

static bool iucv_logged_on(const struct cp *cp, const char *name)
{
	const struct iucv_user *user = iucv_user_find(cp, name);

	return user && !iucv_user_is_service(user) && !cp_is_agent(name);
}

const struct cp_part iucv_part = {
	.logged_on = iucv_logged_on,
	.init = iucv_init,
	.fini = iucv_fini,
	.reset = iucv_reset,
	.reset_cpu = iucv_reset_cpu,
	.state = iucv_state,
};
