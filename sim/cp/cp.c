/* SPDX-License-Identifier: MIT */
/* Life cycle of a CP and the entry points that belong to no single part. */
#include <stdio.h>
#include <stdlib.h>

#include "cp_private.h"
#include "zvmlab/event.h"
#include "zvmlab/iucv.h"
#include "zvmlab/trace.h"

/* In the order of creation; destroyed in reverse. */
static const struct part {
	int (*init)(struct cp *cp, char *err, size_t errlen);
	void (*fini)(struct cp *cp);
} parts[] = {
	{ trace_init, trace_fini }, { fault_init, fault_fini }, { iucv_init, iucv_fini },
	{ dcss_init, dcss_fini },   { msg_init, msg_fini },	{ monitor_init, monitor_fini },
	{ cpcmd_init, cpcmd_fini },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void fini_parts(struct cp *cp, size_t count)
{
	while (count > 0)
		parts[--count].fini(cp);
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
	cp->host = *host;
	cp->random = config->seed;
	for (size_t i = 0; i < PARTS; i++) {
		if (parts[i].init(cp, err, errlen) != 0) {
			fini_parts(cp, i);
			cp_config_fini(&cp->config);
			free(cp);
			return NULL;
		}
	}
	return cp;
}

void cp_destroy(struct cp *cp)
{
	if (!cp)
		return;
	fini_parts(cp, PARTS);
	cp_config_fini(&cp->config);
	free(cp);
}

void cp_reset(struct cp *cp)
{
	trace_begin(cp, TRACE_NO_CPU, "reset");
	cpcmd_reset(cp);
	msg_reset(cp);
	iucv_reset(cp);
	monitor_reset(cp);
	dcss_reset(cp);
	cp->ipled = false;
	trace_end(cp);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_RESET, .name = "", .text = "" });
	iucv_dispatch(cp);
}

void cp_reset_cpu(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	trace_begin(cp, (int)cpu, "reset.cpu");
	iucv_reset_cpu(cp, cpu);
	trace_end(cp);
}

void cp_ipl(struct cp *cp)
{
	trace_begin(cp, TRACE_NO_CPU, "ipl");
	cp->ipled = true;
	trace_end(cp);
}

void cp_timer(struct cp *cp)
{
	if (monitor_timer(cp))
		iucv_dispatch(cp);
	else
		iucv_dispatch_rest(cp);
}

void cp_kick(struct cp *cp, unsigned int cpu)
{
	trace_kick(cp, cpu);
	cp->host.kick(cp->host.opaque, cpu);
}

void cp_set_timer(struct cp *cp, uint64_t tod)
{
	trace_timer(cp, tod);
	cp->host.set_timer(cp->host.opaque, tod);
}

const struct cp_config *cp_config_of(const struct cp *cp)
{
	return &cp->config;
}

/* SplitMix64: tiny, seedable with any value, and good enough to choose faults. */
uint64_t cp_random(struct cp *cp)
{
	uint64_t z = cp->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
