/* SPDX-License-Identifier: MIT */
/*
 * What users want of the processors, and what they get of it.
 *
 * Processors of one type are a pool.  As long as it has enough, everybody gets
 * what was asked for; else it is divided by shares, and what somebody leaves goes
 * to the others.
 */
#include "model_private.h"
#include "smaller.h"

/* Water finds its level within so many rounds, or nearly so. */
#define ROUNDS 8u
#define MAX_LOAD (1000 * LOAD_ONE)

struct pool {
	uint64_t capacity, wanted, left;
	uint64_t shares;	/* of those not served in this round */
};

static uint32_t load_of(struct model *m, const struct user *user)
{
	const uint64_t random = model_random(m);
	const uint32_t pattern = m->config.user[user->index].pattern;
	uint64_t load = (uint64_t)m->pattern_load[pattern] * user->percent / 100;

	/* Half as much to half more, and with little to do none at all at times. */
	load = load * (512 + (random & 1023)) / 1024;
	if (load < (random >> 32) % (LOAD_ONE / 8))
		return 0;
	return (uint32_t)smaller(load, MAX_LOAD);
}

static void want(struct model *m, struct user *user, uint64_t ms)
{
	const struct model_user *config = &m->config.user[user->index];
	const uint64_t most = config->processors * ms * TOD_MILLISECOND;
	/* A thousandth of a processor at 1/1024 for a millisecond is 4 TOD units. */
	static_assert(TOD_MILLISECOND / 1000 / LOAD_ONE == 4, "load in TOD units");

	user->load = load_of(m, user);
	user->wanted = smaller((uint64_t)config->cpu * user->load * ms * 4, most);
	if (user->s.flags & IS_RUNAWAY)
		user->wanted = most;
	user->granted = user->wanted;
}

static void measure(struct model *m, struct pool *pool, uint64_t ms)
{
	for (uint32_t i = 0; i < m->config.processors; i++) {
		struct cpu *cpu = &m->cpu[i];

		if (!(cpu->s.flags & IS_ON))
			continue;
		cpu->step_system = ms * TOD_MILLISECOND - model_capacity(m, ms);
		pool[cpu->type].capacity += ms * TOD_MILLISECOND - cpu->step_system;
	}
	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];

		/* Who is not logged on wants nothing (model_action.c). */
		if (user->s.flags & IS_ON) {
			want(m, user, ms);
			pool[user->type].wanted += user->wanted;
		}
	}
}

/* True if somebody who has nothing yet wanted no more than the fair share, and is served now. */
static bool serve_modest(struct model *m, struct pool *pool, unsigned int type)
{
	const struct pool before = pool[type];
	bool served = false;

	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];

		if (user->type != type || user->granted == user->wanted ||
		    user->wanted > before.left / before.shares * user->share)
			continue;
		user->granted = user->wanted;
		pool[type].left -= user->wanted;
		pool[type].shares -= user->share;
		served = true;
	}
	return served;
}

static void divide(struct model *m, struct pool *pool, unsigned int type)
{
	uint64_t each;
	unsigned int rounds = ROUNDS;

	pool[type].left = pool[type].capacity;
	for (uint32_t i = 0; i < m->config.users; i++)
		if (m->user[i].type == type && m->user[i].wanted > 0) {
			pool[type].shares += m->user[i].share;
			m->user[i].granted = 0;
		}
	while (rounds > 0 && serve_modest(m, pool, type))
		rounds--;
	/* All together want more than there is, and a share has not become less by those served. */
	assert(pool[type].shares > 0);
	each = pool[type].left / pool[type].shares;
	for (uint32_t i = 0; i < m->config.users; i++) {
		struct user *user = &m->user[i];

		if (user->type == type)
			user->granted = smaller(each * user->share, user->wanted);
	}
}

static void set_flag(struct user *user, uint32_t flag, bool on, uint32_t event_on,
		     uint32_t event_off)
{
	const bool was = user->s.flags & flag;

	if (was == on)
		return;
	user->s.flags ^= flag;
	user->s.events |= on ? event_on : event_off;
}

/* Time is charged; lists and transactions follow from it. */
static void charge(struct model *m, struct user *user, uint64_t ms)
{
	const struct model_user *config = &m->config.user[user->index];

	user->total_time += user->granted;
	user->virtual_time += emulated(user->granted);
	set_flag(user, IS_ACTIVE, user->wanted > 0, DISPATCHED, DORMANT);
	set_flag(user, IS_CUT, user->granted < user->wanted / 2, ELIGIBLE, 0);
	/* That a runaway never ends one would hide it. */
	if (amount(config->transactions, user->load, ms, &user->rest_transactions) > 0 ||
	    user->s.flags & IS_RUNAWAY)
		user->s.events |= TRANSACTION | INTERACTION;
}

void model_load(struct model *m, uint64_t ms)
{
	struct pool pool[MODEL_CPU_TYPES] = { { 0 } };

	measure(m, pool, ms);
	for (unsigned int type = 0; type < MODEL_CPU_TYPES; type++)
		if (pool[type].wanted > pool[type].capacity)
			divide(m, pool, type);
	for (uint32_t i = 0; i < m->config.users; i++)
		charge(m, &m->user[i], ms);
}
