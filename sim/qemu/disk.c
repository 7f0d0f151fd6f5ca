/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual disks as the channel subsystem sees them: a 9336.  channel_device.c has its commands; the
 * guest can read and write its blocks by DIAGNOSE X'250' as well.
 *
 * An MDISK statement of the guest's directory entry is all it takes.
 */
#include "qemu/osdep.h"
#include "port.h"
#include "zvmlab/disk.h"

#include "channel_device.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/module.h"

#define TYPE_DISK "zvmlab-disk"
OBJECT_DECLARE_SIMPLE_TYPE(Disk, DISK)

struct Disk {
	CcwDevice parent_obj;
};

static bool has_statement(uint16_t device)
{
	Object *cp = object_resolve_path_type("", TYPE_ZVMLAB_CP, NULL);
	const struct cp_disk_config *disk = NULL;

	for (unsigned int i = 0; cp && (disk = cp_disk_at(&ZVMLAB_CP(cp)->port.config, i)); i++)
		if (disk->device == device)
			break;
	return disk != NULL;
}

static void realize(DeviceState *dev, Error **errp)
{
	CcwDevice *ccw = CCW_DEVICE(dev);
	SubchDev *sch;

	if (!ccw->devno.valid || !has_statement(ccw->devno.devid)) {
		error_setg(errp, "%s is added by an MDISK statement of the CP's option directory",
			   TYPE_DISK);
		return;
	}
	sch = zvmlab_subchannel(ccw, errp);
	if (!sch)
		return;
	/* The IBM 9336 and its control unit, as Linux' dasd_fba knows them. */
	sch->id.cu_type = 0x6310;
	sch->id.dev_type = 0x9336;
	CCW_DEVICE_GET_CLASS(ccw)->realize(ccw, errp);
}

/* What is saved of it is the subchannel; the disk itself is CP's. */
static const VMStateDescription vmstate_disk = {
	.name = TYPE_DISK,
	.version_id = 1,
	.minimum_version_id = 1,
	.fields = (VMStateField[]) {
		VMSTATE_CCW_DEVICE(parent_obj, Disk),
		VMSTATE_END_OF_LIST()
	},
};

static void class_init(ObjectClass *klass, CLASS_DATA *data)
{
	DeviceClass *dc = DEVICE_CLASS(klass);

	dc->desc = "virtual disk of CP's";
	dc->realize = realize;
	dc->vmsd = &vmstate_disk;
	dc->hotpluggable = false;
	zvmlab_channel_class(dc);
	set_bit(DEVICE_CATEGORY_STORAGE, dc->categories);
}

static const TypeInfo disk_type = {
	.name = TYPE_DISK,
	.parent = TYPE_CCW_DEVICE,
	.instance_size = sizeof(Disk),
	.class_size = sizeof(CCWDeviceClass),
	.class_init = class_init,
};

static void register_types(void)
{
	type_register_static(&disk_type);
}

type_init(register_types)

bool zvmlab_add_disks(const ZvmlabCp *s, Error **errp)
{
	const struct cp_disk_config *disk;

	for (unsigned int i = 0; (disk = cp_disk_at(&s->port.config, i)); i++)
		if (!zvmlab_add_device(TYPE_DISK, disk->device, errp))
			return false;
	return true;
}
