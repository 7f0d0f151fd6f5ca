/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Devices of the channel subsystem that CP gives the guest: data between guest storage and CP,
 * which knows what a command does (cp_unit()).
 */
#include "qemu/osdep.h"
#include "port.h"
#include "zvmlab/unit.h"

#include "channel_device.h"

#include "qapi/error.h"
#include "qemu/config-file.h"
#include "qemu/option.h"

/* Type of the channel path; nobody asks for more of it. */
#define CHANNEL_PATH 0x1a

/* All that were made; none ever goes, but the guest may have lost some. */
static GPtrArray *devices;
static ResettablePhases ccw_phases;

/* Let the subchannel have a device if CP has it.  Return: something has changed. */
static bool follow(SubchDev *sch)
{
	struct cp_port *port = zvmlab_cp ? &zvmlab_cp->port : NULL;
	const bool there = !port || port->calls->has_device(port, sch->devno);
	SCHIB *schib = &sch->curr_status;

	if (there == !!(schib->pmcw.flags & PMCW_FLAGS_MASK_DNV))
		return false;
	schib->pmcw.flags ^= PMCW_FLAGS_MASK_DNV;
	schib->pmcw.flags &= ~PMCW_FLAGS_MASK_ENA;
	memset(&schib->scsw, 0, sizeof(schib->scsw));
	return true;
}

/* The guest is told by a channel report, and looks at the subchannel then. */
static void follow_all(void *opaque)
{
	for (guint i = 0; devices && i < devices->len; i++) {
		SubchDev *sch = g_ptr_array_index(devices, i);

		if (follow(sch))
			css_generate_sch_crws(sch->cssid, sch->ssid, sch->schid, 1, 1);
	}
}

/* Outside of the CPU's instruction, by which the command may have come. */
void zvmlab_devices_changed(void *opaque)
{
	aio_bh_schedule_oneshot(qemu_get_aio_context(), follow_all, NULL);
}

/* A reset of the subchannel makes its device a valid one. */
static void reset_hold(Object *obj, ResetType type)
{
	ccw_phases.hold(obj, type);
	follow(CCW_DEVICE(obj)->sch);
}

void zvmlab_channel_class(DeviceClass *dc)
{
	resettable_class_set_parent_phases(RESETTABLE_CLASS(dc), NULL, reset_hold, NULL,
					   &ccw_phases);
}

SubchDev *zvmlab_subchannel(CcwDevice *ccw, Error **errp)
{
	SubchDev *sch = css_create_sch(ccw->devno, errp);

	if (!sch)
		return NULL;
	sch->driver_data = ccw;
	sch->id.reserved = 0xff;
	css_sch_build_virtual_schib(sch, css_find_free_chpid(sch->cssid), CHANNEL_PATH);
	sch->ccw_cb = zvmlab_command;
	sch->do_subchannel_work = do_subchannel_work_virtual;
	sch->irb_cb = build_irb_virtual;
	ccw->sch = sch;
	if (!devices)
		devices = g_ptr_array_new();
	g_ptr_array_add(devices, sch);
	return sch;
}

/* The command ends the channel program with status that is not all there should be. */
static int alert(SubchDev *sch, uint8_t subchannel, const struct cp_unit_io *io)
{
	SCHIB *schib = &sch->curr_status;

	schib->scsw.cstat = subchannel;
	schib->scsw.dstat = io->status;
	if (io->status & CP_UNIT_CHECK) {
		memset(sch->sense_data, 0, sizeof(sch->sense_data));
		memcpy(sch->sense_data, io->sense, sizeof(io->sense));
	}
	schib->scsw.cpa = sch->channel_prog + 8;
	schib->scsw.ctrl &= ~(SCSW_ACTL_START_PEND | SCSW_CTRL_MASK_STCTL);
	schib->scsw.ctrl |= SCSW_STCTL_PRIMARY | SCSW_STCTL_SECONDARY | SCSW_STCTL_ALERT |
			    SCSW_STCTL_STATUS_PEND;
	return -EIO;
}

/* The subchannel stays active, and the channel program at this command. */
static int wait_for_device(SubchDev *sch)
{
	SCHIB *schib = &sch->curr_status;

	schib->scsw.ctrl &= ~(SCSW_ACTL_START_PEND | SCSW_CTRL_MASK_STCTL);
	schib->scsw.ctrl |= SCSW_ACTL_SUBCH_ACTIVE | SCSW_ACTL_DEVICE_ACTIVE;
	return -EIO;
}

/* A piece of the command's data, of @part bytes.  Return: 0, or an error: they are no storage. */
static int piece(SubchDev *sch, struct cp_port *port, enum cp_unit_way way, uint32_t part,
		 struct cp_unit_io *io)
{
	int ret = 0;

	io->length = way == CP_UNIT_TAKES ? part : 0;
	io->room = way == CP_UNIT_GIVES ? part : 0;
	if (way == CP_UNIT_TAKES)
		ret = ccw_dstream_read_buf(&sch->cds, io->data, part);
	if (ret)
		return ret;
	port->calls->unit(port, io);
	if (way == CP_UNIT_GIVES && io->length > 0)
		ret = ccw_dstream_write_buf(&sch->cds, io->data, MIN(part, io->length));
	return ret;
}

int zvmlab_command(SubchDev *sch, CCW1 ccw)
{
	struct cp_unit_io io = {
		.device = sch->devno, .command = ccw.cmd_code, .chained = sch->last_cmd_valid,
	};
	struct cp_port *port = zvmlab_cp ? &zvmlab_cp->port : NULL;
	const enum cp_unit_way way =
		port ? port->calls->unit_way(port, io.device, io.command) : CP_UNIT_REJECT;
	uint32_t left, part;
	int ret;

	if (way == CP_UNIT_REJECT)
		return -ENOSYS;
	/* The channel subsystem knows no data chaining. */
	if (ccw.flags & CCW_FLAG_DC)
		return -EINVAL;
	left = way == CP_UNIT_NO_DATA ? 0 :
	       MIN(ccw.count, port->calls->unit_length(port, io.device, io.command));
	do {
		part = MIN(left, CP_UNIT_DATA);
		left -= part;
		io.more = way == CP_UNIT_TAKES && left > 0;
		ret = piece(sch, port, way, part, &io);
		if (ret)
			return ret;
		io.again = true;
	} while (io.status == CP_UNIT_ENDED && left > 0 &&
		 (way == CP_UNIT_TAKES || io.length == part));
	if (io.status == CP_UNIT_WAITS)
		return wait_for_device(sch);
	sch->curr_status.scsw.count = ccw_dstream_residual_count(&sch->cds);
	if (io.status != CP_UNIT_ENDED)
		return alert(sch, 0, &io);
	if (way != CP_UNIT_NO_DATA && !(ccw.flags & CCW_FLAG_SLI) &&
	    (sch->curr_status.scsw.count > 0 || io.left))
		return alert(sch, SCSW_CSTAT_INCORR_LEN, &io);
	return 0;
}

bool zvmlab_add_device(const char *type, uint16_t device, Error **errp)
{
	g_autofree char *number = g_strdup_printf("fe.0.%04x", device);
	QemuOpts *opts = qemu_opts_create(qemu_find_opts("device"), NULL, 0, errp);

	return opts && qemu_opt_set(opts, "driver", type, errp) &&
	       qemu_opt_set(opts, "devno", number, errp);
}
