/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/s390x/css: present no interruption while a device waits
 *
 * Whatever a virtual device does, the guest gets an I/O interruption, for
 * which there is no status if the device's command has not ended yet.
 */

//@ file: hw/s390x/css.c
//@ in: IOInstEnding do_subchannel_work_virtual(SubchDev *sch)
//@ replace: css_inject_io_interrupt(sch);
    if (schib->scsw.ctrl & SCSW_STCTL_STATUS_PEND) {
        css_inject_io_interrupt(sch);
    }
