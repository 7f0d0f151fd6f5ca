/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CP's devices share: a subchannel, their commands, and how they are added. */
#ifndef ZVMLAB_CHANNEL_DEVICE_H
#define ZVMLAB_CHANNEL_DEVICE_H

#include "hw/s390x/ccw-device.h"
#include "hw/s390x/css.h"
#include "versions.h"

/* The subchannel of a device that is realized, without what its commands do; NULL: @errp. */
SubchDev *zvmlab_subchannel(CcwDevice *ccw, Error **errp);
/* Of a class_init: the device may be one that the guest has no longer. */
void zvmlab_channel_class(DeviceClass *dc);
/* A command that the channel subsystem does not know itself, carried out by CP; a ccw_cb. */
int zvmlab_command(SubchDev *sch, CCW1 ccw);
/* As if -device had named it; QEMU makes these when the machine has its channel subsystem. */
bool zvmlab_add_device(const char *type, uint16_t device, Error **errp);

#endif
