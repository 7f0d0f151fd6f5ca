/* SPDX-License-Identifier: MIT */
/*
 * What users got, spread over the processors of its type.
 *
 * Times and counts of all processors add up to those of all users: portions are
 * cut from the whole, and nothing is rounded away.
 */
#include "model_private.h"
#include "smaller.h"

/* TOD units of CPU time for each. */
#define DIAGNOSE_TIME (2000u << 12)
#define SIMULATED_TIME (100u << 12)
#define DISPATCH_TIME (500u << 12)

/* A 200th to a 133rd of the time is CP's own. */
uint64_t model_capacity(struct model *m, uint64_t ms)
{
	const uint64_t units = ms * TOD_MILLISECOND;

	return units - units / 200 - model_random(m) % (units / 400);
}

/* Users' time by type, and CP's part of it. */
static void sum_up(const struct model *m, uint64_t *time, uint64_t *emulation)
{
	for (uint32_t i = 0; i < m->config.users; i++) {
		const struct user *user = &m->user[i];

		time[user->type] += user->granted;
		emulation[user->type] += emulated(user->granted);
	}
}

/* Room that processors from @first on have for users of the type. */
static uint64_t room_from(const struct model *m, uint32_t first, unsigned int type, uint64_t units)
{
	uint64_t room = 0;

	for (uint32_t i = first; i < m->config.processors; i++)
		if (m->cpu[i].type == type && m->cpu[i].s.flags & IS_ON)
			room += units - m->cpu[i].step_system;
	return room;
}

/* Each takes its part of what is left, some more, some less, as far as there is room. */
static void spread_time(struct model *m, unsigned int type, uint64_t time, uint64_t emulation,
			uint64_t units)
{
	uint64_t left = time, done = 0;

	for (uint32_t i = 0; i < m->config.processors; i++) {
		struct cpu *cpu = &m->cpu[i];
		uint64_t room, others, part, own;

		if (cpu->type != type || !(cpu->s.flags & IS_ON))
			continue;
		room = units - cpu->step_system;
		others = room_from(m, i + 1, type, units);
		part = portion(left, 0, room, room + others);
		part = part / 8 * (7 + model_random(m) % 3) + part % 8;
		part = smaller(smaller(part, room), left);
		part = larger(part, left - smaller(left, others));
		own = portion(emulation, done, done + part, time);
		cpu->step_user = part;
		cpu->user_time += part;
		assert(own <= part);
		cpu->emulation += own;
		cpu->system_time += cpu->step_system;
		cpu->wait += units - cpu->step_system - part;
		done += part;
		left -= part;
	}
	assert(left == 0);
}

static void count(struct cpu *cpu, uint64_t ms)
{
	const uint64_t diagnoses = cpu->step_user / DIAGNOSE_TIME;
	const uint64_t eighth = diagnoses / 8;

	cpu->diagnose += diagnoses;
	cpu->dg08 += eighth;
	cpu->dg0c += eighth;
	cpu->dg258 += eighth;
	cpu->dg9c += 2 * eighth;
	cpu->dg44 += diagnoses - 5 * eighth;
	cpu->simulated += cpu->step_user / SIMULATED_TIME;
	cpu->dispatches += cpu->step_user / DISPATCH_TIME;
	/* The timer's, 100 a second, and SIGP. */
	cpu->externals += ms / 10 + diagnoses / 4;
	cpu->sigp += diagnoses / 4;
}

/* I/O and paging, by the time that processors had. */
static void spread_counts(struct model *m, uint64_t starts, uint64_t reads, uint64_t writes)
{
	uint64_t all = 0, done = 0;

	for (uint32_t i = 0; i < m->config.processors; i++)
		if (m->cpu[i].s.flags & IS_ON)
			all += m->cpu[i].step_system + m->cpu[i].step_user;
	for (uint32_t i = 0; i < m->config.processors; i++) {
		struct cpu *cpu = &m->cpu[i];
		const uint64_t with = done + cpu->step_system + cpu->step_user;

		if (!(cpu->s.flags & IS_ON))
			continue;
		cpu->starts += portion(starts, done, with, all);
		cpu->page_reads += portion(reads, done, with, all);
		cpu->page_writes += portion(writes, done, with, all);
		done = with;
	}
}

void model_cpu(struct model *m, uint64_t ms)
{
	const uint64_t units = ms * TOD_MILLISECOND;
	uint64_t time[MODEL_CPU_TYPES] = { 0 }, emulation[MODEL_CPU_TYPES] = { 0 };

	sum_up(m, time, emulation);
	for (unsigned int type = 0; type < MODEL_CPU_TYPES; type++)
		spread_time(m, type, time[type], emulation[type], units);
	spread_counts(m, m->step_starts, m->step_reads, m->step_writes);
	for (uint32_t i = 0; i < m->config.processors; i++)
		if (m->cpu[i].s.flags & IS_ON)
			count(&m->cpu[i], ms);
	m->system.elapsed = m->now;
}
