/* SPDX-License-Identifier: MIT */
/* Requests of all parts to the emulator, and questions to the configuration. */
#include "cp_private.h"
#include "random.h"
#include "zvmlab/trace.h"

void cp_kick(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	trace_kick(cp, cpu);
	cp->host.kick(cp->host.opaque, cpu);
}

/* Right across the clock's wrap; 0 if there is none. */
static uint64_t first_of(const uint64_t *due, unsigned int count)
{
	uint64_t first = 0;

	for (unsigned int i = 0; i < count; i++)
		if (due[i] != 0 && (first == 0 || (int64_t)(due[i] - first) < 0))
			first = due[i];
	return first;
}

void cp_set_timer(struct cp *cp, enum cp_timer_user user, uint64_t tod)
{
	uint64_t first;

	assert(user < CP_TIMERS);
	cp->timer_due[user] = tod;
	first = first_of(cp->timer_due, CP_TIMERS);
	trace_timer(cp, first);
	cp->host.set_timer(cp->host.opaque, first);
}

void cp_set_system_timer(struct cp *cp, enum cp_system_timer_user user, uint64_t tod)
{
	struct cp_system *system = cp->system;
	const struct cp_system_host *host = &system->host;
	uint64_t first;

	assert(user < CP_SYSTEM_TIMERS);
	system->timer_due[user] = tod;
	first = first_of(system->timer_due, CP_SYSTEM_TIMERS);
	if (!host->set_timer) {
		cp_set_timer(cp, CP_TIMER_SYSTEM, first);
		return;
	}
	trace_system_timer(cp, first);
	host->set_timer(host->opaque, first);
}

/* The answers are inputs: a replay has them from the trace. */
bool cp_in_directory(struct cp *cp, const char *userid)
{
	const struct cp_system_host *host = &cp->system->host;
	bool found;

	if (cp->system->alone)
		return false;
	found = host->in_directory && host->in_directory(host->opaque, userid);
	trace_number(cp, "in_directory", found);
	return found;
}

bool cp_start(struct cp *cp, const char *userid)
{
	const struct cp_system_host *host = &cp->system->host;
	bool started;

	assert(host->start);
	started = host->start(host->opaque, userid);
	trace_number(cp, "started", started);
	return started;
}

const struct cp_config *cp_config_of(const struct cp *cp)
{
	return &cp->config;
}

/* Good enough to choose faults. */
uint64_t cp_random(struct cp *cp)
{
	return random_next(&cp->random);
}

uint64_t cp_system_random(struct cp_system *system)
{
	return random_next(&system->random);
}
