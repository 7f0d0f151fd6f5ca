/* SPDX-License-Identifier: MIT */
/* IUCV: CONNECT and ACCEPT. */
#include <string.h>

#include "iucv_private.h"
#include "smaller.h"

#define PATH_FLAGS (IPRMDATA | IPPRTY | IPQUSCE)

/* May the user have another path, if there is an id for it?  The harness' own does not count. */
static bool below_limit(const struct iucv_user *user, const struct iucv_user *partner)
{
	if (user->paths < user->limit || cp_is_agent(partner->name))
		return true;
	for (uint32_t id = 0; id < user->max_paths; id++)
		if (user->path[id].state != IUCV_PATH_FREE &&
		    cp_is_agent(iucv_partner_name(&user->path[id])))
			return true;
	return false;
}

/* A new path of the user's to @partner. */
static struct iucv_path *path_alloc(struct iucv_user *user, const struct iucv_user *partner)
{
	return below_limit(user, partner) ? iucv_path_new(user) : NULL;
}

static const struct cp_iucv_statement *statement(const struct cp_config *config, const char *name)
{
	for (unsigned int i = 0; i < config->iucv_statements; i++)
		if (strcmp(config->iucv[i].name, name) == 0)
			return &config->iucv[i];
	return NULL;
}

/*
 * The directory statement that allows the machine to connect to @name, or NULL.  @target: the
 * user of that name, if it has one of IUCV; a machine may allow all others to connect to it.
 */
static const struct cp_iucv_statement *authority(const struct iucv_caller *by, const char *name,
						 const struct iucv_user *target)
{
	const struct cp_config *config = &by->user->machine->cp->config;
	const struct cp_iucv_statement *found = statement(config, name);

	if (!found && name[0] != '*') {
		found = statement(config, "ANY");
		if (!found && target && iucv_is_machine(target))
			found = statement(&target->machine->cp->config, "ALLOW");
	}
	return found;
}

/* The lowest of what is wanted and what the directory and a fault leave; at least one message. */
static uint16_t granted(const struct iucv_caller *by, uint16_t wanted,
			const struct cp_iucv_statement *found)
{
	uint16_t limit = wanted;

	assert(wanted > 0);
	if (found && found->msglimit)
		limit = (uint16_t)smaller(limit, found->msglimit);
	return (uint16_t)smaller(limit, larger(by->limit, 1));
}

/* Is somebody of that name logged on who has no user of IUCV?  What a peer does not know is not. */
static bool logged_on(const struct iucv_user *by, const char *name)
{
	return by->home && !cp_machine_of(by->home->system, name) &&
	       parts_logged_on(by->home, name);
}

/* CONNECT: who is meant, and may it be? */
static struct iucv_result find_target(const struct iucv_caller *by, const struct iucv_parm *parm,
				      struct iucv_user **target,
				      const struct cp_iucv_statement **found)
{
	bool service = parm->vmid[0] == '*';

	*found = NULL;
	*target = iucv_user_known(by->iucv, by->user, parm->vmid);
	if (!*target && (service || !logged_on(by->user, parm->vmid)))
		return iucv_error(service ? IUCV_INVALID_SERVICE : IUCV_NOT_LOGGED_ON);
	if (parm->target[0] && !(parm->flags & IPLOCAL))
		return iucv_error(service ? IUCV_NOT_FOR_SERVICE : IUCV_NOT_LOGGED_ON);
	/* Whatever its directory says: without the harness' user there is no guest to test. */
	if (iucv_is_machine(by->user) && !cp_is_agent(parm->vmid)) {
		*found = authority(by, parm->vmid, *target);
		if (!*found)
			return iucv_error(IUCV_NOT_AUTHORISED);
		if (parm->flags & IPPRTY && !(*found)->priority)
			return iucv_error(IUCV_NO_PRIORITY);
	}
	/* The operator and modelled guests are logged on, and run no program. */
	if (!*target || (iucv_is_machine(*target) && !(*target)->machine->declared))
		return iucv_error(IUCV_NO_BUFFER);
	return iucv_cc(0);
}

static void path_join(struct iucv_path *path, struct iucv_path *partner)
{
	struct iucv_path_cold *cold = iucv_path_cold(path);

	assert(path != partner && !path->partner);
	path->partner = partner;
	memcpy(cold->partner, partner->user->name, sizeof(cold->partner));
}

struct iucv_result iucv_connect(const struct iucv_caller *by, struct iucv_parm *parm)
{
	const struct cp_iucv_statement *found;
	struct iucv_user *target;
	struct iucv_path *path, *partner;
	struct iucv_result result;

	result = find_target(by, parm, &target, &found);
	if (result.cc != 0)
		return result;
	path = path_alloc(by->user, target);
	if (!path)
		return iucv_error(IUCV_OWN_MAX);
	partner = path_alloc(target, by->user);
	if (!partner) {
		iucv_path_free(path);
		return iucv_error(target == by->user ? IUCV_OWN_MAX : IUCV_TARGET_MAX);
	}
	path_join(path, partner);
	path_join(partner, path);
	assert(path->partner == partner && partner->partner == path);
	path->state = IUCV_PATH_CONNECTING;
	partner->state = IUCV_PATH_PENDING;
	iucv_path_cold(partner)->target = true;
	path->flags = parm->flags & PATH_FLAGS;
	path->quiesced = parm->flags & IPQUSCE;
	path->msglim = granted(by, parm->msglim ? parm->msglim : IUCV_DEFAULT_MSGLIM, found);
	parm->path = path->id;
	parm->msglim = path->msglim;
	iucv_control_queue(partner, IUCV_PENDING, parm->ipuser);
	return iucv_cc(0);
}

/* The statement whose limit holds for a path that somebody else has asked for. */
static const struct cp_iucv_statement *accept_statement(const struct iucv_caller *by,
							const struct iucv_path *path)
{
	const struct cp_config *config = &by->user->machine->cp->config;
	const struct cp_iucv_statement *found = statement(config, path->partner->user->name);

	assert(path->state == IUCV_PATH_PENDING && iucv_is_machine(by->user));
	return found ? found : statement(config, "ALLOW");
}

struct iucv_result iucv_accept(const struct iucv_caller *by, struct iucv_parm *parm)
{
	struct iucv_path *path = iucv_path_find(by->user, parm->path);
	const struct cp_iucv_statement *found = NULL;
	uint16_t wanted = parm->msglim;

	if (path && path->state == IUCV_PATH_SEVERED && iucv_path_cold(path)->target)
		return iucv_error(IUCV_ORIGIN_SEVERED);
	if (!path || path->state != IUCV_PATH_PENDING)
		return iucv_error(IUCV_INVALID_PATH);
	assert(path->partner->state == IUCV_PATH_CONNECTING && path->partner->partner == path);
	if (parm->flags & IPPRTY && !(path->partner->flags & IPPRTY))
		return iucv_error(IUCV_NO_PRIORITY);
	if (iucv_is_machine(by->user))
		found = accept_statement(by, path);
	if (wanted == 0 || wanted > path->partner->msglim)
		wanted = path->partner->msglim;
	iucv_control_drop(path, IUCV_SLOT_CONNECTION);
	iucv_path_cold(path)->target = false;
	path->flags = parm->flags & PATH_FLAGS;
	path->quiesced = parm->flags & IPQUSCE;
	path->msglim = granted(by, wanted, found);
	path->state = IUCV_PATH_OPEN;
	path->partner->state = IUCV_PATH_OPEN;
	parm->msglim = path->msglim;
	iucv_control_queue(path->partner, IUCV_COMPLETE, parm->ipuser);
	return iucv_cc(0);
}
