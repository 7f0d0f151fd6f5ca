/* SPDX-License-Identifier: MIT */
/*
 * High-frequency samples: each finds every user in one state.
 *
 * Of a step's samples so many find a user running as it had of the processors'
 * time, and so on; what is left found it idle, or dormant if it wanted nothing.
 */
#include "model_private.h"
#include "smaller.h"

#define IO_MS 2u	/* that a START SUBCHANNEL takes */
#define PAGE_MS 5u	/* that a page takes to be read */

static uint64_t samples_until(const struct model *m, uint64_t ms)
{
	return ms / (m->config.rate * 10u);
}

/* How many of @samples; a broken one counts or not, by chance. */
static uint64_t found(uint64_t samples, uint64_t part, uint64_t whole, uint64_t random)
{
	const unsigned __int128 sum = (unsigned __int128)samples * smaller(part, whole);

	return (uint64_t)((sum + random % whole) / whole);
}

static uint64_t take(uint64_t *left, uint64_t wanted)
{
	const uint64_t taken = smaller(wanted, *left);

	*left -= taken;
	return taken;
}

static void sample_user(struct model *m, struct user *user, uint64_t ms, uint64_t samples)
{
	const uint64_t units = ms * TOD_MILLISECOND;
	const uint64_t random = model_random(m);
	uint64_t left = samples, running, cpu_wait, io_wait, page_wait;

	running = take(&left, found(samples, user->granted, units, random));
	cpu_wait = take(&left, found(samples, user->wanted - user->granted, units, random >> 8));
	io_wait = take(&left, found(samples, user->wanted_io * IO_MS, ms, random >> 16));
	page_wait = take(&left, found(samples, user->step_reads * PAGE_MS, ms, random >> 24));
	user->samples += samples;
	user->running += running;
	user->cpu_wait += cpu_wait;
	user->io_wait += io_wait;
	user->page_wait += page_wait;
	m->system.running += running;
	m->system.cpu_wait += cpu_wait;
	m->system.io_wait += io_wait;
	m->system.page_wait += page_wait;
	if (user->s.flags & IS_ACTIVE) {
		user->idle += left;
		m->system.idle += left;
	} else {
		user->dormant += left;
		m->system.dormant += left;
	}
}

void model_wait(struct model *m, uint64_t ms)
{
	const uint64_t samples = samples_until(m, m->now) - samples_until(m, m->now - ms);

	for (uint32_t i = 0; i < m->config.users && samples > 0; i++)
		if (m->user[i].s.flags & IS_ON)
			sample_user(m, &m->user[i], ms, samples);
	for (uint32_t i = 0; i < m->config.processors; i++)
		if (m->cpu[i].s.flags & IS_ON)
			m->cpu[i].samples += samples;
}

/* Count the states of users, anew for every sample. */
void model_observe(struct model *m)
{
	struct system *s = &m->system;

	s->users = s->active_users = s->eligible_users = s->dormant_users = 0;
	for (uint32_t i = 0; i < m->config.users; i++) {
		const uint32_t flags = m->user[i].s.flags;

		if (!(flags & IS_ON))
			continue;
		s->users++;
		s->active_users += (flags & IS_ACTIVE) != 0;
		s->eligible_users += (flags & IS_CUT) != 0;
		s->dormant_users += !(flags & IS_ACTIVE);
	}
	s->cpu_count = m->config.processors;
	s->cpu_online = 0;
	for (uint32_t i = 0; i < m->config.processors; i++)
		s->cpu_online += (m->cpu[i].s.flags & IS_ON) != 0;
	s->cpu_standby = s->cpu_count - s->cpu_online;
}
