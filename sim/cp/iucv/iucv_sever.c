/* SPDX-License-Identifier: MIT */
/* IUCV: SEVER, QUIESCE and RESUME. */
#include "iucv_private.h"

void iucv_sever_all(struct iucv_user *user, const uint8_t ipuser[16])
{
	for (uint32_t id = 0; id < user->max_paths && user->paths > 0; id++)
		if (user->path[id].state != IUCV_PATH_FREE)
			iucv_path_sever(&user->path[id], ipuser);
	assert(user->paths == 0);
}

struct iucv_result iucv_sever(const struct iucv_caller *by, const struct iucv_parm *parm)
{
	struct iucv_path *path;

	if (parm->flags & IPALL) {
		iucv_sever_all(by->user, parm->ipuser);
		return iucv_cc(0);
	}
	path = iucv_path_find(by->user, parm->path);
	if (!path)
		return iucv_error(IUCV_INVALID_PATH);
	iucv_path_sever(path, parm->ipuser);
	return iucv_cc(0);
}

static void set_quiesced(struct iucv_path *path, bool quiesce, const uint8_t ipuser[16])
{
	assert(path->state == IUCV_PATH_OPEN && path->partner);
	if (path->quiesced == quiesce)
		return;
	path->quiesced = quiesce;
	iucv_control_queue(path->partner, quiesce ? IUCV_PATH_QUIESCED : IUCV_PATH_RESUMED,
			   ipuser);
}

struct iucv_result iucv_quiesce(const struct iucv_caller *by, const struct iucv_parm *parm,
				bool quiesce)
{
	struct iucv_user *user = by->user;
	struct iucv_path *path;

	if (parm->flags & IPALL) {
		uint32_t seen = 0;

		for (uint32_t id = 0; id < user->max_paths && seen < user->paths; id++) {
			seen += user->path[id].state != IUCV_PATH_FREE;
			if (user->path[id].state == IUCV_PATH_OPEN)
				set_quiesced(&user->path[id], quiesce, parm->ipuser);
		}
		return iucv_cc(0);
	}
	path = iucv_path_find(user, parm->path);
	if (!path || path->state != IUCV_PATH_OPEN)
		return iucv_error(IUCV_INVALID_PATH);
	set_quiesced(path, quiesce, parm->ipuser);
	return iucv_cc(0);
}
