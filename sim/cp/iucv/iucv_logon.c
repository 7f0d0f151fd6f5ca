/* SPDX-License-Identifier: MIT */
/* IUCV: users that log on and off: peers, and CP's own services. */
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/input.h"

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

	assert(!iucv_is_machine(user));
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

	assert(!iucv_is_machine(user));
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
