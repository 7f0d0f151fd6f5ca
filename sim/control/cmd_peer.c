/* SPDX-License-Identifier: MIT */
/* Commands for peers, users and paths. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"
#include "zvmlab/command.h"

/* The privilege class of a general user. */
#define DEFAULT_CLASSES "G"

/* The owner of a new or waiting peer hears what came meanwhile. */
static json_t *take_over(struct ctl_call *call, struct ctl_peer *peer,
			 const char classes[CP_CLASSES + 1], bool adopted)
{
	json_t *kept = peer->kept;
	json_t *result = json_pack("{s:s, s:b, s:o}", "name", peer->name, "adopted", adopted,
				   "lost", ctl_json_u64(peer->lost));

	peer->owner = call->client->id;
	peer->persistent = ctl_bool_or(call->args, "persistent", false);
	peer->stream = ctl_bool_or(call->args, "stream", false);
	memcpy(peer->classes, classes, sizeof(peer->classes));
	peer->kept = json_array();
	peer->lost = 0;
	for (size_t i = 0; i < json_array_size(kept); i++)
		ctl_notify(call->ctl, call->client, "iucv-event",
			   json_incref(json_array_get(kept, i)));
	json_decref(kept);
	return result;
}

static bool may_create(struct ctl_call *call, const char *name, const struct iucv_user *user)
{
	unsigned int count = 0;

	for (const struct ctl_peer *peer = call->ctl->peers; peer; peer = peer->next)
		count++;
	if (count >= CTL_MAX_PEERS)
		ctl_fail(call, "Failed", "there are %u peers, which is the limit; destroy one first",
			 CTL_MAX_PEERS);
	else if (strcmp(name, "*") == 0 || strchr(name + 1, '*'))
		ctl_fail(call, "BadArgument", "%s is not a user ID; only a service's name begins "
			 "with *", name);
	else if (user && (user == iucv_user_guest(call->cp) || iucv_user_is_own(user)))
		ctl_fail(call, "Failed", "%s is logged on already; choose another name", name);
	else
		return true;
	return false;
}

json_t *ctl_peer_create(struct ctl_call *call)
{
	struct ctl_peer *peer;
	struct iucv_user *user;
	const char *given = ctl_string(call->args, "classes");
	char classes[CP_CLASSES + 1], name[9];
	bool adopted;

	ctl_name(call->args, "name", name);
	if (!cp_config_classes(given ? given : DEFAULT_CLASSES, classes))
		return ctl_fail(call, "BadArgument", "argument \"classes\" is \"%s\"; privilege "
				"classes are A to Z and 1 to 6, such as BG", given);
	peer = ctl_peer_find(call->ctl, name);
	if (peer && peer->owner != 0)
		return ctl_fail(call, "Failed", "%s is logged on already; choose another name", name);
	if (peer)
		return take_over(call, peer, classes, true);
	user = iucv_user_find(call->cp, name);
	if (!may_create(call, name, user))
		return NULL;
	peer = ctl_peer_new(call->ctl, name);
	if (!peer)
		return NULL;
	/* A user that came back with a saved state waits for somebody to play it. */
	adopted = user != NULL;
	if (adopted)
		iucv_user_attach(user, &ctl_peer_ops, peer);
	else
		user = iucv_user_create(call->cp, name,
					(uint32_t)ctl_int_or(call->args, "max-paths", 64),
					&ctl_peer_ops, peer);
	peer->user = user;
	if (user)
		return take_over(call, peer, classes, adopted);
	ctl_peer_free(peer);
	return ctl_fail(call, "Failed", "%s cannot be logged on: too many users", name);
}

/* The peer that the request names, if it is this client's. */
static struct ctl_peer *own_peer(struct ctl_call *call)
{
	struct ctl_peer *peer;
	char name[9];

	ctl_name(call->args, "peer", name);
	peer = ctl_peer_find(call->ctl, name);
	if (peer && peer->owner == call->client->id)
		return peer;
	ctl_fail(call, "Failed", "this connection has no peer %s; peer-create makes one", name);
	return NULL;
}

json_t *ctl_peer_destroy(struct ctl_call *call)
{
	struct ctl_peer *peer = own_peer(call);

	if (!peer)
		return NULL;
	ctl_peer_free(peer);
	return json_object();
}

json_t *ctl_peer_command(struct ctl_call *call)
{
	struct ctl_peer *peer = own_peer(call);
	char text[CPCMD_MAX_COMMAND];
	size_t len;

	if (!peer)
		return NULL;
	if (iucv_user_is_service(peer->user))
		return ctl_fail(call, "Failed", "%s is a service, which cannot give commands",
				peer->name);
	if (!ctl_command_text(call, text, &len))
		return NULL;
	return ctl_command_json(cpcmd_run_peer(call->cp, peer->name, peer->classes, text, len));
}

static void fill_parm(const json_t *args, struct iucv_parm *parm)
{
	*parm = (struct iucv_parm){
		.path = (uint16_t)ctl_int_or(args, "path", 0),
		.flags = (uint8_t)ctl_int_or(args, "flags", 0),
		.msglim = (uint16_t)ctl_int_or(args, "msglim", 0),
		.msgid = (uint32_t)ctl_int_or(args, "msgid", 0),
		.trgcls = (uint32_t)ctl_int_or(args, "trgcls", 0),
		.srccls = (uint32_t)ctl_int_or(args, "srccls", 0),
		.msgtag = (uint32_t)ctl_int_or(args, "msgtag", 0),
		.mask = (uint8_t)ctl_int_or(args, "mask", 0),
	};
	ctl_name(args, "vmid", parm->vmid);
	ctl_name(args, "target", parm->target);
	ctl_data(args, "ipuser", parm->ipuser, sizeof(parm->ipuser));
	ctl_data(args, "rmmsg", parm->rmmsg, sizeof(parm->rmmsg));
}

static struct ctl_held *give_areas(struct ctl_call *call, struct ctl_peer *peer,
				   enum iucv_function function, struct iucv_parm *parm)
{
	const size_t len = function == IUCV_RECEIVE ? (size_t)ctl_int_or(call->args, "length", 0) :
						      ctl_data_len(call->args, "data");
	const size_t answer_len = (size_t)ctl_int_or(call->args, "answer-length", 0);
	struct ctl_held *held;

	if (function != IUCV_SEND && function != IUCV_REPLY && ctl_data_len(call->args, "data") > 0) {
		ctl_fail(call, "BadArgument", "argument \"data\" is for send and reply; give "
			 "receive its room by \"length\"");
		return NULL;
	}
	held = ctl_hold(&peer->held, parm->path, len, answer_len);
	if (!held) {
		ctl_fail(call, "Failed", "peer %s has %zu bytes of messages outstanding; with %zu "
			 "more it would exceed %u", peer->name, peer->held.bytes, len + answer_len,
			 CTL_MAX_HELD);
		return NULL;
	}
	ctl_data(call->args, "data", held->bytes, len);
	ctl_held_areas(held, parm);
	return held;
}

/* What the path takes from here until its message limit is reached. */
static json_t *room_of(const struct ctl_peer *peer, enum iucv_function function,
		       const struct iucv_result *result, const struct iucv_parm *parm)
{
	struct iucv_path_info info;

	if (function != IUCV_SEND || result->cc != 0 || result->pgm != 0 ||
	    !iucv_path_info(peer->user, parm->path, &info) || info.sent > info.msglim_send)
		return NULL;
	return json_integer(info.msglim_send - info.sent);
}

static json_t *result_json(const struct iucv_result *result, const struct iucv_parm *parm,
			   json_t *room, json_t *data)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
			 "s:o, s:o*, s:o*}",
			 "cc", result->cc, "code", result->code, "pgm", result->pgm, "path",
			 parm->path, "flags", parm->flags, "msglim", parm->msglim, "msgid",
			 (json_int_t)parm->msgid, "trgcls", (json_int_t)parm->trgcls, "srccls",
			 (json_int_t)parm->srccls, "msgtag", (json_int_t)parm->msgtag, "residual",
			 (json_int_t)parm->residual, "audit", (json_int_t)parm->audit, "length",
			 (json_int_t)parm->buffer.len, "answer-length",
			 (json_int_t)parm->answer.len, "rmmsg",
			 ctl_json_data(parm->rmmsg, sizeof(parm->rmmsg)), "room", room, "data",
			 data);
}

/* Data that a function has brought. */
static json_t *brought(struct ctl_peer *peer, enum iucv_function function,
		       const struct iucv_result *result, const struct iucv_parm *parm,
		       const struct ctl_held *held)
{
	struct ctl_held *complete;
	json_t *reply;

	if (function == IUCV_RECEIVE && result->pgm == 0 && !(parm->flags & IPRMDATA))
		return ctl_json_data(held->bytes, parm->received);
	if (function != IUCV_TEST_COMPLETION || (result->cc != 0 && result->cc != 3))
		return NULL;
	complete = ctl_take(&peer->held, parm->path, parm->msgid);
	reply = ctl_reply(complete, parm->flags, parm->audit, parm->answer.len);
	free(complete);
	return reply;
}

json_t *ctl_peer_call(struct ctl_call *call)
{
	const enum iucv_function function =
		(enum iucv_function)ctl_index(ctl_functions, ctl_string(call->args, "function"));
	struct ctl_peer *peer = own_peer(call);
	struct iucv_parm parm;
	struct iucv_result result;
	struct ctl_held *held;
	json_t *data;

	if (!peer)
		return NULL;
	fill_parm(call->args, &parm);
	held = give_areas(call, peer, function, &parm);
	if (!held)
		return NULL;
	result = iucv_call(call->cp, peer->user, function, &parm);
	data = brought(peer, function, &result, &parm, held);
	ctl_settle(&peer->held, function, &parm, &result, held);
	/* What was not carried out is told at once, and in full. */
	call->later &= result.cc == 0 && result.pgm == 0;
	if (call->later && function == IUCV_SEND)
		return json_pack("{s:i, s:i, s:i, s:I, s:o*}", "cc", 0, "code", 0, "pgm", 0, "msgid",
				 (json_int_t)parm.msgid, "room",
				 room_of(peer, function, &result, &parm));
	return result_json(&result, &parm, room_of(peer, function, &result, &parm), data);
}

json_t *ctl_query_users(struct ctl_call *call)
{
	json_t *users = json_array();
	struct iucv_user *user;

	for (unsigned int i = 0; (user = iucv_user_at(call->cp, i)); i++) {
		const char *kind = user == iucv_user_guest(call->cp) ? "guest" :
				   iucv_user_is_own(user)	     ? "service" :
								       "peer";

		json_array_append_new(
			users, json_pack("{s:s, s:s, s:I, s:I}", "name", iucv_user_name(user),
					 "kind", kind, "paths", (json_int_t)iucv_path_count(user),
					 "events-waiting", (json_int_t)iucv_events_waiting(user)));
	}
	return json_pack("{s:o}", "users", users);
}

static json_t *path_json(const struct iucv_path_info *info)
{
	return json_pack("{s:i, s:s, s:i, s:s, s:i, s:i, s:i, s:I, s:I, s:b, s:b}", "path",
			 info->path, "partner", info->partner ? info->partner : "", "partner-path",
			 info->partner_path, "state", ctl_path_states[info->state], "flags",
			 info->flags, "msglim-send", info->msglim_send, "msglim-receive",
			 info->msglim_receive, "sent", (json_int_t)info->sent, "received",
			 (json_int_t)info->received, "quiesced-here", info->quiesced_here,
			 "quiesced-there", info->quiesced_there);
}

json_t *ctl_query_paths(struct ctl_call *call)
{
	const size_t limit = (size_t)ctl_int_or(call->args, "limit", 1024);
	uint32_t path = (uint32_t)ctl_int_or(call->args, "first", 0);
	struct iucv_path_info info;
	struct iucv_user *user;
	json_t *paths;
	char name[9];

	ctl_name(call->args, "user", name);
	user = iucv_user_find(call->cp, name);
	if (!user)
		return ctl_fail(call, "Failed", "%s is not logged on; query-users lists who is",
				name);
	paths = json_array();
	for (; path < CP_MAX_PATHS && json_array_size(paths) < limit; path++)
		if (iucv_path_info(user, (uint16_t)path, &info) && info.state != IUCV_PATH_FREE)
			json_array_append_new(paths, path_json(&info));
	return json_pack("{s:o, s:i}", "paths", paths, "next", (int)path);
}

json_t *ctl_query_buffers(struct ctl_call *call)
{
	json_t *buffers = json_array();
	uint64_t addr;

	for (unsigned int cpu = 0; cpu < cp_config_of(call->cp)->cpus; cpu++)
		if (iucv_declared(call->cp, cpu, &addr))
			json_array_append_new(buffers, json_pack("{s:i, s:o}", "cpu", (int)cpu,
								 "address", ctl_json_u64(addr)));
	return json_pack("{s:o}", "buffers", buffers);
}
