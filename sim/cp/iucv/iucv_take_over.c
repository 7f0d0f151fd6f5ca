/* SPDX-License-Identifier: MIT */
/* IUCV: a machine goes on as one of another system stood. */
#include <string.h>

#include "iucv_private.h"

static bool is_idle(const struct iucv_path *path)
{
	return path->outstanding == 0 && path->purged == 0;
}

bool iucv_is_idle(const struct cp *cp)
{
	const struct iucv_user *user = cp->iucv->user;

	if (user->waiting > 0)
		return false;
	for (uint32_t id = 0; id < user->max_paths; id++) {
		const struct iucv_path *path = &user->path[id];

		if (path->state == IUCV_PATH_FREE)
			continue;
		if (path->state != IUCV_PATH_OPEN || path->partner->user->waiting > 0 ||
		    !is_idle(path) || !is_idle(path->partner))
			return false;
	}
	return true;
}

/* One end of an open path, as @from is. */
static void copy_end(struct iucv_path *path, const struct iucv_path *from)
{
	path->state = from->state;
	path->flags = from->flags;
	path->msglim = from->msglim;
	path->quiesced = from->quiesced;
	iucv_path_cold(path)->target = iucv_path_cold(from)->target;
	iucv_path_cold(path)->told = iucv_path_cold(from)->told;
}

static void take_path(struct iucv_user *user, const struct iucv_path *from)
{
	struct iucv_user *service = iucv_service_find(user->iucv->system, from->partner->user->name);
	struct iucv_path *theirs, *ours;

	assert(service);
	iucv_path_take(user, from->id);
	ours = &user->path[from->id];
	theirs = iucv_path_new(service);
	assert(theirs);
	copy_end(ours, from);
	copy_end(theirs, from->partner);
	ours->partner = theirs;
	theirs->partner = ours;
	strcpy(iucv_path_cold(ours)->partner, service->name);
	strcpy(iucv_path_cold(theirs)->partner, user->name);
}

void iucv_take_over(struct cp *cp, const struct cp *from)
{
	struct iucv_user *user = cp->iucv->user;
	const struct iucv_user *old = from->iucv->user;

	assert(user->paths == 0 && user->max_paths == old->max_paths && iucv_is_idle(from));
	for (uint32_t id = 0; id < old->max_paths; id++)
		if (old->path[id].state != IUCV_PATH_FREE)
			take_path(user, &old->path[id]);
	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++) {
		cp->iucv->cpu[cpu] = from->iucv->cpu[cpu];
		iucv_cpu_changed(cp->iucv, cpu);
	}
}
