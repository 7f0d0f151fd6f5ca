/* SPDX-License-Identifier: MIT */
/* IUCV: users, by name and in their order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iucv_private.h"

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

void iucv_user_enter(struct iucv_user *user, unsigned int index)
{
	struct iucv *iucv = user->iucv;

	assert(iucv->users < IUCV_MAX_USERS && index <= iucv->users);
	memmove(&iucv->user[index + 1], &iucv->user[index],
		(iucv->users - index) * sizeof(iucv->user[0]));
	iucv->user[index] = user;
	iucv->users++;
}

void iucv_user_leave(struct iucv_user *user)
{
	struct iucv *iucv = user->iucv;
	unsigned int index = 0;

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
}

struct iucv_user *iucv_user_known(struct iucv *iucv, const struct iucv_user *by, const char *name)
{
	for (unsigned int i = 0; i < iucv->users; i++) {
		struct iucv_user *user = iucv->user[i];

		if (strcmp(user->name, name) == 0 && (by ? iucv_knows(by, user) : user->own))
			return user;
	}
	return NULL;
}

struct iucv_user *iucv_user_find(const struct cp *cp, const char *name)
{
	return iucv_user_known(cp->system->iucv, cp->iucv->user, name);
}

struct iucv_user *iucv_service_find(struct cp_system *system, const char *name)
{
	return iucv_user_known(system->iucv, NULL, name);
}

struct iucv_user *iucv_user_guest(struct cp *cp)
{
	return cp->iucv->user;
}

struct iucv_user *iucv_user_at(struct cp *cp, unsigned int index)
{
	struct iucv *iucv = cp->system->iucv;

	for (unsigned int i = 0; i < iucv->users; i++)
		if (iucv_knows(cp->iucv->user, iucv->user[i]) && index-- == 0)
			return iucv->user[i];
	return NULL;
}

const char *iucv_user_name(const struct iucv_user *user)
{
	return user->name;
}

uint32_t iucv_max_paths(const struct iucv_user *user)
{
	return user->max_paths;
}

bool iucv_user_is_private(const struct iucv_user *user)
{
	return user->home && !iucv_is_machine(user);
}

bool iucv_user_is_service(const struct iucv_user *user)
{
	return user->name[0] == '*';
}

bool iucv_user_is_own(const struct iucv_user *user)
{
	return user->own;
}
