/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lockstep: the machine stops at each event that a client of the control socket is told,
 * and goes on when it is told to (QMP's cont).  What clients do in between happens between
 * the same two instructions, whatever time they take.  This needs -icount; that CPUs
 * take turns in the same order each time is the part of changes/port/icount-*.c.
 *
 * The property is set by qom-set, when the machine exists.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "qapi/error.h"
#include "qemu/main-loop.h"

/*
 * CPUs that are on their way out of translated code still take interruptions that are
 * pending by then; so no client is served before all have stopped (below).  The clock
 * stands still from here on.
 */
static void hold_machine(void *opaque)
{
	ZvmlabCp *s = opaque;
	CPUState *cs;

	if (!runstate_is_running() || s->holding)
		return;
	s->holding = true;
	icount_start_over = true;
	qemu_clock_enable(QEMU_CLOCK_VIRTUAL, false);
	CPU_FOREACH(cs) {
		cs->stop = true;
		cpu_exit(cs);
	}
	qemu_bh_schedule(s->hold);
}

void zvmlab_machine_is_held(void *opaque)
{
	ZvmlabCp *s = opaque;

	if (s->holding)
		vm_stop(RUN_STATE_PAUSED);
	s->holding = false;
}

static bool get_lockstep(Object *obj, Error **errp)
{
	return ZVMLAB_CP(obj)->lockstep;
}

static void set_lockstep(Object *obj, bool value, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);

	if (!s->port.ctl || !s->hold || !icount_enabled()) {
		error_setg(errp, "zvmlab-cp: lockstep needs a control socket, -icount, and a"
			   " machine that is complete");
		return;
	}
	s->lockstep = value;
	ctl_on_event(s->port.ctl, value ? hold_machine : NULL, s);
}

void zvmlab_add_lockstep(ObjectClass *oc)
{
	object_class_property_add_bool(oc, "lockstep", get_lockstep, set_lockstep);
}
