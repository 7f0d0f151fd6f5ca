/* SPDX-License-Identifier: MIT */
/* All records of a sample or of a configuration, subject by subject. */
#include "model_private.h"

/* One record; what does not fit shows in the writer. */
static uint64_t write_one(struct record_writer *w, const struct plan *plan, const void *subject)
{
	uint8_t *record = record_add(w, plan->domain, plan->number, plan->len);

	if (!record)
		return 0;
	plan_fill(record, plan, subject);
	return 1;
}

static bool wanted(const struct subject *s, const struct plan *plan)
{
	return (s->flags & plan->need) == plan->need;
}

static uint64_t write_users(struct model *m, struct record_writer *w, const struct plan *plan)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < m->config.users && !w->overflow; i++)
		if (wanted(&m->user[i].s, plan))
			records += write_one(w, plan, &m->user[i]);
	return records;
}

/* One record a virtual processor; that of the first one stays in the model. */
static uint64_t write_processors(struct model *m, struct record_writer *w, const struct plan *plan)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < m->config.users && !w->overflow; i++) {
		struct user *user = &m->user[i];

		if (!wanted(&user->s, plan))
			continue;
		for (; user->address < m->config.user[i].processors; user->address++)
			records += write_one(w, plan, user);
		user->address = 0;
	}
	return records;
}

static uint64_t write_domains(struct model *m, struct record_writer *w, const struct plan *plan)
{
	const bool event = plan->need != 0;
	const uint64_t domains = event ? m->system.event_domains : m->system.sample_domains;
	uint64_t records = 0;

	/* X'E2' and X'C5' are S and E. */
	m->system.profile = event ? 0xc5 : 0xe2;
	for (m->system.domain = 0; m->system.domain < MONREC_DOMAINS; m->system.domain++)
		if (domains & DOMAIN_BIT(m->system.domain))
			records += write_one(w, plan, &m->system);
	return records;
}

static uint64_t write_plan(struct model *m, struct record_writer *w, const struct plan *plan)
{
	uint64_t records = 0;

	switch (plan->each) {
	case EACH_SYSTEM:
		return write_one(w, plan, &m->system);
	case EACH_CPU:
		for (uint32_t i = 0; i < m->config.processors; i++)
			if (wanted(&m->cpu[i].s, plan))
				records += write_one(w, plan, &m->cpu[i]);
		return records;
	case EACH_DEVICE:
		for (uint32_t i = 0; i < m->config.devices && !w->overflow; i++)
			if (wanted(&m->device[i].s, plan))
				records += write_one(w, plan, &m->device[i]);
		return records;
	case EACH_USER:
		return write_users(m, w, plan);
	case EACH_PROCESSOR:
		return write_processors(m, w, plan);
	default:
		assert(plan->each == EACH_DOMAIN);
		return write_domains(m, w, plan);
	}
}

uint64_t model_write(struct model *m, struct record_writer *w, const struct plans *plans,
		     uint32_t domains)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < plans->count && !w->overflow; i++)
		if (domains & DOMAIN_BIT(plans->plan[i].domain))
			records += write_plan(m, w, &plans->plan[i]);
	return records;
}
