/* SPDX-License-Identifier: MIT */
/* The virtual machine as a whole: resets, IPL, and the time that its CP has asked for. */
#include "cp_private.h"
#include "zvmlab/event.h"
#include "zvmlab/input.h"
#include "zvmlab/iucv.h"
#include "zvmlab/trace.h"

static size_t count(const struct cp *cp)
{
	size_t found = 0;

	while (cp->parts[found])
		found++;
	return found;
}

void cp_reset(struct cp *cp)
{
	TRACE_INPUT(cp, reset);
	for (size_t i = count(cp); i-- > 0;)
		if (cp->parts[i]->reset)
			cp->parts[i]->reset(cp);
	cp->ipled = false;
	trace_end(cp);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_RESET, .name = "", .text = "" });
	iucv_dispatch(cp);
}

void cp_reset_cpu(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	TRACE_INPUT(cp, reset_cpu, .cpu = cpu);
	for (size_t i = count(cp); i-- > 0;)
		if (cp->parts[i]->reset_cpu)
			cp->parts[i]->reset_cpu(cp, cpu);
	trace_end(cp);
}

void cp_ipl(struct cp *cp)
{
	assert(!cp->system->recording);
	TRACE_INPUT(cp, ipl);
	cp->ipled = true;
	trace_end(cp);
}

/* Ask the parts, each for the machine's time, the system's, or both. */
static void timer(struct cp *cp, bool own, bool system)
{
	bool due = false;

	assert(!cp->system->recording);
	for (const struct cp_part *const *part = cp->parts; *part; part++) {
		due |= own && (*part)->timer && (*part)->timer(cp);
		due |= system && (*part)->system_timer && (*part)->system_timer(cp);
	}
	if (due)
		iucv_dispatch(cp);
	else
		iucv_dispatch_rest(cp);
}

void cp_timer(struct cp *cp)
{
	timer(cp, true, !cp->system->host.tod);
}

void cp_system_timer(struct cp_system *system)
{
	assert(system->host.tod);
	/* Without machines there is nobody to whom anything is due: the next one asks again. */
	if (system->machines > 0)
		timer(system->machine[0], false, true);
}
