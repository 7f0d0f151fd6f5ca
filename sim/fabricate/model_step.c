/* SPDX-License-Identifier: MIT */
/* A step in time, of at most 15 seconds, during which nothing changes but loads. */
#include "model_private.h"
#include "smaller.h"

/* The next moment at which something ends or happens: an interval, an action, a step. */
static uint64_t next_moment(const struct model *m)
{
	const uint64_t end = (uint64_t)m->config.seconds * 1000;
	uint64_t next = (m->now / STEP_MAX + 1) * STEP_MAX;

	if (m->action < m->config.actions)
		next = smaller(next, (uint64_t)m->config.action[m->action].second * 1000);
	return smaller(smaller(next, m->due), end);
}

/* Every pattern's load in the middle of the step, on a straight line between full hours. */
static void load_patterns(struct model *m)
{
	const uint64_t middle = (m->before + m->now) / 2000 + m->config.second_of_day;
	const uint32_t second = (uint32_t)(middle % 86400);
	const uint32_t hour = second / 3600, into = second % 3600;

	for (uint32_t i = 0; i < m->config.patterns; i++) {
		const uint16_t *percent = m->config.pattern[i].percent;
		const uint32_t from = percent[hour], to = percent[(hour + 1) % 24];

		m->pattern_load[i] =
			(uint32_t)((uint64_t)(from * (3600 - into) + to * into) * LOAD_ONE /
				   (3600 * 100));
	}
}

static void count_storm(struct model *m, uint64_t ms)
{
	/* Steps end with a second. */
	assert(ms % 1000 == 0);
	m->storm_count = m->storm_left = m->storm * (ms / 1000);
}

void model_step(struct model *m)
{
	uint64_t ms;

	m->before = m->now;
	m->now = next_moment(m);
	ms = m->now - m->before;
	assert(ms > 0 && ms <= STEP_MAX);
	load_patterns(m);
	model_load(m, ms);
	model_io(m, ms);
	model_storage(m, ms);
	model_network(m, ms);
	model_wait(m, ms);
	model_cpu(m, ms);
	count_storm(m, ms);
}
