/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -object zvmlab-cp,id=ID[,control=PATH][,trace=FILE][,KEY=VALUE…]: options and
 * life cycle.  The keys are those of cp_config_set(); qapi.json lists them
 * once more, because QEMU wants to know an object's properties beforehand.
 *
 * The control socket is there as soon as the options are read; the CP comes
 * into being when the machine is complete, before its first reset.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/boards.h"
#include "hw/qdev-core.h"
#include "hw/s390x/s390-virtio-ccw.h"
#include "migration/blocker.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "qom/object_interfaces.h"
#include "sysemu/sysemu.h"
#include "sysemu/tcg.h"

static void set_option(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);
	g_autofree char *value = NULL;
	char err[512];

	if (!visit_type_str(v, name, &value, errp))
		return;
	if (cp_config_set(&s->config, name, value, err, sizeof(err)) != 0)
		error_setg(errp, "zvmlab-cp: %s", err);
	s->cpus_given |= g_str_equal(name, "cpus");
}

static void set_path(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);
	char **path = g_str_equal(name, "control") ? &s->control_path : &s->trace_path;
	char *value;

	if (!visit_type_str(v, name, &value, errp))
		return;
	g_free(*path);
	*path = value;
}

static void set_trace_limit(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);
	g_autofree char *value = NULL;
	char err[256];

	if (visit_type_str(v, name, &value, errp) &&
	    trace_file_limit(value, &s->trace_limit, err, sizeof(err)) != 0)
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
	if (s->control_path) {
		s->ctl = ctl_open(s->control_path, err, sizeof(err));
		if (!s->ctl) {
			error_setg(errp, "zvmlab-cp: %s", err);
			return;
		}
	}
	if (s->trace_path) {
		s->trace = trace_file_open(s->trace_path, s->trace_limit, err, sizeof(err));
		if (!s->trace) {
			error_setg(errp, "zvmlab-cp: %s", err);
			return;
		}
	}
	qemu_add_machine_init_done_notifier(&s->machine_done);
	qemu_add_exit_notifier(&s->exit);
}

static void control_readable(void *opaque)
{
	ZvmlabCp *s = opaque;

	zvmlab_machine_is_held(s);
	ctl_dispatch(s->ctl);
}

static void time_has_come(void *opaque)
{
	ZvmlabCp *s = opaque;

	cp_timer(s->cp);
}

static void state_changed(void *opaque, bool running, RunState state)
{
	ZvmlabCp *s = opaque;

	if (running && !s->ipled) {
		s->ipled = true;
		cp_ipl(s->cp);
	}
}

/* Refuse what only shows once all options of the machine are known. */
static bool check_machine(ZvmlabCp *s, const MachineState *ms, Error **errp)
{
	g_autofree char *cpus = g_strdup_printf("%u", ms->smp.cpus);
	char err[512];

	if (!tcg_enabled()) {
		error_setg(errp, "zvmlab-cp: needs the accelerator tcg");
		return false;
	}
	if (ms->smp.max_cpus != ms->smp.cpus) {
		error_setg(errp, "zvmlab-cp: CPUs cannot be added later; give -smp %s without"
			   " maxcpus", cpus);
		return false;
	}
	if (s->cpus_given && s->config.cpus != ms->smp.cpus) {
		error_setg(errp, "zvmlab-cp: cpus=%u differs from -smp %s; leave out cpus",
			   s->config.cpus, cpus);
		return false;
	}
	if (cp_config_set(&s->config, "cpus", cpus, err, sizeof(err)) != 0) {
		error_setg(errp, "zvmlab-cp: -smp %s: %s", cpus, err);
		return false;
	}
	return true;
}

static bool create_cp(ZvmlabCp *s, const MachineState *ms, Error **errp)
{
	struct cp_host host;
	uint64_t highest;
	char err[512];

	g_assert(memory_region_is_ram(ms->ram));
	s->ram = memory_region_get_ram_ptr(ms->ram);
	s->ram_size = memory_region_size(ms->ram);
	s->access = g_malloc0(s->ram_size / CP_PAGE_SIZE);
	s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, time_has_come, s);
	zvmlab_host_init(&host, s);
	s->cp = cp_create(&s->config, &host, err, sizeof(err));
	if (!s->cp) {
		error_setg(errp, "zvmlab-cp: %s", err);
		return false;
	}
	highest = cp_highest_address(s->cp);
	if (highest >= s->ram_size) {
		error_setg(errp, "zvmlab-cp: storage and segments end at 0x%" PRIx64
			   ", but the machine has %" PRIu64 "M; give at least -m %" PRIu64 "M",
			   highest, s->ram_size / MiB, highest / MiB + 1);
		return false;
	}
	return true;
}

static void machine_done(Notifier *notifier, void *data)
{
	ZvmlabCp *s = container_of(notifier, ZvmlabCp, machine_done);
	MachineState *ms = MACHINE(qdev_get_machine());
	Error *err = NULL;

	error_setg(&s->blocker, "zvmlab-cp: the state of the CP is not part of a snapshot");
	if (!check_machine(s, ms, &err) || !create_cp(s, ms, &err) ||
	    migrate_add_blocker(s->blocker, &err) != 0) {
		error_report_err(err);
		exit(1);
	}
	zvmlab_cp = s;
	s->state_change = qemu_add_vm_change_state_handler(state_changed, s);
	s->hold = qemu_bh_new(zvmlab_machine_is_held, s);
	if (s->ctl) {
		ctl_attach(s->ctl, s->cp);
		qemu_set_fd_handler(ctl_fd(s->ctl), control_readable, NULL, s);
	}
}

static void close_control(ZvmlabCp *s)
{
	if (!s->ctl)
		return;
	qemu_set_fd_handler(ctl_fd(s->ctl), NULL, NULL, NULL);
	ctl_close(s->ctl);
	s->ctl = NULL;
}

/* Also on the ways out of QEMU that do not take objects apart. */
static void at_exit(Notifier *notifier, void *data)
{
	ZvmlabCp *s = container_of(notifier, ZvmlabCp, exit);

	close_control(s);
	if (s->trace)
		trace_file_flush(s->trace);
}

static bool zvmlab_can_be_deleted(UserCreatable *uc)
{
	return zvmlab_cp != ZVMLAB_CP(uc);
}

static void zvmlab_init(Object *obj)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);

	cp_config_init(&s->config);
	s->trace_limit = TRACE_LIMIT_DEFAULT;
	s->machine_done.notify = machine_done;
	s->exit.notify = at_exit;
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
	cp_destroy(s->cp);
	timer_free(s->timer);
	if (s->trace)
		trace_file_close(s->trace);
	if (s->blocker) {
		migrate_del_blocker(s->blocker);
		error_free(s->blocker);
	}
	cp_config_fini(&s->config);
	g_free(s->access);
	g_free(s->control_path);
	g_free(s->trace_path);
}

static void zvmlab_class_init(ObjectClass *oc, void *data)
{
	UserCreatableClass *ucc = USER_CREATABLE_CLASS(oc);

	ucc->complete = zvmlab_complete;
	ucc->can_be_deleted = zvmlab_can_be_deleted;
	for (unsigned int i = 0; cp_config_keys[i]; i++)
		object_class_property_add(oc, cp_config_keys[i], "str", NULL, set_option, NULL,
					  NULL);
	object_class_property_add(oc, "control", "str", NULL, set_path, NULL, NULL);
	object_class_property_add(oc, "trace", "str", NULL, set_path, NULL, NULL);
	object_class_property_add(oc, "trace-limit", "str", NULL, set_trace_limit, NULL, NULL);
	zvmlab_add_lockstep(oc);
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
