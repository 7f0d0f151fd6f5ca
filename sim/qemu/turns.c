/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns of CPUs by a seed: the property "turns", which is set by qom-set.  0: as QEMU has them.
 *
 * With -icount all CPUs take turns on one thread, each until the next timer is due or until it
 * waits, which is nearly always the same interleaving.  With a seed, a turn ends after a number of
 * instructions that is drawn: a few dozens as often as many thousands, since races are of all sizes.
 * A draw depends on the seed, the CPU and the number of instructions executed so far, and on nothing else:
 * so the same seed gives the same turns, also after the machine has been restored.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/xxhash.h"

/* A turn has at most 2 to the power of a number in this range. */
#define LEAST_BITS 4u
#define MOST_BITS 15u

static uint64_t seed;

int64_t zvmlab_turn(const CPUState *cs, int64_t budget)
{
	const uint64_t executed = icount_get_raw();
	uint32_t drawn, bits;

	if (seed == 0 || budget <= 0)
		return budget;
	drawn = qemu_xxhash4(seed, executed * S390_MAX_CPUS + cs->cpu_index);
	bits = LEAST_BITS + drawn / (1u << MOST_BITS) % (MOST_BITS - LEAST_BITS + 1);
	return MIN(budget, (int64_t)extract32(drawn, 0, bits) + 1);
}

static void get_turns(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	visit_type_uint64(v, name, &seed, errp);
}

static void set_turns(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	uint64_t value;

	if (!visit_type_uint64(v, name, &value, errp))
		return;
	if (icount_enabled())
		seed = value;
	else
		error_setg(errp, "zvmlab-cp: CPUs take turns by a seed only if their instructions"
			   " are counted (-icount)");
}

void zvmlab_add_turns(ObjectClass *oc)
{
	object_class_property_add(oc, "turns", "uint64", get_turns, set_turns, NULL, NULL);
}
