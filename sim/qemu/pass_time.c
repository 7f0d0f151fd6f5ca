/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passing time that nobody uses: while all CPUs wait, the guest's clocks jump to the next
 * moment at which a timer is due, instead of the host's clock being waited for.
 *
 * The property "pass" is set by qom-set to how many nanoseconds of the guest's clock this goes on,
 * and tells how many of them are left; none when the machine has stopped.  Whoever sets it knows
 * that nothing is to come from outside meanwhile: what then happens to the guest is what would
 * happen later.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/main-loop.h"

/*
 * Each CPU that begins to wait says so, and a look follows.  A timer that wakes no CPU is not
 * followed by that: so there is a look after some time, too.
 */
#define LOOK_AGAIN_NS 1000000

static int64_t guest_ns(void)
{
	return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void advance(int64_t ns)
{
	seqlock_write_lock(&timers_state.vm_clock_seqlock, &timers_state.vm_clock_lock);
	timers_state.cpu_clock_offset += ns;
	seqlock_write_unlock(&timers_state.vm_clock_seqlock, &timers_state.vm_clock_lock);
	qemu_clock_notify(QEMU_CLOCK_VIRTUAL);
}

static void look(void *opaque)
{
	ZvmlabCp *s = opaque;
	const int64_t left = s->pass_until - guest_ns();
	int64_t due;

	if (left > 0 && all_cpu_threads_idle()) {
		due = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
		/* Without a timer nothing will happen at any time. */
		if (due < 0 || due > left)
			due = left;
		if (due > 0)
			advance(due);
	}
	qatomic_set(&s->passing, s->pass_until > guest_ns());
	if (s->passing)
		timer_mod_ns(s->pass_timer,
			     qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + LOOK_AGAIN_NS);
}

int64_t zvmlab_time_to_pass(const ZvmlabCp *s)
{
	return MAX(0, s->pass_until - guest_ns());
}

void zvmlab_halts(void)
{
	const ZvmlabCp *s = zvmlab_cp;

	/* By the main thread, which carries timers out: it has to wake in any case. */
	if (s && qatomic_read(&s->passing))
		qemu_bh_schedule(s->pass_look);
}

static void get_pass(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	int64_t left = zvmlab_time_to_pass(ZVMLAB_CP(obj));

	visit_type_int(v, name, &left, errp);
}

void zvmlab_pass_time(ZvmlabCp *s, int64_t ns, Error **errp)
{
	if (ns < 0) {
		error_setg(errp, "zvmlab-cp: invalid time to pass: %" PRId64 " ns (0 or more)", ns);
		return;
	}
	if (zvmlab_cp != s || icount_enabled()) {
		error_setg(errp, "zvmlab-cp: the clocks of this machine cannot jump: it %s",
			   icount_enabled() ? "counts instructions (-icount)"
					    : "is not complete");
		return;
	}
	s->pass_until = runstate_is_running() ? guest_ns() + MIN(ns, INT64_MAX / 2) : 0;
	if (!s->pass_timer) {
		s->pass_timer = timer_new_ns(QEMU_CLOCK_REALTIME, look, s);
		s->pass_look = qemu_bh_new(look, s);
	}
	/* The clocks jump to the next of all ticks. */
	zvmlab_end_rests(s);
	look(s);
}

static void set_pass(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	int64_t ns;

	if (visit_type_int(v, name, &ns, errp))
		zvmlab_pass_time(ZVMLAB_CP(obj), ns, errp);
}

void zvmlab_add_pass_time(ObjectClass *oc)
{
	object_class_property_add(oc, "pass", "int", get_pass, set_pass, NULL, NULL);
}
