/* SPDX-License-Identifier: MIT */
/* Other user IDs: what they have called, called again. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"

/* Is the next record that of a call that @peer makes from within its event? */
static bool nested_call(struct replay *r, const struct replay_peer *peer)
{
	const char *user;

	if (r->stopped || !replay_need(r) || !json_object_get(r->record, "nested"))
		return false;
	user = json_string_value(json_object_get(r->record, "user"));
	return user && strcmp(user, peer->name) == 0;
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
		replay_step(r, replay_call);
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

/* The user of the record by name; false if it can be no peer's. */
static bool user_name(struct replay *r, const json_t *record, char name[CP_NAME_LEN + 1])
{
	replay_text(r, record, "user", name, CP_NAME_LEN + 1);
	if (!r->stopped && name[0] == '\0')
		replay_unusable(r, "\"user\" is no user ID");
	return !r->stopped;
}

static struct replay_peer *peer_of(struct replay *r, const json_t *record)
{
	char name[CP_NAME_LEN + 1];
	struct replay_peer *peer;

	if (!user_name(r, record, name))
		return NULL;
	peer = find(r, name);
	if (!peer)
		replay_unusable(r, "no user %s is logged on", name);
	return peer;
}

void replay_logon(struct replay *r, const json_t *record)
{
	const uint32_t paths = (uint32_t)replay_number(r, record, "paths", CP_MAX_PATHS);
	char name[CP_NAME_LEN + 1];
	struct replay_peer *peer;

	if (!user_name(r, record, name))
		return;
	if (paths == 0 || iucv_user_find(r->cp, name)) {
		replay_unusable(r, "user %s cannot log on with %u paths, or is there already", name,
				paths);
		return;
	}
	peer = add(r, name);
	if (!peer)
		return;
	peer->user = iucv_user_create(r->cp, name, paths, &peer_ops, peer);
	if (!peer->user)
		forget(peer);
}

void replay_logoff(struct replay *r, const json_t *record)
{
	struct replay_peer *peer = peer_of(r, record);

	if (!peer)
		return;
	iucv_user_destroy(r->cp, peer->user);
	forget(peer);
}

/* A user that came with a saved state is played from now on. */
void replay_attach(struct replay *r, const json_t *record)
{
	char name[CP_NAME_LEN + 1];
	struct replay_peer *peer;
	struct iucv_user *user;

	if (!user_name(r, record, name))
		return;
	user = iucv_user_find(r->cp, name);
	if (!user || user == iucv_user_guest(r->cp) || iucv_user_is_own(user)) {
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

void replay_peers_loaded(struct replay *r)
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

static enum iucv_function function_of(struct replay *r, const json_t *record)
{
	const char *call = json_string_value(json_object_get(record, "call"));

	for (unsigned int i = 0; i < IUCV_FUNCTIONS; i++)
		if (strcmp(iucv_function_name((enum iucv_function)i), call) == 0)
			return (enum iucv_function)i;
	replay_unusable(r, "\"%.64s\" is no function of IUCV", call);
	return IUCV_QUERY;
}

static void fill_parm(struct replay *r, const json_t *record, struct iucv_parm *parm)
{
	uint8_t *bytes;
	size_t len;

	*parm = (struct iucv_parm){
		.path = (uint16_t)replay_number(r, record, "path", UINT16_MAX),
		.flags = (uint8_t)replay_hex(r, record, "flags", UINT8_MAX),
		.msglim = (uint16_t)replay_number(r, record, "msglim", UINT16_MAX),
		.msgid = (uint32_t)replay_number(r, record, "msgid", UINT32_MAX),
		.trgcls = (uint32_t)replay_hex(r, record, "trgcls", UINT32_MAX),
		.srccls = (uint32_t)replay_hex(r, record, "srccls", UINT32_MAX),
		.msgtag = (uint32_t)replay_hex(r, record, "msgtag", UINT32_MAX),
		.mask = (uint8_t)replay_hex_or(r, record, "mask", UINT8_MAX, 0),
	};
	replay_text(r, record, "vmid", parm->vmid, sizeof(parm->vmid));
	if (json_object_get(record, "target"))
		replay_text(r, record, "target", parm->target, sizeof(parm->target));
	bytes = replay_bytes(r, record, "ipuser", &len);
	if (bytes && len == sizeof(parm->ipuser))
		memcpy(parm->ipuser, bytes, len);
	free(bytes);
	bytes = replay_bytes(r, record, "rmmsg", &len);
	if (bytes && len == sizeof(parm->rmmsg))
		memcpy(parm->rmmsg, bytes, len);
	free(bytes);
}

/* Areas as the recorded call had them; NULL has been explained. */
static struct ctl_held *give_areas(struct replay *r, const json_t *record,
				   struct replay_peer *peer, struct iucv_parm *parm)
{
	const size_t answer = (size_t)replay_number(r, record, "answer", UINT32_MAX);
	const bool given = json_object_get(record, "buffer") != NULL;
	struct ctl_held *held = NULL;
	uint8_t *data = NULL;
	size_t len;

	if (given)
		data = replay_bytes(r, record, "buffer", &len);
	else
		len = (size_t)replay_number(r, record, "length", UINT32_MAX);
	if (!r->stopped) {
		held = ctl_hold(&peer->held, parm->path, len, answer);
		if (!held)
			replay_unusable(r, "user %s has more than %u bytes of messages outstanding",
					peer->name, CTL_MAX_HELD);
	}
	if (held) {
		if (data)
			memcpy(held->bytes, data, len);
		ctl_held_areas(held, parm);
	}
	free(data);
	return held;
}

void replay_call(struct replay *r, const json_t *record)
{
	const enum iucv_function function = function_of(r, record);
	struct replay_peer *peer = peer_of(r, record);
	struct iucv_result result;
	struct iucv_parm parm;
	struct ctl_held *held;

	if (!peer)
		return;
	fill_parm(r, record, &parm);
	held = give_areas(r, record, peer, &parm);
	if (!held)
		return;
	result = iucv_call(r->cp, peer->user, function, &parm);
	if (function == IUCV_TEST_COMPLETION && (result.cc == 0 || result.cc == 3))
		free(ctl_take(&peer->held, parm.path, parm.msgid));
	ctl_settle(&peer->held, function, &parm, &result, held);
}
