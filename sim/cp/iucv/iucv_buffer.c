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
void iucv_cpu_changed(struct iucv *iucv, unsigned int cpu)
{
	struct iucv_cpu *c = &iucv->cpu[cpu];
	uint64_t bit = UINT64_C(1) << cpu;

	assert(cpu < iucv->cp->config.cpus);
	assert(((c->mask | c->control_mask) & ~(c->declared ? IUCV_ALL_MASKS : 0)) == 0);
	c->types = cpu_types(c);
	iucv->declared = c->declared ? iucv->declared | bit : iucv->declared & ~bit;
	for (unsigned int t = 1; t < IUCV_TYPES; t++) {
		if (c->types & 1u << t)
			iucv->enabled[t] |= bit;
		else
			iucv->enabled[t] &= ~bit;
	}
	if (iucv->guest->ready & c->types)
		cp_kick(iucv->cp, cpu);
}

void iucv_cpu_clear(struct iucv *iucv, unsigned int cpu)
{
	iucv->cpu[cpu] = (struct iucv_cpu){ 0 };
	iucv_cpu_changed(iucv, cpu);
}

static bool overlaps_another(const struct iucv *iucv, uint32_t addr)
{
	for (uint64_t cpus = iucv->declared; cpus; cpus &= cpus - 1) {
		uint32_t other = iucv->cpu[__builtin_ctzll(cpus)].buffer;

		if (addr < other + IUCV_EVENT_SIZE && other < addr + IUCV_EVENT_SIZE)
			return true;
	}
	return false;
}

struct iucv_result iucv_declare(const struct iucv_caller *by, const struct iucv_parm *parm)
{
	struct iucv *iucv = by->iucv;
	uint32_t addr = parm->buffer.addr;
	struct iucv_cpu *cpu;

	if (!iucv_is_guest(by->user))
		return iucv_error(IUCV_BUFFER_DECLARED);
	assert(by->cpu >= 0);
	cpu = &iucv->cpu[by->cpu];
	if (cpu->declared)
		return iucv_error(IUCV_BUFFER_DECLARED);
	if (addr % 8 != 0)
		return iucv_program(PGM_SPECIFICATION);
	if (addr > IUCV_LENGTH_MAX + 1u - IUCV_EVENT_SIZE ||
	    storage_check(iucv->cp, by->cpu, addr, IUCV_EVENT_SIZE, true) != 0)
		return iucv_error(IUCV_PAGING);
	if (overlaps_another(iucv, addr))
		return iucv_error(IUCV_OVERLAP);
	*cpu = (struct iucv_cpu){ .declared = true, .buffer = addr,
				  .mask = IUCV_ALL_MASKS, .control_mask = IUCV_ALL_MASKS };
	iucv_cpu_changed(iucv, (unsigned int)by->cpu);
	return iucv_cc(0);
}

/* Without any buffer the guest takes no part in IUCV: its paths go with the last. */
struct iucv_result iucv_retrieve(const struct iucv_caller *by)
{
	static const uint8_t ipuser[16];

	if (!iucv_is_guest(by->user))
		return iucv_error(IUCV_NOT_FOR_SERVICE);
	assert(by->cpu >= 0 && by->iucv->cpu[by->cpu].declared);
	iucv_cpu_clear(by->iucv, (unsigned int)by->cpu);
	if (!by->iucv->declared)
		iucv_sever_all(by->user, ipuser);
	return iucv_cc(0);
}

struct iucv_result iucv_set_mask(const struct iucv_caller *by, const struct iucv_parm *parm,
				 bool control)
{
	struct iucv_cpu *cpu;

	if (!iucv_is_guest(by->user))
		return iucv_error(IUCV_NOT_FOR_SERVICE);
	assert(by->cpu >= 0);
	cpu = &by->iucv->cpu[by->cpu];
	assert(cpu->declared);
	if (control)
		cpu->control_mask = parm->mask & IUCV_ALL_MASKS;
	else
		cpu->mask = parm->mask & IUCV_ALL_MASKS;
	iucv_cpu_changed(by->iucv, (unsigned int)by->cpu);
	return iucv_cc(0);
}
