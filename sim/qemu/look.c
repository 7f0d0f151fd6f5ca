/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU of a system's member that is about to wait looks for a moment whether another guest, or CP,
 * has something for its machine.  Else the main thread has to wake for that, and then the CPU's.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/zvmlab.h"
#include "qemu/main-loop.h"

/* Nobody has wanted anything of it, in this machine, since it began to wait: each who does sets that. */
static bool is_idle(const void *cpu)
{
	const CPUState *cs = cpu;

	return !qatomic_read(&cs->exit_request);
}

static bool looks(CPUState *cs)
{
	ZvmlabCp *s = zvmlab_cp;
	bool told;

	/*
	 * One is enough: it tells the others.  And none of a machine that stands still, which can be on
	 * its way to its end: whoever ends it waits for CPUs that run only.
	 */
	if (!s || !s->port.system_path || s->looks || !is_idle(cs) || cpu_is_stopped(cs))
		return false;
	s->looks = true;
	bql_unlock();
	told = s->port.calls->look(&s->port, is_idle, cs);
	bql_lock();
	s->looks = false;
	if (told)
		zvmlab_serve(s);
	return told || !is_idle(cs);
}

bool zvmlab_waits(CPUState *cs)
{
	return looks(cs) || zvmlab_rests(cs);
}
