/* SPDX-License-Identifier: MIT */
/* Peers, for the commands that play them. */
#ifndef CTL_PEER_H
#define CTL_PEER_H

#include "ctl_private.h"
#include "held.h"

struct ctl_peer {
	struct ctl_peer *next;
	struct ctl *ctl;
	char name[9];
	struct iucv_user *user;
	uint64_t owner;		/* client, 0: none at present */
	char classes[CP_CLASSES + 1];
	bool persistent;
	bool stream;		/* its events have the data */
	struct ctl_held_list held;
	json_t *kept;		/* events that came without an owner */
	uint64_t lost;		/* of those, discarded */
};

extern const struct iucv_user_ops ctl_peer_ops;

struct ctl_peer *ctl_peer_find(struct ctl *ctl, const char *name);
struct ctl_peer *ctl_peer_new(struct ctl *ctl, const char *name);
/** Log off and forget. */
void ctl_peer_free(struct ctl_peer *peer);

/** The reply in the answer area, of which @unused bytes are unused; NULL if there is none. */
json_t *ctl_reply(const struct ctl_held *held, uint8_t flags, uint32_t audit, uint32_t unused);

#endif
