/* SPDX-License-Identifier: MIT */
/* All records of a sample or of a configuration, subject by subject. */
#include "model_private.h"

/* One record; what does not fit shows in the writer. */
static void write_one(struct record_writer *w, const struct plan *plan, const void *subject)
{
	uint8_t *record = record_add(w, plan->domain, plan->number, plan->len);

	if (record)
		plan_fill(record, plan, subject);
}

static bool wanted(const struct subject *s, const struct plan *plan)
{
	return (s->flags & plan->need) == plan->need;
}

static void write_users(struct model *m, struct record_writer *w, const struct plan *plan)
{
	for (uint32_t i = 0; i < m->config.users && !w->overflow; i++)
		if (wanted(&m->user[i].s, plan))
			write_one(w, plan, &m->user[i]);
}

/*
 * What a record shows of the virtual processor @address of @count: its part of the CPU time, so
 * that all parts only grow and add up to the user's.  All else is the first one's.
 */
static struct user processor_of(const struct user *user, uint64_t address, uint64_t count)
{
	struct user part = *user;

	if (address > 0)
		part = (struct user){ .name = user->name, .type = user->type,
				      .share = user->share, .logon = user->logon };
	part.address = address;
	part.total_time = (user->total_time + count - 1 - address) / count;
	part.virtual_time = (user->virtual_time + count - 1 - address) / count;
	return part;
}

static void write_processors(struct model *m, struct record_writer *w, const struct plan *plan)
{
	for (uint32_t i = 0; i < m->config.users && !w->overflow; i++) {
		const uint32_t count = m->config.user[i].processors;

		if (!wanted(&m->user[i].s, plan))
			continue;
		for (uint32_t address = 0; address < count; address++) {
			const struct user part = processor_of(&m->user[i], address, count);

			write_one(w, plan, &part);
		}
	}
}

static void write_domains(struct model *m, struct record_writer *w, const struct plan *plan)
{
	const bool event = plan->need != 0;
	const uint64_t domains = event ? m->system.event_domains : m->system.sample_domains;

	/* X'E2' and X'C5' are S and E. */
	m->system.profile = event ? 0xc5 : 0xe2;
	for (m->system.domain = 0; m->system.domain < MONREC_DOMAINS; m->system.domain++)
		if (domains & DOMAIN_BIT(m->system.domain))
			write_one(w, plan, &m->system);
}

static void write_plan(struct model *m, struct record_writer *w, const struct plan *plan)
{
	switch (plan->each) {
	case EACH_SYSTEM:
		write_one(w, plan, &m->system);
		break;
	case EACH_CPU:
		for (uint32_t i = 0; i < m->config.processors; i++)
			if (wanted(&m->cpu[i].s, plan))
				write_one(w, plan, &m->cpu[i]);
		break;
	case EACH_DEVICE:
		for (uint32_t i = 0; i < m->config.devices && !w->overflow; i++)
			if (wanted(&m->device[i].s, plan))
				write_one(w, plan, &m->device[i]);
		break;
	case EACH_USER:
		write_users(m, w, plan);
		break;
	case EACH_PROCESSOR:
		write_processors(m, w, plan);
		break;
	default:
		assert(plan->each == EACH_DOMAIN);
		write_domains(m, w, plan);
	}
}

void model_write(struct model *m, struct record_writer *w, const struct plans *plans,
		 uint32_t domains)
{
	for (uint32_t i = 0; i < plans->count && !w->overflow; i++)
		if (domains & DOMAIN_BIT(plans->plan[i].domain))
			write_plan(m, w, &plans->plan[i]);
}
