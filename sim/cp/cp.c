/* SPDX-License-Identifier: MIT */
/* Life cycle of a CP and the entry points that belong to no single part. */
#include <stdio.h>
#include <stdlib.h>

#include "cp_private.h"
#include "random.h"
#include "zvmlab/event.h"
#include "zvmlab/iucv.h"
#include "zvmlab/input.h"

/* Two parts with one name do not compile. */
enum part_index {
#define CP_PART(name) PART_##name,
#include "parts.def"
#undef CP_PART
	PARTS
};

static const struct cp_part *const parts[PARTS] = {
#define CP_PART(name) [PART_##name] = &name##_part,
#include "parts.def"
#undef CP_PART
};

static void fini_parts(struct cp *cp, size_t count)
{
	while (count-- > 0)
		if (parts[count]->fini)
			parts[count]->fini(cp);
}

static int init_parts(struct cp *cp, char *err, size_t errlen)
{
	for (size_t i = 0; i < PARTS; i++) {
		int rc = 0;

		assert(parts[i]);
		if (parts[i]->init)
			rc = parts[i]->init(cp, err, errlen);
		assert(rc == 0 || rc == -1);
		if (rc != 0) {
			fini_parts(cp, i);
			return -1;
		}
	}
	return 0;
}

struct cp *cp_create(const struct cp_config *config, const struct cp_host *host, char *err,
		     size_t errlen)
{
	struct cp *cp = calloc(1, sizeof(*cp));

	assert(host->map && host->dirty && host->tod && host->kick);
	assert(host->set_timer && host->storage_changed);
	if (!cp || cp_config_copy(&cp->config, config) != 0) {
		snprintf(err, errlen, "not enough memory for the CP");
		free(cp);
		return NULL;
	}
	assert(cp->config.cpus > 0 && cp->config.cpus <= CP_MAX_CPUS && cp->config.extents > 0);
	cp->host = *host;
	cp->random = config->seed;
	if (init_parts(cp, err, errlen) != 0) {
		cp_config_fini(&cp->config);
		free(cp);
		return NULL;
	}
	return cp;
}

void cp_destroy(struct cp *cp)
{
	if (!cp)
		return;
	assert(!cp->recording);
	fini_parts(cp, PARTS);
	cp_config_fini(&cp->config);
	free(cp);
}

void cp_reset(struct cp *cp)
{
	TRACE_INPUT(cp, reset);
	for (size_t i = PARTS; i-- > 0;)
		if (parts[i]->reset)
			parts[i]->reset(cp);
	cp->ipled = false;
	trace_end(cp);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_RESET, .name = "", .text = "" });
	iucv_dispatch(cp);
}

void cp_reset_cpu(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	TRACE_INPUT(cp, reset_cpu, .cpu = cpu);
	for (size_t i = PARTS; i-- > 0;)
		if (parts[i]->reset_cpu)
			parts[i]->reset_cpu(cp, cpu);
	trace_end(cp);
}

void cp_ipl(struct cp *cp)
{
	assert(!cp->recording);
	TRACE_INPUT(cp, ipl);
	cp->ipled = true;
	trace_end(cp);
}

void cp_state_parts(struct cp *cp, struct state *state)
{
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i]->state)
			parts[i]->state(cp, state);
}

void cp_timer(struct cp *cp)
{
	bool due = false;

	assert(!cp->recording);
	for (size_t i = 0; i < PARTS; i++)
		due |= parts[i]->timer && parts[i]->timer(cp);
	if (due)
		iucv_dispatch(cp);
	else
		iucv_dispatch_rest(cp);
}

void cp_kick(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	trace_kick(cp, cpu);
	cp->host.kick(cp->host.opaque, cpu);
}

void cp_set_timer(struct cp *cp, enum cp_timer_user user, uint64_t tod)
{
	uint64_t first = 0;

	assert(user < CP_TIMERS);
	cp->timer_due[user] = tod;
	/* Right across the clock's wrap. */
	for (unsigned int i = 0; i < CP_TIMERS; i++)
		if (cp->timer_due[i] != 0 &&
		    (first == 0 || (int64_t)(cp->timer_due[i] - first) < 0))
			first = cp->timer_due[i];
	trace_timer(cp, first);
	cp->host.set_timer(cp->host.opaque, first);
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
