/* SPDX-License-Identifier: MIT */
/*
 * The virtual switch: what is sent arrives.
 *
 * Half of what users send goes out through the OSA adapter, if there is one, and
 * three quarters as much comes in by it; the rest is from user to user.  Of
 * packets and of bytes, what users and adapter send is what they receive.
 */
#include "model_private.h"

struct flow {
	uint64_t packets, bytes;
};

static struct flow sent(struct model *m, struct user *user, uint64_t ms)
{
	struct flow flow = { 0, 0 };

	user->step_packets = 0;
	if (user->load == 0 || !(user->s.flags & HAS_NETWORK))
		return flow;
	flow.packets = amount(m->config.user[user->index].packets, user->load, ms,
			      &user->rest_packets);
	/* 64 to 1087 bytes on the average. */
	flow.bytes = flow.packets * (64 + model_random(m) % 1024);
	user->step_packets = flow.packets;
	user->packets_out += flow.packets;
	user->bytes_out += flow.bytes;
	return flow;
}

static struct flow through_adapter(struct model *m, struct flow all)
{
	struct flow change = { 0, 0 };
	struct device *osa;

	if (m->osa == m->config.devices)
		return change;
	assert(m->osa < m->config.devices);
	osa = &m->device[m->osa];
	if (!(osa->s.flags & IS_ON) || osa->available == 0)
		return change;
	osa->buffers_out += all.packets / 2;
	osa->bytes_out += all.bytes / 2;
	osa->buffers_in += all.packets / 8 * 3;
	osa->bytes_in += all.bytes / 8 * 3;
	change.packets = all.packets / 2 - all.packets / 8 * 3;
	change.bytes = all.bytes / 2 - all.bytes / 8 * 3;
	return change;
}

void model_network(struct model *m, uint64_t ms)
{
	struct flow all = { 0, 0 }, out, in;
	uint64_t before = 0;

	for (uint32_t i = 0; i < m->config.users; i++) {
		const struct flow one = sent(m, &m->user[i], ms);

		all.packets += one.packets;
		all.bytes += one.bytes;
	}
	if (all.packets == 0)
		return;
	out = through_adapter(m, all);
	in = (struct flow){ all.packets - out.packets, all.bytes - out.bytes };
	/* Who sends much receives much. */
	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];
		const uint64_t with = before + user->step_packets;

		user->packets_in += portion(in.packets, before, with, all.packets);
		user->bytes_in += portion(in.bytes, before, with, all.packets);
		before = with;
	}
}
