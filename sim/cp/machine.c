/* SPDX-License-Identifier: MIT */
/* The virtual machine as a whole: resets, IPL, and the time that its CP has asked for. */
#include <inttypes.h>
#include <stdio.h>

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
	cp->started = 0;
	trace_end(cp);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_RESET, .name = "", .text = "" });
	iucv_dispatch(cp);
}

/* What they have of the CPU. */
static void reset_parts(struct cp *cp, unsigned int cpu)
{
	for (size_t i = count(cp); i-- > 0;)
		if (cp->parts[i]->reset_cpu)
			cp->parts[i]->reset_cpu(cp, cpu);
}

void cp_set_cpus(struct cp *cp, uint64_t cpus)
{
	const uint64_t gone = cp->cpus & ~cpus;

	assert(cpus & 1);
	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++)
		if (gone >> cpu & 1)
			reset_parts(cp, cpu);
	cp->cpus = cpus;
	cp->started &= cpus;
	if (cp->host.cpus)
		cp->host.cpus(cp->host.opaque, cpus);
	/* What one that goes was to be told, another may take. */
	if (gone && cp->host.external)
		cp_external_kick(cp);
}

void cp_reset_cpu(struct cp *cp, unsigned int cpu)
{
	assert(cpu < cp->config.cpus);
	TRACE_INPUT(cp, reset_cpu, .cpu = cpu);
	cp->started &= ~(UINT64_C(1) << cpu);
	reset_parts(cp, cpu);
	trace_end(cp);
}

/* "01: " in front of messages about a CPU, where there are several. */
#define CPU_LEN sizeof("FF: ")

static const char *cpu_prefix(const struct cp *cp, unsigned int cpu, char out[CPU_LEN])
{
	assert(cpu < cp->config.cpus && cp->config.cpus <= CP_MAX_CPUS);
	snprintf(out, CPU_LEN, cp->config.cpus > 1 ? "%02X: " : "", cpu);
	return out;
}

static void say(struct cp *cp, const char *line)
{
	trace_text(cp, "console", line);
	trace_end(cp);
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_CONSOLE, .name = cp->config.userid,
					  .text = line });
}

void cp_cpu_ordered(struct cp *cp, unsigned int cpu, unsigned int from, enum cp_order order)
{
	static const struct {
		unsigned int number;
		const char *name;
	} orders[CP_ORDERS] = {
		[CP_ORDER_START] = { 0 },
		[CP_ORDER_STOP] = { 2629, "stop" },
		[CP_ORDER_INITIAL_RESET] = { 2627, "initial CPU reset" },
	};
	char line[128], prefix[CPU_LEN];
	const uint64_t bit = UINT64_C(1) << cpu;

	assert((unsigned int)order < CP_ORDERS && from < cp->config.cpus);
	TRACE_INPUT(cp, cpu_ordered, .cpu = cpu, .from = from, .sigp = order);
	if (order == CP_ORDER_START) {
		cp->started |= bit & cp->cpus;
		trace_end(cp);
		return;
	}
	cp->started &= ~bit;
	snprintf(line, sizeof(line), "%sHCPGSP%uI The virtual machine is placed in CP mode due to a "
		 "SIGP %s from CPU %02X.", cpu_prefix(cp, cpu, prefix), orders[order].number,
		 orders[order].name, from);
	say(cp, line);
}

void cp_cpu_waits(struct cp *cp, unsigned int cpu, uint64_t mask, uint64_t address)
{
	char line[128], prefix[CPU_LEN];

	TRACE_INPUT(cp, cpu_waits, .cpu = cpu, .mask = mask, .address = address);
	snprintf(line, sizeof(line), "%sHCPGIR450W CP entered; disabled wait PSW %08" PRIX64 " %08"
		 PRIX64 " %08" PRIX64 " %08" PRIX64, cpu_prefix(cp, cpu, prefix), mask >> 32,
		 mask & UINT32_MAX, address >> 32, address & UINT32_MAX);
	say(cp, line);
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
