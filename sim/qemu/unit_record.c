/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual unit record devices as the channel subsystem sees them: data between guest storage and
 * CP, which knows what a command does (cp_unit()).
 *
 * A SPOOL statement of the guest's directory entry is all it takes: the device is added to those
 * that QEMU's options name.
 */
#include "qemu/osdep.h"
#include "port.h"
#include "zvmlab/spool.h"

#include "channel_device.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/module.h"

#define TYPE_UNIT_RECORD "zvmlab-unit-record"
OBJECT_DECLARE_SIMPLE_TYPE(UnitRecord, UNIT_RECORD)

struct UnitRecord {
	CcwDevice parent_obj;
};

/* The command ends with this status, for which the subchannel has no number. */
static int alert(SubchDev *sch, const struct cp_unit_io *io)
{
	SCHIB *schib = &sch->curr_status;

	schib->scsw.dstat = io->status;
	if (io->status & CP_UNIT_CHECK) {
		memset(sch->sense_data, 0, sizeof(sch->sense_data));
		sch->sense_data[0] = io->sense;
	}
	schib->scsw.cpa = sch->channel_prog + 8;
	schib->scsw.ctrl &= ~(SCSW_ACTL_START_PEND | SCSW_CTRL_MASK_STCTL);
	schib->scsw.ctrl |= SCSW_STCTL_PRIMARY | SCSW_STCTL_SECONDARY | SCSW_STCTL_ALERT |
			    SCSW_STCTL_STATUS_PEND;
	return -EIO;
}

/* A device specific command; NOP, SENSE and SENSE ID are the channel subsystem's. */
static int command(SubchDev *sch, CCW1 ccw)
{
	struct cp_unit_io io = { .device = sch->devno, .command = ccw.cmd_code };
	struct cp_port *port = zvmlab_cp ? &zvmlab_cp->port : NULL;
	const enum cp_unit_way way =
		port ? port->calls->unit_way(port, io.device, io.command) : CP_UNIT_REJECT;
	int ret;

	if (way == CP_UNIT_REJECT)
		return -ENOSYS;
	if (way != CP_UNIT_NO_DATA && ccw.count == 0)
		return -EINVAL;
	if (way == CP_UNIT_TAKES) {
		io.length = MIN(ccw.count, port->calls->unit_length(port, io.device));
		ret = ccw_dstream_read_buf(&sch->cds, io.data, io.length);
		if (ret)
			return ret;
	}
	port->calls->unit(port, &io);
	if (way == CP_UNIT_GIVES && io.length > 0) {
		ret = ccw_dstream_write_buf(&sch->cds, io.data, MIN(ccw.count, io.length));
		if (ret)
			return ret;
	}
	sch->curr_status.scsw.count = ccw_dstream_residual_count(&sch->cds);
	return io.status == CP_UNIT_ENDED ? 0 : alert(sch, &io);
}

static uint16_t control_unit(uint8_t kind)
{
	return kind == CP_UNIT_PRINTER ? 0x1403 : 0x2540;
}

/* The statement that the device is made for. */
static const struct cp_unit_config *statement(uint16_t device)
{
	Object *cp = object_resolve_path_type("", TYPE_ZVMLAB_CP, NULL);
	const struct cp_unit_config *unit = NULL;

	for (unsigned int i = 0; cp && (unit = cp_unit_at(&ZVMLAB_CP(cp)->port.config, i)); i++)
		if (unit->device == device)
			break;
	return unit;
}

static void realize(DeviceState *dev, Error **errp)
{
	CcwDevice *ccw = CCW_DEVICE(dev);
	const struct cp_unit_config *unit = ccw->devno.valid ? statement(ccw->devno.devid) : NULL;
	SubchDev *sch;

	if (!unit) {
		error_setg(errp, "%s is added by a SPOOL statement of the CP's option directory",
			   TYPE_UNIT_RECORD);
		return;
	}
	sch = zvmlab_subchannel(ccw, errp);
	if (!sch)
		return;
	sch->id.cu_type = control_unit(unit->kind);
	sch->ccw_cb = command;
	CCW_DEVICE_GET_CLASS(ccw)->realize(ccw, errp);
}

/* What is saved of it is the subchannel; the device itself is CP's. */
static const VMStateDescription vmstate_unit_record = {
	.name = TYPE_UNIT_RECORD,
	.version_id = 1,
	.minimum_version_id = 1,
	.fields = (VMStateField[]) {
		VMSTATE_CCW_DEVICE(parent_obj, UnitRecord),
		VMSTATE_END_OF_LIST()
	},
};

static void class_init(ObjectClass *klass, CLASS_DATA *data)
{
	DeviceClass *dc = DEVICE_CLASS(klass);

	dc->desc = "virtual unit record device of CP's";
	dc->realize = realize;
	dc->vmsd = &vmstate_unit_record;
	dc->hotpluggable = false;
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo unit_record_info = {
	.name = TYPE_UNIT_RECORD,
	.parent = TYPE_CCW_DEVICE,
	.instance_size = sizeof(UnitRecord),
	.class_size = sizeof(CCWDeviceClass),
	.class_init = class_init,
};

static void register_types(void)
{
	type_register_static(&unit_record_info);
}

type_init(register_types)

bool zvmlab_add_units(const ZvmlabCp *s, Error **errp)
{
	const struct cp_unit_config *unit;

	for (unsigned int i = 0; (unit = cp_unit_at(&s->port.config, i)); i++)
		if (!zvmlab_add_device(TYPE_UNIT_RECORD, unit->device, errp))
			return false;
	return true;
}
