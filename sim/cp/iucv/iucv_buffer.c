/* SPDX-License-Identifier: MIT */
/* IUCV: interrupt buffers and masks, which belong to a CPU. */
#include "iucv_private.h"
#include "zvmlab/storage.h"

#define TYPES_CONTROL_FIRST IUCV_PENDING
#define TYPES_CONTROL_LAST IUCV_PATH_RESUMED

static uint16_t cpu_types(const struct iucv_cpu *cpu)
{
	unsigned int types = 0;

	if (cpu->mask & IUCV_MASK_MSG)
		types |= 1u << IUCV_MSG_PENDING;
	if (cpu->mask & IUCV_MASK_PRIO_MSG)
		types |= 1u << IUCV_PRIO_PENDING;
	if (cpu->mask & IUCV_MASK_REPLY)
		types |= 1u << IUCV_MSG_COMPLETE;
	if (cpu->mask & IUCV_MASK_PRIO_REPLY)
		types |= 1u << IUCV_PRIO_COMPLETE;
	if (!(cpu->mask & IUCV_MASK_CONTROL))
		return (uint16_t)types;
	for (unsigned int t = TYPES_CONTROL_FIRST; t <= TYPES_CONTROL_LAST; t++)
		if (cpu->control_mask & IUCV_CMASK_PENDING >> (t - TYPES_CONTROL_FIRST))
			types |= 1u << t;
	return (uint16_t)types;
}

/* Buffer or masks of @cpu have changed. */
void iucv_cpu_changed(struct iucv_machine *machine, unsigned int cpu)
{
	struct iucv_cpu *c = &machine->cpu[cpu];
	uint64_t bit = UINT64_C(1) << cpu;

	assert(cpu < machine->cp->config.cpus);
	assert(((c->mask | c->control_mask) & ~(c->declared ? IUCV_ALL_MASKS : 0)) == 0);
	c->types = cpu_types(c);
	machine->declared = c->declared ? machine->declared | bit : machine->declared & ~bit;
	for (unsigned int t = 1; t < IUCV_TYPES; t++) {
		if (c->types & 1u << t)
			machine->enabled[t] |= bit;
		else
			machine->enabled[t] &= ~bit;
	}
	if (machine->user->ready & c->types)
		cp_kick(machine->cp, cpu);
}

void iucv_cpu_clear(struct iucv_machine *machine, unsigned int cpu)
{
	machine->cpu[cpu] = (struct iucv_cpu){ 0 };
	iucv_cpu_changed(machine, cpu);
}

static bool overlaps_another(const struct iucv_machine *machine, uint32_t addr)
{
	for (uint64_t cpus = machine->declared; cpus; cpus &= cpus - 1) {
		uint32_t other = machine->cpu[__builtin_ctzll(cpus)].buffer;

		if (addr < other + IUCV_EVENT_SIZE && other < addr + IUCV_EVENT_SIZE)
			return true;
	}
	return false;
}

struct iucv_result iucv_declare(const struct iucv_caller *by, const struct iucv_parm *parm)
{
	struct iucv_machine *machine = by->user->machine;
	uint32_t addr = parm->buffer.addr;
	struct iucv_cpu *cpu;

	if (!machine)
		return iucv_error(IUCV_BUFFER_DECLARED);
	assert(by->cpu >= 0);
	cpu = &machine->cpu[by->cpu];
	if (cpu->declared)
		return iucv_error(IUCV_BUFFER_DECLARED);
	if (addr % 8 != 0)
		return iucv_program(PGM_SPECIFICATION);
	if (addr > IUCV_LENGTH_MAX + 1u - IUCV_EVENT_SIZE ||
	    storage_check(machine->cp, by->cpu, addr, IUCV_EVENT_SIZE, true) != 0)
		return iucv_error(IUCV_PAGING);
	if (overlaps_another(machine, addr))
		return iucv_error(IUCV_OVERLAP);
	*cpu = (struct iucv_cpu){ .declared = true, .buffer = addr,
				  .mask = IUCV_ALL_MASKS, .control_mask = IUCV_ALL_MASKS };
	iucv_cpu_changed(machine, (unsigned int)by->cpu);
	return iucv_cc(0);
}

/* Without any buffer a machine takes no part in IUCV: its paths go with the last. */
struct iucv_result iucv_retrieve(const struct iucv_caller *by)
{
	static const uint8_t ipuser[16];
	struct iucv_machine *machine = by->user->machine;

	if (!machine)
		return iucv_error(IUCV_NOT_FOR_SERVICE);
	assert(by->cpu >= 0 && machine->cpu[by->cpu].declared);
	iucv_cpu_clear(machine, (unsigned int)by->cpu);
	if (!machine->declared)
		iucv_sever_all(by->user, ipuser);
	return iucv_cc(0);
}

struct iucv_result iucv_set_mask(const struct iucv_caller *by, const struct iucv_parm *parm,
				 bool control)
{
	struct iucv_machine *machine = by->user->machine;
	struct iucv_cpu *cpu;

	if (!machine)
		return iucv_error(IUCV_NOT_FOR_SERVICE);
	assert(by->cpu >= 0);
	cpu = &machine->cpu[by->cpu];
	assert(cpu->declared);
	if (control)
		cpu->control_mask = parm->mask & IUCV_ALL_MASKS;
	else
		cpu->mask = parm->mask & IUCV_ALL_MASKS;
	iucv_cpu_changed(machine, (unsigned int)by->cpu);
	return iucv_cc(0);
}

bool iucv_declared(const struct cp *cp, unsigned int cpu, uint64_t *addr)
{
	const struct iucv_cpu *of = &cp->iucv->cpu[cpu];

	assert(cpu < cp->config.cpus);
	*addr = of->buffer;
	return of->declared;
}
