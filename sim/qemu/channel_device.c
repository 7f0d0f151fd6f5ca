/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices of the channel subsystem that statements of the guest's directory entry give it. */
#include "qemu/osdep.h"
#include "channel_device.h"

#include "qapi/error.h"
#include "qemu/config-file.h"
#include "qemu/option.h"

/* Type of the channel path; nobody asks for more of it. */
#define CHANNEL_PATH 0x1a

SubchDev *zvmlab_subchannel(CcwDevice *ccw, Error **errp)
{
	SubchDev *sch = css_create_sch(ccw->devno, errp);

	if (!sch)
		return NULL;
	sch->driver_data = ccw;
	sch->id.reserved = 0xff;
	css_sch_build_virtual_schib(sch, css_find_free_chpid(sch->cssid), CHANNEL_PATH);
	sch->do_subchannel_work = do_subchannel_work_virtual;
	sch->irb_cb = build_irb_virtual;
	ccw->sch = sch;
	return sch;
}

bool zvmlab_add_device(const char *type, uint16_t device, Error **errp)
{
	g_autofree char *number = g_strdup_printf("fe.0.%04x", device);
	QemuOpts *opts = qemu_opts_create(qemu_find_opts("device"), NULL, 0, errp);

	return opts && qemu_opt_set(opts, "driver", type, errp) &&
	       qemu_opt_set(opts, "devno", number, errp);
}
