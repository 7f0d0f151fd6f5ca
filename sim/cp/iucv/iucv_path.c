/* SPDX-License-Identifier: MIT */
/* IUCV: path ids, and what others may know of a path. */

#include "iucv_private.h"

/* Make a free id a path with nothing in it. */
void iucv_path_take(struct iucv_user *user, uint32_t id)
{
	uint64_t *word = &user->free_id[id / 64];

	assert(id < user->max_paths && *word & UINT64_C(1) << id % 64);
	assert(user->path[id].state == IUCV_PATH_FREE && user->paths < user->max_paths);
	*word &= ~(UINT64_C(1) << id % 64);
	if (!*word)
		user->summary[id / 4096] &= ~(UINT64_C(1) << id / 64 % 64);
	user->paths++;
	user->path[id] = (struct iucv_path){ .user = user, .id = (uint16_t)id };
	user->cold[id] = (struct iucv_path_cold){ 0 };
}

struct iucv_path *iucv_path_new(struct iucv_user *user)
{
	for (unsigned int i = 0; i < IUCV_ID_WORDS / 64; i++) {
		unsigned int word;
		uint32_t id;

		if (!user->summary[i])
			continue;
		word = i * 64 + (unsigned int)__builtin_ctzll(user->summary[i]);
		id = word * 64 + (uint32_t)__builtin_ctzll(user->free_id[word]);
		iucv_path_take(user, id);
		return &user->path[id];
	}
	return NULL;
}

void iucv_path_free(struct iucv_path *path)
{
	struct iucv_user *user = path->user;

	assert(!path->sent[0].first && !path->sent[1].first);
	assert(!path->rest.first && !path->gone.first);
	assert(path->outstanding == 0 && path->purged == 0 && user->paths > 0);
	for (enum iucv_slot slot = IUCV_SLOT_CONNECTION; slot < IUCV_SLOTS; slot++)
		iucv_control_drop(path, slot);
	path->state = IUCV_PATH_FREE;
	user->paths--;
	user->free_id[path->id / 64] |= UINT64_C(1) << path->id % 64;
	user->summary[path->id / 4096] |= UINT64_C(1) << path->id / 64 % 64;
}

bool iucv_path_info(const struct iucv_user *user, uint16_t path, struct iucv_path_info *out)
{
	const struct iucv_path *p = iucv_path_find(user, path);
	const struct iucv_path *partner;

	if (!p)
		return false;
	partner = p->partner;
	assert(!partner || partner->partner == p);
	*out = (struct iucv_path_info){
		.path = path,
		.partner_path = partner ? partner->id : 0,
		.partner = iucv_partner_name(p),
		.state = p->state,
		.flags = p->flags,
		.msglim_send = p->msglim,
		.msglim_receive = partner ? partner->msglim : 0,
		.sent = p->outstanding,
		.received = partner ? partner->outstanding : 0,
		.quiesced_here = p->quiesced,
		.quiesced_there = partner && partner->quiesced,
	};
	return true;
}

uint32_t iucv_path_count(const struct iucv_user *user)
{
	return user->paths;
}
