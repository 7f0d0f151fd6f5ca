/* SPDX-License-Identifier: MIT */
/* Peers, for the commands that play them. */
#ifndef CTL_PEER_H
#define CTL_PEER_H

#include "ctl_private.h"

/** Data of a message on its way, and room for its reply: the CP points at both. */
struct ctl_held {
	struct ctl_held *next;
	uint16_t path;
	bool sent;		/* msgid is known */
	uint32_t msgid;
	size_t len, answer_len;
	uint8_t bytes[];	/* data, then room for the reply */
};

struct ctl_peer {
	struct ctl_peer *next;
	struct ctl *ctl;
	char name[9];
	struct iucv_user *user;
	uint64_t owner;		/* client, 0: none at present */
	bool persistent;
	struct ctl_held *held;	/* in the order of sending */
	size_t held_bytes;
	json_t *kept;		/* events that came without an owner */
	uint64_t lost;		/* of those, discarded */
};

extern const struct iucv_user_ops ctl_peer_ops;

struct ctl_peer *ctl_peer_find(struct ctl *ctl, const char *name);
struct ctl_peer *ctl_peer_new(struct ctl *ctl, const char *name);
/** Log off and forget. */
void ctl_peer_free(struct ctl_peer *peer);

/** Room for a call's data; NULL if the peer has too much outstanding. */
struct ctl_held *ctl_hold(struct ctl_peer *peer, uint16_t path, size_t len, size_t answer_len);
/** The message is on its way, unless it is complete already. */
void ctl_sent(struct ctl_peer *peer, const struct ctl_held *held, uint32_t msgid);
/** Free it, unless its message is complete. */
void ctl_let_go(struct ctl_peer *peer, const struct ctl_held *held);
/** The message is complete: the caller frees it.  NULL if there is none. */
struct ctl_held *ctl_take(struct ctl_peer *peer, uint16_t path, uint32_t msgid);
/** The reply in the answer area, of which @unused bytes are unused; NULL if there is none. */
json_t *ctl_reply(const struct ctl_held *held, uint8_t flags, uint32_t audit, uint32_t unused);
/** Free what is outstanding on a path, or on all (NULL). */
void ctl_release(struct ctl_peer *peer, const uint16_t *path);

#endif
