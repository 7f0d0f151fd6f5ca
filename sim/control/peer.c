/* SPDX-License-Identifier: MIT */
/* Peers: user IDs that clients of the control socket play. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

/* No client has the number 0, which is nobody's. */
static struct ctl_client *owner_of(struct ctl *ctl, const struct ctl_peer *peer)
{
	for (unsigned int slot = 0; slot < CTL_MAX_CLIENTS; slot++)
		if (ctl->client[slot] && ctl->client[slot]->id == peer->owner)
			return ctl->client[slot];
	return NULL;
}

json_t *ctl_reply(const struct ctl_held *held, uint8_t flags, uint32_t audit, uint32_t unused)
{
	if (!held || held->answer_len == 0 || (flags & (IPRMDATA | IPNORPY)) || audit != 0 ||
	    unused > held->answer_len)
		return NULL;
	return ctl_json_data(held->bytes + held->len, held->answer_len - unused);
}

/* A one-way message that a stream has received: nobody has to name it any more. */
static json_t *data_json(const struct ctl_peer *peer, const struct iucv_event *event,
			 json_t *bytes)
{
	return json_pack("{s:s, s:i, s:i, s:I, s:o}", "peer", peer->name, "type", event->type, "path",
			 event->path, "trgcls", (json_int_t)event->trgcls, "data", bytes);
}

static json_t *event_json(const struct ctl_peer *peer, const struct iucv_event *event,
			  json_t *reply)
{
	return json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:I, "
			 "s:I, s:o*}",
			 "peer", peer->name, "type", event->type, "path", event->path, "flags",
			 event->flags, "msglim", event->msglim, "vmid",
			 ctl_json_text(event->vmid, strlen(event->vmid)), "ipuser",
			 ctl_json_data(event->ipuser, sizeof(event->ipuser)), "msgid",
			 (json_int_t)event->msgid, "trgcls", (json_int_t)event->trgcls, "srccls",
			 (json_int_t)event->srccls, "msgtag", (json_int_t)event->msgtag, "audit",
			 (json_int_t)event->audit, "rmmsg",
			 ctl_json_data(event->rmmsg, sizeof(event->rmmsg)), "length",
			 (json_int_t)event->length, "answer-length",
			 (json_int_t)event->answer_length, "data", reply);
}

static void keep_event(struct ctl_peer *peer, json_t *data)
{
	if (json_array_size(peer->kept) == CTL_MAX_KEPT) {
		json_array_remove(peer->kept, 0);
		peer->lost++;
	}
	json_array_append_new(peer->kept, data);
}

static bool is_completion(const struct iucv_event *event)
{
	return event->type == IUCV_MSG_COMPLETE || event->type == IUCV_PRIO_COMPLETE;
}

/*
 * The data of a message that has come, as RECEIVE gives it.  NULL: the client has to receive it,
 * as one that is behind has, so that the message limit slows the sender down.
 */
static json_t *received(struct cp *cp, struct ctl_peer *peer, const struct iucv_event *event)
{
	struct iucv_parm parm = {
		.path = event->path, .flags = IPFGMID | IPFGPID | IPFGMCL, .msgid = event->msgid,
		.trgcls = event->trgcls,
	};
	struct iucv_result result;
	struct ctl_held *held;
	json_t *data = NULL;

	if ((event->type != IUCV_MSG_PENDING && event->type != IUCV_PRIO_PENDING) ||
	    event->flags & IPRMDATA || event->length > CTL_MAX_DATA)
		return NULL;
	held = ctl_hold(&peer->held, parm.path, event->length, 0);
	if (!held)
		return NULL;
	ctl_held_areas(held, &parm);
	result = iucv_call(cp, peer->user, IUCV_RECEIVE, &parm);
	if (result.cc == 0 && result.pgm == 0)
		data = ctl_json_data(held->bytes, parm.received);
	ctl_settle(&peer->held, IUCV_RECEIVE, &parm, &result, held);
	return data;
}

static void on_event(struct cp *cp, struct iucv_user *user, void *opaque,
		     const struct iucv_event *event)
{
	struct ctl_peer *peer = opaque;
	struct ctl_client *owner = owner_of(peer->ctl, peer);
	struct ctl_held *held = NULL;
	json_t *data = NULL, *bytes;

	assert(user == peer->user);
	if (is_completion(event))
		held = ctl_take_answer(&peer->held, event->answer);
	bytes = ctl_reply(held, event->flags, event->audit, event->answer_length);
	/* The answer to SEND has told a stream for how many more there is room. */
	if (peer->stream && held && held->answer_len == 0 && event->audit == 0) {
		free(held);
		return;
	}
	free(held);
	if (peer->stream && owner && !owner->dropped && owner->out.len < CTL_OUT_PAUSE)
		data = bytes ? NULL : received(cp, peer, event);
	if (data && event->flags & IPNORPY)
		data = data_json(peer, event, data);
	else
		data = event_json(peer, event, data ? data : bytes);
	if (owner)
		ctl_notify(peer->ctl, owner, "iucv-event", data);
	else
		keep_event(peer, data);
}

const struct iucv_user_ops ctl_peer_ops = { .event = on_event };

struct ctl_peer *ctl_peer_find(struct ctl *ctl, const char *name)
{
	struct ctl_peer *peer = ctl->peers;

	while (peer && strcmp(peer->name, name) != 0)
		peer = peer->next;
	return peer;
}

struct ctl_peer *ctl_peer_new(struct ctl *ctl, const char *name)
{
	struct ctl_peer *peer = calloc(1, sizeof(*peer));

	if (peer)
		peer->kept = json_array();
	if (!peer || !peer->kept) {
		free(peer);
		return NULL;
	}
	peer->ctl = ctl;
	strncpy(peer->name, name, sizeof(peer->name) - 1);
	peer->next = ctl->peers;
	ctl->peers = peer;
	return peer;
}

void ctl_peer_free(struct ctl_peer *peer)
{
	struct ctl_peer **at = &peer->ctl->peers;

	while (*at != peer)
		at = &(*at)->next;
	*at = peer->next;
	if (peer->user)
		iucv_user_destroy(peer->ctl->cp, peer->user);
	ctl_release(&peer->held, NULL);
	json_decref(peer->kept);
	free(peer);
}

void ctl_peers_left(struct ctl *ctl, const struct ctl_client *client)
{
	struct ctl_peer *next;

	for (struct ctl_peer *peer = ctl->peers; peer; peer = next) {
		next = peer->next;
		if (peer->owner != client->id)
			continue;
		peer->owner = 0;
		if (!peer->persistent)
			ctl_peer_free(peer);
	}
}

void ctl_peers_free(struct ctl *ctl)
{
	while (ctl->peers)
		ctl_peer_free(ctl->peers);
}

void ctl_reattach(struct ctl *ctl)
{
	for (struct ctl_peer *peer = ctl ? ctl->peers : NULL; peer; peer = peer->next) {
		/* What was outstanding belongs to the state that has been replaced. */
		ctl_release(&peer->held, NULL);
		peer->user = iucv_user_find(ctl->cp, peer->name);
		assert(peer->user);
		iucv_user_attach(peer->user, &ctl_peer_ops, peer);
	}
}
