/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine of a system whose machines take turns (sim/system/turns.c): it runs for so long of its own
 * time, then stands until CP says that its turn has come again.
 *
 * With -icount a turn ends between the same two instructions each time.  Whoever runs the timer waits,
 * and has QEMU's lock: nothing else happens in this machine meanwhile, and its clock stands.
 */
#include "qemu/osdep.h"
#include "port.h"

static void turn_is_over(void *opaque)
{
	ZvmlabCp *s = opaque;

	/*
	 * It ends in this turn, wherever in it QEMU gets to that; or stops, and whoever stops it leaves
	 * QEMU's lock to this thread now and then: who stands is given no turn.
	 */
	if (qemu_shutdown_requested_get() != SHUTDOWN_CAUSE_NONE || !runstate_is_running())
		return;
	s->turn_end += s->port.calls->turn(&s->port);
	timer_mod(s->turn, s->turn_end);
}

void zvmlab_take_turns(ZvmlabCp *s, bool running)
{
	if (!s->port.turn_ns)
		return;
	if (!s->turn)
		s->turn = timer_new_ns(QEMU_CLOCK_VIRTUAL, turn_is_over, s);
	s->turn_end = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	if (running)
		timer_mod(s->turn, s->turn_end);
	else
		timer_del(s->turn);
}
