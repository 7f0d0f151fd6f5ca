/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -object zvmlab-cp,id=ID[,control=PATH][,trace=FILE][,system=PATH][,KEY=VALUE…]: options
 * and life cycle.  The keys are those of cp_config_set(); qapi.json lists them
 * once more, because QEMU wants to know an object's properties beforehand.
 *
 * The control socket is there as soon as the options are read; the CP comes
 * into being when the machine is complete, before its first reset.  A member of a
 * system (system=PATH) joins it then, and the system serves its control socket.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/s390-virtio-ccw.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qom/object_interfaces.h"

static void set_option(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);
	g_autofree char *value = NULL;
	char err[512];

	if (visit_type_str(v, name, &value, errp) &&
	    cp_port_set(&s->port, name, value, err, sizeof(err)) != 0)
		error_setg(errp, "zvmlab-cp: %s", err);
}

/* Called with the machine's options known, but before CPUs and storage exist. */
static void zvmlab_complete(UserCreatable *uc, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(uc);
	bool several = false;
	char err[512];

	object_resolve_path_type("", TYPE_ZVMLAB_CP, &several);
	if (several) {
		error_setg(errp, "zvmlab-cp: a machine has one CP, two were given");
		return;
	}
	if (!object_dynamic_cast(qdev_get_machine(), TYPE_S390_CCW_MACHINE)) {
		error_setg(errp, "zvmlab-cp: needs the machine type s390-ccw-virtio, not \"%s\"",
			   MACHINE_GET_CLASS(qdev_get_machine())->name);
		return;
	}
	if (phase_check(PHASE_MACHINE_INITIALIZED)) {
		error_setg(errp, "zvmlab-cp: cannot be added to a machine that exists already;"
			   " give it with -object");
		return;
	}
	if (cp_port_open(&s->port, err, sizeof(err)) != 0) {
		error_setg(errp, "zvmlab-cp: %s", err);
		return;
	}
	if (!zvmlab_add_units(s, errp) || !zvmlab_add_disks(s, errp))
		return;
	qemu_add_machine_init_done_notifier(&s->machine_done);
	qemu_add_exit_notifier(&s->exit);
}

void zvmlab_serve(ZvmlabCp *s)
{
	s->serving = true;
	s->port.calls->dispatch(&s->port);
	s->serving = false;
	zvmlab_wake_kicked(s);
}

static void control_readable(void *opaque)
{
	ZvmlabCp *s = opaque;

	zvmlab_machine_is_held(s);
	zvmlab_serve(s);
}

static void time_has_come(void *opaque)
{
	ZvmlabCp *s = opaque;

	s->port.calls->timer(&s->port);
}

static void state_changed(void *opaque, bool running, RunState state)
{
	ZvmlabCp *s = opaque;

	if (state == RUN_STATE_SHUTDOWN || state == RUN_STATE_GUEST_PANICKED)
		s->port.calls->ends(&s->port);
	s->port.calls->running(&s->port, running);
	if (!running) {
		s->pass_until = 0;
		zvmlab_state_settle();
	}
	if (running && !s->ipled) {
		s->ipled = true;
		s->port.calls->ipl(&s->port);
	}
	zvmlab_take_turns(s, running);
	if (!running)
		zvmlab_keep_last_storage(s, state);
}

/* Refuse what only shows once all options of the machine are known. */
static bool check_machine(ZvmlabCp *s, const MachineState *ms, Error **errp)
{
	char err[512];

	if (!tcg_enabled()) {
		error_setg(errp, "zvmlab-cp: needs the accelerator tcg");
		return false;
	}
	if (cp_port_set_cpus(&s->port, ms->smp.cpus, err, sizeof(err)) != 0 ||
	    cp_port_check_most_cpus(&s->port, ms->smp.max_cpus, err, sizeof(err)) != 0) {
		error_setg(errp, "zvmlab-cp: %s", err);
		return false;
	}
	return true;
}

/* What STIDP stores; no reset changes it. */
static void set_cpu_ids(struct cp_port *port)
{
	CPUState *cs;

	CPU_FOREACH(cs) {
		CPUS390XState *env = &S390_CPU(cs)->env;

		env->cpuid = port->calls->cpu_id(port, env->core_id);
	}
}

static bool create_cp(ZvmlabCp *s, const MachineState *ms, Error **errp)
{
	struct cp_host host;
	char err[512];

	g_assert(memory_region_is_ram(ms->ram));
	s->port.ram = memory_region_get_ram_ptr(ms->ram);
	s->port.ram_size = memory_region_size(ms->ram);
	s->access = g_malloc0(s->port.ram_size / CP_PAGE_SIZE);
	s->shared = g_new0(bool, s->port.ram_size / CP_PAGE_SIZE);
	if (qemu_ram_is_shared(ms->ram->ram_block))
		s->port.ram_fd = memory_region_get_fd(ms->ram);
	s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, time_has_come, s);
	zvmlab_host_init(&host, s);
	if (cp_port_create(&s->port, &host, err, sizeof(err)) != 0) {
		error_setg(errp, "zvmlab-cp: %s", err);
		return false;
	}
	if (s->port.system_path && icount_enabled() != (s->port.turn_ns > 0)) {
		error_setg(errp, "zvmlab-cp: a member of a system counts its instructions (-icount)"
			   " if, and only if, the machines of the system take turns");
		return false;
	}
	return true;
}

static void machine_done(Notifier *notifier, void *data)
{
	ZvmlabCp *s = container_of(notifier, ZvmlabCp, machine_done);
	MachineState *ms = MACHINE(qdev_get_machine());
	Error *err = NULL;

	if (!check_machine(s, ms, &err) || !create_cp(s, ms, &err)) {
		error_report_err(err);
		exit(1);
	}
	zvmlab_cp = s;
	set_cpu_ids(&s->port);
	zvmlab_state_register(s);
	s->state_change = qemu_add_vm_change_state_handler(state_changed, s);
	s->hold = qemu_bh_new(zvmlab_machine_is_held, s);
	zvmlab_take_requests(s);
	s->port.calls->attach(&s->port);
	s->watched = s->port.calls->fd(&s->port);
	if (s->watched >= 0)
		qemu_set_fd_handler(s->watched, control_readable, NULL, s);
}

static void close_control(ZvmlabCp *s)
{
	if (s->watched >= 0)
		qemu_set_fd_handler(s->watched, NULL, NULL, NULL);
	s->watched = -1;
	ctl_close(s->port.ctl);
	s->port.ctl = NULL;
}

/* Also on the ways out of QEMU that do not take objects apart. */
static void at_exit(Notifier *notifier, void *data)
{
	ZvmlabCp *s = container_of(notifier, ZvmlabCp, exit);

	close_control(s);
	if (s->port.trace)
		trace_file_flush(s->port.trace);
}

static bool zvmlab_can_be_deleted(UserCreatable *uc)
{
	return zvmlab_cp != ZVMLAB_CP(uc);
}

#if DELETION_SAYS_WHY
static bool zvmlab_prepare_delete(UserCreatable *uc, Error **errp)
{
	if (zvmlab_can_be_deleted(uc))
		return true;
	error_setg(errp, "zvmlab-cp: the CP of the machine is in use, and cannot be deleted");
	return false;
}
#else
#define prepare_delete can_be_deleted
#define zvmlab_prepare_delete zvmlab_can_be_deleted
#endif

/* From whichever thread has found out: nothing of the machine can go on.  1 is for wrong options. */
static void G_NORETURN end_of_system(const char *why)
{
	error_report("zvmlab-cp: %s", why);
	_exit(2);
}

static const struct cp_port_words words = {
	.cpus = "-smp", .most_cpus = "-smp", .no_more = "without maxcpus", .storage = "-m ",
	.megabytes = "M",
	.shared = "-object memory-backend-memfd,id=ram,size=… -machine memory-backend=ram",
	.end = end_of_system,
};

static void zvmlab_init(Object *obj)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);

	cp_port_init(&s->port, &words, zvmlab_absolute);
	s->machine_done.notify = machine_done;
	s->exit.notify = at_exit;
	s->watched = -1;
}

static void zvmlab_finalize(Object *obj)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);

	if (zvmlab_cp == s)
		zvmlab_cp = NULL;
	if (s->state_change)
		qemu_del_vm_change_state_handler(s->state_change);
	if (s->hold)
		qemu_bh_delete(s->hold);
	close_control(s);
	cp_port_fini(&s->port);
	timer_free(s->timer);
	timer_free(s->pass_timer);
	if (s->pass_look)
		qemu_bh_delete(s->pass_look);
	timer_free(s->turn);
	g_free(s->access);
	g_free(s->shared);
}

static void zvmlab_class_init(ObjectClass *oc, CLASS_DATA *data)
{
	UserCreatableClass *ucc = USER_CREATABLE_CLASS(oc);

	ucc->complete = zvmlab_complete;
	ucc->prepare_delete = zvmlab_prepare_delete;
	for (unsigned int i = 0; cp_config_keys[i]; i++)
		object_class_property_add(oc, cp_config_keys[i], "str", NULL, set_option, NULL,
					  NULL);
	object_class_property_add(oc, "control", "str", NULL, set_option, NULL, NULL);
	object_class_property_add(oc, "trace", "str", NULL, set_option, NULL, NULL);
	object_class_property_add(oc, "trace-limit", "str", NULL, set_option, NULL, NULL);
	object_class_property_add(oc, "system", "str", NULL, set_option, NULL, NULL);
	zvmlab_add_lockstep(oc);
	zvmlab_add_checkpoint(oc);
	zvmlab_add_pass_time(oc);
	zvmlab_add_holds(oc);
	zvmlab_add_turns(oc);
	zvmlab_add_cover(oc);
	zvmlab_add_last_storage(oc);
	zvmlab_add_translations(oc);
}

static const TypeInfo zvmlab_info = {
	.parent = TYPE_OBJECT,
	.name = TYPE_ZVMLAB_CP,
	.instance_size = sizeof(ZvmlabCp),
	.instance_init = zvmlab_init,
	.instance_finalize = zvmlab_finalize,
	.class_init = zvmlab_class_init,
	.interfaces = (InterfaceInfo[]){ { TYPE_USER_CREATABLE }, {} },
};

static void zvmlab_register_types(void)
{
	type_register_static(&zvmlab_info);
}

type_init(zvmlab_register_types);
