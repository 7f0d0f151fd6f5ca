/* SPDX-License-Identifier: MIT */
/* Other user IDs: what they have called, called again. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"

/* Is the next record that of a call that @peer makes from within its event? */
static bool nested_call(struct replay *r, const struct replay_peer *peer)
{
	const char *user;

	if (replay_turn(r->all) != r || !json_object_get(r->record, "nested"))
		return false;
	user = json_string_value(json_object_get(r->record, "user"));
	return user && strcmp(user, peer->name) == 0;
}

static enum iucv_function function_of(struct replay *r, const json_t *record)
{
	const char *call = replay_call_name(record);

	for (unsigned int i = 0; i < IUCV_FUNCTIONS; i++)
		if (strcmp(iucv_function_name((enum iucv_function)i), call) == 0)
			return (enum iucv_function)i;
	replay_unusable(r, "\"%.64s\" is not a function of IUCV", call);
	return IUCV_QUERY;
}

/* Only a call can come from within an event. */
static void nested(struct replay *r, const json_t *record)
{
	function_of(r, record);
	if (!r->all->stopped && replay_input_of(record) == INPUT_iucv_call)
		replay_read(r, record, INPUT_iucv_call, replay_call);
}

/* What was outstanding has been told of; the reply is in the guest's records. */
static void on_event(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	struct replay_peer *peer = opaque;
	struct replay *r = peer->replay;

	(void)cp;
	assert(user == peer->user);
	if (event->type == IUCV_MSG_COMPLETE || event->type == IUCV_PRIO_COMPLETE)
		free(ctl_take_answer(&peer->held, event->answer));
	while (nested_call(r, peer))
		replay_step(r, nested);
}

static const struct iucv_user_ops peer_ops = { .event = on_event };

static struct replay_peer *find(struct replay *r, const char *name)
{
	for (size_t i = 0; i < IUCV_MAX_USERS; i++)
		if (strcmp(r->peer[i].name, name) == 0)
			return &r->peer[i];
	return NULL;
}

/* A slot for a name that has none; NULL has been explained. */
static struct replay_peer *add(struct replay *r, const char *name)
{
	struct replay_peer *peer = find(r, "");

	if (peer) {
		memcpy(peer->name, name, sizeof(peer->name));
		peer->replay = r;
	} else {
		replay_unusable(r, "there are more users than the %d that a CP can have",
				IUCV_MAX_USERS);
	}
	return peer;
}

static void forget(struct replay_peer *peer)
{
	ctl_release(&peer->held, NULL);
	*peer = (struct replay_peer){ .user = NULL };
}

static struct replay_peer *peer_of(struct replay *r, const char *name)
{
	struct replay_peer *peer = find(r, name);

	if (!peer)
		replay_unusable(r, "no user %s is logged on", name);
	return peer;
}

void replay_logon(struct replay *r, const json_t *record, const union input_args *in)
{
	const char *name = in->logon.user;
	struct replay_peer *peer;

	(void)record;
	if (iucv_user_find(r->cp, name)) {
		replay_unusable(r, "user %s cannot log on; it is there already", name);
		return;
	}
	peer = add(r, name);
	if (!peer)
		return;
	peer->user = iucv_user_create(r->cp, name, in->logon.paths, &peer_ops, peer);
	if (!peer->user)
		forget(peer);
}

void replay_logoff(struct replay *r, const json_t *record, const union input_args *in)
{
	struct replay_peer *peer = peer_of(r, in->logoff.user);

	(void)record;
	if (!peer)
		return;
	iucv_user_destroy(r->cp, peer->user);
	forget(peer);
}

/* A user that came with a saved state is played from now on. */
void replay_attach(struct replay *r, const json_t *record, const union input_args *in)
{
	const char *name = in->attach.user;
	struct iucv_user *user = iucv_user_find(r->cp, name);
	struct replay_peer *peer;

	(void)record;
	if (!user || !iucv_user_is_private(user)) {
		replay_unusable(r, "no user %s came with a saved state", name);
		return;
	}
	peer = find(r, name);
	if (!peer)
		peer = add(r, name);
	if (!peer)
		return;
	peer->user = user;
	iucv_user_attach(user, &peer_ops, peer);
}

static void peers_loaded(struct replay *r)
{
	for (size_t i = 0; i < IUCV_MAX_USERS; i++) {
		struct replay_peer *peer = &r->peer[i];

		if (peer->name[0] == '\0')
			continue;
		/* What was outstanding belongs to the state that has been replaced. */
		ctl_release(&peer->held, NULL);
		peer->user = iucv_user_find(r->cp, peer->name);
		if (!peer->user)
			forget(peer);
	}
}

void replay_peers_loaded(struct replay_all *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->replay[i].cp)
			peers_loaded(&all->replay[i]);
}

void replay_peers_gone(struct replay *r)
{
	for (size_t i = 0; i < IUCV_MAX_USERS; i++)
		if (r->peer[i].name[0] != '\0')
			forget(&r->peer[i]);
}

void replay_peers_end(struct replay *r)
{
	for (size_t i = 0; i < IUCV_MAX_USERS; i++) {
		struct replay_peer *peer = &r->peer[i];

		if (peer->name[0] == '\0')
			continue;
		iucv_user_destroy(r->cp, peer->user);
		forget(peer);
	}
}

static void fill_parm(const struct input_iucv_call *given, struct iucv_parm *parm)
{
	*parm = (struct iucv_parm){
		.path = given->path, .flags = given->flags, .msglim = given->msglim,
		.msgid = given->msgid, .trgcls = given->trgcls, .srccls = given->srccls,
		.msgtag = given->msgtag, .mask = given->mask,
	};
	snprintf(parm->vmid, sizeof(parm->vmid), "%s", given->vmid);
	snprintf(parm->target, sizeof(parm->target), "%s", given->target ? given->target : "");
	memcpy(parm->ipuser, given->ipuser.at, sizeof(parm->ipuser));
	memcpy(parm->rmmsg, given->rmmsg.at, sizeof(parm->rmmsg));
}

/* Areas as the recorded call had them; NULL has been explained. */
static struct ctl_held *give_areas(struct replay *r, const struct input_iucv_call *given,
				   struct replay_peer *peer, struct iucv_parm *parm)
{
	const size_t len = given->buffer.at ? given->buffer.len : given->length;
	struct ctl_held *held = ctl_hold(&peer->held, parm->path, len, given->answer);

	if (!held) {
		replay_unusable(r, "user %s has more than %u bytes of messages outstanding",
				peer->name, CTL_MAX_HELD);
		return NULL;
	}
	if (given->buffer.at)
		memcpy(held->bytes, given->buffer.at, len);
	ctl_held_areas(held, parm);
	return held;
}

void replay_call(struct replay *r, const json_t *record, const union input_args *in)
{
	const enum iucv_function function = function_of(r, record);
	struct replay_peer *peer = r->all->stopped ? NULL : peer_of(r, in->iucv_call.user);
	struct iucv_result result;
	struct iucv_parm parm;
	struct ctl_held *held;

	if (!peer)
		return;
	fill_parm(&in->iucv_call, &parm);
	held = give_areas(r, &in->iucv_call, peer, &parm);
	if (!held)
		return;
	result = iucv_call(r->cp, peer->user, function, &parm);
	if (function == IUCV_TEST_COMPLETION && (result.cc == 0 || result.cc == 3))
		free(ctl_take(&peer->held, parm.path, parm.msgid));
	ctl_settle(&peer->held, function, &parm, &result, held);
}
