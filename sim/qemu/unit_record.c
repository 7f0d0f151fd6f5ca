/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual unit record devices as the channel subsystem sees them; channel_device.c has their
 * commands.
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

/* All that were made; none ever goes. */
static GPtrArray *readers;

/* Of readers that are busy, or have status already, the guest learns enough. */
static void present_device_end(void *opaque)
{
	for (guint i = 0; readers && i < readers->len; i++) {
		SubchDev *sch = g_ptr_array_index(readers, i);
		SCSW *scsw = &sch->curr_status.scsw;

		if (scsw->ctrl & (SCSW_STCTL_STATUS_PEND | SCSW_CTRL_MASK_FCTL))
			continue;
		scsw->cstat = 0;
		scsw->dstat = SCSW_DSTAT_DEVICE_END;
		css_conditional_io_interrupt(sch);
	}
}

/* Outside of the CPU's instruction, by which the file may have come. */
void zvmlab_reader_ready(void *opaque)
{
	aio_bh_schedule_oneshot(qemu_get_aio_context(), present_device_end, NULL);
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
	/* It does not have the command SENSE ID. */
	sch->id.reserved = 0;
	if (unit->kind == CP_UNIT_READER) {
		if (!readers)
			readers = g_ptr_array_new();
		g_ptr_array_add(readers, sch);
	}
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
	zvmlab_channel_class(dc);
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
