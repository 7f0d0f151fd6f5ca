/* SPDX-License-Identifier: MIT */
/* IUCV: users that log on and off: peers, and CP's own services. */
#include <string.h>

#include "iucv_private.h"
#include "zvmlab/input.h"

static struct iucv_user *create(struct iucv *iucv, const char *name, uint32_t max_paths,
				const struct iucv_user_ops *ops, void *opaque)
{
	struct iucv_user *user;

	if (iucv->users >= IUCV_MAX_USERS)
		return NULL;
	user = iucv_user_new(iucv, name, max_paths);
	if (!user)
		return NULL;
	user->ops = ops;
	user->opaque = opaque;
	iucv_user_enter(user, iucv->users);
	return user;
}

struct iucv_user *iucv_user_create(struct cp *cp, const char *name, uint32_t max_paths,
				   const struct iucv_user_ops *ops, void *opaque)
{
	struct iucv_user *user;

	if (iucv_user_find(cp, name))
		return NULL;
	user = create(cp->system->iucv, name, max_paths, ops, opaque);
	if (!user)
		return NULL;
	user->home = cp;
	/* What a peer does is input from outside, also if it plays a service. */
	TRACE_INPUT(cp, logon, .user = user->name, .paths = max_paths);
	parts_logon(cp, user->name);
	trace_end(cp);
	iucv_dispatch(cp);
	return user;
}

struct iucv_user *iucv_service_create(struct cp_system *system, const char *name,
				      uint32_t max_paths, const struct iucv_user_ops *ops,
				      void *opaque)
{
	struct iucv_user *user;

	assert(name[0] == '*' && !iucv_service_find(system, name));
	user = create(system->iucv, name, max_paths, ops, opaque);
	if (user)
		user->own = true;
	return user;
}

void iucv_user_destroy(struct cp *cp, struct iucv_user *user)
{
	static const uint8_t ipuser[16];

	assert(!iucv_is_machine(user) && (user->own || user->home == cp));
	if (!user->own) {
		TRACE_INPUT(cp, logoff, .user = user->name, .paths = user->max_paths);
		parts_logoff(cp, user->name);
		trace_end(cp);
	}
	iucv_sever_all(user, ipuser);
	iucv_user_leave(user);
	iucv_user_free(user);
	iucv_dispatch(cp);
}

void iucv_user_attach(struct iucv_user *user, const struct iucv_user_ops *ops, void *opaque)
{
	assert(!iucv_is_machine(user));
	if (!user->own) {
		TRACE_INPUT(user->home, attach, .user = user->name, .paths = user->max_paths);
		trace_end(user->home);
	}
	user->ops = ops;
	user->opaque = opaque;
	user->loaded = false;
	iucv_unlink(&user->turn);
	if (ops && user->ready)
		iucv_append(&user->iucv->turns, &user->turn);
}
