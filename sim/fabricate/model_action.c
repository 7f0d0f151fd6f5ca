/* SPDX-License-Identifier: MIT */
/* Events of the system, and their effects. */
#include "model_private.h"

uint32_t model_user_flags(const struct model_user *config)
{
	return IS_ON | (config->network ? HAS_NETWORK : 0u) |
	       (config->application ? HAS_APPLICATION : 0u);
}

void model_log_on(struct model *m, struct user *user)
{
	const struct model_user *config = &m->config.user[user->index];
	const uint32_t events = CAME | (config->network ? LINK_UP : 0u);

	/* A virtual machine begins anew: all it has counted is 0, all it holds is free. */
	*user = (struct user){
		.s = { model_user_flags(config), events },
		.name = user->name,
		.type = user->type,
		.adapter = user->adapter,
		.mac = user->mac,
		.lan = user->lan,
		.lan_owner = user->lan_owner,
		.switched = 1,
		.share = user->share,
		.logon = model_tod(m, m->now),
		.percent = 100,
		.device = user->device,
		.index = user->index,
	};
}

static void log_off(struct model *m, struct user *user)
{
	m->system.available += user->resident;
	m->system.slots_used -= user->slots;
	user->resident = 0;
	user->slots = 0;
	user->load = 0;
	user->granted = 0;
	user->wanted = 0;
	/* Its last transaction ends with it. */
	user->s.events |= WENT | TRANSACTION | INTERACTION |
			  (user->s.flags & HAS_NETWORK ? LINK_DOWN : 0u) |
			  (user->s.flags & IS_ACTIVE ? DORMANT : 0u);
	user->s.flags = 0;
}

static void act_on_user(struct model *m, struct user *user, const struct model_action *action)
{
	const bool on = user->s.flags & IS_ON;

	switch (action->kind) {
	case MODEL_LOGON:
		if (!on)
			model_log_on(m, user);
		break;
	case MODEL_LOGOFF:
		if (on)
			log_off(m, user);
		break;
	case MODEL_LOAD:
		user->percent = action->value;
		break;
	default:
		assert(action->kind == MODEL_RUNAWAY);
		user->s.flags &= ~(uint32_t)IS_RUNAWAY;
		if (on && action->value)
			user->s.flags |= IS_RUNAWAY;
	}
}

static void vary(struct subject *s, bool on)
{
	if (on == ((s->flags & IS_ON) != 0))
		return;
	s->flags ^= IS_ON;
	s->events |= on ? CAME : WENT;
}

static void change_path(struct model *m, uint32_t chpid, bool online)
{
	for (uint32_t i = 0; i < m->config.devices; i++) {
		struct device *device = &m->device[i];
		uint64_t available = device->available;

		for (uint32_t path = 0; path < m->config.device[i].paths; path++)
			if (m->config.device[i].chpid[path] == chpid)
				available = online ? available | 0x80u >> path :
						     available & ~(uint64_t)(0x80u >> path);
		if (available != device->available)
			device->s.events |= CHANGED;
		device->available = available;
	}
}

static void act(struct model *m, const struct model_action *action)
{
	switch (action->kind) {
	case MODEL_PROCESSOR:
		for (uint32_t i = 0; i < action->count; i++)
			vary(&m->cpu[action->first + i].s, action->value);
		break;
	case MODEL_DEVICE:
		for (uint32_t i = 0; i < action->count; i++)
			vary(&m->device[action->first + i].s, action->value);
		break;
	case MODEL_PATH:
		change_path(m, action->first, action->value);
		break;
	case MODEL_STORM:
		m->storm = action->value;
		break;
	case MODEL_READER:
		segment_drain(&m->segment, m->now);
		m->segment.rate = action->value;
		break;
	case MODEL_SAMPLE:
	case MODEL_EVENT:
		m->change = action;
		break;
	default:
		for (uint32_t i = 0; i < action->count; i++)
			act_on_user(m, &m->user[action->first + i], action);
	}
}

void model_act(struct model *m)
{
	m->change = NULL;
	while (!m->change && m->action < m->config.actions &&
	       (uint64_t)m->config.action[m->action].second * 1000 <= m->now)
		act(m, &m->config.action[m->action++]);
}
