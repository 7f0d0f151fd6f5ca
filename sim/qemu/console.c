/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -device zvmlab-3215,chardev=ID: the guest's console as a 3215 of CP's.
 *
 * What it shows goes to the character device, and keys come from there; CP makes lines of them.
 * The guest is told of a line by an attention interruption, unless its READ waits for one.
 */
#include "qemu/osdep.h"
#include "port.h"
#include "zvmlab/unit.h"

#include "channel_device.h"
#include "chardev/char-fe.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/module.h"

#define TYPE_CONSOLE "zvmlab-3215"
OBJECT_DECLARE_SIMPLE_TYPE(Console, CONSOLE)

#define READ_INQUIRY 0x0a

struct Console {
	CcwDevice parent_obj;
	CharFrontend chr;
	QEMUTimer *soon;
	bool told;		/* the guest, of the line that it would read next */
	uint8_t held[256];	/* keys for which CP has no room until the guest reads a line */
	size_t held_len;
};

/* A machine has one. */
static Console *console;

void zvmlab_console_show(void *opaque, const char *text, size_t len)
{
	/* Whoever looks at it has to keep up with the guest. */
	if (console)
		qemu_chr_fe_write_all(&console->chr, (const uint8_t *)text, len);
}

static bool read_waits(const SubchDev *sch)
{
	return sch->curr_status.scsw.ctrl & SCSW_ACTL_DEVICE_ACTIVE;
}

/* Have the guest read a line; if the subchannel is busy, that comes when it no longer is. */
static void tell_guest(Console *s)
{
	SubchDev *sch = CCW_DEVICE(s)->sch;
	SCHIB *schib = &sch->curr_status;

	if (s->told || !zvmlab_cp->port.calls->console_has_line(&zvmlab_cp->port))
		return;
	if (read_waits(sch)) {
		schib->scsw.ctrl &= ~(SCSW_ACTL_SUBCH_ACTIVE | SCSW_ACTL_DEVICE_ACTIVE);
		schib->scsw.ctrl |= SCSW_ACTL_START_PEND;
		sch->do_subchannel_work(sch);
		return;
	}
	if (!(schib->pmcw.flags & PMCW_FLAGS_MASK_ENA) ||
	    schib->scsw.ctrl & (SCSW_STCTL_STATUS_PEND | SCSW_CTRL_MASK_FCTL))
		return;
	s->told = true;
	schib->scsw.dstat = SCSW_DSTAT_ATTENTION;
	schib->scsw.cstat = 0;
	css_conditional_io_interrupt(sch);
}

static void take_held(Console *s)
{
	struct cp_port *port = &zvmlab_cp->port;
	const size_t taken = port->calls->console_type(port, (const char *)s->held, s->held_len);

	s->held_len -= taken;
	memmove(s->held, s->held + taken, s->held_len);
	if (taken > 0 && s->held_len == 0)
		qemu_chr_fe_accept_input(&s->chr);
}

/* The subchannel may be idle again, and CP have room for keys. */
static void look(void *opaque)
{
	Console *s = opaque;

	if (s->held_len > 0)
		take_held(s);
	tell_guest(s);
}

static void look_soon(Console *s)
{
	timer_mod(s->soon, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

static int can_read(void *opaque)
{
	const Console *s = opaque;

	return zvmlab_cp && s->held_len == 0 ? sizeof(s->held) : 0;
}

/* A line more: if the guest has missed that there is one, it is told once more. */
static void keys(void *opaque, const uint8_t *text, int len)
{
	Console *s = opaque;

	memcpy(s->held, text, len);
	s->held_len = len;
	s->told = false;
	look(s);
}

static int command(SubchDev *sch, CCW1 ccw)
{
	Console *s = sch->driver_data;

	if (ccw.cmd_code == READ_INQUIRY)
		s->told = false;
	return zvmlab_command(sch, ccw);
}

static IOInstEnding work(SubchDev *sch)
{
	const bool halts = sch->curr_status.scsw.ctrl & SCSW_FCTL_HALT_FUNC;
	const IOInstEnding ending = do_subchannel_work_virtual(sch);

	/* A READ that waits no longer does. */
	if (halts)
		sch->curr_status.scsw.ctrl &= ~(SCSW_ACTL_SUBCH_ACTIVE | SCSW_ACTL_DEVICE_ACTIVE);
	return ending;
}

/* The guest takes the status by TEST SUBCHANNEL, after which there may be another. */
static void build_irb(SubchDev *sch, IRB *irb)
{
	build_irb_virtual(sch, irb);
	look_soon(sch->driver_data);
}

/* Also after a restore: lines may wait, of which nobody here has told the guest. */
static void state_changed(void *opaque, bool running, RunState state)
{
	Console *s = opaque;

	s->told = false;
	if (running && zvmlab_cp)
		look_soon(s);
}

/* Return: is this what CP's configuration and the guest's Linux expect? */
static bool prepare(CcwDevice *ccw, Error **errp)
{
	Object *cp = object_resolve_path_type("", TYPE_ZVMLAB_CP, NULL);
	char err[256];

	if (!cp) {
		error_setg(errp, "%s needs an object %s", TYPE_CONSOLE, TYPE_ZVMLAB_CP);
		return false;
	}
	if (console) {
		error_setg(errp, "a guest has one console, and a second %s was given", TYPE_CONSOLE);
		return false;
	}
	if (cp_port_set(&ZVMLAB_CP(cp)->port, "conmode", "3215", err, sizeof(err)) != 0) {
		error_setg(errp, "%s: %s", TYPE_CONSOLE, err);
		return false;
	}
	ccw->devno = (CssDevId){
		.cssid = VIRTUAL_CSSID, .devid = ZVMLAB_CP(cp)->port.config.console, .valid = true,
	};
	return true;
}

static void realize(DeviceState *dev, Error **errp)
{
	CcwDevice *ccw = CCW_DEVICE(dev);
	Console *s = CONSOLE(dev);
	SubchDev *sch;

	if (!prepare(ccw, errp))
		return;
	sch = zvmlab_subchannel(ccw, errp);
	if (!sch)
		return;
	if (sch->schid != 0) {
		error_setg(errp, "%s has to be the first device: CP tells the guest that its console has"
			   " subchannel 0000", TYPE_CONSOLE);
		return;
	}
	sch->id.cu_type = 0x3215;
	sch->ccw_cb = command;
	sch->do_subchannel_work = work;
	sch->irb_cb = build_irb;
	sch->driver_data = s;
	s->soon = timer_new_ns(QEMU_CLOCK_VIRTUAL, look, s);
	console = s;
	qemu_chr_fe_set_handlers(&s->chr, can_read, keys, NULL, NULL, s, NULL, true);
	qemu_add_vm_change_state_handler(state_changed, s);
	CCW_DEVICE_GET_CLASS(ccw)->realize(ccw, errp);
}

static const Property properties[] = {
	DEFINE_PROP_CHR("chardev", Console, chr),
};

/* What is saved of it is the subchannel; lines are CP's. */
static const VMStateDescription vmstate_3215 = {
	.name = TYPE_CONSOLE,
	.version_id = 1,
	.minimum_version_id = 1,
	.fields = (VMStateField[]) {
		VMSTATE_CCW_DEVICE(parent_obj, Console),
		VMSTATE_END_OF_LIST()
	},
};

static void class_init(ObjectClass *klass, CLASS_DATA *data)
{
	DeviceClass *dc = DEVICE_CLASS(klass);

	dc->desc = "console of the guest as a 3215 of CP's";
	dc->realize = realize;
	dc->vmsd = &vmstate_3215;
	dc->hotpluggable = false;
	device_class_set_props(dc, properties);
	set_bit(DEVICE_CATEGORY_INPUT, dc->categories);
}

static const TypeInfo type_3215 = {
	.name = TYPE_CONSOLE,
	.parent = TYPE_CCW_DEVICE,
	.instance_size = sizeof(Console),
	.class_size = sizeof(CCWDeviceClass),
	.class_init = class_init,
};

static void register_types(void)
{
	type_register_static(&type_3215);
}

type_init(register_types)
