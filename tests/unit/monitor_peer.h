/* SPDX-License-Identifier: MIT */
/* A user of *MONITOR that is no guest: connects, collects messages, replies when told to. */
#ifndef MONITOR_PEER_H
#define MONITOR_PEER_H

#include <stdio.h>

#include "fixture.h"
#include "monitor_fields.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"

#define PEERS 20
#define PEER_MESSAGES 4096

struct peer {
	struct iucv_user *user;
	char name[9];
	uint16_t path;
	bool complete, severed, automatic;
	uint8_t code;			/* IPUSER byte 0 of the sever */
	uint8_t ipuser[16];		/* of connection complete */
	uint16_t msglim;		/* of connection complete */
	struct iucv_event message[PEER_MESSAGES];
	unsigned int messages, replied, quiesced, resumed;
};

static struct peer *peers;

__attribute__((constructor)) static void make_peers(void)
{
	peers = unit_large(PEERS * sizeof(*peers));
}

static inline void peer_reply_to(struct peer *p, const struct iucv_event *m)
{
	struct iucv_parm parm = { .path = m->path, .msgid = m->msgid, .trgcls = m->trgcls,
				  .flags = IPRMDATA };

	ck_assert_int_eq(iucv_call(fx.cp, p->user, IUCV_REPLY, &parm).cc, 0);
}

static inline void peer_event(struct cp *cp, struct iucv_user *user, void *opaque,
			      const struct iucv_event *event)
{
	struct peer *p = opaque;
	struct iucv_parm parm = { .path = event->path };

	if (event->type == IUCV_COMPLETE) {
		p->complete = true;
		p->msglim = event->msglim;
		memcpy(p->ipuser, event->ipuser, sizeof(p->ipuser));
	} else if (event->type == IUCV_SEVERED) {
		p->severed = true;
		p->complete = false;
		p->code = event->ipuser[SEVER_REASON];
		ck_assert_int_eq(iucv_call(cp, user, IUCV_SEVER, &parm).cc, 0);
	} else if (event->type == IUCV_MSG_PENDING) {
		ck_assert_uint_eq(event->flags & IPRMDATA, IPRMDATA);
		ck_assert_uint_eq(event->flags & IPNORPY, 0);
		p->message[p->messages++ % PEER_MESSAGES] = *event;
		if (p->automatic) {
			p->replied++;
			peer_reply_to(p, event);
		}
	} else if (event->type == IUCV_PATH_QUIESCED) {
		p->quiesced++;
	} else if (event->type == IUCV_PATH_RESUMED) {
		p->resumed++;
	}
}

static const struct iucv_user_ops peer_ops = { .event = peer_event };

static inline struct peer *peer_create(unsigned int index)
{
	struct peer *p = &peers[index];

	ck_assert_uint_lt(index, PEERS);
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "PEER%u", index);
	p->user = iucv_user_create(fx.cp, p->name, 8, &peer_ops, p);
	ck_assert_ptr_nonnull(p->user);
	return p;
}

static inline void peer_connect_user(struct peer *p, const uint8_t ipuser[16], uint8_t flags,
				     uint16_t msglim)
{
	struct iucv_parm parm = { .flags = flags, .msglim = msglim, .vmid = MON_SERVICE };

	memcpy(parm.ipuser, ipuser, sizeof(parm.ipuser));
	p->complete = p->severed = false;
	p->messages = p->replied = 0;
	ck_assert_int_eq(iucv_call(fx.cp, p->user, IUCV_CONNECT, &parm).cc, 0);
	p->path = parm.path;
	iucv_dispatch(fx.cp);
}

static inline void peer_connect(struct peer *p, uint8_t wants, const char *segment,
				uint16_t msglim)
{
	uint8_t ipuser[16] = { [WANTED_VERSION] = 0x01, [WANTED_DATA] = wants };

	ebcdic_name(ipuser + WANTED_SEGMENT, segment);
	peer_connect_user(p, ipuser, IPRMDATA, msglim);
}

/* A connected user; fails the test if *MONITOR refuses. */
static inline struct peer *peer_user(unsigned int index, uint8_t wants, uint16_t msglim)
{
	struct peer *p = peer_create(index);

	peer_connect(p, wants, "MONDCSS", msglim);
	ck_assert_msg(p->complete, "refused with X'%02x'", p->code);
	return p;
}

static inline void peer_reply(struct peer *p)
{
	ck_assert_uint_lt(p->replied, p->messages);
	peer_reply_to(p, &p->message[p->replied++ % PEER_MESSAGES]);
	iucv_dispatch(fx.cp);
}

static inline void peer_call(struct peer *p, enum iucv_function function)
{
	struct iucv_parm parm = { .path = p->path };

	ck_assert_int_eq(iucv_call(fx.cp, p->user, function, &parm).cc, 0);
	iucv_dispatch(fx.cp);
}

static inline const struct iucv_event *peer_last(const struct peer *p)
{
	ck_assert_uint_gt(p->messages, 0);
	return &p->message[(p->messages - 1) % PEER_MESSAGES];
}

/* Element @index of the control area of a message, as it stands in the segment. */
static inline const uint8_t *peer_mce(const struct iucv_event *m, unsigned int index)
{
	const uint32_t start = get_be32(m->rmmsg + MCA_START), end = get_be32(m->rmmsg + MCA_END);

	ck_assert_uint_eq((end + 1 - start) % MCE_SIZE, 0);
	ck_assert_uint_lt(index, (end + 1 - start) / MCE_SIZE);
	return fx_at(start + index * MCE_SIZE, MCE_SIZE);
}

/* Its records in guest storage: first and last byte. */
static inline uint32_t peer_start(const struct iucv_event *m, unsigned int index)
{
	return get_be32(peer_mce(m, index) + MCE_START);
}

static inline uint32_t peer_end(const struct iucv_event *m, unsigned int index)
{
	return get_be32(peer_mce(m, index) + MCE_END);
}

static inline struct mon_user_info peer_info(const struct peer *p)
{
	struct mon_user_info info;

	for (unsigned int i = 0; monitor_user(fx.cp, i, &info); i++)
		if (strcmp(info.name, p->name) == 0)
			return info;
	ck_abort_msg("%s is not connected", p->name);
}

/* Deliver one element of @len bytes @fill; returns the set's number. */
static inline uint64_t deliver(enum mon_kind kind, uint32_t len, uint32_t phase, uint8_t fill,
			       enum mon_fate expected)
{
	static uint8_t *data;
	struct mon_element element = {
		.type = MCE_SAMPLE, .domains = MON_DOMAIN_BIT(MON_SYSTEM),
		.len = len, .phase = phase,
	};
	enum mon_fate fate;
	char err[256];
	int64_t number;

	if (!data)
		data = unit_large(FX_STORAGE);
	ck_assert_uint_le(len, FX_STORAGE);
	memset(data, fill, len);
	element.data = data;
	number = monitor_deliver(fx.cp, kind, &element, 1, &fate, err, sizeof(err));
	ck_assert_msg(number > 0, "%s", err);
	ck_assert_int_eq(fate, expected);
	return (uint64_t)number;
}

/* @whose: a user, or with SEGMENT_CONTENT the segment; "" for any. */
static inline void arm(enum fault_point point, enum fault_kind kind, uint32_t value,
		       uint32_t offset, const char *whose)
{
	struct fault_rule rule = { .point = point, .path = FAULT_ANY_PATH, .when = FAULT_ALWAYS,
				   .times = 1, .kind = kind, .value = value, .offset = offset };

	snprintf(point == FAULT_SEGMENT_CONTENT ? rule.name : rule.user, sizeof(rule.user), "%s",
		 whose);
	fx_arm(&rule);
}

static inline uint64_t area_used(enum mon_kind kind)
{
	struct mon_area_info area;

	ck_assert(monitor_area(fx.cp, kind, &area));
	return area.used;
}

static inline uint64_t area_size(enum mon_kind kind)
{
	struct mon_area_info area;

	ck_assert(monitor_area(fx.cp, kind, &area));
	return area.size;
}

#endif
