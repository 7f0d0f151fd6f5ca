/* SPDX-License-Identifier: MIT */
/* External interruptions X'2603': which part has one, and who takes it. */
#include "cp_private.h"
#include "zvmlab/trace.h"

/* The first part that has one for this CPU; NULL without. */
static const struct cp_part *part_for(const struct cp *cp, unsigned int cpu)
{
	for (const struct cp_part *const *part = cp->parts; *part; part++)
		if ((*part)->external_pending && (*part)->external_pending(cp, cpu))
			return *part;
	return NULL;
}

bool cp_external_pending(const struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	return !parts_external_held(cp, cpu) && part_for(cp, cpu) != NULL;
}

bool cp_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external)
{
	const struct cp_part *part;

	assert(cpu < cp->config.cpus && !cp->system->recording);
	if (!cp_external_pending(cp, cpu))
		return false;
	part = part_for(cp, cpu);
	assert(part);
	TRACE_INPUT(cp, external, .cpu = cpu);
	*external = (struct cp_external){ .code = CP_EXT_CODE };
	part->external_take(cp, cpu, external);
	trace_hex(cp, "subcode", external->subcode);
	trace_hex(cp, "parameter", external->parameter);
	trace_end(cp);
	return true;
}

void cp_external_kick(struct cp *cp)
{
	assert(cp->host.external);
	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++)
		if (cp->cpus >> cpu & 1)
			cp->host.external(cp->host.opaque, cpu);
}
